/* bench/probe_lttng_point.h -- the tracepoint, in the form that LTTng's macros read twice. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pitot_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "probe_lttng_point.h"

#if !defined(PT_BENCH_PROBE_LTTNG_POINT_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PT_BENCH_PROBE_LTTNG_POINT_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(pitot_bench, point, LTTNG_UST_TP_ARGS(int, argument),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, argument, argument)))

#endif

#include <lttng/tracepoint-event.h>
