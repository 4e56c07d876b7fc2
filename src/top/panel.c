#include "top/panel.h"

#include "base/mem.h"
#include "derive/bucket_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ID_WIDTH     7 /* process ids */
#define PLAIN_NUMBER 9
#define PLAIN_TEXT   16
#define NAME_WIDTH   15 /* of a name in front */
#define TEXT_WIDTH   10
#define TAIL_MIN     24 /* columns that the last text should have */
#define USUAL_SCREEN 80

/* Columns that the short form of a value needs. */
static const int widths[PT_FORM_COUNT] = {
    [PT_FORM_NUMBER] = 6,      [PT_FORM_PER_S] = 9,   [PT_FORM_SHARE] = 6,  [PT_FORM_CORES] = 6,
    [PT_FORM_BYTES] = 5,       [PT_FORM_SECONDS] = 7, [PT_FORM_HERTZ] = 7,  [PT_FORM_CELSIUS] = 4,
    [PT_FORM_BYTES_PER_S] = 7, [PT_FORM_WATTS] = 7,   [PT_FORM_JOULES] = 7,
};

static int widest(int width, const char *heading) {
    int length = (int)strlen(heading);
    return length > width ? length : width;
}

static struct pt_panel_column column_at(const char *heading, int table, int column, int width) {
    return (struct pt_panel_column){ .heading = heading,
                                     .table = table,
                                     .column = column,
                                     .otherwise = -1,
                                     .joined_by = -1,
                                     .width = widest(width, heading) };
}

static bool is_text(const struct pt_column *c) {
    return c->type == PT_STRING;
}

/* A heading of one letter is that of values of one letter. */
static bool is_letter(const struct pt_column *c) {
    return is_text(c) && strlen(c->heading) == 1;
}

static int width_of(const struct pt_column *c) {
    if (is_text(c))
        return is_letter(c) ? 1 : c->role == PT_ROLE_NAME ? NAME_WIDTH : TEXT_WIDTH;
    return pt_column_is_drawn(c) ? widths[pt_column_form(c)] : ID_WIDTH;
}

static bool is_headline(const struct pt_column *c) {
    return c->importance == PT_HEADLINE;
}

/* The places of a list, from left to right; the tail comes last and takes the remaining width. */
enum place { FRONT, HEADLINES, NUMBERS, TEXTS, NOWHERE };

static enum place place_of(const struct pt_column *c) {
    bool is_tail = c->kind == PT_INFO && (c->role == PT_ROLE_NAME || c->role == PT_ROLE_COMMAND);
    if (!c->heading || c->role == PT_ROLE_PARENT || c->role == PT_ROLE_START || is_tail)
        return NOWHERE;
    if (is_text(c) && c->kind != PT_GAUGE)
        return is_letter(c) || c->role == PT_ROLE_NAME ? FRONT : TEXTS;
    if (!is_text(c) && !pt_column_is_drawn(c))
        return FRONT;
    return is_headline(c) ? HEADLINES : NUMBERS;
}

static struct pt_panel_column *append(struct pt_panel_columns *columns,
                                      struct pt_panel_column column) {
    pt_grow(&columns->list, &columns->capacity, (size_t)columns->count + 1, sizeof *columns->list);
    columns->list[columns->count] = column;
    return &columns->list[columns->count++];
}

static bool has_column(const struct pt_panel_columns *columns, int column) {
    for (int i = 0; i < columns->count; i++)
        if (columns->list[i].column == column)
            return true;
    return false;
}

/* A limit stands behind its column. `left_out`: a column that the tail shows. */
static void add_place(struct pt_panel *p, const struct pt_table *t, enum place place,
                      int left_out) {
    for (int i = 0; i < t->column_count; i++) {
        const struct pt_column *c = &t->columns[i];
        if (place_of(c) != place || i == left_out || has_column(&p->chosen, i))
            continue;
        append(&p->chosen, column_at(c->heading, p->table, i, width_of(c)));
        int limit = c->limit ? pt_table_find(t, c->limit) : -1;
        const struct pt_column *l = limit < 0 ? NULL : &t->columns[limit];
        if (l && l->heading && !has_column(&p->chosen, limit))
            append(&p->chosen, column_at(l->heading, p->table, limit, width_of(l)));
    }
}

/* Headlines of other tables about the same process. */
static void add_joined(struct pt_panel *p, const struct pt_schema *schema) {
    const struct pt_table *t = schema->tables[p->table];
    for (uint32_t other = 0; p->id >= 0 && other < schema->table_count; other++) {
        const struct pt_table *o = schema->tables[other];
        int key = pt_table_find(o, t->columns[p->id].name);
        bool is_same = t->rows == PT_ROWS_PROCESSES && o->rows == PT_ROWS_PROCESSES && key >= 0;
        for (int i = 0; is_same && o != t && i < o->column_count; i++) {
            const struct pt_column *c = &o->columns[i];
            if (c->heading && is_headline(c))
                append(&p->chosen, column_at(c->heading, (int)other, i, width_of(c)))->joined_by =
                    key;
        }
    }
}

/* The name in full, else the name; a name that is a key stands in front. */
static int find_tail(const struct pt_table *t) {
    int tail = pt_table_find_role(t, PT_ROLE_COMMAND);
    if (tail < 0)
        tail = pt_table_find_role(t, PT_ROLE_NAME);
    bool is_tail = tail >= 0 && t->columns[tail].kind == PT_INFO && t->columns[tail].heading;
    return is_tail ? tail : -1;
}

/* What the tail shows where it is empty: the name, or the last key that is a text. */
static int find_otherwise(const struct pt_table *t, int tail) {
    int otherwise = tail < 0 ? -1 : pt_table_find_role(t, PT_ROLE_NAME);
    if (otherwise != tail)
        return otherwise;
    otherwise = -1;
    for (int i = 0; tail >= 0 && i < t->column_count; i++)
        if (t->columns[i].kind == PT_KEY && is_text(&t->columns[i]))
            otherwise = i;
    return otherwise;
}

static bool is_always_shown(const struct pt_panel_column *c, const struct pt_schema *schema) {
    const struct pt_column *column = &schema->tables[c->table]->columns[c->column];
    bool is_key = column->kind == PT_KEY && place_of(column) == FRONT;
    return c->width == 0 || c->joined_by >= 0 || is_key || is_headline(column) || is_letter(column);
}

/* Columns that are not always shown appear from left to right as the screen grows. Of what is wider
 * than a usual screen the tail gets half. */
static void set_screen_columns(struct pt_panel *p, const struct pt_schema *schema) {
    int needed = 0;
    for (int i = 0; i < p->chosen.count; i++) {
        const struct pt_panel_column *c = &p->chosen.list[i];
        if (c->joined_by < 0 && is_always_shown(c, schema))
            needed += (c->width ? c->width : TAIL_MIN) + 1;
    }
    for (int i = 0; i < p->chosen.count; i++) {
        struct pt_panel_column *c = &p->chosen.list[i];
        if (is_always_shown(c, schema))
            continue;
        needed += c->width + 1;
        c->min_screen_columns = needed + (needed > USUAL_SCREEN ? needed - USUAL_SCREEN : 0);
    }
}

/* The last text takes the remaining width. */
static void choose_columns(struct pt_panel *p, const struct pt_schema *schema) {
    const struct pt_table *t = schema->tables[p->table];
    int tail = find_tail(t), otherwise = find_otherwise(t, tail);
    for (enum place place = FRONT; place <= NUMBERS; place++)
        add_place(p, t, place, otherwise);
    add_joined(p, schema);
    add_place(p, t, TEXTS, otherwise);
    if (tail >= 0)
        append(&p->chosen, column_at(t->columns[tail].heading, p->table, tail, 0))->otherwise =
            otherwise;
    struct pt_panel_column *last = p->chosen.count ? &p->chosen.list[p->chosen.count - 1] : NULL;
    if (last && (tail >= 0 || place_of(&t->columns[last->column]) == TEXTS))
        last->width = 0;
    set_screen_columns(p, schema);
}

/* Rows that are the same in every run, or have a number for a name, keep their order. */
static int initial_sort(const struct pt_panel *p, const struct pt_schema *schema) {
    const struct pt_table *t = schema->tables[p->table];
    int name = pt_table_find_role(t, PT_ROLE_NAME);
    if (t->has_fixed_rows || (name >= 0 && !is_text(&t->columns[name])))
        return -1;
    int by_use = pt_panel_find_order(p, schema, PT_PANEL_BY_USE);
    for (int i = 0; i < p->chosen.count; i++) {
        const struct pt_panel_column *c = &p->chosen.list[i];
        bool is_candidate = by_use < 0 ? c->joined_by < 0 : i == by_use;
        if (is_candidate && is_headline(&t->columns[c->column]))
            return i;
    }
    return -1;
}

/* The last key that people read; keys of merged runs have their rank in front. */
static int find_id(const struct pt_table *t) {
    int id = -1;
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].kind == PT_KEY && t->columns[i].importance != PT_RAW)
            id = i;
    return id;
}

static void make_panel(struct pt_panel *p, const struct pt_schema *schema, int table) {
    const struct pt_table *t = schema->tables[table];
    *p = (struct pt_panel){ .table = table };
    snprintf(p->title, sizeof p->title, "%s", *t->file ? t->file : t->name);
    for (char *c = p->title; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    p->id = find_id(t);
    p->parent = pt_table_find_role(t, PT_ROLE_PARENT);
    p->is_recorded = pt_table_find_role(t, PT_ROLE_RECORDED);
    p->is_single = true;
    for (int i = 0; i < t->column_count; i++) {
        const struct pt_column *c = &t->columns[i];
        p->is_single &= c->kind != PT_KEY;
        append(&p->all, column_at(c->short_name, table, i, is_text(c) ? PLAIN_TEXT : PLAIN_NUMBER));
    }
    choose_columns(p, schema);
    p->sort = initial_sort(p, schema);
}

/* Processes, then the things of the machine, those with the most headlines first, then its totals,
 * then the rest: Pitot itself, events, metrics of programs. */
static int rank_of(const struct pt_table *t) {
    int headlines = 0;
    for (int i = 0; i < t->column_count; i++)
        headlines += is_headline(&t->columns[i]);
    int group = t->rows == PT_ROWS_PROCESSES             ? 0
                : t->rows != PT_ROWS_THINGS || t->is_own ? 3
                : !*t->file                              ? 2
                                                         : 1;
    return group * UINT16_MAX - (group < 2 ? headlines : 0);
}

static int compare_panels(const void *a, const void *b, void *user) {
    const struct pt_panel *x = a, *y = b;
    const struct pt_schema *schema = user;
    int first = rank_of(schema->tables[x->table]), second = rank_of(schema->tables[y->table]);
    return first != second ? first - second : x->table - y->table;
}

void pt_panels_init(struct pt_panels *p, const struct pt_schema *schema) {
    *p = (struct pt_panels){ .list = pt_calloc(schema->table_count, sizeof *p->list) };
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (pt_bucket_rows_find(schema->tables[t]) < 0) /* buckets are what grew once */
            make_panel(&p->list[p->count++], schema, (int)t);
    qsort_r(p->list, (size_t)p->count, sizeof *p->list, compare_panels, (void *)schema);
}

void pt_panels_release(struct pt_panels *p) {
    for (int i = 0; i < p->count; i++) {
        pt_free(p->list[i].chosen.list);
        pt_free(p->list[i].all.list);
    }
    pt_free(p->list);
    *p = (struct pt_panels){ 0 };
}

int pt_panels_find(const struct pt_panels *p, const struct pt_schema *schema, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcasecmp(p->list[i].title, name) == 0 ||
            strcasecmp(schema->tables[p->list[i].table]->name, name) == 0)
            return i;
    return -1;
}

int pt_panel_find_order(const struct pt_panel *p, const struct pt_schema *schema,
                        enum pt_panel_order order) {
    const struct pt_table *t = schema->tables[p->table];
    for (int i = 0; i < p->chosen.count; i++) {
        const struct pt_panel_column *c = &p->chosen.list[i];
        const struct pt_column *column = &t->columns[c->column];
        if (c->joined_by >= 0)
            continue;
        enum pt_form form = pt_column_is_drawn(column) ? pt_column_form(column) : PT_FORM_DEFAULT;
        bool is_found = order == PT_PANEL_BY_USE ? form == PT_FORM_CORES || form == PT_FORM_SHARE
                        : order == PT_PANEL_BY_MEMORY ? form == PT_FORM_BYTES
                                                      : c->column == p->id;
        if (is_found)
            return i;
    }
    return -1;
}

bool pt_panel_has_rows(const struct pt_panel *p, const struct pt_rates *r) {
    return pt_rates_rows(r, p->table)->row_count > 0;
}

static bool has_values(const struct pt_panel_column *c, const struct pt_rates *r) {
    return c->joined_by < 0 || pt_rates_rows(r, c->table)->row_count > 0;
}

bool pt_panel_shows(const struct pt_panel *p, const struct pt_panel_column *c,
                    const struct pt_rates *r, int screen_columns) {
    for (int i = 0; i < p->chosen.count; i++) {
        const struct pt_panel_column *joined = &p->chosen.list[i];
        if (joined->joined_by >= 0 && has_values(joined, r))
            screen_columns -= joined->width + 1;
    }
    return has_values(c, r) &&
           (c->min_screen_columns == 0 || screen_columns >= c->min_screen_columns);
}

bool pt_panel_is_text(const struct pt_panel_column *c, const struct pt_rates *r) {
    return r->schema->tables[c->table]->columns[c->column].type == PT_STRING;
}

/* A process may use several GPUs: sum them. */
static double joined_value(const struct pt_panel_column *c, const struct pt_rates *r, double id) {
    const struct pt_batch *rows = pt_rates_rows(r, c->table);
    double sum = NAN;
    for (uint32_t row = 0; row < rows->row_count; row++) {
        double value = pt_rates_at(r, c->table, row, c->column);
        if (pt_rates_at(r, c->table, row, c->joined_by) == id && !isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

/* Their sum; NAN if one of them is unknown. */
static double value_of_parts(const struct pt_rates *r, int table, uint32_t row,
                             const char *family) {
    const struct pt_table *t = r->schema->tables[table];
    double sum = 0;
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].family && strcmp(t->columns[i].family, family) == 0)
            sum += pt_rates_at(r, table, row, i);
    return sum;
}

double pt_panel_value(const struct pt_panel *p, const struct pt_panel_column *c,
                      const struct pt_rates *r, uint32_t row) {
    if (c->joined_by >= 0)
        return joined_value(c, r, pt_rates_at(r, p->table, row, p->id));
    double value = pt_rates_at(r, c->table, row, c->column);
    const char *parts = r->schema->tables[c->table]->columns[c->column].parts;
    return isnan(value) && parts ? value_of_parts(r, c->table, row, parts) : value;
}

static struct pt_str text_in(const struct pt_batch *rows, uint32_t row, int column) {
    if (column < 0 || pt_is_null(rows, row, column))
        return PT_STR("");
    return pt_get_str(rows, row, column);
}

struct pt_str pt_panel_text(const struct pt_panel *p, const struct pt_panel_column *c,
                            const struct pt_rates *r, uint32_t row) {
    const struct pt_batch *rows = pt_rates_rows(r, p->table);
    struct pt_str text = text_in(rows, row, c->column);
    return text.len > 0 ? text : text_in(rows, row, c->otherwise);
}

struct pt_str pt_panel_text_key(const struct pt_panel *p, const struct pt_panel_column *c,
                                const struct pt_rates *r, uint32_t row) {
    const struct pt_batch *rows = pt_rates_rows(r, p->table);
    bool has_key = c->otherwise >= 0 && rows->table->columns[c->otherwise].kind == PT_KEY &&
                   text_in(rows, row, c->column).len > 0;
    return has_key ? text_in(rows, row, c->otherwise) : PT_STR("");
}
