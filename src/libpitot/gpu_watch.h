/* libpitot/gpu_watch.h -- the GPUs of this machine, asked by one thread for all of libpitot.
 *
 *     if (!pt_gpu_watch_start(interval_ns)) {
 *         struct pt_gpu_now now;
 *         if (pt_gpu_watch_read(&now))
 *             use(now.utilization_percent);
 *         pt_gpu_watch_stop();
 *     }
 *
 * Without a GPU no thread stays, and the search is not repeated for a while. A child made by fork()
 * while GPUs are watched sees none: the libraries of the drivers do not survive it. */
#ifndef PT_LIBPITOT_GPU_WATCH_H
#define PT_LIBPITOT_GPU_WATCH_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* The latest reading. What is unknown is NAN. */
struct pt_gpu_now {
    /* Of the first GPU. */
    double utilization_percent;
    double memory_used_mb, memory_total_mb; /* 2^20 bytes */
    double temperature_c, power_w;
    /* Of this process on all GPUs; NAN: the driver does not list it. */
    double process_memory_mb;
    int64_t time_ns; /* when it was read, CLOCK_MONOTONIC; its age is pt_mono_ns() less that */
};

/* An instant to measure from. */
struct pt_gpu_mark {
    uint64_t reading_count;
    double utilization_sum, energy_joules;
    double power_w;  /* between the latest two readings then */
    int64_t time_ns; /* of the latest reading then; 0: there was none */
};

/* From a mark to the latest reading; NAN: unknown. */
struct pt_gpu_since {
    double utilization_percent; /* of the first GPU, mean of the readings; NAN: there was none */
    /* Mean power of the GPUs that this process is on, of all GPUs if the driver lists it nowhere:
     * by their energy counters, by readings of their power where there is none. If there was no
     * reading since, that between the latest two. */
    double power_w;
};

/* Watching begins with the first start and ends with the last stop; the shortest interval of all
 * counts, from 0.1 s on. Waits for the first reading, half a second at most. 0; -ENODATA: there is
 * no GPU, and nothing to stop; other -errno. */
int pt_gpu_watch_start(int64_t interval_ns) PT_MUST_CHECK;
/* Once for each start that returned 0. Not by a function of the ticker. */
void pt_gpu_watch_stop(void);

/* False: there is none (yet); then all is NAN. */
bool pt_gpu_watch_read(struct pt_gpu_now *now);
void pt_gpu_watch_mark(struct pt_gpu_mark *mark);
/* From one mark to another. */
void pt_gpu_watch_between(const struct pt_gpu_mark *from, const struct pt_gpu_mark *to,
                          struct pt_gpu_since *since);

/* CPU time of the thread that asks, of all of them so far. */
int64_t pt_gpu_watch_cpu_ns(void);
/* Asks ten times less often, or as often as it should again. */
void pt_gpu_watch_slow(bool is_slow);

/* The next start searches, also if there was no GPU just now. For tests. */
void pt_gpu_watch_forget(void);

#endif
