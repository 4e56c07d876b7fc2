/* inside/region/tick_clock.h -- converts a process's ticks to CLOCK_MONOTONIC, always to the same
 * time.
 *
 * Ticks run evenly, but their rate is only known by reading both clocks, with an error of some ten
 * nanoseconds. So each reading bends the line after the last point used, never before it: an
 * instant converts to the same time again, and order is kept. So a span that is converted later
 * than the one inside it still encloses it. */
#ifndef PT_INSIDE_REGION_TICK_CLOCK_H
#define PT_INSIDE_REGION_TICK_CLOCK_H

#include <stdint.h>

#define PT_TICK_BENDS 512

/* Valid from these ticks on. */
struct pt_tick_bend {
    uint64_t ticks;
    double ns; /* since the first bend */
    double ns_per_tick;
};

struct pt_tick_clock {
    uint64_t first_ticks;
    int64_t first_ns;                         /* CLOCK_MONOTONIC */
    struct pt_tick_bend bends[PT_TICK_BENDS]; /* bend n is at n % PT_TICK_BENDS */
    uint64_t bend_count;
    uint64_t used_ticks; /* the latest that were converted */
    /* Both clocks at the last bend. */
    uint64_t read_ticks;
    double read_ns;
};

/* Both clocks at one past instant. */
void pt_tick_clock_begin(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns);
/* Both clocks now. */
void pt_tick_clock_follow(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns);
/* 0 for invalid ticks: the process may have written anything. */
int64_t pt_tick_clock_ns(struct pt_tick_clock *c, uint64_t ticks);

#endif
