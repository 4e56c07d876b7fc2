/* source/engine/engine_histogram.h -- classic histograms: cumulative counts by upper edge, summed
 * over series.
 *
 *     vllm:time_to_first_token_seconds_bucket{le="0.1",engine="0"} 7.0
 *     vllm:time_to_first_token_seconds_bucket{le="0.1",engine="1"} 5.0      -> 0.1: 12
 *     vllm:time_to_first_token_seconds_bucket{le="+Inf",engine="0"} 9.0     -> +Inf: ...
 *
 * Series with different edges are summed at the edges they have in common: the sum is exact there
 * and unknown elsewhere. The difference of two scrapes is the histogram of the time between them
 * (derive/classic_histogram.h). */
#ifndef PT_SOURCE_ENGINE_ENGINE_HISTOGRAM_H
#define PT_SOURCE_ENGINE_ENGINE_HISTOGRAM_H

#include "derive/classic_histogram.h"

#include <stdbool.h>
#include <stdint.h>

struct pt_engine_histogram_bucket {
    double le; /* upper edge, inclusive; the last is +Inf */
    double cumulative;
    uint32_t series_count;
};

struct pt_engine_histogram {
    struct pt_engine_histogram_bucket *buckets; /* by edge */
    size_t count, capacity;
    size_t next; /* position of the next edge: edges come in order */
};

void pt_engine_histogram_release(struct pt_engine_histogram *h);
void pt_engine_histogram_clear(struct pt_engine_histogram *h); /* keeps the memory */

/* Adds one bucket of one series. Skips NaN edges and values. */
void pt_engine_histogram_add(struct pt_engine_histogram *h, double le, double cumulative);
/* After the last bucket: drops edges that some series lack. Without a +Inf bucket `total`, the
 * count of events, replaces it; NaN if that is unknown too. */
void pt_engine_histogram_finish(struct pt_engine_histogram *h, double total);

/* Fewer events at some edge than before: the process was restarted. */
bool pt_engine_histogram_was_reset(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now);

/* The events between two scrapes, at their common edges; buckets without any are left out. No
 * buckets before: all events are new. Empty if the number of events is unknown: after a reset, or
 * without a +Inf edge. Counts are whole numbers, and growth over several scrapes adds up to the
 * growth from the first to the last. */
void pt_engine_histogram_growth(const struct pt_engine_histogram *before,
                                const struct pt_engine_histogram *now,
                                struct pt_classic_histogram *out);

#endif
