#include "model/view.h"

#include <stdio.h>

static struct pt_view_column *add_column(struct pt_view *v, size_t *capacity) {
    pt_grow(&v->columns, capacity, v->column_count + 1, sizeof *v->columns);
    struct pt_view_column *c = &v->columns[v->column_count++];
    *c = (struct pt_view_column){ 0 };
    return c;
}

static void add_times(struct pt_view *v, size_t *capacity) {
    struct pt_view_column *c = add_column(v, capacity);
    c->name = pt_strdup("timestamp");
    c->role = PT_VIEW_TIMESTAMP;
    c = add_column(v, capacity);
    c->name = pt_strdup("monotonic_ns");
    c->role = PT_VIEW_MONOTONIC;
}

/* Tables are joined on a key they share: it is one column of the view. */
static bool is_joined(const struct pt_view *v, const struct pt_column *column) {
    for (uint32_t i = 0; column->kind == PT_KEY && i < v->column_count; i++)
        if (v->columns[i].role == PT_VIEW_VALUE && strcmp(v->columns[i].name, column->name) == 0)
            return true;
    return false;
}

static void add_table(struct pt_view *v, size_t *capacity, uint32_t table) {
    const struct pt_table *t = v->schema->tables[table];
    for (uint16_t i = 0; i < t->column_count; i++) {
        const struct pt_column *column = &t->columns[i];
        if (is_joined(v, column))
            continue;
        struct pt_view_column *c = add_column(v, capacity);
        *c = (struct pt_view_column){
            pt_strdup(column->name), PT_VIEW_VALUE, column->type, table, i, i, column
        };
        if (!pt_column_is_timed(t, column))
            continue;
        c = add_column(v, capacity);
        *c = (struct pt_view_column){
            pt_asprintf("%sT", column->name), PT_VIEW_TIME, PT_I64, table, column->source, i, column
        };
    }
}

static bool is_main(const struct pt_table *t) {
    return t->file[0] == 0;
}

static void init_view(struct pt_view *v, const struct pt_schema *schema, uint32_t table) {
    size_t capacity = 0;
    *v = (struct pt_view){ .schema = schema, .table = table, .file = "" };
    add_times(v, &capacity);
    if (table != PT_VIEW_JOINED) {
        v->file = schema->tables[table]->file;
        add_table(v, &capacity, table);
        return;
    }
    for (uint32_t i = 0; i < schema->table_count; i++)
        if (is_main(schema->tables[i]))
            add_table(v, &capacity, i);
}

void pt_views_init(struct pt_views *v, const struct pt_schema *schema) {
    v->views = pt_calloc(schema->table_count + 1, sizeof *v->views);
    v->view_count = 0;
    init_view(&v->views[v->view_count++], schema, PT_VIEW_JOINED);
    for (uint32_t i = 0; i < schema->table_count; i++)
        if (!is_main(schema->tables[i]))
            init_view(&v->views[v->view_count++], schema, i);
}

void pt_views_release(struct pt_views *v) {
    for (uint32_t i = 0; i < v->view_count; i++) {
        for (uint32_t c = 0; c < v->views[i].column_count; c++)
            pt_free(v->views[i].columns[c].name);
        pt_free(v->views[i].columns);
    }
    pt_free(v->views);
    *v = (struct pt_views){ 0 };
}

uint32_t pt_view_row_count(const struct pt_view *v, const struct pt_sample *sample) {
    if (v->table != PT_VIEW_JOINED)
        return sample->batches[v->table].row_count;
    for (uint32_t i = 0; i < v->schema->table_count; i++)
        if (is_main(v->schema->tables[i]) && sample->batches[i].row_count > 0)
            return 1;
    return 0;
}

void pt_view_row_init(struct pt_view_row *row, const struct pt_view *v) {
    row->cells = pt_calloc(v->column_count, sizeof *row->cells);
    row->strings = pt_calloc(v->column_count, sizeof *row->strings);
    row->is_null = pt_calloc(v->column_count, sizeof *row->is_null);
}

void pt_view_row_release(struct pt_view_row *row) {
    pt_free(row->cells);
    pt_free(row->strings);
    pt_free(row->is_null);
}

/* Where a row of one table lies in its batch. */
struct place {
    const struct pt_batch *batch;
    uint32_t row;
    const uint64_t *times, *present; /* NULL: the table has no such row */
    const union pt_cell *cells;
};

static struct place find_place(const struct pt_sample *sample, uint32_t table, uint32_t index) {
    const struct pt_batch *b = &sample->batches[table];
    if (index >= b->row_count)
        return (struct place){ .batch = b };
    return (struct place){ b, index, pt_batch_row(b, index), pt_batch_present(b, index),
                           pt_batch_cells(b, index) };
}

static inline void read_column(const struct pt_view_column *c, const struct pt_sample *sample,
                               const struct place *place, uint32_t i, struct pt_view_row *row) {
    bool is_present =
        place->present && place->present[c->of_column / 64] >> (c->of_column % 64) & 1;
    row->is_null[i] = !is_present;
    if (!is_present)
        return;
    if (c->role == PT_VIEW_TIME)
        row->cells[i].i64 = pt_sample_wall_of(sample, (int64_t)place->times[c->index]);
    else if (c->type == PT_STRING)
        row->strings[i] = pt_get_str(place->batch, place->row, c->index);
    else
        row->cells[i] = place->cells[c->index];
}

void pt_view_read(const struct pt_view *v, const struct pt_sample *sample, uint32_t index,
                  struct pt_view_row *row) {
    struct place place = { 0 };
    for (uint32_t i = 0; i < v->column_count; i++) {
        const struct pt_view_column *c = &v->columns[i];
        if (c->role == PT_VIEW_VALUE || c->role == PT_VIEW_TIME) {
            if (place.batch != &sample->batches[c->table])
                place = find_place(sample, c->table, index);
            read_column(c, sample, &place, i, row);
            continue;
        }
        row->is_null[i] = false;
        row->cells[i].i64 = c->role == PT_VIEW_TIMESTAMP ? sample->wall_ns : sample->mono_ns;
    }
}
