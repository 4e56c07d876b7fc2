/* collect/thread_switches.h -- context switches of a process and the time it waited for a CPU,
 * summed over its threads.
 *
 * /proc/PID/status and schedstat count the main thread only. After a thread ends, its last known
 * counts stay in the sums, so that they never decrease. */
#ifndef PT_COLLECT_THREAD_SWITCHES_H
#define PT_COLLECT_THREAD_SWITCHES_H

#include "collect/file_pool.h"
#include "source/kernel/pid_list.h"

/* With more threads than this none is read and the sum is unknown. */
#define PT_THREAD_SWITCHES_MAX 4096

struct pt_switches {
    int64_t voluntary, nonvoluntary;
    int64_t run_delay_ns; /* runnable, but not running */
    bool lacks_run_delay; /* of a thread: the kernel does not count it */
};

struct pt_thread_list {
    struct pt_thread {
        pid_t id;
        struct pt_switches switches;
    } * at;
    size_t count, capacity;
};

struct pt_thread_switches {
    struct pt_thread_list threads;
    struct pt_switches ended;
};

/* Buffers shared by the readings of several processes. */
struct pt_thread_reader {
    struct pt_pid_list ids;
    struct pt_thread_list next;
};

void pt_thread_reader_release(struct pt_thread_reader *r);

/* 0 or -errno; -E2BIG: too many threads. */
int pt_thread_switches_read(struct pt_thread_switches *t, struct pt_thread_reader *reader,
                            struct pt_file_pool *pool, int proc, pid_t pid,
                            struct pt_switches *sum) PT_MUST_CHECK;
void pt_thread_switches_clear(struct pt_thread_switches *t); /* keeps the memory */
void pt_thread_switches_release(struct pt_thread_switches *t);

#endif
