#include "source/engine/delta.h"

#include "base/clock.h"

#include <math.h>

/* Sums of fractions may decrease slightly when the order of the series changes. */
#define ROUNDING 1e-9

const double pt_engine_quantiles[PT_ENGINE_QUANTILE_COUNT] = { 0.5, 0.9, 0.95, 0.99 };

static bool is_counter(int field) {
    enum pt_engine_rule rule = pt_engine_fields[field].rule;
    return rule == PT_ENGINE_COUNTER || rule == PT_ENGINE_TIME;
}

static bool was_reset(const struct pt_engine_reading *before, const struct pt_engine_reading *now) {
    if (before->kind != now->kind || before->engine_count != now->engine_count)
        return true;
    uint64_t both = before->present & now->present;
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++) {
        double fell = before->values[i] - now->values[i];
        if (both >> i & 1 && is_counter(i) && fell > ROUNDING * fabs(before->values[i]))
            return true;
    }
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        if (pt_engine_histogram_was_reset(&before->latencies[i], &now->latencies[i]))
            return true;
    return false;
}

void pt_engine_delta(const struct pt_engine_reading *before, const struct pt_engine_reading *now,
                     struct pt_engine_delta *out) {
    *out = (struct pt_engine_delta){
        .seconds = (double)(now->mono_ns - before->mono_ns) / PT_NS_PER_SECOND,
        .was_reset = was_reset(before, now),
    };
    if (out->was_reset)
        return;
    uint64_t both = before->present & now->present;
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++) {
        if (!(both >> i & 1) || !is_counter(i) || out->seconds <= 0)
            continue;
        out->present |= UINT64_C(1) << i;
        out->growth[i] = fmax(now->values[i] - before->values[i], 0);
        out->rates[i] = out->growth[i] / out->seconds;
    }
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_engine_histogram_quantiles(&before->latencies[i], &now->latencies[i],
                                      pt_engine_quantiles, out->quantiles[i],
                                      PT_ENGINE_QUANTILE_COUNT);
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
    out->values[field] = rule == PT_ENGINE_LEVEL   ? highest
                         : rule == PT_ENGINE_RATIO ? total / found
                                                   : total;
}

void pt_engine_combine(const struct pt_engine_reading *const *readings, size_t count,
                       struct pt_engine_reading *out) {
    out->kind = count > 0 ? readings[0]->kind : PT_ENGINE_UNKNOWN;
    out->mono_ns = 0;
    out->series_count = out->engine_count = 0;
    out->present = 0;
    out->info_count = 0;
    pt_buf_clear(&out->info_text);
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_engine_histogram_clear(&out->latencies[i]);
    for (size_t i = 0; i < count; i++) {
        const struct pt_engine_reading *r = readings[i];
        out->engine_count += r->engine_count;
        out->series_count += r->series_count;
        if (r->mono_ns > out->mono_ns)
            out->mono_ns = r->mono_ns;
        if (r->kind != out->kind)
            out->kind = PT_ENGINE_UNKNOWN;
        for (int j = 0; j < PT_ENGINE_LATENCY_COUNT; j++)
            pt_engine_histogram_merge(&out->latencies[j], &r->latencies[j]);
    }
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++)
        combine_field(readings, count, (enum pt_engine_field)i, out);
    for (int i = 0; i < PT_ENGINE_LATENCY_COUNT; i++)
        pt_engine_histogram_finish(&out->latencies[i], NAN);
}
