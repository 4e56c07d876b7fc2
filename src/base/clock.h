/* base/clock.h -- the clocks that Pitot uses, in nanoseconds. */
#ifndef PT_BASE_CLOCK_H
#define PT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define PT_NS_PER_SECOND INT64_C(1000000000)
#define PT_NS_PER_MS     INT64_C(1000000)
#define PT_NS_PER_US     INT64_C(1000)

static inline int64_t pt_clock_ns(clockid_t id) {
    struct timespec t;
    if (clock_gettime(id, &t))
        return 0;
    return t.tv_sec * PT_NS_PER_SECOND + t.tv_nsec;
}

/* Never jumps; stops while the machine is suspended. */
static inline int64_t pt_mono_ns(void) {
    return pt_clock_ns(CLOCK_MONOTONIC);
}

/* Unix time. */
static inline int64_t pt_wall_ns(void) {
    return pt_clock_ns(CLOCK_REALTIME);
}

#endif
