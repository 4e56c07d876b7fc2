/* format/trace/flow.h -- the path of a request from thread to thread, as arrows of a trace.
 *
 * Takes the spans of a request by start time. Each span on another thread than the previous one
 * gets an arrow from it. A request that stays on its thread has no arrows. */
#ifndef PT_FORMAT_TRACE_FLOW_H
#define PT_FORMAT_TRACE_FLOW_H

#include "format/trace/trace.h"

/* A span with a request. */
struct pt_flow_point {
    uint64_t request;
    int64_t start_ns;
    uint32_t pid, thread;
};

/* Sorts the points. Requests with the same number in two processes are two requests. */
void pt_flows_write(struct pt_trace *t, struct pt_flow_point *points, size_t count);

#endif
