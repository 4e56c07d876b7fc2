/* engine/decimal.h -- decimal text to the nearest double: always correctly rounded, and fast.
 *
 *     0.0   162.0   8.128902e+06   0.31326723098754883   1.7268398130168908e+09 */
#ifndef PT_ENGINE_DECIMAL_H
#define PT_ENGINE_DECIMAL_H

#include "base/str.h"

/* Longer numbers are not taken. */
#define PT_DECIMAL_MAX 512

/* [sign] digits [. digits] [e [sign] digits] at the start of the text. Returns how many bytes were
 * taken, 0 if there is no such number or it is too large for a double. */
size_t pt_decimal_scan(struct pt_str text, double *value);

/* The whole text: a decimal, or (any case) [sign] inf, [sign] infinity, nan. */
bool pt_decimal_parse(struct pt_str text, double *value);

/* The whole text as Go's ParseFloat takes it: all of the above and 0x1.8p-3. */
bool pt_decimal_parse_go(struct pt_str text, double *value);

#endif
