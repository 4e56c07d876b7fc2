/* demo/latency.h -- latencies, counted in vLLM's buckets. */
#ifndef PT_DEMO_LATENCY_H
#define PT_DEMO_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#define PT_LATENCY_EDGES_MAX 22

struct pt_latency_scale {
    size_t edge_count;
    int64_t edges_ms[PT_LATENCY_EDGES_MAX]; /* a value on an edge belongs below it */
};

extern const struct pt_latency_scale pt_latency_first_token, pt_latency_inter_token,
    pt_latency_request;

struct pt_latency_histogram {
    const struct pt_latency_scale *scale;
    uint64_t count;
    int64_t sum_ns;
    uint64_t
        buckets[PT_LATENCY_EDGES_MAX + 1]; /* up to each edge from the one before, and beyond */
};

void pt_latency_histogram_observe(struct pt_latency_histogram *l, int64_t ns);

#endif
