/* inside/region/tick_clock.h -- CLOCK_MONOTONIC of a process's ticks, the same each time it is
 * asked.
 *
 * Ticks run evenly, but how fast is only known by reading both clocks, with an error of some ten
 * nanoseconds. Each reading therefore bends the line from where it was used last, never before:
 * what was said of an instant is said again, and order is kept. So a span that is converted later
 * than the one inside it still encloses it. */
#ifndef PT_INSIDE_REGION_TICK_CLOCK_H
#define PT_INSIDE_REGION_TICK_CLOCK_H

#include <stdint.h>

#define PT_TICK_BENDS 512

/* From these ticks on. */
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
    /* Both clocks when the line was bent last. */
    uint64_t read_ticks;
    double read_ns;
};

/* Both clocks at one instant, long ago. */
void pt_tick_clock_begin(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns);
/* Both clocks now. */
void pt_tick_clock_follow(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns);
/* 0 for nonsense: the process may have written anything. */
int64_t pt_tick_clock_ns(struct pt_tick_clock *c, uint64_t ticks);

#endif
