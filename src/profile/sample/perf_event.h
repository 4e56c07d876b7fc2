/* profile/sample/perf_event.h -- opens perf events: one per CPU, each with a ring. Chooses the best
 * event that the kernel, the machine and our privileges permit, from hardware cycles including the
 * kernel down to the CPU clock of user code only. */
#ifndef PT_PROFILE_SAMPLE_PERF_EVENT_H
#define PT_PROFILE_SAMPLE_PERF_EVENT_H

#include "base/fs.h"
#include "profile/sample/perf_ring.h"

#define PT_PERF_RATE_MAX   9999
#define PT_PERF_CPUS_MAX   1024
#define PT_PERF_EVENTS_MAX 16384 /* threads of a running process x CPUs */
#define PT_PERF_RINGS_MAX  (2 * PT_PERF_CPUS_MAX)

struct pt_perf_options {
    int64_t rate_hz;
    size_t stack_bytes; /* how much of the stack is copied with each sample */
    bool is_off_cpu;    /* sample when a thread leaves the CPU, instead of by time */
    bool wants_python;  /* read Python frames right after each sample */
};

struct pt_perf_event {
    int fd;
    uint32_t cpu; /* number of its ring */
};

/* Each CPU has a quiet ring, which is polled, and, if Python is wanted, a loud ring, which wakes
 * its reader at every record; that costs the target more than the sample itself. Rings belong to
 * dummy events that count nothing. */
struct pt_perf {
    struct pt_perf_event *events;
    size_t event_count, event_capacity;
    struct pt_perf_ring rings[PT_PERF_RINGS_MAX]; /* the quiet rings, then the loud rings */
    int ring_fds[PT_PERF_RINGS_MAX];
    size_t ring_count, cpu_count;
    bool is_loud; /* events write into the loud rings */
    bool has_kernel, counts_time;
    size_t left_out;  /* processes besides the first that could not be opened */
    char method[160]; /* "cpu-clock, user and kernel, 32 KiB stacks" */
};

/* Counts kept by the kernel. */
struct pt_perf_counts {
    int64_t cpu_ns; /* CPU time that was sampled; -1: cycles were counted instead */
    int64_t lost;   /* records that did not fit; -1: the kernel does not report them */
};

/* A command that waits at its barrier: sampling starts at its exec. */
int pt_perf_open_command(struct pt_perf *p, const struct pt_fs *fs, const struct pt_perf_options *o,
                         pid_t pid, struct pt_err *err) PT_MUST_CHECK;
/* Running processes with all their threads and descendants; sampling starts at once. Only the first
 * must be permitted: the others may belong to another user or be too many. */
int pt_perf_open_processes(struct pt_perf *p, const struct pt_fs *fs,
                           const struct pt_perf_options *o, const pid_t *pids, size_t count,
                           struct pt_err *err) PT_MUST_CHECK;
/* From now on every record wakes the reader, or none does. */
void pt_perf_set_loud(struct pt_perf *p, bool is_loud);
/* Stops sampling; records in the rings stay. */
void pt_perf_stop(struct pt_perf *p);
/* Call after pt_perf_stop(). */
struct pt_perf_counts pt_perf_counts(const struct pt_perf *p);
void pt_perf_close(struct pt_perf *p);

#endif
