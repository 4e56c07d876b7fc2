#include "report/encode.h"

#include <math.h>

struct pt_unit_text pt_unit_text_of(const struct pt_column *c) {
    return (struct pt_unit_text){ pt_unit_base(c->unit), c->kind == PT_COUNTER };
}

static bool has_gaps(const struct pt_curve *c) {
    for (size_t i = 0; i < 2 * (size_t)c->count; i++)
        if (isnan(c->values[i]))
            return true;
    return false;
}

/* Up to rounding errors of doubles. */
static bool is_constant(struct pt_curve_range range) {
    return range.high - range.low <= 1e-9 * fabs(range.high);
}

void pt_curve_write(const struct pt_curve *c, const struct pt_curve_axis *axis, struct pt_json *j,
                    struct pt_blob *blob) {
    struct pt_curve_range range = pt_curve_range_of(c);
    if (is_constant(range) && !has_gaps(c)) {
        pt_json_f64(j, "value", range.high);
        return;
    }
    size_t stride = axis->is_whole ? 2 : 1;
    size_t count = axis->is_whole ? c->count : 2 * (size_t)c->count;
    size_t at = pt_blob_add(blob, c->values, count, stride, range.low, PT_BLOB_ROUNDED);
    pt_json_i64(j, "at", (int64_t)at);
    pt_json_f64(j, "base", range.low);
    if (is_constant(range))
        pt_json_f64(j, "value", range.high);
}
