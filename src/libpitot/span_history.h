/* libpitot/span_history.h -- the newest spans of this process, in its own memory, and its own
 * region.
 *
 * Under a recorder the rings are the recorder's to empty: then they are only looked at, and what
 * was overwritten meanwhile is counted as lost. */
#ifndef PT_LIBPITOT_SPAN_HISTORY_H
#define PT_LIBPITOT_SPAN_HISTORY_H

#include "inside/region/reader.h"

struct pt_history_span {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    int64_t argument;
    uint64_t request;
    uint32_t thread;
    uint16_t name, flags; /* enum pt_region_span_flag */
};

/* Begins to keep spans; again: changes the capacity. 0 or -errno. pt_start() begins with 200,000;
 * a program that is only switched on by the environment keeps none until it calls this. */
int pt_history_start(size_t capacity) PT_MUST_CHECK;
void pt_history_stop(void);
/* Spans are recorded again: looks for them at the usual pace, at once. */
void pt_history_hurry(void);

/* Takes in what is new, then copies spans from number `from` on, in the order in which they ended
 * by thread. `*next` is where to go on; spans that are gone already are left out. */
size_t pt_history_read(uint64_t from, struct pt_history_span *into, size_t capacity,
                       uint64_t *next);
/* The number that the next span will have. */
uint64_t pt_history_end(void);
uint64_t pt_history_lost(void);
/* The name that a thread had at its first call, also after its end; false: it is not known. */
bool pt_history_thread_name(uint32_t id, char name[PT_REGION_OWNER_NAME]);

/* When to look next, after `interval_ns` and with so many spans in the fullest ring. */
int64_t pt_history_next_interval(int64_t interval_ns, uint64_t fullest);

/* CLOCK_REALTIME of an instant of CLOCK_MONOTONIC. */
int64_t pt_history_wall_ns(int64_t mono_ns);

/* The region of this process, to read metrics and names from; false: there is none. The memory
 * stays mapped until the process ends. */
bool pt_history_region(struct pt_region *region);

#endif
