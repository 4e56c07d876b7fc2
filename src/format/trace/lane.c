#include "format/trace/lane.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A process's clock forgets old conversions (inside/region/tick_clock.h): the start of a span of
 * many minutes can differ slightly from the starts of the spans inside it. */
#define TOLERANCE_NS 2000

/* Its slot: that of the lane, or the free one for it. */
static struct pt_lane *find(struct pt_lanes *l, uint32_t pid, uint32_t thread, uint32_t number) {
    uint32_t hash = (thread * UINT32_C(0x9e3779b1)) ^ (pid * UINT32_C(0x85ebca77));
    for (uint32_t at = (hash >> 12) + number;; at++) {
        struct pt_lane *lane = &l->lanes[at % PT_LANES];
        if (!lane->is_used ||
            (lane->thread == thread && lane->number == number && lane->pid == pid))
            return lane;
    }
}

/* NULL: the table is full. */
static struct pt_lane *find_or_add(struct pt_lanes *l, uint32_t pid, uint32_t thread,
                                   uint32_t number) {
    struct pt_lane *lane = find(l, pid, thread, number);
    if (lane->is_used)
        return lane;
    if (l->count >= PT_LANES - PT_LANES / 4)
        return NULL;
    l->count++;
    *lane = (struct pt_lane){ .is_used = true, .pid = pid, .thread = thread, .number = number };
    return lane;
}

/* Pieces that began with the span or later are inside it. The piece before them must have ended. */
static bool fits(const struct pt_lane *lane, int64_t *start_ns, int64_t end_ns) {
    uint32_t i = lane->piece_count;
    for (; i > 0 && lane->pieces[i - 1].start_ns >= *start_ns; i--)
        if (lane->pieces[i - 1].end_ns > end_ns)
            return false;
    if (i == 0 || lane->pieces[i - 1].end_ns <= *start_ns)
        return true;
    if (*start_ns - lane->pieces[i - 1].start_ns <= TOLERANCE_NS &&
        lane->pieces[i - 1].end_ns <= end_ns)
        *start_ns = lane->pieces[i - 1].start_ns;
    else if (lane->pieces[i - 1].end_ns - *start_ns <= TOLERANCE_NS &&
             lane->pieces[i - 1].end_ns <= end_ns)
        *start_ns = lane->pieces[i - 1].end_ns;
    else
        return false;
    return true;
}

uint32_t pt_lanes_place(struct pt_lanes *l, uint32_t pid, uint32_t thread, int64_t *start_ns,
                        int64_t end_ns) {
    for (uint32_t number = 0; number < PT_LANES_MAX; number++) {
        struct pt_lane *lane = find_or_add(l, pid, thread, number);
        if (!lane)
            return number > 0 ? number - 1 : 0;
        if (fits(lane, start_ns, end_ns)) {
            while (lane->piece_count > 0 &&
                   lane->pieces[lane->piece_count - 1].start_ns >= *start_ns)
                lane->piece_count--;
            if (lane->piece_count == PT_LANE_MEMORY) { /* joins the two oldest */
                lane->pieces[1].start_ns = lane->pieces[0].start_ns;
                lane->piece_count--;
                memmove(&lane->pieces[0], &lane->pieces[1],
                        lane->piece_count * sizeof lane->pieces[0]);
            }
            lane->pieces[lane->piece_count].start_ns = *start_ns;
            lane->pieces[lane->piece_count++].end_ns = end_ns;
            return number;
        }
    }
    return PT_LANES_MAX - 1;
}

static struct pt_str lane_name(char *into, size_t capacity, struct pt_str name, uint32_t thread,
                               uint32_t number) {
    int length =
        name.len > 0
            ? snprintf(into, capacity, "%.*s (%" PRIu32 ")", (int)name.len, name.at, number + 1)
            : snprintf(into, capacity, "Thread %" PRIu32 " (%" PRIu32 ")", thread, number + 1);
    return (struct pt_str){ into, (size_t)length };
}

uint32_t pt_lanes_name(struct pt_trace *to, struct pt_lanes *l, uint32_t pid, uint32_t thread,
                       struct pt_str name, uint32_t sort_index) {
    char text[64];
    name.len = name.len < 32 ? name.len : 32;
    pt_trace_thread(to, pid, thread, name, sort_index++);
    for (uint32_t i = 1; i < PT_LANES_MAX && find(l, pid, thread, i)->is_used; i++)
        pt_trace_thread(to, pid, pt_lane_thread(thread, i),
                        lane_name(text, sizeof text, name, thread, i), sort_index++);
    return sort_index;
}
