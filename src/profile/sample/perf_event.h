/* profile/sample/perf_event.h -- opens perf events: one for each CPU, and a ring for each. The
 * best way that this kernel, this machine and our rights allow is chosen, from hardware cycles
 * with the kernel down to the CPU clock in user code only. */
#ifndef PT_PROFILE_SAMPLE_PERF_EVENT_H
#define PT_PROFILE_SAMPLE_PERF_EVENT_H

#include "base/fs.h"
#include "profile/sample/perf_ring.h"

#define PT_PERF_RATE_MAX   9999
#define PT_PERF_CPUS_MAX   1024
#define PT_PERF_EVENTS_MAX 16384 /* threads of a running process times CPUs */
#define PT_PERF_RINGS_MAX  (2 * PT_PERF_CPUS_MAX)

struct pt_perf_options {
    int64_t rate_hz;
    size_t stack_bytes; /* how much of the stack goes with each sample */
    bool is_off_cpu;    /* a sample when a thread leaves the CPU, instead of by time */
    bool wants_python;  /* read the frames of Python at once, while they are there */
};

struct pt_perf_event {
    int fd;
    uint32_t cpu; /* number of its ring */
};

/* Each CPU has a quiet ring, whose reader looks at it now and then, and where Python is wanted a
 * loud one, which wakes its reader with every record: that costs the target more than the sample.
 * Rings belong to events of our own that count nothing. */
struct pt_perf {
    struct pt_perf_event *events;
    size_t event_count, event_capacity;
    struct pt_perf_ring rings[PT_PERF_RINGS_MAX]; /* the quiet ones, then the loud ones */
    int ring_fds[PT_PERF_RINGS_MAX];
    size_t ring_count, cpu_count;
    bool is_loud; /* events write into the loud rings */
    bool has_kernel, counts_time;
    size_t left_out; /* processes that could not be taken in with the first */
    char way[160];   /* "cpu-clock, user and kernel, 32 KiB stacks" */
};

/* What the kernel itself has counted. */
struct pt_perf_counts {
    int64_t cpu_ns; /* that was sampled; -1: cycles were counted instead */
    int64_t lost;   /* records that found no room; -1: it does not say */
};

/* A process that waits at its barrier: sampling starts with its exec. */
int pt_perf_open_command(struct pt_perf *p, const struct pt_fs *fs, const struct pt_perf_options *o,
                         pid_t pid, struct pt_err *err) PT_MUST_CHECK;
/* Running processes with all their threads, and what they start; sampling starts at once. Only the
 * first has to be allowed: the others may be another user's, or too many. */
int pt_perf_open_processes(struct pt_perf *p, const struct pt_fs *fs,
                           const struct pt_perf_options *o, const pid_t *pids, size_t count,
                           struct pt_err *err) PT_MUST_CHECK;
/* From now on every record wakes the reader of the rings, or none does. */
void pt_perf_set_loud(struct pt_perf *p, bool is_loud);
/* Nothing more is sampled; what is in the rings stays. */
void pt_perf_stop(struct pt_perf *p);
/* After that. */
struct pt_perf_counts pt_perf_counts(const struct pt_perf *p);
void pt_perf_close(struct pt_perf *p);

#endif
