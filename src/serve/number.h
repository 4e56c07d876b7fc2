/* serve/number.h -- numbers for charts: seven digits, which is more than a screen shows and half
 * the bytes of a full double. */
#ifndef PT_SERVE_NUMBER_H
#define PT_SERVE_NUMBER_H

#include "base/json.h"

#include <math.h>
#include <stdio.h>

/* NAN is null. */
static inline void pt_json_number(struct pt_json *j, const char *key, double value) {
    char text[32];
    if (!isfinite(value)) {
        pt_json_null(j, key);
        return;
    }
    int length = snprintf(text, sizeof text, "%.7g", value);
    pt_json_raw(j, key, (struct pt_str){ text, (size_t)length });
}

#endif
