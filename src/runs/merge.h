/* runs/merge.h -- merges the runs of several ranks or hosts: one journal, one clock.
 *
 * store/rank.h describes such a run, docs/MERGE.md how clocks are aligned. */
#ifndef PT_RUNS_MERGE_H
#define PT_RUNS_MERGE_H

#include "analyze/clock_match.h"
#include "base/names.h"
#include "base/out.h"
#include "store/rank.h"

#include <limits.h>

enum pt_clock_method {
    PT_CLOCK_REFERENCE, /* the clock that all others are aligned to */
    PT_CLOCK_SAME_BOOT, /* the same kernel: the same clock */
    PT_CLOCK_EVENTS,    /* by events that both recorded */
    PT_CLOCK_WALL,      /* by the wall clocks of the hosts, with an unknown error */
};

/* One of the runs to merge. */
struct pt_merge_run {
    const char *journal;
    char *label;
    char uuid[37];
    struct pt_rank_identity identity;
    uint64_t sample_count;
    int64_t first_mono_ns, last_mono_ns, ahead_ns; /* wall - mono, of the first sample */
    int64_t last_row_ns, closest_ns;               /* rows of the main file: last, closest two */
    struct pt_clock_events events;

    enum pt_clock_method method;
    struct pt_clock_offset clock; /* error_ns is unknown for PT_CLOCK_WALL */

    struct pt_journal_reader reader;
    struct pt_projection *projections;
    struct pt_sample next;
    bool has_next;
};

struct pt_merge {
    struct pt_merge_run *runs; /* by rank; the first has the reference clock */
    size_t run_count;
    struct pt_names names; /* names of events, over all runs */
    struct pt_schema schema;
    char uuid[37], journal[PATH_MAX];
    uint64_t sample_count;
};

/* Reads the runs and writes <uuid>.pitot into the directory. 0 or -errno with a message. */
int pt_merge_write(struct pt_merge *m, const char *const *journals, size_t count,
                   const char *directory, struct pt_err *err) PT_MUST_CHECK;
void pt_merge_release(struct pt_merge *m);

/* One line per run: rank, host, clock and its error. */
void pt_merge_print(const struct pt_merge *m, struct pt_out *out);

#endif
