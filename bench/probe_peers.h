/* bench/probe_peers.h -- the same calls by other libraries, where the distribution has them. */
#ifndef PT_BENCH_PROBE_PEERS_H
#define PT_BENCH_PROBE_PEERS_H

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_VALUES 1024
/* What is recorded in histograms, in turn. */
extern double bench_values[BENCH_VALUES];

/* NULL: the library was not there at build time. */
typedef void bench_calls(int calls);
extern bench_calls *const bench_prometheus_count, *const bench_prometheus_observe;
extern bench_calls *const bench_lttng_point; /* a tracepoint that no session listens to */

#ifdef __cplusplus
}
#endif

#endif
