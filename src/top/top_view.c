#include "top/top_view.h"

#include "analyze/window.h"
#include "base/mem.h"

#include <stdio.h>

void pt_top_view_init(struct pt_top_view *v, const struct pt_schema *schema) {
    *v = (struct pt_top_view){ .with_cores = true, .screen_columns = 80 };
    pt_panels_init(&v->panels, schema);
    v->orders = pt_calloc((size_t)v->panels.count, sizeof *v->orders);
    for (int i = 0; i < v->panels.count; i++) {
        const struct pt_panel *p = &v->panels.list[i];
        if (p->sort < 0)
            continue;
        v->orders[i].sort = &p->chosen.list[p->sort];
        const struct pt_column *c = &schema->tables[p->table]->columns[v->orders[i].sort->column];
        v->orders[i].is_rising = c->kind == PT_KEY;
    }
}

void pt_top_view_release(struct pt_top_view *v) {
    pt_free(v->detail_curves);
    pt_free(v->orders);
    pt_list_release(&v->list);
    pt_panels_release(&v->panels);
    *v = (struct pt_top_view){ 0 };
}

const struct pt_panel *pt_top_view_panel(const struct pt_top_view *v) {
    return &v->panels.list[v->panel];
}

const struct pt_panel_columns *pt_top_view_columns(const struct pt_top_view *v) {
    const struct pt_panel *p = pt_top_view_panel(v);
    return v->is_all || p->chosen.count == 0 ? &p->all : &p->chosen;
}

bool pt_top_view_is_detail(const struct pt_top_view *v) {
    return v->has_detail || pt_top_view_panel(v)->is_single;
}

char *pt_top_view_filter(struct pt_top_view *v) {
    return pt_top_view_is_detail(v) ? v->detail_filter : v->filter;
}

bool pt_top_view_detail_row(const struct pt_top_view *v, const struct pt_top_model *m,
                            uint32_t *row) {
    const struct pt_batch *rows = pt_rates_rows(&m->rates, pt_top_view_panel(v)->table);
    char key[sizeof v->detail_key];
    for (*row = 0; *row < rows->row_count; ++*row) {
        pt_row_key(rows, *row, key, sizeof key);
        if (!v->has_detail || strcmp(key, v->detail_key) == 0)
            return true;
    }
    return false;
}

void pt_top_view_list(struct pt_top_view *v, const struct pt_top_model *m) {
    const struct pt_top_view_order *order = &v->orders[v->panel];
    struct pt_list_options options = { order->sort, order->is_rising, v->filter, v->is_tree,
                                       v->is_own };
    pt_list_make(&v->list, pt_top_view_panel(v), &m->rates, &options);
}

static void forget_detail(struct pt_top_view *v) {
    pt_free(v->detail_curves);
    v->detail_curves = NULL;
    v->has_detail = false;
    v->detail_filter[0] = 0;
    v->selected = v->first = 0;
}

void pt_top_view_forget(struct pt_top_view *v) {
    pt_free(v->detail_curves);
    v->detail_curves = NULL;
}

static void go_to_panel(struct pt_top_view *v, int panel) {
    v->panel = panel;
    v->first_column = 0;
    forget_detail(v);
}

bool pt_top_view_choose_panel(struct pt_top_view *v, const struct pt_schema *schema,
                              const char *name) {
    int found = pt_panels_find(&v->panels, schema, name);
    if (found >= 0)
        go_to_panel(v, found);
    return found >= 0;
}

/* Numbers in descending order, texts and ids in ascending order. */
static void sort_by(struct pt_top_view *v, const struct pt_schema *schema,
                    const struct pt_panel_column *column) {
    const struct pt_column *c = &schema->tables[column->table]->columns[column->column];
    v->orders[v->panel] =
        (struct pt_top_view_order){ column, c->type == PT_STRING || c->kind == PT_KEY };
}

/* All of it, or for a word such as "mem" only the beginning. */
static bool is_called(const struct pt_panel_column *column, const struct pt_column *c,
                      const char *name, bool is_beginning) {
    const char *const names[] = { column->heading, c->short_name, c->name };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        if (strncasecmp(names[i], name, strlen(name)) == 0 &&
            (is_beginning || strlen(names[i]) == strlen(name)))
            return true;
    return false;
}

bool pt_top_view_sort_by(struct pt_top_view *v, const struct pt_schema *schema, const char *name) {
    const struct pt_panel *p = pt_top_view_panel(v);
    const struct pt_panel_columns *sets[] = { &p->chosen, &p->all, &p->chosen };
    for (size_t s = 0; s < PT_COUNT(sets); s++)
        for (int i = 0; i < sets[s]->count; i++) {
            const struct pt_panel_column *column = &sets[s]->list[i];
            const struct pt_column *c = &schema->tables[column->table]->columns[column->column];
            if (is_called(column, c, name, s == 2)) {
                sort_by(v, schema, column);
                return true;
            }
        }
    return false;
}

void pt_top_view_update(struct pt_top_view *v, const struct pt_top_model *m) {
    const struct pt_panel *p = pt_top_view_panel(v);
    uint32_t row;
    if (!pt_top_view_is_detail(v) || !pt_top_view_detail_row(v, m, &row))
        return;
    int count = m->rates.schema->tables[p->table]->column_count;
    if (!v->detail_curves)
        v->detail_curves = pt_calloc((size_t)count, sizeof *v->detail_curves);
    for (int c = 0; c < count; c++)
        pt_trail_add(&v->detail_curves[c], pt_rates_at(&m->rates, p->table, row, c));
}

static void move_panel(struct pt_top_view *v, const struct pt_top_model *m, int step) {
    int at = v->panel;
    for (int i = 0; i < v->panels.count; i++) {
        at = (at + step + v->panels.count) % v->panels.count;
        if (pt_panel_has_rows(&v->panels.list[at], &m->rates))
            break;
    }
    go_to_panel(v, at);
}

static void show_detail(struct pt_top_view *v, const struct pt_top_model *m) {
    const struct pt_batch *rows = pt_rates_rows(&m->rates, pt_top_view_panel(v)->table);
    if (pt_top_view_is_detail(v) || v->selected >= v->list.count)
        return;
    uint32_t row = v->list.items[v->selected].row;
    if (row >= rows->row_count)
        return;
    forget_detail(v);
    pt_row_key(rows, row, v->detail_key, sizeof v->detail_key);
    v->has_detail = true;
    pt_top_view_update(v, m);
}

static void move_sort(struct pt_top_view *v, const struct pt_top_model *m, int step) {
    const struct pt_panel_columns *columns = pt_top_view_columns(v);
    const struct pt_panel_column *sort = v->orders[v->panel].sort;
    int at = step > 0 ? -1 : 0;
    for (int i = 0; sort && i < columns->count; i++)
        if (sort->table == columns->list[i].table && sort->column == columns->list[i].column)
            at = i;
    for (int i = 0; i < columns->count; i++) {
        at = (at + step + columns->count) % columns->count;
        if (pt_panel_shows(pt_top_view_panel(v), &columns->list[at], &m->rates, v->screen_columns))
            break;
    }
    if (columns->count > 0)
        sort_by(v, m->rates.schema, &columns->list[at]);
}

static void sort_by_order(struct pt_top_view *v, const struct pt_top_model *m,
                          enum pt_panel_order order) {
    const struct pt_panel *p = pt_top_view_panel(v);
    int column = pt_panel_find_order(p, m->rates.schema, order);
    if (column >= 0)
        sort_by(v, m->rates.schema, &p->chosen.list[column]);
}

/* Drawing keeps it within the list. */
static void move_selection(struct pt_top_view *v, int64_t lines) {
    if (lines < 0 && (uint64_t)-lines > v->selected)
        v->selected = 0;
    else
        v->selected += (size_t)lines;
}

static void act(struct pt_top_view *v, const struct pt_top_model *m, enum pt_top_action action) {
    switch (action) {
    case PT_TOP_ACTION_NONE:
        break;
    case PT_TOP_ACTION_HELP:
        v->with_help = !v->with_help;
        break;
    case PT_TOP_ACTION_FILTER:
        v->is_typing = true;
        break;
    case PT_TOP_ACTION_BACK: /* one at a time: the details, then the filter */
        if (v->has_detail)
            forget_detail(v);
        else
            pt_top_view_filter(v)[0] = 0;
        break;
    case PT_TOP_ACTION_NEXT_PANEL:
    case PT_TOP_ACTION_PREVIOUS_PANEL:
        move_panel(v, m, action == PT_TOP_ACTION_NEXT_PANEL ? 1 : -1);
        break;
    case PT_TOP_ACTION_DETAIL:
        show_detail(v, m);
        break;
    case PT_TOP_ACTION_SORT_NEXT:
    case PT_TOP_ACTION_SORT_PREVIOUS:
        move_sort(v, m, action == PT_TOP_ACTION_SORT_NEXT ? 1 : -1);
        break;
    case PT_TOP_ACTION_REVERSE:
        v->orders[v->panel].is_rising = !v->orders[v->panel].is_rising;
        break;
    case PT_TOP_ACTION_SORT_CPU:
        sort_by_order(v, m, PT_PANEL_BY_USE);
        break;
    case PT_TOP_ACTION_SORT_MEMORY:
        sort_by_order(v, m, PT_PANEL_BY_MEMORY);
        break;
    case PT_TOP_ACTION_SORT_ID:
        sort_by_order(v, m, PT_PANEL_BY_ID);
        break;
    case PT_TOP_ACTION_TREE:
        v->is_tree = !v->is_tree;
        break;
    case PT_TOP_ACTION_OWN:
        v->is_own = !v->is_own;
        break;
    case PT_TOP_ACTION_ALL:
        v->is_all = !v->is_all;
        v->first_column = 0;
        break;
    case PT_TOP_ACTION_CORES:
        v->with_cores = !v->with_cores;
        break;
    case PT_TOP_ACTION_UP:
    case PT_TOP_ACTION_DOWN:
        move_selection(v, action == PT_TOP_ACTION_DOWN ? 1 : -1);
        break;
    case PT_TOP_ACTION_PAGE_UP:
    case PT_TOP_ACTION_PAGE_DOWN:
        move_selection(v, action == PT_TOP_ACTION_PAGE_DOWN ? v->page_rows : -v->page_rows);
        break;
    case PT_TOP_ACTION_FIRST:
    case PT_TOP_ACTION_LAST:
        v->selected = action == PT_TOP_ACTION_FIRST ? 0 : UINT32_MAX;
        break;
    case PT_TOP_ACTION_LEFT:
        v->first_column -= v->first_column > 0;
        break;
    case PT_TOP_ACTION_RIGHT:
        v->first_column += v->first_column + 1 < pt_top_view_columns(v)->count;
        break;
    }
}

/* The keys, in the order of the help page. */
const struct pt_binding pt_bindings[] = {
    { { '?', 'h', PT_KEY_F1 }, "? h F1", "show this page", PT_REQUEST_NONE, PT_TOP_ACTION_HELP, 0 },
    { { 'q', 'Q', PT_KEY_F1 + 9 }, "q F10", "quit", PT_REQUEST_QUIT, PT_TOP_ACTION_NONE, 0 },
    { { ' ' }, "space", "pause or resume", PT_REQUEST_PAUSE, PT_TOP_ACTION_NONE, 0 },
    { { PT_KEY_TAB },
      "Tab",
      "next panel; with shift, the previous one",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_NEXT_PANEL,
      0 },
    { { PT_KEY_BACK_TAB }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_PREVIOUS_PANEL, 0 },
    { { PT_KEY_UP, 'k' },
      "arrows",
      "select a row; also j, k, page keys, Home, End",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_UP,
      0 },
    { { PT_KEY_DOWN, 'j' }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_DOWN, 0 },
    { { PT_KEY_PAGE_UP }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_PAGE_UP, 0 },
    { { PT_KEY_PAGE_DOWN }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_PAGE_DOWN, 0 },
    { { PT_KEY_HOME }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_FIRST, 0 },
    { { PT_KEY_END }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_LAST, 0 },
    { { PT_KEY_ENTER },
      "Enter",
      "details of the selected row; Esc goes back",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_DETAIL,
      0 },
    { { PT_KEY_ESCAPE }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_BACK, 0 },
    { { '/', PT_KEY_F1 + 2, PT_KEY_F1 + 3 },
      "/ F4",
      "filter rows by text; Esc shows all",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_FILTER,
      0 },
    { { '>', 's', PT_KEY_F1 + 5 },
      "< > s F6",
      "sort by the previous or next column",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_SORT_NEXT,
      0 },
    { { '<' }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_SORT_PREVIOUS, 0 },
    { { 'r', 'I' }, "r", "reverse the order", PT_REQUEST_NONE, PT_TOP_ACTION_REVERSE, 0 },
    { { 'P' }, "P M N", "sort by CPU, memory, id", PT_REQUEST_NONE, PT_TOP_ACTION_SORT_CPU, 0 },
    { { 'M' }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_SORT_MEMORY, 0 },
    { { 'N' }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_SORT_ID, 0 },
    { { 't', PT_KEY_F1 + 4 },
      "t F5",
      "show processes as a tree",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_TREE,
      0 },
    { { 'o' },
      "o",
      "show only the recorded tree (--pid, or the command of a run)",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_OWN,
      0 },
    { { 'a' },
      "a",
      "show all columns of the table, or the selection",
      PT_REQUEST_NONE,
      PT_TOP_ACTION_ALL,
      0 },
    { { '[' }, "[ ]", "scroll columns left or right", PT_REQUEST_NONE, PT_TOP_ACTION_LEFT, 0 },
    { { ']' }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_RIGHT, 0 },
    { { '1' }, "1", "show one bar per CPU", PT_REQUEST_NONE, PT_TOP_ACTION_CORES, 0 },
    { { PT_KEY_LEFT }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_LEFT, PT_LIVE_ONLY },
    { { PT_KEY_RIGHT }, NULL, NULL, PT_REQUEST_NONE, PT_TOP_ACTION_RIGHT, PT_LIVE_ONLY },
    { { PT_KEY_LEFT },
      "left right",
      "10 s back or forward; with shift, or ( ), a minute",
      PT_REQUEST_BACK,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { PT_KEY_RIGHT }, NULL, NULL, PT_REQUEST_FORWARD, PT_TOP_ACTION_NONE, PT_REPLAY_ONLY },
    { { PT_KEY_FAR_LEFT, '(' },
      NULL,
      NULL,
      PT_REQUEST_FAR_BACK,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { PT_KEY_FAR_RIGHT, ')' },
      NULL,
      NULL,
      PT_REQUEST_FAR_FORWARD,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { ',' },
      ", .",
      "one sample back or forward",
      PT_REQUEST_STEP_BACK,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { '.' }, NULL, NULL, PT_REQUEST_STEP, PT_TOP_ACTION_NONE, PT_REPLAY_ONLY },
    { { 'b' },
      "b e",
      "go to the beginning or the end",
      PT_REQUEST_START,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { 'e' }, NULL, NULL, PT_REQUEST_END, PT_TOP_ACTION_NONE, PT_REPLAY_ONLY },
    { { '+', '=' },
      "+ -",
      "faster, slower",
      PT_REQUEST_FASTER,
      PT_TOP_ACTION_NONE,
      PT_REPLAY_ONLY },
    { { '-' }, NULL, NULL, PT_REQUEST_SLOWER, PT_TOP_ACTION_NONE, PT_REPLAY_ONLY },
};
const size_t pt_binding_count = PT_COUNT(pt_bindings);

/* The filter accepts ASCII only. */
static void type_key(struct pt_top_view *v, int key) {
    char *filter = pt_top_view_filter(v);
    size_t length = strlen(filter);
    if (key == PT_KEY_ENTER) {
        v->is_typing = false;
    } else if (key == PT_KEY_ESCAPE) {
        v->is_typing = false;
        filter[0] = 0;
    } else if (key == PT_KEY_BACKSPACE && length > 0) {
        filter[length - 1] = 0;
    } else if (key >= ' ' && key < 0x7f && length + 1 < PT_VIEW_FILTER) {
        filter[length] = (char)key;
        filter[length + 1] = 0;
    }
    v->selected = v->first = 0;
}

enum pt_top_view_request pt_top_view_press(struct pt_top_view *v, const struct pt_top_model *m,
                                           bool is_replay, int key) {
    if (key == PT_KEY_NONE)
        return PT_REQUEST_NONE;
    if (v->is_typing) {
        type_key(v, key);
        return PT_REQUEST_NONE;
    }
    bool had_help = v->with_help;
    v->with_help = false;
    for (size_t i = 0; i < PT_COUNT(pt_bindings); i++) {
        const struct pt_binding *b = &pt_bindings[i];
        bool has_key = false;
        for (size_t k = 0; k < PT_COUNT(b->keys); k++)
            has_key |= b->keys[k] == key;
        if (!has_key || (b->where != PT_ANY_SOURCE && (b->where == PT_REPLAY_ONLY) != is_replay))
            continue;
        if (!(had_help && b->action == PT_TOP_ACTION_HELP))
            act(v, m, b->action);
        return b->request;
    }
    return PT_REQUEST_NONE;
}
