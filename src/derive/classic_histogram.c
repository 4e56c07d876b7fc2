#include "derive/classic_histogram.h"

#include "base/mem.h"

#include <math.h>

void pt_classic_histogram_release(struct pt_classic_histogram *h) {
    pt_free(h->buckets);
    *h = (struct pt_classic_histogram){ 0 };
}

void pt_classic_histogram_clear(struct pt_classic_histogram *h) {
    h->count = 0;
}

/* Index of the first bucket whose bound is not below `le`. */
static size_t find_bound(const struct pt_classic_histogram *h, double le) {
    if (h->count > 0 && h->buckets[h->count - 1].le < le)
        return h->count; /* most are added in order */
    size_t low = 0, high = h->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (h->buckets[middle].le < le)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double lower_bound(const struct pt_classic_histogram *h, size_t index) {
    return index > 0 ? h->buckets[index - 1].le : -INFINITY;
}

/* Makes `le` a bound, and returns its index. The bucket that contains it is divided. Nothing is
 * known of the inside of the first and the last bucket if they have no outer bound: all their
 * observations stay outside of the new one. */
static size_t make_bound(struct pt_classic_histogram *h, double le) {
    size_t index = find_bound(h, le);
    if (index < h->count && h->buckets[index].le == le)
        return index;
    pt_grow(&h->buckets, &h->capacity, h->count + 1, sizeof *h->buckets);
    struct pt_classic_bucket *upper = &h->buckets[index + 1], *at = &h->buckets[index];
    for (size_t i = h->count++; i > index; i--)
        h->buckets[i] = h->buckets[i - 1];
    *at = (struct pt_classic_bucket){ .le = le };
    double low = lower_bound(h, index);
    if (index + 1 == h->count || isinf(upper->le))
        return index;
    at->count = isinf(low) ? upper->count : upper->count * ((le - low) / (upper->le - low));
    upper->count -= at->count;
    return index;
}

void pt_classic_histogram_add(struct pt_classic_histogram *h, double above, double le,
                              double count) {
    if (!(above < le) || !isfinite(count))
        return;
    if (!isinf(above))
        make_bound(h, above);
    size_t last = make_bound(h, le);
    if (isinf(above) || isinf(le)) {
        h->buckets[isinf(le) ? last : 0].count += count;
        return;
    }
    double left = count;
    size_t i = find_bound(h, above) + 1;
    for (; i < last; i++) {
        double part = count * ((h->buckets[i].le - lower_bound(h, i)) / (le - above));
        h->buckets[i].count += part;
        left -= part;
    }
    h->buckets[last].count += left;
}

void pt_classic_histogram_merge(struct pt_classic_histogram *into,
                                const struct pt_classic_histogram *from) {
    pt_classic_histogram_merge_share(into, from, 1);
}

void pt_classic_histogram_merge_share(struct pt_classic_histogram *into,
                                      const struct pt_classic_histogram *from, double share) {
    for (size_t i = 0; i < from->count; i++)
        if (from->buckets[i].count != 0)
            pt_classic_histogram_add(into, lower_bound(from, i), from->buckets[i].le,
                                     from->buckets[i].count * share);
}

double pt_classic_histogram_count(const struct pt_classic_histogram *h) {
    double sum = 0;
    for (size_t i = 0; i < h->count; i++)
        sum += h->buckets[i].count;
    return sum;
}

/* The number of observations in the buckets so far. A bucket that was read before the one below it
 * may count fewer: as in Prometheus, the number never falls from one bound to the next. */
struct walk {
    double sum, cumulative;
};

static double walk_to(struct walk *w, const struct pt_classic_bucket *b) {
    w->sum += b->count;
    w->cumulative = fmax(w->cumulative, w->sum);
    return w->cumulative;
}

double pt_classic_histogram_count_to(const struct pt_classic_histogram *h, double limit) {
    struct walk w = { 0 };
    size_t i = 0;
    for (; i < h->count && h->buckets[i].le <= limit; i++)
        walk_to(&w, &h->buckets[i]);
    double below = w.cumulative, low = lower_bound(h, i);
    if (i == h->count || isinf(h->buckets[i].le) || isinf(low))
        return below;
    double inside = walk_to(&w, &h->buckets[i]) - below;
    return below + inside * (limit - low) / (h->buckets[i].le - low);
}

struct pt_quantile pt_classic_histogram_quantile(const struct pt_classic_histogram *h, double q) {
    struct walk all = { 0 }, w = { 0 };
    for (size_t i = 0; i < h->count; i++)
        walk_to(&all, &h->buckets[i]);
    if (isnan(q) || !(all.cumulative > 0))
        return (struct pt_quantile){ (double)NAN, (double)NAN };
    if (q < 0 || q > 1)
        return (struct pt_quantile){ q < 0 ? -INFINITY : INFINITY, (double)NAN };
    double rank = q * all.cumulative, below = 0;
    size_t i = 0;
    while (walk_to(&w, &h->buckets[i]) < rank || w.cumulative == 0) {
        below = w.cumulative;
        i++;
    }
    double low = lower_bound(h, i), le = h->buckets[i].le;
    if (isinf(le) && isinf(low))
        return (struct pt_quantile){ (double)NAN, (double)NAN };
    if (isinf(le))
        return (struct pt_quantile){ low, INFINITY };
    if (isinf(low))
        return (struct pt_quantile){ le, 0 };
    double width = le - low;
    return (struct pt_quantile){ low + width * ((rank - below) / (w.cumulative - below)), width };
}
