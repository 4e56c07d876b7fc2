/* profile/heap/heap.h -- makes a heap profile of what processes with libpitot-heap.so recorded:
 * bytes allocated by stack, live, at the peak, temporary, and their growth.
 *
 * An allocation is sampled with the probability p = 1 - exp(-size / mean), and a sample counts for
 * size / p bytes and 1 / p allocations. These sums are unbiased (Horvitz and Thompson); their
 * variance is estimated by the sum of (1 - p) (size / p)^2. */
#ifndef PT_PROFILE_HEAP_HEAP_H
#define PT_PROFILE_HEAP_HEAP_H

#include "profile/heap/heap_live.h"
#include "profile/sample/preload_source.h"
#include "profile/sample/recording.h"

#define PT_HEAP_WINDOWS   32 /* of the timeline; an even number */
#define PT_HEAP_PROCESSES 65536

enum pt_heap_metric { PT_HEAP_LIVE, PT_HEAP_PEAK, PT_HEAP_ALLOCATED, PT_HEAP_TEMPORARIES };

struct pt_heap_sum {
    double bytes, count;
    double variance; /* of the bytes */
};

/* Live bytes at the end of each window. All windows have the same length, which doubles when there
 * would be too many. */
struct pt_heap_series {
    float at[PT_HEAP_WINDOWS];
    uint32_t filled;
};

/* The same for all stacks together, in finer steps, for display. */
struct pt_heap_line {
    double at[PT_PROFILE_STEPS_MAX];
    size_t filled;
    int64_t step_ns;
};

/* Memory allocated from one stack by one thread. */
struct pt_heap_group {
    uint32_t stack, thread;
    struct pt_heap_sum allocated, temporary;
    struct pt_heap_sum live; /* in running processes */
    struct pt_heap_sum left; /* not freed when its process ended */
    struct pt_heap_sum peak; /* live at the overall peak */
    uint64_t peak_number;    /* the peak that `peak` belongs to; not used in mode "every" */
    struct pt_heap_series series;
};

/* In mode "every": what is known about a stack of a process. */
struct pt_heap_counted {
    uint32_t group; /* plus one; 0 = not seen yet */
    struct pt_heap_sum allocated, live, temporary;
};

struct pt_heap_process {
    int32_t pid;
    bool may_refresh; /* its mappings: once per batch */
    /* noticed while refreshing: the remaining records wait for its last mappings */
    bool is_gone;
    bool is_every;
    bool has_unknown_python;
    struct pt_preload_losses losses;
    uint32_t *codes; /* Python code: by number in the file, plus one; 0 = not seen */
    size_t code_capacity;
    struct pt_heap_counted *counted;
    size_t counted_capacity;
    int64_t counted_ns; /* when `counted` was last updated */
};

struct pt_heap {
    struct pt_recording recording; /* its profile is the result */
    struct pt_pythons pythons;     /* only their code objects */
    struct pt_buf entries;         /* Python frames of the current sample */
    double mean_bytes;
    bool is_every;
    struct pt_heap_group *groups;
    size_t group_count, group_capacity;
    struct pt_intern group_index;
    struct pt_heap_live live;
    struct pt_heap_live_entry last_freed[16]; /* a failed realloc restores one */
    size_t last_freed_next;
    struct pt_heap_process *processes;
    size_t process_count, process_capacity;
    struct pt_heap_sum total_live, total_allocated, total_peak;
    uint64_t peak_number;
    int64_t peak_mono_ns, start_mono_ns, now_mono_ns, window_ns;
    struct pt_heap_series total_series;
    struct pt_heap_line line;
    int64_t sample_count;
    int64_t thinned_count; /* sampled at a reduced rate, because the ring was filling up */
};

void pt_heap_init(struct pt_heap *h, const struct pt_fs *fs);
void pt_heap_release(struct pt_heap *h);

/* Adds the opened file of a process; returns its number. */
uint32_t pt_heap_add_process(struct pt_heap *h, const struct pt_preload_source *s);
/* Reads new records. `is_final`: the process has ended; what it has not freed counts as left. */
void pt_heap_read(struct pt_heap *h, uint32_t process, struct pt_preload_source *s, bool is_final,
                  int64_t now_ns);

/* Makes the profile of the current state, one sample per stack and thread, without symbols. `first`
 * is its first column. */
void pt_heap_make(struct pt_heap *h, enum pt_heap_metric first);
/* Same with symbols; once, because nothing can be read afterwards. */
void pt_heap_finish(struct pt_heap *h, enum pt_heap_metric first);

/* Moves the columns of a metric to the front in a profile read from a file. False: no such column.
 */
bool pt_heap_put_first(struct pt_profile *p, enum pt_heap_metric first);

/* The weight of a sample of `bytes`. */
struct pt_heap_sum pt_heap_weight(uint64_t bytes, double mean_bytes);

/* Extends the series to `mono_ns` with the current values; public for tests of growth. */
void pt_heap_advance(struct pt_heap *h, int64_t mono_ns);

/* Shared with heap_every.c: the number of a group, and changes of its live memory. */
uint32_t pt_heap_group_of(struct pt_heap *h, uint32_t stack, uint32_t thread);
void pt_heap_change_live(struct pt_heap *h, uint32_t group, const struct pt_heap_sum *by,
                         double sign);
static inline void pt_heap_sum_add(struct pt_heap_sum *to, const struct pt_heap_sum *what,
                                   double sign) {
    to->bytes += sign * what->bytes;
    to->count += sign * what->count;
    to->variance += sign * what->variance;
}
struct pt_profile_sample pt_heap_unwind(struct pt_heap *h, struct pt_heap_process *p,
                                        const struct pt_preload_event *e);

/* Python frames with the numbers of their code in the profile; valid until the next call. */
struct pt_str pt_heap_python_entries(struct pt_heap *h, const struct pt_heap_process *p,
                                     struct pt_str frames);

/* heap_every.c: the sums of mode "every". */
void pt_heap_every_copy(struct pt_heap *h, struct pt_heap_process *p,
                        const struct pt_preload_event *e);
void pt_heap_every_read(struct pt_heap *h, struct pt_heap_process *p,
                        const struct pt_preload_source *s, bool is_final, int64_t now_ns);

struct pt_preload_losses pt_preload_losses(const struct pt_heap *h);
const char *pt_heap_metric_name(size_t index);

#endif
