#include "report/curve.h"

#include "base/mem.h"

#include <math.h>

void pt_curve_axis_init(struct pt_curve_axis *a, int64_t start_ns, int64_t end_ns,
                        uint64_t sample_count, uint32_t max) {
    a->start_ns = start_ns;
    a->end_ns = end_ns > start_ns ? end_ns : start_ns;
    a->is_whole = sample_count <= 2 * (uint64_t)max;
    a->count = a->is_whole ? (uint32_t)sample_count : max;
}

uint32_t pt_curve_axis_at(const struct pt_curve_axis *a, uint64_t index, int64_t time_ns) {
    if (a->is_whole)
        return index < a->count ? (uint32_t)index : a->count - 1;
    double part = (double)(time_ns - a->start_ns) / (double)(a->end_ns - a->start_ns + 1);
    double bucket = floor(part * a->count);
    if (!(bucket > 0))
        return 0;
    return bucket < a->count ? (uint32_t)bucket : a->count - 1;
}

int64_t pt_curve_axis_end(const struct pt_curve_axis *a, uint32_t bucket) {
    double part = (double)(bucket + 1) / a->count;
    return a->start_ns + (int64_t)(part * (double)(a->end_ns - a->start_ns + 1));
}

void pt_curve_init(struct pt_curve *c, uint32_t count) {
    *c = (struct pt_curve){ .values = pt_malloc(2 * (size_t)count * sizeof *c->values),
                            .count = count };
    for (size_t i = 0; i < 2 * (size_t)count; i++)
        c->values[i] = NAN;
}

void pt_curve_release(struct pt_curve *c) {
    pt_free(c->values);
    pt_free(c->means);
    pt_free(c->seconds);
    *c = (struct pt_curve){ 0 };
}

/* A new extreme is later than the other one: it goes second. */
void pt_curve_add(struct pt_curve *c, uint32_t bucket, double value) {
    double *pair = c->values + 2 * (size_t)bucket;
    if (!isfinite(value))
        return;
    double low = fmin(pair[0], pair[1]), high = fmax(pair[0], pair[1]);
    if (isnan(pair[0])) {
        pair[0] = pair[1] = value;
    } else if (value < low) {
        pair[0] = high;
        pair[1] = value;
    } else if (value > high) {
        pair[0] = low;
        pair[1] = value;
    }
}

void pt_curve_add_part(struct pt_curve *c, uint32_t bucket, double value, double seconds) {
    if (!c->means) {
        c->means = pt_malloc(c->count * sizeof *c->means);
        c->seconds = pt_calloc(c->count, sizeof *c->seconds);
        for (uint32_t i = 0; i < c->count; i++)
            c->means[i] = NAN;
    }
    double before = c->seconds[bucket] > 0 ? c->means[bucket] : 0;
    c->seconds[bucket] += seconds;
    c->means[bucket] = before + (value - before) * (seconds / c->seconds[bucket]);
    pt_curve_add(c, bucket, value);
}

struct pt_curve_range pt_curve_range_of(const struct pt_curve *c) {
    struct pt_curve_range range = { NAN, NAN };
    for (size_t i = 0; i < 2 * (size_t)c->count; i++) {
        range.low = fmin(range.low, c->values[i]);
        range.high = fmax(range.high, c->values[i]);
    }
    return range;
}

/* Up to rounding errors of doubles. */
static bool is_constant(struct pt_curve_range range) {
    return range.high - range.low <= 1e-9 * fabs(range.high);
}

void pt_curve_write(const struct pt_curve *c, const struct pt_curve_axis *axis, struct pt_json *j,
                    struct pt_blob *blob) {
    struct pt_curve_range range = pt_curve_range_of(c);
    bool has_gaps = false;
    for (size_t i = 0; i < 2 * (size_t)c->count; i++)
        has_gaps |= isnan(c->values[i]);
    if (is_constant(range) && !has_gaps) {
        pt_json_f64(j, "value", range.high);
        return;
    }
    size_t stride = axis->is_whole ? 2 : 1;
    size_t count = axis->is_whole ? c->count : 2 * (size_t)c->count;
    size_t at = pt_blob_add(blob, c->values, count, stride, range.low, PT_BLOB_ROUNDED);
    pt_json_i64(j, "at", (int64_t)at);
    pt_json_f64(j, "base", range.low);
    if (c->means)
        pt_json_i64(j, "means",
                    (int64_t)pt_blob_add(blob, c->means, c->count, 1, range.low, PT_BLOB_ROUNDED));
    if (is_constant(range))
        pt_json_f64(j, "value", range.high);
}
