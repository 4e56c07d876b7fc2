/* record/recorder_state.h -- a run while it is recorded: what recorder.c, recorder_open.c and
 * recorder_files.c share, and nobody else. */
#ifndef PT_RECORD_RECORDER_STATE_H
#define PT_RECORD_RECORDER_STATE_H

#include "sampler/alert_command.h"
#include "sampler/alerts.h"
#include "sampler/engine_infos.h"
#include "gputrace/gpu_trace.h"
#include "sampler/marks.h"
#include "record/recorder.h"
#include "launch/regions.h"
#include "profile/run/run_heap.h"
#include "profile/run/run_cpu.h"
#include "record/status.h"
#include "launch/stopping.h"
#include "analyze/death.h"
#include "push/push.h"
#include "store/ring.h"

#include <uuid.h>

struct pt_recorder {
    const struct pt_recorder_options *o;
    uuid_t uuid;
    char uuid_text[37];
    char journal_path[PATH_MAX], static_path[PATH_MAX];
    size_t made_directory_from; /* see pt_run_make_directory() */

    struct pt_target target;
    struct pt_sampler sampler;
    struct pt_ring ring; /* where samples go */
    struct pt_blackbox blackbox;
    struct pt_death_watch death;
    struct pt_energy_basis energy;
    char *const *argv; /* of the child */
    struct pt_child child;
    struct pt_stopping stopping;
    struct pt_marks marks;
    struct pt_alerts alerts;
    struct pt_alert_command alert_command;
    struct pt_regions regions;
    struct pt_status status;
    struct pt_push *push;
    struct pt_run_profile profile;
    struct pt_run_heap heap;
    struct pt_gpu_trace gpu;
    struct pt_sample mark_sample;
    uint32_t mark_table;

    int signal_fd;
    sigset_t old_mask;
    struct rlimit old_limit;
    bool has_raised_limit;
    int target_fds[PT_TARGET_PIDS];

    struct pt_engine_infos engines;
    int64_t start_wall_ns;
    int64_t start_ns, container_checked_ns;
    bool must_stop;
    int write_error; /* of the journal, now */
    bool has_lost;   /* something of Pitot's own went wrong */
    const char *end_reason;
};

/* All that must be there before the command may run, which waits; sampling has begun. 0 or -errno
 * with words: what was made is still to be released. */
int pt_recorder_open(struct pt_recorder *r, struct pt_err *err) PT_MUST_CHECK;

/* Says that writing the journal failed (`rc`), or works again: once each. */
void pt_recorder_note_write(struct pt_recorder *r, int rc);

/* What does not change during the run, as a file and in the journal. */
void pt_recorder_write_static(struct pt_recorder *r);

/* Closes the journal and makes everything else from it. */
void pt_recorder_finish(struct pt_recorder *r);

#endif
