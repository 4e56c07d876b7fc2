/* report/encode.h -- units and curves in the format of the report page. */
#ifndef PT_REPORT_ENCODE_H
#define PT_REPORT_ENCODE_H

#include "base/json.h"
#include "model/table.h"
#include "report/blob.h"
#include "report/curve.h"

struct pt_unit_text {
    const char *base; /* bytes, seconds, ratio, hertz, celsius, watts, joules, or "" */
    bool is_rate;     /* per second */
};

/* The base unit of a column; of a counter, that of its rate. */
struct pt_unit_text pt_unit_text_of(const struct pt_column *c);

/* Members of an object: "value" of a constant curve, otherwise "at" and "base". */
void pt_curve_write(const struct pt_curve *c, const struct pt_curve_axis *axis, struct pt_json *j,
                    struct pt_blob *blob);

#endif
