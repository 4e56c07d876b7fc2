/* serve/latest.h -- the latest rows of each table.
 *
 * A tick does not fill every table: Pitot's own overhead comes every ten seconds, and expensive
 * collectors may be thinned. Rows older than a minute are dropped. Tables of events are left
 * out. */
#ifndef PT_SERVE_LATEST_H
#define PT_SERVE_LATEST_H

#include "model/sample.h"

#define PT_LATEST_KEPT_NS (INT64_C(60) * 1000000000)

struct pt_latest {
    struct pt_sample now, before; /* `before`: the rows that those of `now` replaced */
    int64_t *filled_ns;           /* CLOCK_MONOTONIC, by table; 0: never */
    int64_t *before_ns;
    uint64_t sample_count;
};

void pt_latest_init(struct pt_latest *l, const struct pt_schema *schema); /* borrows */
void pt_latest_release(struct pt_latest *l);
/* Copies; allocates only for the first samples. A sample with events only changes nothing. */
void pt_latest_update(struct pt_latest *l, const struct pt_sample *sample);

/* The mean of a column over the rows where it is known, in its own unit; NAN: all are unknown. */
double pt_latest_mean(const struct pt_latest *l, const char *table, const char *column);

/* The row of `b` with the same key as a row of another batch of its table, or -1. `*hint` is the
 * row to try first; rows come in the same order each time. */
int64_t pt_row_find(const struct pt_batch *b, const struct pt_batch *other, uint32_t row,
                    uint32_t *hint);

/* The value to draw, in base units: a gauge, or the rate of a counter since `before_row` of
 * `before` (-1: there is none). Rows without times of their own use the times given. NAN:
 * unknown. */
double pt_row_value(const struct pt_batch *b, uint32_t row, int column, int64_t mono_ns,
                    const struct pt_batch *before, int64_t before_row, int64_t before_ns);

#endif
