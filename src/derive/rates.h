/* derive/rates.h -- the numbers of the newest sample: gauges, and counters as rates.
 *
 * All are in base units: bytes, seconds, watts, shares from 0 to 1. A counter is its growth per
 * second between the last two reads of its source (derive/track.h). A percentile is that of what
 * its histogram grew by last (derive/percentiles.h). A value that was not read again
 * stays for as long as its column says (pt_column_lasts_ns), then it is unknown: NAN. A long time
 * without samples is a gap, and no rate is derived across it. */
#ifndef PT_DERIVE_RATES_H
#define PT_DERIVE_RATES_H

#include "derive/percentiles.h"
#include "derive/track.h"
#include "model/sample.h"

/* A number of a row. */
struct pt_rate {
    double value; /* NAN: unknown */
    /* The time that this sample adds: a gauge covers the time since the previous sample, a counter
     * that since its previous read. Equal: nothing new. */
    int64_t from_ns, to_ns;
    struct pt_track track;
};

static inline double pt_rate_seconds(const struct pt_rate *r) {
    return (double)(r->to_ns - r->from_ns) / 1e9;
}

/* Takes a cell of the sample at `mono_ns`, `interval_ns` after the previous one; 0: there is none.
 * `r` follows this cell from sample to sample; {0} at the start and after a gap. */
void pt_rate_next(struct pt_rate *r, const struct pt_batch *rows, uint32_t row, int column,
                  int64_t mono_ns, int64_t interval_ns);

struct pt_rates_table {
    struct pt_batch rows, before; /* copies of the newest rows and of those before them */
    struct pt_rate *values;       /* for each row and number */
    struct pt_rate *spare;        /* for rows that come in another order; NULL: never yet */
    size_t value_capacity, spare_capacity;
    int64_t seen_ns; /* time of the rows */
};

typedef bool pt_wants_function(const struct pt_table *table, const struct pt_column *column);

/* Which samples are a gap apart. {0} has seen none. */
struct pt_gaps {
    int64_t last_ns, mean_interval_ns;
};

/* Takes the time of a sample. True: there is a gap before it. */
bool pt_gaps_next(struct pt_gaps *g, int64_t mono_ns);

struct pt_rates {
    const struct pt_schema *schema;
    struct pt_rates_table *tables; /* one per table of the schema */
    int16_t **slots;               /* by table and column: index in a row, or -1 */
    uint16_t *slot_counts;
    struct pt_percentiles *percentiles; /* by table */
    struct pt_classic_histogram grown;  /* what a cell has grown by */
    int *recorded;   /* by table: the column that marks rows of the command, if only they count */
    bool *is_wanted; /* by table */
    struct pt_gaps gaps;
    int64_t mono_ns, wall_ns; /* of the newest sample */
    int64_t interval_ns;      /* to the previous one; 0: there is none */
};

/* Borrows the schema. `wants`: columns to keep; NULL: all. A table without such columns is left
 * out. `only_recorded`: of tables that mark the rows of the recorded command, only these. */
void pt_rates_init(struct pt_rates *r, const struct pt_schema *schema, pt_wants_function *wants,
                   bool only_recorded);
void pt_rates_release(struct pt_rates *r);
/* Drops all rows, before a jump in time. */
void pt_rates_clear(struct pt_rates *r);
void pt_rates_add(struct pt_rates *r, const struct pt_sample *sample);

static inline const struct pt_batch *pt_rates_rows(const struct pt_rates *r, int table) {
    return &r->tables[table].rows;
}

/* NULL: not a number, or not wanted. */
static inline const struct pt_rate *pt_rates_get(const struct pt_rates *r, int table, uint32_t row,
                                                 int column) {
    const struct pt_rates_table *t = &r->tables[table];
    int slot = r->slots[table][column];
    return slot < 0 ? NULL : &t->values[(size_t)row * r->slot_counts[table] + (size_t)slot];
}

/* False: only events, such as a mark. */
bool pt_sample_has_state(const struct pt_sample *sample);

double pt_rates_at(const struct pt_rates *r, int table, uint32_t row, int column);

#endif
