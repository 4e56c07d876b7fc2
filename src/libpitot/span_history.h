/* libpitot/span_history.h -- the newest spans of this process, in its own memory, and its own
 * region.
 *
 * Under a recorder, which empties the rings, the spans are only copied, and overwritten spans are
 * counted as lost. */
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

/* Starts to keep spans; a second call changes the capacity. 0 or -errno. pt_start() starts with
 * 200,000; a program that is only switched on by the environment keeps none until it calls this. */
int pt_history_start(size_t capacity) PT_MUST_CHECK;
void pt_history_stop(void);
/* Spans are recorded again: collects them at the usual interval, starting now. */
void pt_history_hurry(void);

/* Collects new spans, then copies spans from number `from` on, in the order in which they ended, by
 * thread. `*next` is where to continue; spans that are gone are skipped. */
size_t pt_history_read(uint64_t from, struct pt_history_span *into, size_t capacity,
                       uint64_t *next);
/* The number of the next span. */
uint64_t pt_history_end(void);
uint64_t pt_history_lost(void);
/* The name of a thread at its first call, also after its end; false: unknown. */
bool pt_history_thread_name(uint32_t id, char name[PT_REGION_OWNER_NAME]);

/* The next interval, after `interval_ns` and with this many spans in the fullest ring. */
int64_t pt_history_next_interval(int64_t interval_ns, uint64_t fullest);

/* CLOCK_REALTIME of an instant of CLOCK_MONOTONIC. */
int64_t pt_history_wall_ns(int64_t mono_ns);

/* The region of this process, to read metrics and names from; false: there is none. The memory
 * stays mapped until the process ends. */
bool pt_history_region(struct pt_region *region);

#endif
