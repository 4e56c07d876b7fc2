/* derive/bucket_rows.h -- tables of histograms: each row is a bucket that grew, by how much, and in
 * which interval.
 *
 *     eUrl                  hName  hAbove  hLe   hCount  hSeconds
 *     http://gpu7:8000/...  ttft   0.1     0.25  3       1.001
 *     http://gpu7:8000/...  ttft   0.5           1       1.001
 *
 * The sum of any rows is the histogram of their intervals. A lower bound is empty if it is unknown,
 * an upper bound if there is none (+Inf). The time of hCount is the end of the interval. */
#ifndef PT_DERIVE_BUCKET_ROWS_H
#define PT_DERIVE_BUCKET_ROWS_H

#include "derive/classic_histogram.h"
#include "model/batch.h"

/* Columns that all tables of histograms have: X(t, ...) as in model/table.h. `unit` is that of the
 * observations. */
#define PT_BUCKET_COLUMNS(X, t, unit)                                                              \
    X(t, above, "hAbove", INFO, F64, unit, 0, "Lower bound of the bucket; empty: unknown")         \
    X(t, le, "hLe", INFO, F64, unit, 0, "Upper bound of the bucket, inclusive; empty: none, +Inf") \
    X(t, count, "hCount", GAUGE, I64, COUNT, 0,                                                    \
      "Observations in this bucket in the interval; T: end of the interval")                       \
    X(t, seconds, "hSeconds", INFO, F64, SECONDS, 0, "Length of the interval; empty: unknown")

/* Sets these columns in the last row, whose first one is `first`. Intervals have a resolution of
 * 1 ms; unknown: NAN. */
void pt_bucket_row_set(struct pt_batch *rows, int first, double above, double le, int64_t count,
                       double seconds);

/* Index of the first of these columns; -1: the table is not a table of histograms. Tables of a
 * merged run have a column more in front. */
int pt_bucket_rows_find(const struct pt_table *table);

/* The interval of a row; without its length it is empty. */
struct pt_bucket_time {
    int64_t from_ns, to_ns;
};

struct pt_bucket_time pt_bucket_row_time(const struct pt_batch *rows, uint32_t row, int first);

/* Adds the observations of a row; `first` is as above. */
void pt_bucket_row_add_to(const struct pt_batch *rows, uint32_t row, int first,
                          struct pt_classic_histogram *into);

#endif
