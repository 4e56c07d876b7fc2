/* format/trace/lane.h -- lines of a trace on which spans nest.
 *
 * Spans of one thread may overlap without one being in the other, as those of asyncio tasks do, and
 * readers of traces want each line to nest. Such spans go on further lines, shown as threads of
 * their own: "MainThread", "MainThread (2)", ... Spans come in the order in which they end, by
 * thread. Memory is fixed: what was long ago on a line is remembered as one piece, so that a span
 * that began within it goes on another line. */
#ifndef PT_FORMAT_TRACE_LANE_H
#define PT_FORMAT_TRACE_LANE_H

#include "format/trace/trace.h"

#define PT_LANES       2048 /* of all threads, a power of two; others are not checked */
#define PT_LANES_MAX   256  /* of one thread; then they share the last one */
#define PT_LANE_MEMORY 24
#define PT_LANE_SHIFT  22 /* thread ids of Linux are below 2^22 */

struct pt_lane {
    bool is_used;
    uint32_t pid, thread, number; /* from 0 on */
    uint32_t piece_count;
    struct {
        int64_t start_ns, end_ns;
    } pieces[PT_LANE_MEMORY]; /* apart from each other, rising */
};

/* {0} is a valid beginning. */
struct pt_lanes {
    uint32_t count;
    struct pt_lane lanes[PT_LANES];
};

/* The number of the line that the span goes on. Its start is moved by up to 2 us, where only the
 * precision of the clock is in the way. */
uint32_t pt_lanes_place(struct pt_lanes *l, uint32_t pid, uint32_t thread, int64_t *start_ns,
                        int64_t end_ns);
/* How a line is called where threads are numbered. */
static inline uint32_t pt_lane_thread(uint32_t thread, uint32_t number) {
    return thread | number << PT_LANE_SHIFT;
}
/* Writes the names of the lines of a thread, whose own name may be empty. They are shown in the
 * order of `place`; returns the next one. */
uint32_t pt_lanes_name(struct pt_trace *to, struct pt_lanes *l, uint32_t pid, uint32_t thread,
                       struct pt_str name, uint32_t place);

#endif
