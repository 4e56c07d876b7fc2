#include "serve/latest.h"

#include <math.h>
#include <string.h>

#define MIN_INTERVAL_NS INT64_C(5000000) /* between two reads of a counter */

static bool is_events(const struct pt_table *t) {
    return t->rows == PT_ROWS_EVENTS;
}

void pt_latest_init(struct pt_latest *l, const struct pt_schema *schema) {
    *l = (struct pt_latest){ 0 };
    pt_sample_init(&l->now, schema);
    pt_sample_init(&l->before, schema);
    l->filled_ns = pt_calloc(schema->table_count, sizeof *l->filled_ns);
    l->before_ns = pt_calloc(schema->table_count, sizeof *l->before_ns);
}

void pt_latest_release(struct pt_latest *l) {
    pt_sample_release(&l->now);
    pt_sample_release(&l->before);
    pt_free(l->filled_ns);
    pt_free(l->before_ns);
    *l = (struct pt_latest){ 0 };
}

static void see_table(struct pt_latest *l, const struct pt_sample *sample, uint32_t i) {
    const struct pt_batch *rows = &sample->batches[i];
    if (rows->row_count == 0) {
        if (sample->mono_ns - l->filled_ns[i] > PT_LATEST_KEPT_NS)
            pt_batch_clear(&l->now.batches[i]);
        return;
    }
    struct pt_batch oldest = l->before.batches[i];
    l->before.batches[i] = l->now.batches[i];
    l->before_ns[i] = l->filled_ns[i];
    l->now.batches[i] = oldest;
    pt_batch_copy(&l->now.batches[i], rows);
    l->filled_ns[i] = sample->mono_ns;
}

void pt_latest_update(struct pt_latest *l, const struct pt_sample *sample) {
    bool has_news = false;
    for (uint32_t i = 0; i < sample->schema->table_count; i++)
        has_news |= sample->batches[i].row_count > 0 && !is_events(sample->schema->tables[i]);
    if (!has_news)
        return;
    l->now.wall_ns = sample->wall_ns;
    l->now.mono_ns = sample->mono_ns;
    l->sample_count++;
    for (uint32_t i = 0; i < sample->schema->table_count; i++)
        if (!is_events(sample->schema->tables[i]))
            see_table(l, sample, i);
}

double pt_latest_mean(const struct pt_latest *l, const char *table, const char *column) {
    int index = pt_schema_find(l->now.schema, table);
    int place = index < 0 ? -1 : pt_table_find(l->now.schema->tables[index], column);
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t row = 0; place >= 0 && row < l->now.batches[index].row_count; row++) {
        if (pt_is_null(&l->now.batches[index], row, place))
            continue;
        sum += pt_get_number(&l->now.batches[index], row, place);
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

static bool is_same_cell(const struct pt_batch *a, uint32_t row_a, const struct pt_batch *b,
                         uint32_t row_b, int column) {
    bool is_null = pt_is_null(a, row_a, column);
    if (is_null || pt_is_null(b, row_b, column))
        return is_null && pt_is_null(b, row_b, column);
    if (a->table->columns[column].type == PT_STRING)
        return pt_str_eq(pt_get_str(a, row_a, column), pt_get_str(b, row_b, column));
    return pt_batch_cells(a, row_a)[column].word == pt_batch_cells(b, row_b)[column].word;
}

static bool has_same_key(const struct pt_batch *a, uint32_t row_a, const struct pt_batch *b,
                         uint32_t row_b) {
    for (int i = 0; i < a->table->column_count; i++)
        if (a->table->columns[i].kind == PT_KEY && !is_same_cell(a, row_a, b, row_b, i))
            return false;
    return true;
}

int64_t pt_row_find(const struct pt_batch *b, const struct pt_batch *other, uint32_t row,
                    uint32_t *hint) {
    for (uint32_t i = 0; i < b->row_count; i++) {
        uint32_t at = (*hint + i) % b->row_count;
        if (!has_same_key(b, at, other, row))
            continue;
        *hint = at + 1;
        return at;
    }
    return -1;
}

static int64_t time_of(const struct pt_batch *b, uint32_t row, int column, int64_t mono_ns) {
    int64_t time_ns =
        b->table->is_untimed ? 0 : pt_get_time(b, row, b->table->columns[column].source);
    return time_ns ? time_ns : mono_ns;
}

double pt_row_value(const struct pt_batch *b, uint32_t row, int column, int64_t mono_ns,
                    const struct pt_batch *before, int64_t before_row, int64_t before_ns) {
    if (pt_is_null(b, row, column))
        return (double)NAN;
    const struct pt_column *c = &b->table->columns[column];
    double factor = pt_units[c->unit].prometheus_factor, value = pt_get_number(b, row, column);
    if (c->kind != PT_COUNTER)
        return value * factor;
    if (before_row < 0 || pt_is_null(before, (uint32_t)before_row, column))
        return (double)NAN;
    double grown = value - pt_get_number(before, (uint32_t)before_row, column);
    int64_t took_ns =
        time_of(b, row, column, mono_ns) - time_of(before, (uint32_t)before_row, column, before_ns);
    /* a falling counter was reset; short intervals are too coarse for counters in ticks of 10 ms */
    return grown < 0 || took_ns < MIN_INTERVAL_NS ? (double)NAN
                                                  : grown * factor / ((double)took_ns / 1e9);
}
