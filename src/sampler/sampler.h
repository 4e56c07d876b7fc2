/* sampler/sampler.h -- the thread that takes the samples.
 *
 * It takes the first sample at once, the others at start + k x interval; a late
 * tick is skipped and counted, never shifted. It takes a last one when it is
 * stopped. No two samples have the same millisecond: a tick right after a late
 * sample is skipped too, and the last sample waits up to 1 ms. The thread never
 * waits for a disk or for the consumer of its samples. */
#ifndef PT_SAMPLER_SAMPLER_H
#define PT_SAMPLER_SAMPLER_H

#include "sampler/governor.h"
#include "sampler/sample_queue.h"
#include "collect/collector.h"
#include "store/own_cost.h"

#include <semaphore.h>
#include <stdatomic.h>

#define PT_SAMPLER_COLLECTORS 32

#define PT_SAMPLER_TABLES     (PT_SAMPLER_COLLECTORS * PT_COLLECTOR_TABLES + 4)

/* All tables of a run in the order of every output: those of the collectors, Pitot's own overhead,
 * marks. Returns their number. */
uint32_t pt_sampler_tables(const struct pt_table *tables[PT_SAMPLER_TABLES]);

struct pt_sampler_collector {
    const struct pt_collector *type;
    void *state;
    uint32_t first_table; /* of its tables in the schema */
    bool is_on;           /* requested, and available on this machine */
    int status;           /* of the last call: 0 or -errno */
    int level;            /* sampled every 2^level ticks */
    int64_t took_ns;      /* wall time of all calls */
    int64_t worst_ns;     /* since the last report */
    int64_t governed_ns;  /* took_ns at the last call of the governor */
    uint64_t call_count, row_count, error_count;
};

struct pt_sampler_options {
    int64_t interval_ns;
    double budget; /* share of one CPU */
    const struct pt_fs *fs;
    const struct pt_target *target;
    const struct pt_engine_options *engines; /* or NULL */
    const char *regions;                     /* see struct pt_context */
    int fd_budget;
    /* CPU time of the waited-for processes that are not Pitot's; or NULL. Called by the sampler
     * thread. */
    int64_t (*command_ns)(const void *other);
    const void *other;
    bool is_enabled[PT_SAMPLER_COLLECTORS]; /* by index in pt_collectors */
};

struct pt_sampler {
    struct pt_sampler_options options;
    struct pt_schema schema;
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    struct pt_sampler_collector collectors[PT_SAMPLER_COLLECTORS];
    int collector_count;
    uint32_t self_table; /* index in the schema */
    struct pt_context context;
    struct pt_text text; /* of the context */
    struct pt_thinning thinning;
    struct pt_part_costs part_costs; /* since the last call of the governor */
    struct pt_governor_knob knobs[PT_GOVERNOR_KNOBS];
    struct pt_governor governor;
    struct pt_sample_queue queue;
    pthread_t thread;
    bool has_thread, is_running; /* the thread waits for pt_sampler_start() */
    sem_t start;
    int timer_fd;
    atomic_bool must_stop;
    /* Written by the sampler thread, read by others for display. */
    _Atomic uint64_t taken_count, late_count, dropped_count;
    _Atomic int64_t worst_lateness_ns;

    /* Used by the sampler thread only. */
    int64_t start_ns, last_report_ns, last_govern_ns, last_cpu_ns, last_wake_ns;
    int64_t last_ns;          /* of the last sample taken */
    uint64_t due_count;       /* ticks so far */
    struct pt_file schedstat; /* of the thread */
    /* At the last event about late ticks. */
    uint64_t explained_count;
    int64_t explained_delay_ns, explained_took_ns, last_late_ns;
    int64_t wall_offset_ns, boot_offset_ns; /* from the monotonic clock */
    int64_t wall_error_ns;                  /* of wall_offset_ns, at most */
};

/* The schema, and what a recording needs: queue, timer and thread. Optional parts come later, so
 * that a shortage is theirs. */
int pt_sampler_init(struct pt_sampler *s, const struct pt_sampler_options *options,
                    struct pt_err *err) PT_MUST_CHECK;
/* Opens the collectors. One that cannot start is left out with a warning; only a
 * wrong option is an error. */
int pt_sampler_open(struct pt_sampler *s, struct pt_err *err) PT_MUST_CHECK;
void pt_sampler_start(struct pt_sampler *s);
/* Takes the last sample, ends the thread and closes the collectors. */
void pt_sampler_stop(struct pt_sampler *s);
void pt_sampler_release(struct pt_sampler *s);

/* One tick into `sample`, without thread, queue or schedule (also for tests and benchmarks). */
void pt_sampler_tick(struct pt_sampler *s, struct pt_sample *sample);

#endif
