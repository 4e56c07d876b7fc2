// prometheus-cpp, as a program would use it: a counter, and a histogram with the default buckets.
#include "probe_peers.h"

#include <prometheus/counter.h>
#include <prometheus/histogram.h>

static prometheus::Counter counter;
static prometheus::Histogram histogram({ .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10 });

static void count(int calls) {
    for (int i = 0; i < calls; i++)
        counter.Increment();
}

static void observe(int calls) {
    for (int i = 0; i < calls; i++)
        histogram.Observe(bench_values[i % BENCH_VALUES]);
}

bench_calls *const bench_prometheus_count = count;
bench_calls *const bench_prometheus_observe = observe;
