#include "source/engine/bucket_growth.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>

#define COUNT_MAX 0x1p53 /* a double counts no further */

void pt_bucket_growths_release(struct pt_bucket_growths *g) {
    pt_free(g->list);
    *g = (struct pt_bucket_growths){ 0 };
}

void pt_bucket_growths_clear(struct pt_bucket_growths *g) {
    g->count = 0;
}

static bool is_same_bucket(const struct pt_bucket_growth *a, const struct pt_bucket_growth *b) {
    return a->engine == b->engine && a->latency == b->latency && a->above == b->above &&
           a->le == b->le;
}

static void extend(struct pt_bucket_growth *known, const struct pt_bucket_growth *next) {
    known->count += next->count;
    known->seconds += (double)(next->mono_ns - known->mono_ns) / PT_NS_PER_SECOND;
    known->mono_ns = next->mono_ns;
}

static void add(struct pt_bucket_growths *g, const struct pt_bucket_growth *next, size_t limit) {
    for (size_t i = g->count; g->count >= limit && i-- > 0;)
        if (is_same_bucket(&g->list[i], next)) {
            extend(&g->list[i], next);
            return;
        }
    pt_grow(&g->list, &g->capacity, g->count + 1, sizeof *g->list);
    g->list[g->count++] = *next;
}

void pt_bucket_growths_add(struct pt_bucket_growths *g, uint32_t engine,
                           const struct pt_engine_delta *delta, int64_t mono_ns, size_t limit) {
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++) {
        const struct pt_classic_histogram *h = &delta->latencies[l];
        for (size_t i = 0; i < h->count; i++) {
            if (h->buckets[i].count == 0 || fabs(h->buckets[i].count) > COUNT_MAX)
                continue;
            struct pt_bucket_growth next = {
                .engine = engine,
                .latency = (enum pt_engine_latency)l,
                .above = i > 0 ? h->buckets[i - 1].le : -INFINITY,
                .le = h->buckets[i].le,
                .count = (int64_t)h->buckets[i].count,
                .seconds = delta->seconds,
                .mono_ns = mono_ns,
            };
            add(g, &next, limit);
        }
    }
}
