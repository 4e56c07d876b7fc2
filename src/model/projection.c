#include "model/projection.h"

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
    for (int i = 0; i < from->column_count; i++) {
        int found = pt_table_find(into, from->columns[i].name);
        bool is_same = found >= 0 && into->columns[found].type == from->columns[i].type;
        p->columns[i] = is_same ? found : -1;
    }
    for (int i = 0; i < from->source_count; i++)
        p->sources[i] = find_source(into, from->sources[i]);
}

void pt_projection_release(struct pt_projection *p) {
    pt_free(p->columns);
    pt_free(p->sources);
    *p = (struct pt_projection){ 0 };
}

void pt_projection_add(const struct pt_projection *p, const struct pt_batch *from, uint32_t row,
                       int64_t shift_ns, struct pt_batch *into) {
    pt_batch_add_row(into);
    for (int i = 0; i < p->from->source_count; i++) {
        int64_t read_ns = pt_get_time(from, row, i);
        if (p->sources[i] >= 0 && read_ns)
            pt_set_time(into, p->sources[i], read_ns + shift_ns);
    }
    for (int i = 0; i < p->from->column_count; i++) {
        if (p->columns[i] < 0 || pt_is_null(from, row, i))
            continue;
        if (p->from->columns[i].type == PT_STRING)
            pt_set_masked(into, p->columns[i], pt_get_str(from, row, i));
        else
            pt_set_cell_(into, p->columns[i], pt_batch_cells(from, row)[i]);
    }
}
