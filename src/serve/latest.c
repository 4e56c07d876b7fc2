#include "serve/latest.h"

static bool is_wanted(const struct pt_table *table, const struct pt_column *column) {
    (void)column;
    return table->rows != PT_ROWS_EVENTS;
}

static void borrow_rows(struct pt_latest *l) {
    for (uint32_t i = 0; i < l->now.schema->table_count; i++)
        l->now.batches[i] = *pt_rates_rows(&l->rates, (int)i);
}

void pt_latest_init(struct pt_latest *l, const struct pt_schema *schema) {
    *l = (struct pt_latest){ .now.schema = schema };
    pt_rates_init(&l->rates, schema, is_wanted, false);
    pt_figure_stream_init(&l->figures, schema);
    l->now.batches = pt_calloc(schema->table_count, sizeof *l->now.batches);
    borrow_rows(l);
}

void pt_latest_release(struct pt_latest *l) {
    pt_free(l->now.batches);
    pt_rates_release(&l->rates);
    pt_figure_stream_release(&l->figures);
    *l = (struct pt_latest){ 0 };
}

void pt_latest_update(struct pt_latest *l, const struct pt_sample *sample) {
    if (!pt_figure_stream_add(&l->figures, sample))
        return;
    pt_rates_add(&l->rates, sample);
    borrow_rows(l);
    l->now.wall_ns = sample->wall_ns;
    l->now.mono_ns = sample->mono_ns;
    l->sample_count++;
}
