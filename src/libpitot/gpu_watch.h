/* libpitot/gpu_watch.h -- the GPUs of this machine, read by one thread for all of libpitot.
 *
 *     if (!pt_gpu_watch_start(interval_ns)) {
 *         struct pt_gpu_now now;
 *         if (pt_gpu_watch_read(&now))
 *             use(now.utilization_percent);
 *         pt_gpu_watch_stop();
 *     }
 *
 * Without a GPU no thread stays, and the search is not repeated for a while. A child made by fork()
 * while GPUs are watched sees none: the driver libraries do not survive a fork. */
#ifndef PT_LIBPITOT_GPU_WATCH_H
#define PT_LIBPITOT_GPU_WATCH_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>

/* The latest reading. Unknown values are NAN. */
struct pt_gpu_now {
    /* Of the first GPU. */
    double utilization_percent;
    double memory_used_mb, memory_total_mb; /* 2^20 bytes */
    double temperature_c, power_w;
    /* Of this process on all GPUs; NAN: the driver does not list it. */
    double process_memory_mb;
    int64_t time_ns; /* time of the reading, CLOCK_MONOTONIC; its age is pt_mono_ns() minus this */
};

/* An instant to measure from. */
struct pt_gpu_mark {
    uint64_t reading_count;
    double utilization_sum, energy_joules;
    double power_w;  /* interval between the latest two readings then */
    int64_t time_ns; /* of the latest reading then; 0: none */
};

/* From a mark to the latest reading; NAN: unknown. */
struct pt_gpu_since {
    double utilization_percent; /* of the first GPU, mean of the readings; NAN: no reading */
    /* Mean power of the GPUs that this process uses, or of all GPUs if the driver does not list it:
     * from energy counters, or from power readings of GPUs without one. Without a reading since the
     * mark, the power between the latest two. */
    double power_w;
};

/* Watching begins with the first start and ends with the last stop; the shortest requested interval
 * counts, 0.1 s or more. Waits at most half a second for the first reading. 0; -ENODATA: there is
 * no GPU, and nothing to stop; other -errno. */
int pt_gpu_watch_start(int64_t interval_ns) PT_MUST_CHECK;
/* Once per start that returned 0. Not from a function of the ticker. */
void pt_gpu_watch_stop(void);

/* False: no reading (yet); then all is NAN. */
bool pt_gpu_watch_read(struct pt_gpu_now *now);
void pt_gpu_watch_mark(struct pt_gpu_mark *mark);
/* From one mark to another. */
void pt_gpu_watch_between(const struct pt_gpu_mark *from, const struct pt_gpu_mark *to,
                          struct pt_gpu_since *since);

/* CPU time of the reading threads so far. */
int64_t pt_gpu_watch_cpu_ns(void);
/* Reads ten times less often, or at the normal interval again. */
void pt_gpu_watch_slow(bool is_slow);

/* The next start searches again, even if there was no GPU just now. For tests. */
void pt_gpu_watch_forget(void);

#endif
