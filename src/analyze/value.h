/* analyze/value.h -- numbers of any column as short text: 43.2%, 1.2G/s, 45.0ms. */
#ifndef PT_ANALYZE_VALUE_H
#define PT_ANALYZE_VALUE_H

#include "analyze/figure.h"

/* A value in the base unit of its column, of a counter a second; NAN is "-". */
void pt_value_print(const struct pt_column *column, double value, char *into, size_t capacity);

/* As pt_figure_print, but short: 1.2G, of 1024 each, and no blank before the unit. */
void pt_value_figure(enum pt_figure_format format, double value, char *into, size_t capacity);

#endif
