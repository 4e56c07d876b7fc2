/* source/engine/engine_histogram.h -- classic histograms: cumulative counts by upper edge, summed
 * over series.
 *
 *     vllm:time_to_first_token_seconds_bucket{le="0.1",engine="0"} 7.0
 *     vllm:time_to_first_token_seconds_bucket{le="0.1",engine="1"} 5.0      -> 0.1: 12
 *     vllm:time_to_first_token_seconds_bucket{le="+Inf",engine="0"} 9.0     -> +Inf: ...
 *
 * Series with different edges are summed at the edges they have in common: the sum is exact there
 * and unknown elsewhere. Quantiles are those of an interval, from the difference of two scrapes, by
 * linear interpolation in a bucket; the width of the bucket bounds the error. */
#ifndef PT_SOURCE_ENGINE_ENGINE_HISTOGRAM_H
#define PT_SOURCE_ENGINE_ENGINE_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
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
/* Adds a finished histogram, then finish() again. */
void pt_engine_histogram_merge(struct pt_engine_histogram *into,
                               const struct pt_engine_histogram *from);

struct pt_quantile {
    bool is_present;     /* false: no events in the interval, or unknown */
    bool is_at_or_above; /* above the highest finite edge, which is the value */
    double value;
    double uncertainty; /* width of the bucket; infinite if at or above */
};

/* Fewer events at some edge than before: the process was restarted. */
bool pt_engine_histogram_was_reset(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now);

/* Of the events between two scrapes, at their common edges. `which` are from 0 to 1. */
void pt_engine_histogram_quantiles(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now, const double *which,
                                   struct pt_quantile *out, size_t count);

#endif
