#include "format/trace/flow.h"

#include <stdlib.h>

static int compare(const void *left, const void *right) {
    const struct pt_flow_point *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void write_point(struct pt_trace *t, enum pt_trace_flow_phase phase,
                        const struct pt_flow_point *point) {
    uint64_t id = (uint64_t)point->pid << 40 ^ point->request;
    pt_trace_flow(t, phase, id, point->pid, point->thread, point->start_ns);
}

/* The first one on another thread than points[from]; `end` if there is none. */
static size_t find_hop(const struct pt_flow_point *points, size_t from, size_t end) {
    size_t at = from;
    while (at < end && points[at].thread == points[from].thread)
        at++;
    return at;
}

/* The arrow leaves the last span before the hop. */
static void write_request(struct pt_trace *t, const struct pt_flow_point *points, size_t end) {
    size_t hop = find_hop(points, 0, end);
    if (hop == end)
        return;
    write_point(t, PT_FLOW_START, &points[hop - 1]);
    for (;;) {
        size_t next = find_hop(points, hop, end);
        write_point(t, next == end ? PT_FLOW_END : PT_FLOW_STEP, &points[hop]);
        if (next == end)
            return;
        if (next - 1 > hop)
            write_point(t, PT_FLOW_STEP, &points[next - 1]);
        hop = next;
    }
}

void pt_flows_write(struct pt_trace *t, struct pt_flow_point *points, size_t count) {
    if (count == 0)
        return;
    qsort(points, count, sizeof *points, compare);
    for (size_t first = 0; first < count;) {
        size_t end = first;
        while (end < count && points[first].pid == points[end].pid &&
               points[first].request == points[end].request)
            end++;
        write_request(t, points + first, end - first);
        first = end;
    }
}
