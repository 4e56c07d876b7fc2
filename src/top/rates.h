/* top/rates.h -- the numbers of the newest sample: gauges and rates.
 *
 * All in base units (bytes, seconds, watts, ratios). A counter is its rate per second between the
 * last two reads of its source. A counter that was not read again keeps its rate; one that fell was
 * reset. Unknown is NAN. */
#ifndef PT_TOP_RATES_H
#define PT_TOP_RATES_H

#include "model/sample.h"

struct pt_rates_table {
    struct pt_batch rows; /* a copy of the newest rows */
    double *values;       /* for each row and column */
    size_t value_capacity;
    int64_t seen_ns; /* time of the rows */
};

struct pt_rates {
    const struct pt_schema *schema;
    struct pt_rates_table *tables, *before; /* one per table of the schema */
    int64_t mono_ns, wall_ns;               /* of the newest sample */
    int64_t interval_ns;                    /* to the previous one; 0: there is none */
};

void pt_rates_init(struct pt_rates *r, const struct pt_schema *schema); /* borrows */
void pt_rates_release(struct pt_rates *r);
/* Drops all rows, before a jump in time. */
void pt_rates_clear(struct pt_rates *r);
void pt_rates_add(struct pt_rates *r, const struct pt_sample *sample);

static inline const struct pt_batch *pt_rates_rows(const struct pt_rates *r, int table) {
    return &r->tables[table].rows;
}

static inline double pt_rates_at(const struct pt_rates *r, int table, uint32_t row, int column) {
    const struct pt_rates_table *t = &r->tables[table];
    return t->values[(size_t)row * t->rows.table->column_count + (size_t)column];
}

/* The same by name, for the first row; NAN if the schema has no such column. */
double pt_rates_find(const struct pt_rates *r, const char *table, const char *column);

#endif
