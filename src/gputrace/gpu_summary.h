/* gputrace/gpu_summary.h -- a summary of a timeline: how busy the GPUs were, which kernels took
 * most of the time, what was copied, and the longest gaps. */
#ifndef PT_GPUTRACE_GPU_SUMMARY_H
#define PT_GPUTRACE_GPU_SUMMARY_H

#include "base/out.h"
#include "gputrace/timeline.h"

/* Total of all events of a kind and a name. */
struct pt_timeline_total {
    uint32_t name;
    uint64_t count;
    int64_t total_ns, longest_ns;
    int64_t bytes; /* of copies; PT_TIMELINE_NONE: unknown for some */
};

struct pt_timeline_totals {
    struct pt_timeline_total *list; /* the longest first */
    size_t count;
    int64_t total_ns;
};

void pt_timeline_totals_make(struct pt_timeline_totals *s, const struct pt_timeline *t,
                             enum pt_timeline_kind kind);
void pt_timeline_totals_release(struct pt_timeline_totals *s);

/* A GPU, from its first kernel to the end of its last. */
struct pt_timeline_device {
    int32_t device;
    int64_t first_ns, last_ns, idle_ns;
    uint64_t kernel_count;
};

/* The devices with kernels, in order; at most `capacity` of them. Returns how many. */
size_t pt_timeline_devices(const struct pt_timeline *t, struct pt_timeline_device *into,
                           size_t capacity);

/* For people. `start_ns` is the start of the run; `rows` limits each table. */
void pt_timeline_print(const struct pt_timeline *t, int64_t start_ns, size_t rows,
                       struct pt_out *out);

#endif
