/* format/trace/flow.h -- the way of a request from thread to thread, as arrows of a trace.
 *
 * Of the spans of a request, in the order of their starts, each that is on another thread than
 * the one before gets an arrow from it. A request that stays on its thread has none. */
#ifndef PT_FORMAT_TRACE_FLOW_H
#define PT_FORMAT_TRACE_FLOW_H

#include "format/trace/trace.h"

/* A span with a request. */
struct pt_flow_point {
    uint64_t request;
    int64_t start_ns;
    uint32_t pid, thread;
};

/* Sorts the points. Requests of one number in two processes are two requests. */
void pt_flows_write(struct pt_trace *t, struct pt_flow_point *points, size_t count);

#endif
