#include "demo/latency.h"

#include "base/clock.h"

const struct pt_latency_scale pt_latency_first_token = {
    .edge_count = 22,
    .edges_ms = { 1,    5,    10,   20,   40,    60,    80,    100,   250,    500,    750,
                  1000, 2500, 5000, 7500, 10000, 20000, 40000, 80000, 160000, 640000, 2560000 },
};

const struct pt_latency_scale pt_latency_inter_token = {
    .edge_count = 19,
    .edges_ms = { 10, 25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 2500, 5000, 7500, 10000,
                  20000, 40000, 80000 },
};

const struct pt_latency_scale pt_latency_request = {
    .edge_count = 21,
    .edges_ms = { 300,   500,    800,    1000,   1500,   2000,    2500,
                  5000,  10000,  15000,  20000,  30000,  40000,   50000,
                  60000, 120000, 240000, 480000, 960000, 1920000, 7680000 },
};

void pt_latency_histogram_observe(struct pt_latency_histogram *l, int64_t ns) {
    size_t bucket = 0;
    while (bucket < l->scale->edge_count && ns > l->scale->edges_ms[bucket] * PT_NS_PER_MS)
        bucket++;
    l->buckets[bucket]++;
    l->count++;
    l->sum_ns += ns;
}
