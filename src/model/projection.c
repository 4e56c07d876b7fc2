#include "model/projection.h"

static int find_column(const struct pt_table *t, const struct pt_column *column) {
    int found = pt_table_find(t, column->name);
    return found >= 0 && t->columns[found].type == column->type ? found : -1;
}

static int find_source(const struct pt_table *t, const char *source) {
    for (int i = 0; i < t->source_count; i++)
        if (strcmp(t->sources[i], source) == 0)
            return i;
    return -1;
}

void pt_projection_init(struct pt_projection *p, const struct pt_table *from,
                        const struct pt_table *into) {
    *p = (struct pt_projection){ .from = from };
    p->columns = pt_calloc(from->column_count, sizeof *p->columns);
    p->sources = pt_calloc(from->source_count + 1u, sizeof *p->sources);
    for (int i = 0; i < from->column_count; i++)
        p->columns[i] = find_column(into, &from->columns[i]);
    for (int i = 0; i < from->source_count; i++)
        p->sources[i] = find_source(into, from->sources[i]);
}

void pt_projection_release(struct pt_projection *p) {
    pt_free(p->columns);
    pt_free(p->sources);
    *p = (struct pt_projection){ 0 };
}

static void copy_cell(const struct pt_batch *from, uint32_t row, int column, struct pt_batch *into,
                      int into_column) {
    if (from->table->columns[column].type == PT_STRING)
        pt_set_str(into, into_column, pt_get_str(from, row, column));
    else
        pt_set_cell_(into, into_column, pt_batch_cells(from, row)[column]);
}

void pt_projection_add(const struct pt_projection *p, const struct pt_batch *from, uint32_t row,
                       int64_t shift_ns, struct pt_batch *into) {
    pt_batch_add_row(into);
    for (int i = 0; i < p->from->source_count; i++) {
        int64_t read_ns = pt_get_time(from, row, i);
        if (p->sources[i] >= 0 && read_ns)
            pt_set_time(into, p->sources[i], read_ns + shift_ns);
    }
    for (int i = 0; i < p->from->column_count; i++)
        if (p->columns[i] >= 0 && !pt_is_null(from, row, i))
            copy_cell(from, row, i, into, p->columns[i]);
}
