/* format/trace/trace.h -- Chrome trace events, for Perfetto and chrome://tracing.
 *
 *     {"displayTimeUnit":"ms","traceEvents":[
 *     {"ph":"X","name":"prefill","pid":7,"tid":8,"ts":1.500,"dur":2.000,"args":{"request":3}},
 *     ...
 *     ]}
 *
 * Written as a stream: nothing is kept. Times are CLOCK_MONOTONIC, in microseconds with three
 * decimals. Errors stick to `out`. */
#ifndef PT_FORMAT_TRACE_TRACE_H
#define PT_FORMAT_TRACE_TRACE_H

#include "base/out.h"

struct pt_trace {
    struct pt_out *out; /* borrowed */
    bool has_events;
};

struct pt_trace_span {
    struct pt_str name;
    uint32_t pid, thread;
    int64_t start_ns, duration_ns;
    const char *argument_key; /* name of `argument`, plain ASCII; NULL: no argument */
    int64_t argument;
    struct pt_str text; /* empty: none */
    bool has_request;
    uint64_t request;
};

enum pt_trace_flow_phase { PT_FLOW_START, PT_FLOW_STEP, PT_FLOW_END };

void pt_trace_begin(struct pt_trace *t, struct pt_out *out);
void pt_trace_process(struct pt_trace *t, uint32_t pid, struct pt_str name);
/* Viewers sort threads by `sort_index`. An empty name is unknown. */
void pt_trace_thread(struct pt_trace *t, uint32_t pid, uint32_t thread, struct pt_str name,
                     uint32_t sort_index);
void pt_trace_span(struct pt_trace *t, const struct pt_trace_span *span);
/* The value from then on; values that are not finite are omitted. */
void pt_trace_counter(struct pt_trace *t, uint32_t pid, int64_t time_ns, struct pt_str name,
                      double value);
/* An arrow between the spans that begin at these times; `id` identifies the whole flow. */
void pt_trace_flow(struct pt_trace *t, enum pt_trace_flow_phase phase, uint64_t id, uint32_t pid,
                   uint32_t thread, int64_t time_ns);
void pt_trace_end(struct pt_trace *t);

#endif
