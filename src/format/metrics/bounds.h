/* format/metrics/bounds.h -- upper bounds of classic buckets, and the counts at them.
 *
 * The exponential bucket that contains a bound counts as below it. So the count includes every
 * value up to the bound, and possibly values above it by less than the width of a bucket, 2.2 %.
 * Counts never decrease from one bound to the next. */
#ifndef PT_FORMAT_METRICS_BOUNDS_H
#define PT_FORMAT_METRICS_BOUNDS_H

#include "base/attr.h"
#include "inside/region/histogram.h"

#include <stddef.h>

#define PT_BOUNDS_MAX 64

struct pt_bounds {
    size_t count;
    double upper[PT_BOUNDS_MAX];
    uint16_t bucket_ends[PT_BOUNDS_MAX]; /* number of exponential buckets below the bound */
    struct {
        uint8_t length;
        char text[31]; /* 0.25"} and a blank: the text after le=" on a line */
    } ends[PT_BOUNDS_MAX];
};

/* 0 or -EINVAL: not increasing, not finite, too many. +Inf is implied and not listed. */
int pt_bounds_set(struct pt_bounds *b, const double *upper, size_t count) PT_MUST_CHECK;
/* .005 .01 .025 .05 .1 .25 .5 1 2.5 5 10 */
void pt_bounds_set_default(struct pt_bounds *b);

/* The number of values at or below each bound, from PT_BUCKET_COUNT exponential buckets. */
void pt_bounds_count(const struct pt_bounds *b, const uint64_t *buckets,
                     struct pt_bucket_range used, uint64_t at_or_below[PT_BOUNDS_MAX]);

#endif
