#include "derive/rates.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>

/* An interval longer than both, the first relative to the mean interval, is a gap. */
#define GAP_FACTOR 5
#define GAP_NS     (2 * PT_NS_PER_SECOND)

bool pt_gaps_next(struct pt_gaps *g, int64_t mono_ns) {
    int64_t elapsed_ns = g->last_ns ? mono_ns - g->last_ns : 0;
    if (elapsed_ns < 0)
        return false;
    bool is_gap = g->mean_interval_ns > 0 && elapsed_ns > GAP_NS &&
                  elapsed_ns > GAP_FACTOR * g->mean_interval_ns;
    if (elapsed_ns > 0 && !is_gap)
        g->mean_interval_ns =
            g->mean_interval_ns == 0 ? elapsed_ns : (7 * g->mean_interval_ns + elapsed_ns) / 8;
    g->last_ns = mono_ns;
    return is_gap;
}

static bool is_number(const struct pt_column *c) {
    return c->type != PT_STRING;
}

void pt_rates_init(struct pt_rates *r, const struct pt_schema *schema, pt_wants_function *wants,
                   bool only_recorded) {
    *r = (struct pt_rates){ .schema = schema };
    r->tables = pt_calloc(schema->table_count, sizeof *r->tables);
    r->slots = pt_calloc(schema->table_count, sizeof *r->slots);
    r->slot_counts = pt_calloc(schema->table_count, sizeof *r->slot_counts);
    r->percentiles = pt_calloc(schema->table_count, sizeof *r->percentiles);
    r->recorded = pt_calloc(schema->table_count, sizeof *r->recorded);
    r->is_wanted = pt_calloc(schema->table_count, sizeof *r->is_wanted);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct pt_table *table = schema->tables[t];
        pt_batch_init(&r->tables[t].rows, table);
        pt_batch_init(&r->tables[t].before, table);
        r->slots[t] = pt_calloc(table->column_count, sizeof **r->slots);
        r->recorded[t] = only_recorded ? pt_table_find_role(table, PT_ROLE_RECORDED) : -1;
        r->is_wanted[t] = !wants;
        pt_percentiles_init(&r->percentiles[t], schema, table);
        for (int c = 0; c < table->column_count; c++) {
            bool is_kept =
                is_number(&table->columns[c]) && (!wants || wants(table, &table->columns[c]));
            r->slots[t][c] = is_kept ? (int16_t)r->slot_counts[t]++ : -1;
            r->is_wanted[t] |= is_kept;
        }
    }
}

void pt_rates_release(struct pt_rates *r) {
    if (!r->schema)
        return;
    for (uint32_t t = 0; t < r->schema->table_count; t++) {
        pt_batch_release(&r->tables[t].rows);
        pt_batch_release(&r->tables[t].before);
        pt_free(r->tables[t].values);
        pt_free(r->tables[t].spare);
        pt_free(r->slots[t]);
    }
    pt_free(r->tables);
    pt_free(r->slots);
    pt_free(r->slot_counts);
    pt_free(r->percentiles);
    pt_classic_histogram_release(&r->grown);
    pt_free(r->recorded);
    pt_free(r->is_wanted);
    *r = (struct pt_rates){ 0 };
}

void pt_rates_clear(struct pt_rates *r) {
    for (uint32_t t = 0; t < r->schema->table_count; t++) {
        pt_batch_clear(&r->tables[t].rows);
        pt_batch_clear(&r->tables[t].before);
    }
    r->gaps = (struct pt_gaps){ 0 };
    r->mono_ns = r->interval_ns = 0;
}

/* Rows without read times have the time of the sample. */
static int64_t time_of(const struct pt_batch *rows, uint32_t row, const struct pt_column *c,
                       int64_t mono_ns) {
    int64_t time_ns = c->source < rows->table->source_count ? pt_get_time(rows, row, c->source) : 0;
    return time_ns ? time_ns : mono_ns;
}

static void next_counter(struct pt_rate *now, double value, int64_t read_ns) {
    struct pt_growth growth;
    switch (pt_track_next(&now->track, value, read_ns, &growth)) {
    case PT_TRACK_STARTS:
        now->value = NAN;
        return;
    case PT_TRACK_GROWS:
        now->value = pt_growth_rate(&growth);
        now->from_ns = growth.from_ns;
        now->to_ns = growth.to_ns;
        return;
    case PT_TRACK_WAITS:
        return;
    }
}

void pt_rate_next(struct pt_rate *r, const struct pt_batch *rows, uint32_t row, int column,
                  int64_t mono_ns, int64_t interval_ns) {
    const struct pt_column *c = &rows->table->columns[column];
    r->from_ns = r->to_ns = 0;
    if (pt_is_null(rows, row, column)) {
        r->value = NAN;
        return;
    }
    double value = pt_get_number(rows, row, column);
    if (c->kind == PT_KEY || c->kind == PT_INFO) {
        r->value = value;
        return;
    }
    value *= pt_units[c->unit].prometheus_factor;
    int64_t read_ns = time_of(rows, row, c, mono_ns);
    if (c->kind == PT_COUNTER) {
        next_counter(r, value, read_ns);
    } else {
        r->value = value;
        r->from_ns = mono_ns - interval_ns;
        r->to_ns = mono_ns;
    }
    if (mono_ns - read_ns > pt_column_lasts_ns(c, interval_ns)) {
        r->value = NAN;
        r->from_ns = r->to_ns = 0;
    }
}

static bool is_recorded(const struct pt_batch *rows, uint32_t row, int column) {
    return column < 0 || pt_is_null(rows, row, column) || pt_get_number(rows, row, column) >= 0.5;
}

static void swap_rows(struct pt_rates_table *t) {
    struct pt_batch rows = t->rows;
    t->rows = t->before;
    t->before = rows;
}

/* Values follow their rows, which most often are the same ones in the same order. */
static void move_values(struct pt_rates_table *t, size_t width) {
    uint32_t known = t->before.row_count, count = t->rows.row_count, hint = 0;
    bool is_in_order = true;
    pt_grow(&t->values, &t->value_capacity, count * width + 1, sizeof *t->values);
    for (uint32_t row = 0; row < count && is_in_order; row++) {
        int64_t found = pt_row_find(&t->before, &t->rows, row, &hint);
        is_in_order = found < 0 ? row >= known : found == row;
    }
    if (is_in_order) {
        if (count > known)
            memset(t->values + known * width, 0, (count - known) * width * sizeof *t->values);
        return;
    }
    pt_grow(&t->spare, &t->spare_capacity, count * width + 1, sizeof *t->spare);
    for (uint32_t row = hint = 0; row < count; row++) {
        int64_t found = pt_row_find(&t->before, &t->rows, row, &hint);
        if (found < 0)
            memset(t->spare + row * width, 0, width * sizeof *t->spare);
        else
            memcpy(t->spare + row * width, t->values + (size_t)found * width,
                   width * sizeof *t->spare);
    }
    struct pt_rate *values = t->values;
    size_t capacity = t->value_capacity;
    t->values = t->spare;
    t->value_capacity = t->spare_capacity;
    t->spare = values;
    t->spare_capacity = capacity;
}

/* Between two reads the last percentile stays true for as long as its column says. */
static void next_percentile(const struct pt_rates *r, const struct pt_column *c,
                            const struct pt_percentiles_growth *growth, struct pt_rate *rate) {
    if (growth->to_ns)
        rate->track = (struct pt_track){
            pt_classic_histogram_quantile(growth->histogram, pt_percentile_level(c)).value,
            growth->to_ns, true
        };
    bool is_true = rate->track.has_value &&
                   r->mono_ns - rate->track.time_ns <= pt_column_lasts_ns(c, r->interval_ns);
    rate->value = is_true ? rate->track.value : NAN;
    rate->from_ns = growth->from_ns;
    rate->to_ns = growth->to_ns;
}

static void next_row(struct pt_rates *r, uint32_t t, uint32_t row, const struct pt_sample *sample) {
    const struct pt_percentiles *p = &r->percentiles[t];
    const struct pt_batch *rows = &r->tables[t].rows;
    struct pt_rate *values = r->tables[t].values + (size_t)row * r->slot_counts[t];
    struct pt_percentiles_growth growth = { .histogram = &r->grown };
    const char *grown = NULL; /* the histogram that has been added up */
    for (int i = 0; i < rows->table->column_count; i++) {
        const struct pt_column *c = &rows->table->columns[i];
        if (r->slots[t][i] < 0)
            continue;
        struct pt_rate *rate = &values[r->slots[t][i]];
        if (!p->has_one_each || !pt_percentiles_has(p, c)) {
            pt_rate_next(rate, rows, row, i, r->mono_ns, r->interval_ns);
            continue;
        }
        if (grown != c->histogram) {
            pt_classic_histogram_clear(&r->grown);
            pt_percentiles_add(p, rows, row, i, &sample->batches[p->table], &growth);
            grown = c->histogram;
        }
        next_percentile(r, c, &growth, rate);
    }
}

static void next_values(struct pt_rates *r, uint32_t t, const struct pt_sample *sample) {
    for (uint32_t row = 0; row < r->tables[t].rows.row_count; row++)
        next_row(r, t, row, sample);
}

static void add_table(struct pt_rates *r, uint32_t t, const struct pt_sample *sample) {
    struct pt_rates_table *now = &r->tables[t];
    const struct pt_batch *rows = &sample->batches[t];
    if (now->rows.row_count > 0)
        swap_rows(now);
    now->seen_ns = r->mono_ns;
    if (r->recorded[t] < 0) {
        pt_batch_copy(&now->rows, rows);
    } else {
        pt_batch_clear(&now->rows);
        for (uint32_t row = 0; row < rows->row_count; row++)
            if (is_recorded(rows, row, r->recorded[t]))
                pt_batch_copy_row(&now->rows, rows, row);
    }
    move_values(now, r->slot_counts[t]);
    next_values(r, t, sample);
}

/* Rows stay while a column of theirs is still true. */
static bool is_over(const struct pt_rates *r, uint32_t t) {
    const struct pt_table *table = r->schema->tables[t];
    int64_t age_ns = r->mono_ns - r->tables[t].seen_ns;
    for (int c = 0; c < table->column_count; c++)
        if (age_ns <= pt_column_lasts_ns(&table->columns[c], r->interval_ns))
            return false;
    return true;
}

/* Nothing new for a table that this sample has no rows of; what is too old becomes unknown. */
static void wait_table(struct pt_rates *r, uint32_t t, const struct pt_sample *sample) {
    if (is_over(r, t)) { /* the counters go on from there when the table has rows again */
        swap_rows(&r->tables[t]);
        pt_batch_clear(&r->tables[t].rows);
    }
    next_values(r, t, sample);
}

/* A mark or an alert comes between two samples and does not divide their time. */
static void add_events(struct pt_rates *r, const struct pt_sample *sample) {
    for (uint32_t t = 0; t < r->schema->table_count; t++)
        if (r->is_wanted[t] && r->schema->tables[t]->rows == PT_ROWS_EVENTS &&
            sample->batches[t].row_count > 0)
            add_table(r, t, sample);
}

bool pt_sample_has_state(const struct pt_sample *sample) {
    for (uint32_t t = 0; t < sample->schema->table_count; t++)
        if (sample->schema->tables[t]->rows != PT_ROWS_EVENTS && sample->batches[t].row_count > 0)
            return true;
    return false;
}

void pt_rates_add(struct pt_rates *r, const struct pt_sample *sample) {
    add_events(r, sample);
    if (!pt_sample_has_state(sample))
        return;
    bool is_gap = pt_gaps_next(&r->gaps, sample->mono_ns);
    r->interval_ns = r->mono_ns && !is_gap ? sample->mono_ns - r->mono_ns : 0;
    r->mono_ns = sample->mono_ns;
    r->wall_ns = sample->wall_ns;
    for (uint32_t t = 0; t < r->schema->table_count; t++) {
        if (!r->is_wanted[t] || r->schema->tables[t]->rows == PT_ROWS_EVENTS)
            continue;
        if (is_gap) {
            pt_batch_clear(&r->tables[t].rows);
            pt_batch_clear(&r->tables[t].before);
        }
        if (sample->batches[t].row_count > 0)
            add_table(r, t, sample);
        else if (r->tables[t].rows.row_count > 0)
            wait_table(r, t, sample);
    }
}

double pt_rates_at(const struct pt_rates *r, int table, uint32_t row, int column) {
    const struct pt_rate *rate = pt_rates_get(r, table, row, column);
    return rate ? rate->value : NAN;
}
