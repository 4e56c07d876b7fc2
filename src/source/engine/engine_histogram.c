#include "source/engine/engine_histogram.h"

#include "base/mem.h"

#include <math.h>

void pt_engine_histogram_release(struct pt_engine_histogram *h) {
    pt_free(h->buckets);
    *h = (struct pt_engine_histogram){ 0 };
}

void pt_engine_histogram_clear(struct pt_engine_histogram *h) {
    h->count = h->next = 0;
}

/* Index of the first edge that is not below `le`. */
static size_t find_edge(const struct pt_engine_histogram *h, double le) {
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

static void add(struct pt_engine_histogram *h, double le, double cumulative,
                uint32_t series_count) {
    size_t index = h->next;
    if (index >= h->count || h->buckets[index].le != le)
        index = find_edge(h, le);
    if (index >= h->count || h->buckets[index].le != le) {
        pt_grow(&h->buckets, &h->capacity, h->count + 1, sizeof *h->buckets);
        struct pt_engine_histogram_bucket *at = &h->buckets[index];
        memmove(at + 1, at, (h->count - index) * sizeof *at);
        h->count++;
        *at = (struct pt_engine_histogram_bucket){ .le = le };
    }
    struct pt_engine_histogram_bucket *b = &h->buckets[index];
    b->cumulative += cumulative;
    b->series_count += series_count;
    h->next = index + 1;
}

void pt_engine_histogram_add(struct pt_engine_histogram *h, double le, double cumulative) {
    if (!isnan(le) && isfinite(cumulative))
        add(h, le, cumulative, 1);
}

void pt_engine_histogram_finish(struct pt_engine_histogram *h, double total) {
    uint32_t series_count = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->buckets[i].series_count > series_count)
            series_count = h->buckets[i].series_count;
    size_t kept = 0;
    for (size_t i = 0; i < h->count; i++)
        if (h->buckets[i].series_count == series_count)
            h->buckets[kept++] = h->buckets[i];
    h->count = kept;
    h->next = 0;
    bool has_infinity = kept > 0 && h->buckets[kept - 1].le == INFINITY;
    if (kept > 0 && !has_infinity && !isnan(total))
        add(h, INFINITY, total, series_count);
}

void pt_engine_histogram_merge(struct pt_engine_histogram *into,
                               const struct pt_engine_histogram *from) {
    into->next = 0;
    for (size_t i = 0; i < from->count; i++)
        add(into, from->buckets[i].le, from->buckets[i].cumulative, from->buckets[i].series_count);
}

/* Iterates over the edges that both scrapes have. */
struct walk {
    const struct pt_engine_histogram *before, *now;
    size_t i, j;
    double le, growth; /* events up to this edge since the previous scrape */
};

static bool walk_next(struct walk *w) {
    while (w->i < w->before->count && w->j < w->now->count) {
        const struct pt_engine_histogram_bucket *a = &w->before->buckets[w->i],
                                                *b = &w->now->buckets[w->j];
        w->i += a->le <= b->le;
        w->j += b->le <= a->le;
        if (a->le == b->le) {
            w->le = b->le;
            w->growth = b->cumulative - a->cumulative;
            return true;
        }
    }
    return false;
}

bool pt_engine_histogram_was_reset(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now) {
    struct walk w = { .before = before, .now = now };
    while (walk_next(&w))
        if (w.growth < 0)
            return true;
    return false;
}

/* All events of the interval; 0 if unknown because there is no +Inf edge. */
static double total_growth(const struct pt_engine_histogram *before,
                           const struct pt_engine_histogram *now) {
    if (before->count == 0 || now->count == 0)
        return 0;
    const struct pt_engine_histogram_bucket *a = &before->buckets[before->count - 1],
                                            *b = &now->buckets[now->count - 1];
    return a->le == INFINITY && b->le == INFINITY ? b->cumulative - a->cumulative : 0;
}

static struct pt_quantile quantile(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now, double rank) {
    struct walk w = { .before = before, .now = now };
    double edge = 0, below = 0;
    bool is_first = true;
    for (; walk_next(&w); is_first = false) {
        if (w.le == INFINITY && is_first)
            break; /* no finite edge in common */
        if (w.le == INFINITY)
            return (struct pt_quantile){ true, true, edge, INFINITY };
        /* Scrapes are not atomic: a bucket may lag behind the previous one. */
        double events = w.growth > below ? w.growth : below;
        if (events >= rank && events > below) {
            double low_edge = is_first && w.le <= 0 ? w.le : edge;
            /* Interpolates between the edges of the bucket; latencies start at zero. */
            double width = w.le - low_edge, part = (rank - below) / (events - below);
            return (struct pt_quantile){ .is_present = true,
                                         .value = low_edge + width * part,
                                         .uncertainty = width };
        }
        edge = w.le;
        below = events;
    }
    return (struct pt_quantile){ 0 };
}

void pt_engine_histogram_quantiles(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now, const double *which,
                                   struct pt_quantile *out, size_t count) {
    double total = pt_engine_histogram_was_reset(before, now) ? 0 : total_growth(before, now);
    for (size_t i = 0; i < count; i++)
        out[i] = total > 0 ? quantile(before, now, which[i] * total) : (struct pt_quantile){ 0 };
}
