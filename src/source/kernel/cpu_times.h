/* source/kernel/cpu_times.h -- /proc/stat and /proc/loadavg:
 *
 *     cpu  2255 34 2290 22625563 6290 127 456 0 0 0
 *     cpu0 1132 34 1441 11311718 3675 127 438 0 0 0
 *     intr 114930548 113199788 3 0 5 263 ...
 *     ctxt 1990473
 *     btime 1062191376
 *     processes 2915
 *     procs_running 1
 *     procs_blocked 0
 *     softirq 183433 0 21755 12 39 1137 231 21459 2263 ...
 *
 *     0.02 0.04 0.21 1/301 31415 */
#ifndef PT_SOURCE_KERNEL_CPU_TIMES_H
#define PT_SOURCE_KERNEL_CPU_TIMES_H

#include "source/kernel/fields.h"

enum pt_cpu_time {
    PT_CPU_USER,
    PT_CPU_NICE,
    PT_CPU_SYSTEM,
    PT_CPU_IDLE,
    PT_CPU_IOWAIT,
    PT_CPU_IRQ,
    PT_CPU_SOFTIRQ,
    PT_CPU_STEAL,
    PT_CPU_GUEST,
    PT_CPU_GUEST_NICE,
    PT_CPU_TIME_COUNT
};

/* Times in ticks of USER_HZ. Old kernels and cut lines have fewer fields. */
struct pt_cpu_times {
    int64_t cpu;      /* number of the CPU, -1 for the line of all */
    uint32_t present; /* bit i: ticks[i] is known */
    int64_t ticks[PT_CPU_TIME_COUNT];
};

/* Reads the next "cpu" line; skips lines without a valid number. False if there is none left (the
 * cursor is then at the first other line). */
bool pt_cpu_times_next(struct pt_scan *text, struct pt_cpu_times *times);

enum pt_stat_counter {
    PT_STAT_INTERRUPTS,
    PT_STAT_CONTEXT_SWITCHES,
    PT_STAT_BOOT_TIME,
    PT_STAT_FORKS,
    PT_STAT_RUNNING,
    PT_STAT_BLOCKED,
    PT_STAT_SOFT_INTERRUPTS,
    PT_STAT_COUNTER_COUNT
};

extern const struct pt_str pt_stat_keys[PT_STAT_COUNTER_COUNT]; /* for pt_keyed_read */

struct pt_loadavg {
    double one, five, fifteen;
    int64_t running, total; /* scheduling entities, i.e. threads */
};

/* 0 or -EINVAL. */
int pt_loadavg_parse(struct pt_scan text, struct pt_loadavg *load);

#endif
