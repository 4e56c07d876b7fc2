/* format/metrics/native.h -- the buckets of a histogram as Prometheus native histograms.
 *
 * Schema 5: index i ends at 2^(i/32), so that bucket b of inside/region/histogram.h is index b -
 * 1023. Bucket 0 also holds smaller values: it is the zero bucket. Buckets that are not empty are
 * listed in spans, each with its distance from the previous one, and their counts as differences
 * from one to the next. */
#ifndef PT_FORMAT_METRICS_NATIVE_H
#define PT_FORMAT_METRICS_NATIVE_H

#include "format/metrics/family.h"
#include "format/metrics/proto.h"

#define PT_NATIVE_SCHEMA 5

struct pt_native {
    uint64_t count, zero_count;
    double sum;
    uint32_t first, end;    /* buckets; the first and the last are not empty */
    const uint64_t *counts; /* of these, borrowed */
};

struct pt_native pt_native_of(const struct pt_distribution *d);

/* Upper limit of the zero bucket. */
static inline double pt_native_zero_threshold(void) {
    return pt_bucket_lower(1);
}

/* The fields of spans and of deltas, with the given numbers; deltas only if there are any. */
void pt_native_spans(struct pt_proto *p, uint32_t field, const struct pt_native *n);
void pt_native_deltas(struct pt_proto *p, uint32_t field, const struct pt_native *n);

#endif
