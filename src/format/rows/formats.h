/* format/rows/formats.h -- cells as text, for all formats. */
#ifndef PT_FORMAT_ROWS_FORMATS_H
#define PT_FORMAT_ROWS_FORMATS_H

#include "base/clock.h"
#include "base/digits.h"
#include "format/rows/sink.h"

#include <math.h>

/* Unix milliseconds, rounded down, also before 1970. */
static inline int64_t pt_unix_ms(int64_t unix_ns) {
    int64_t ms = unix_ns / PT_NS_PER_MS;
    return ms - (unix_ns % PT_NS_PER_MS < 0);
}

/* A number or time as text: at most PT_DIGITS_MAX bytes; returns how many. 0 for values that are
 * not finite, which a damaged journal may contain. */
static inline size_t pt_cell_digits(char *into, const struct pt_view_column *column,
                                    union pt_cell cell) {
    if (column->type == PT_F64)
        return isfinite(cell.f64) ? pt_digits_f64(into, cell.f64) : 0;
    bool is_time = column->role == PT_VIEW_TIMESTAMP || column->role == PT_VIEW_TIME;
    return pt_digits_i64(into, is_time ? pt_unix_ms(cell.i64) : cell.i64);
}

#endif
