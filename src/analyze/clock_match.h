/* analyze/clock_match.h -- offset between the clocks of two machines, from events both saw.
 *
 * An event is something that happens on both at nearly the same time: the end of a collective
 * operation, a mark with the same text. Each pair of the same name and number gives a difference;
 * the offset is their median, and the error is half the range of the middle 90 %. */
#ifndef PT_ANALYZE_CLOCK_MATCH_H
#define PT_ANALYZE_CLOCK_MATCH_H

#include "model/sample.h"

#define PT_CLOCK_EVENTS_MAX 65536 /* per machine */
#define PT_CLOCK_PAIRS_MIN  3     /* too few to estimate the error otherwise */

struct pt_clock_event {
    uint32_t name;
    int64_t number; /* a step number, or the occurrence of this name */
    int64_t time_ns;
};

/* {0} is empty. */
struct pt_clock_events {
    struct pt_clock_event *list;
    size_t count, capacity;
};

void pt_clock_events_add(struct pt_clock_events *e, const struct pt_clock_event *event);
void pt_clock_events_release(struct pt_clock_events *e);

struct pt_clock_offset {
    int64_t offset_ns; /* add to a time of `other` to get that of `reference` */
    int64_t error_ns;
    size_t pair_count;
};

/* False: too few pairs. Sorts the events. */
bool pt_clock_match(struct pt_clock_events *reference, struct pt_clock_events *other,
                    struct pt_clock_offset *offset);

#endif
