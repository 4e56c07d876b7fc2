/* top/rates.h -- the numbers of the newest sample as people read them.
 *
 * All in base units (bytes, seconds, watts, ratios): a gauge as it is, a counter as its growth per
 * second between the last two reads of its own source. A counter that was not read again keeps its
 * rate; one that fell was reset. Unknown is NAN. */
#ifndef PT_TOP_RATES_H
#define PT_TOP_RATES_H

#include "model/sample.h"

struct pt_rates_table {
    struct pt_batch rows; /* a copy of the newest that came */
    double *values;       /* for each row and column */
    size_t value_capacity;
    int64_t seen_ns; /* when they came */
};

struct pt_rates {
    const struct pt_schema *schema;
    struct pt_rates_table *tables, *before; /* one per table of the schema */
    int64_t mono_ns, wall_ns;               /* of the newest sample */
    int64_t interval_ns;                    /* to the one before; 0: there is none */
};

void pt_rates_init(struct pt_rates *r, const struct pt_schema *schema); /* borrows */
void pt_rates_release(struct pt_rates *r);
/* Forgets all rows, before others of another time come. */
void pt_rates_clear(struct pt_rates *r);
void pt_rates_add(struct pt_rates *r, const struct pt_sample *sample);

static inline const struct pt_batch *pt_rates_rows(const struct pt_rates *r, int table) {
    return &r->tables[table].rows;
}

static inline double pt_rates_at(const struct pt_rates *r, int table, uint32_t row, int column) {
    const struct pt_rates_table *t = &r->tables[table];
    return t->values[(size_t)row * t->rows.table->column_count + (size_t)column];
}

/* The same by names, for the first row; NAN where the schema has no such column. */
double pt_rates_find(const struct pt_rates *r, const char *table, const char *column);

#endif
