/* gputrace/timeline.h -- GPU activity and the calls that caused it, as recorded by the vendors'
 * profilers: kernels, copies, driver calls, ranges named by programs.
 *
 * The readers (nsys.h, rocprof.h, torch.h) add events in any order and in the clock of their file;
 * pt_timeline_align() converts them to the clock of a run, and pt_timeline_finish() sorts them.
 * Memory grows with the number of events up to PT_TIMELINE_EVENTS_MAX; further events are
 * counted. */
#ifndef PT_GPUTRACE_TIMELINE_H
#define PT_GPUTRACE_TIMELINE_H

#include "base/names.h"

#define PT_TIMELINE_EVENTS_MAX ((size_t)8 << 20)
#define PT_TIMELINE_NONE       (-1) /* device, stream or another number that is unknown */

enum pt_timeline_kind {
    PT_TIMELINE_KERNEL,
    PT_TIMELINE_COPY,  /* memory copied or set */
    PT_TIMELINE_CALL,  /* of the CUDA or HIP runtime, and waiting for the device */
    PT_TIMELINE_RANGE, /* named by the program: NVTX, ROCTx, record_function; operators of torch */
    PT_TIMELINE_KINDS
};

enum pt_timeline_clock {
    PT_TIMELINE_UNKNOWN_CLOCK,
    PT_TIMELINE_WALL, /* Unix time */
    PT_TIMELINE_MONOTONIC,
    PT_TIMELINE_BOOTTIME, /* CLOCK_BOOTTIME: monotonic, including time in suspend */
};

struct pt_timeline_event {
    int64_t start_ns, duration_ns;
    /* or PT_TIMELINE_NONE: */
    int64_t bytes;       /* of a copy */
    int64_t correlation; /* shared by a call and the activity it started */
    int32_t pid, thread;
    int32_t device, stream;
    int32_t registers, shared_bytes;
    /* of `names`: */
    uint32_t name;
    uint32_t grid_plus_one, block_plus_one; /* "256x1x1"; 0: unknown */
    enum pt_timeline_kind kind;
};

/* No kernel on a device that had one before and after. */
struct pt_timeline_gap {
    int64_t start_ns, duration_ns;
    int64_t copying_ns; /* how long the device copied memory in it */
    int32_t device;
    uint32_t before, after; /* the kernels: of `names` */
};

struct pt_timeline {
    struct pt_names names;
    struct pt_timeline_event *events;
    size_t count, capacity;
    struct pt_timeline_gap *gaps;
    size_t gap_count, gap_capacity;
    size_t left_out;              /* more than PT_TIMELINE_EVENTS_MAX, or with impossible times */
    enum pt_timeline_clock clock; /* of the file that was read last */
};

/* An event with only its kind known. */
struct pt_timeline_event pt_timeline_event_of(enum pt_timeline_kind kind);
void pt_timeline_add(struct pt_timeline *t, const struct pt_timeline_event *event);
/* "256x1x1", or 0 if one of them is unknown. */
uint32_t pt_timeline_size_plus_one(struct pt_timeline *t, const int64_t size[3]);
/* Shifts the events from number `first` on; drops those that would leave the range of time. */
void pt_timeline_move(struct pt_timeline *t, size_t first, int64_t shift_ns);

/* The time of a run, on both clocks. */
struct pt_timeline_run {
    int64_t first_mono_ns, last_mono_ns;
    int64_t ahead_ns; /* Unix time less CLOCK_MONOTONIC */
};

/* Converts the events from number `first` on, those of one file, to CLOCK_MONOTONIC. False: their
 * clock is unknown, or puts none of them into the run; they then start with the run. */
bool pt_timeline_align(struct pt_timeline *t, size_t first, const struct pt_timeline_run *run);
/* Finds the gaps, and sorts events and gaps by their end. */
void pt_timeline_finish(struct pt_timeline *t);
void pt_timeline_release(struct pt_timeline *t);

#endif
