#include "source/engine/delta.h"

#include "base/clock.h"

#include <math.h>

/* Sums of fractions may decrease slightly when the order of the series changes. */
#define ROUNDING 1e-9

const double pt_engine_quantiles[PT_ENGINE_QUANTILE_COUNT] = { 0.5, 0.9, 0.95, 0.99 };

static bool was_reset(const struct pt_engine_reading *before, const struct pt_engine_reading *now) {
    if (before->kind != now->kind || before->engine_count != now->engine_count)
        return true;
    uint64_t both = before->present & now->present;
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++) {
        double fell = before->values[i] - now->values[i];
        if (both >> i & 1 && pt_engine_is_counter((enum pt_engine_field)i) &&
            fell > ROUNDING * fabs(before->values[i]))
            return true;
    }
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        if (pt_engine_histogram_was_reset(&before->latencies[i], &now->latencies[i]))
            return true;
    return false;
}

void pt_engine_delta_release(struct pt_engine_delta *d) {
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_classic_histogram_release(&d->latencies[i]);
    *d = (struct pt_engine_delta){ 0 };
}

void pt_engine_delta(const struct pt_engine_reading *before, const struct pt_engine_reading *now,
                     struct pt_engine_delta *out) {
    out->seconds = (double)(now->mono_ns - before->mono_ns) / PT_NS_PER_SECOND;
    out->was_reset = was_reset(before, now);
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++) {
        bool has_start = before->latencies[i].count > 0 || !(out->seen_latencies >> i & 1);
        if (out->was_reset || !has_start)
            pt_classic_histogram_clear(&out->latencies[i]);
        else
            pt_engine_histogram_growth(&before->latencies[i], &now->latencies[i],
                                       &out->latencies[i]);
        out->seen_latencies |= (uint32_t)(now->latencies[i].count > 0) << i;
    }
}

static void combine_field(const struct pt_engine_reading *const *readings, size_t count,
                          enum pt_engine_field field, struct pt_engine_reading *out) {
    enum pt_engine_rule rule = pt_engine_fields[field].rule;
    double total = 0, highest = -INFINITY;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pt_engine_has(readings[i], field))
            continue;
        found++;
        total += readings[i]->values[field];
        highest = fmax(highest, readings[i]->values[field]);
    }
    if (found == 0)
        return;
    out->present |= UINT64_C(1) << field;
    bool is_worst = rule == PT_ENGINE_LEVEL || rule == PT_ENGINE_RATIO;
    out->values[field] = is_worst ? highest : total;
}

void pt_engine_combine(const struct pt_engine_reading *const *readings, size_t count,
                       struct pt_engine_reading *out) {
    out->kind = count > 0 ? readings[0]->kind : PT_ENGINE_UNKNOWN;
    out->mono_ns = 0;
    out->series_count = out->engine_count = 0;
    out->present = 0;
    out->info_count = 0;
    pt_buf_clear(&out->info_text);
    for (size_t i = 0; i < count; i++) {
        const struct pt_engine_reading *r = readings[i];
        out->engine_count += r->engine_count;
        out->series_count += r->series_count;
        if (r->mono_ns > out->mono_ns)
            out->mono_ns = r->mono_ns;
        if (r->kind != out->kind)
            out->kind = PT_ENGINE_UNKNOWN;
    }
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++)
        combine_field(readings, count, (enum pt_engine_field)i, out);
}
