/* format/trace/lane.h -- lanes of a trace, on which spans nest.
 *
 * Spans of one thread may overlap without nesting, as those of asyncio tasks do, but trace viewers
 * require that a lane nests. Such spans go on additional lanes, shown as separate threads:
 * "MainThread", "MainThread (2)", ... Spans come in the order in which they end, by thread. Memory
 * is fixed: the distant past of a lane is remembered as one piece, so a span that began within it
 * goes on another lane. */
#ifndef PT_FORMAT_TRACE_LANE_H
#define PT_FORMAT_TRACE_LANE_H

#include "format/trace/trace.h"

#define PT_LANES       2048 /* of all threads, a power of two; more are not checked */
#define PT_LANES_MAX   256  /* of one thread; after that they share the last one */
#define PT_LANE_MEMORY 24
#define PT_LANE_SHIFT  22 /* thread ids of Linux are below 2^22 */

struct pt_lane {
    bool is_used;
    uint32_t pid, thread, number; /* from 0 on */
    uint32_t piece_count;
    struct {
        int64_t start_ns, end_ns;
    } pieces[PT_LANE_MEMORY]; /* disjoint, increasing */
};

/* {0} is a valid initial value. */
struct pt_lanes {
    uint32_t count;
    struct pt_lane lanes[PT_LANES];
};

/* The number of the span's lane. Moves its start by up to 2 us if only the precision of the clock
 * prevents nesting. */
uint32_t pt_lanes_place(struct pt_lanes *l, uint32_t pid, uint32_t thread, int64_t *start_ns,
                        int64_t end_ns);
/* The id of a lane where threads are numbered. */
static inline uint32_t pt_lane_thread(uint32_t thread, uint32_t number) {
    return thread | number << PT_LANE_SHIFT;
}
/* Writes the names of the lanes of a thread; its own name may be empty. Viewers sort by
 * `sort_index`; returns the next one. */
uint32_t pt_lanes_name(struct pt_trace *to, struct pt_lanes *l, uint32_t pid, uint32_t thread,
                       struct pt_str name, uint32_t sort_index);

#endif
