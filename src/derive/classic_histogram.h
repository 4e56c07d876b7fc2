/* derive/classic_histogram.h -- observations counted in buckets, and quantiles of them.
 *
 * The estimator is histogram_quantile() of Prometheus for classic histograms, so that both print
 * the same number. The error of a quantile is at most the width of its bucket.
 *
 *     struct pt_classic_histogram h = { 0 };
 *     pt_classic_histogram_add(&h, 0.1, 0.25, 3);
 *     pt_classic_histogram_add(&h, 0.5, INFINITY, 1);
 *     struct pt_quantile median = pt_classic_histogram_quantile(&h, 0.5);
 *
 * Buckets may be added in any order, several times, and with other bounds than before. Where bounds
 * differ, the observations of a bucket are spread evenly over it: the cumulative distribution is
 * the sum of those that were added, each linear between its bounds.
 *
 * Memory is kept when a histogram is cleared. */
#ifndef PT_DERIVE_CLASSIC_HISTOGRAM_H
#define PT_DERIVE_CLASSIC_HISTOGRAM_H

#include <stddef.h>

struct pt_classic_bucket {
    double le;    /* upper bound, inclusive; that of the last bucket can be +Inf */
    double count; /* observations above the bound of the previous bucket; not cumulative */
};

struct pt_classic_histogram {
    struct pt_classic_bucket *buckets; /* by bound */
    size_t count, capacity;
};

void pt_classic_histogram_release(struct pt_classic_histogram *h);
void pt_classic_histogram_clear(struct pt_classic_histogram *h);

/* Adds `count` observations above `above`, up to and including `le`. -INFINITY: the lower bound is
 * unknown; INFINITY: there is no upper bound. Ignores NAN and empty ranges. The count can be
 * negative: buckets of an inconsistent scrape are corrected by those of the next one. */
void pt_classic_histogram_add(struct pt_classic_histogram *h, double above, double le,
                              double count);
void pt_classic_histogram_merge(struct pt_classic_histogram *into,
                                const struct pt_classic_histogram *from);
/* The same with a share of the observations. */
void pt_classic_histogram_merge_share(struct pt_classic_histogram *into,
                                      const struct pt_classic_histogram *from, double share);

/* All observations. */
double pt_classic_histogram_count(const struct pt_classic_histogram *h);

/* Observations up to and including `limit`. Exact if it is the bound of a bucket; inside a bucket
 * they are spread evenly, and of a bucket without an outer bound none are counted. */
double pt_classic_histogram_count_to(const struct pt_classic_histogram *h, double limit);

struct pt_quantile {
    double value; /* NAN: no observations, or no finite bound */
    double width; /* of the bucket; INFINITY: the quantile is at or above the value */
};

/* `q` is from 0 to 1; as in Prometheus, -INFINITY below and INFINITY above. 0 is the lower bound of
 * the first bucket with observations. */
struct pt_quantile pt_classic_histogram_quantile(const struct pt_classic_histogram *h, double q);

#endif
