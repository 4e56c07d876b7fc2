/* bench/export_data.h -- the run that the Parquet benchmark writes: 100 columns at 1 s.
 *
 * 50 integers (two times, counters with varied increments, constants, small
 * gauges) and 50 doubles with up to three decimals (random walks, percentages,
 * values that rarely change, noise). The same numbers on every machine. The mix is such
 * that DuckDB needs about 130 bytes for a row and the order-0 entropy of the better of
 * values and differences is about 63 bytes. */
#ifndef PT_BENCH_EXPORT_DATA_H
#define PT_BENCH_EXPORT_DATA_H

#include "model/view.h"

#define EXPORT_DATA_COLUMNS 100

struct export_data {
    struct pt_views views; /* views.views[0] has the 100 columns */
    union pt_cell *cells;  /* row after row */
    uint32_t row_count;
    struct pt_schema schema;
    const struct pt_table *tables[1];
    struct pt_table table;
    struct pt_column columns[EXPORT_DATA_COLUMNS];
};

void export_data_init(struct export_data *d, uint32_t row_count);
void export_data_release(struct export_data *d);
/* Decimals of a double column; 0 for integers. */
int export_data_decimals(uint32_t column);

#endif
