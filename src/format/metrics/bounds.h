/* format/metrics/bounds.h -- upper bounds of classic buckets, and counts at them.
 *
 * The exponential bucket in which a bound lies counts as below it. So every value up to the bound
 * is in the count, and of those above it only such that are above by less than the width of a
 * bucket, 2.2 %. Counts never fall from one bound to the next. */
#ifndef PT_FORMAT_METRICS_BOUNDS_H
#define PT_FORMAT_METRICS_BOUNDS_H

#include "base/attr.h"
#include "inside/region/histogram.h"

#include <stddef.h>

#define PT_BOUNDS_MAX 64

struct pt_bounds {
    size_t count;
    double upper[PT_BOUNDS_MAX];
    uint16_t bucket_ends[PT_BOUNDS_MAX]; /* exponential buckets before these are below */
    struct {
        uint8_t length;
        char text[31]; /* 0.25"} and a blank: what follows le=" on a line */
    } ends[PT_BOUNDS_MAX];
};

/* 0 or -EINVAL: not rising, not finite, too many. +Inf is always there and not listed. */
int pt_bounds_set(struct pt_bounds *b, const double *upper, size_t count) PT_MUST_CHECK;
/* .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10 */
void pt_bounds_set_default(struct pt_bounds *b);

/* How many values are at or below each bound, of PT_BUCKET_COUNT exponential buckets. */
void pt_bounds_count(const struct pt_bounds *b, const uint64_t *buckets,
                     struct pt_bucket_range used, uint64_t at_or_below[PT_BOUNDS_MAX]);

#endif
