/* analyze/value.h -- values of any column as short text: 43.2%, 1.2G/s, 45.0ms. */
#ifndef PT_ANALYZE_VALUE_H
#define PT_ANALYZE_VALUE_H

#include "analyze/figure.h"

/* A value in the base unit of its column; for a counter, per second. NAN is "-". */
void pt_value_print(const struct pt_column *column, double value, char *into, size_t capacity);

/* Like pt_figure_print, but short: 1.2G (powers of 1024), no blank before the unit. */
void pt_value_figure(enum pt_figure_format format, double value, char *into, size_t capacity);

#endif
