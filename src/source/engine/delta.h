/* source/engine/delta.h -- changes between two scrapes, and several engines combined into one. */
#ifndef PT_SOURCE_ENGINE_DELTA_H
#define PT_SOURCE_ENGINE_DELTA_H

#include "source/engine/reading.h"

enum { PT_ENGINE_P50, PT_ENGINE_P90, PT_ENGINE_P95, PT_ENGINE_P99, PT_ENGINE_QUANTILE_COUNT };

extern const double pt_engine_quantiles[PT_ENGINE_QUANTILE_COUNT]; /* 0.5, 0.9, 0.95, 0.99 */

/* Of one engine; {0} before its first scrape. */
struct pt_engine_delta {
    double seconds;
    bool was_reset;          /* a counter decreased, or it is another engine: nothing is known */
    uint32_t seen_latencies; /* one bit each: had buckets in some scrape */
    struct pt_classic_histogram latencies[PT_ENGINE_LATENCY_COUNT]; /* of the interval */
};

void pt_engine_delta_release(struct pt_engine_delta *d);

/* From one scrape to the next. A latency that appears for the first time starts at zero: many
 * engines create a histogram with its first event. Keeps memory. */
void pt_engine_delta(const struct pt_engine_reading *before, const struct pt_engine_reading *now,
                     struct pt_engine_delta *out);

/* Combines by the rules of the fields; a field that no engine has stays absent. The kind is the
 * common one or PT_ENGINE_UNKNOWN; the time is the latest; descriptions and latencies are omitted.
 * Reuses `out`. */
void pt_engine_combine(const struct pt_engine_reading *const *readings, size_t count,
                       struct pt_engine_reading *out);

#endif
