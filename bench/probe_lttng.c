/* LTTng-UST: begin and end of a span are two tracepoints. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "probe_lttng_point.h"

#include "probe_peers.h"

static void point(int calls) {
    for (int i = 0; i < calls; i++) {
        lttng_ust_tracepoint(pitot_bench, point, i);
        lttng_ust_tracepoint(pitot_bench, point, i);
    }
}

bench_calls *const bench_lttng_point = point;
