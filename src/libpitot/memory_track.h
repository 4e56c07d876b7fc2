/* libpitot/memory_track.h -- memory of the process over time, for traces: the newest samples. */
#ifndef PT_LIBPITOT_MEMORY_TRACK_H
#define PT_LIBPITOT_MEMORY_TRACK_H

#include <stddef.h>
#include <stdint.h>

struct pt_memory_point {
    int64_t time_ns; /* CLOCK_MONOTONIC */
    double mb;       /* resident */
};

/* Takes a sample at each interval from now on; 0: stops and drops all samples. 0 or -errno. */
int pt_memory_track_set(int64_t interval_ns);
/* Copies samples from number `from` on, oldest first; `*next` is where to continue. */
size_t pt_memory_track_read(uint64_t from, struct pt_memory_point *into, size_t capacity,
                            uint64_t *next);
/* Takes a sample now, if sampling is on. */
void pt_memory_track_sample(void *unused);

#endif
