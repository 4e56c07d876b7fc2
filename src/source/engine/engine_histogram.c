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

/* Iterates over the edges that both scrapes have; over all edges if there were none before. */
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
            w->growth = round(b->cumulative) - round(a->cumulative);
            return true;
        }
    }
    if (w->before->count > 0 || w->j == w->now->count)
        return false;
    w->le = w->now->buckets[w->j].le;
    w->growth = round(w->now->buckets[w->j++].cumulative);
    return true;
}

bool pt_engine_histogram_was_reset(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now) {
    struct walk w = { .before = before, .now = now };
    while (walk_next(&w))
        if (w.growth < 0)
            return true;
    return false;
}

static bool has_infinity(const struct pt_engine_histogram *h) {
    return h->count > 0 && h->buckets[h->count - 1].le == INFINITY;
}

/* As Prometheus: latencies start at zero. */
static double first_lower_bound(double le) {
    return le > 0 && isfinite(le) ? 0 : -INFINITY;
}

void pt_engine_histogram_growth(const struct pt_engine_histogram *before,
                                const struct pt_engine_histogram *now,
                                struct pt_classic_histogram *out) {
    struct walk w = { .before = before, .now = now };
    pt_classic_histogram_clear(out);
    if (!has_infinity(now) || (before->count > 0 && !has_infinity(before)) ||
        pt_engine_histogram_was_reset(before, now))
        return;
    double above = NAN, below = 0;
    while (walk_next(&w)) {
        if (isnan(above))
            above = first_lower_bound(w.le);
        if (w.growth != below)
            pt_classic_histogram_add(out, above, w.le, w.growth - below);
        above = w.le;
        below = w.growth;
    }
}
