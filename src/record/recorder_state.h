/* record/recorder_state.h -- the state of a running recording, shared by recorder.c,
 * recorder_open.c and recorder_files.c only. */
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
#include "store/subject.h"

#include <uuid.h>

struct pt_recorder {
    const struct pt_recorder_options *o;
    uuid_t uuid;
    char uuid_text[37];
    char journal_path[PATH_MAX], static_path[PATH_MAX];
    size_t made_directory_from; /* see pt_run_make_directory() */

    struct pt_target target;
    struct pt_subject subject;
    struct pt_sampler sampler;
    struct pt_ring ring; /* receivers of samples */
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
    int64_t start_ns, looked_ns;
    bool must_stop;
    bool is_past_duration; /* -d: a command is being ended */
    int write_error;       /* of the journal; 0: writing works */
    bool has_lost;         /* Pitot itself failed */
    const char *end_reason;
};

/* Prepares everything before the command may run, which waits; sampling has begun. 0 or -errno with
 * a message; the caller releases in both cases. */
int pt_recorder_open(struct pt_recorder *r, struct pt_err *err) PT_MUST_CHECK;

/* Logs that writing the journal failed (`rc`) or works again: once each. */
void pt_recorder_note_write(struct pt_recorder *r, int rc);

/* Writes the static information of the run, as a file and in the journal. */
void pt_recorder_write_static(struct pt_recorder *r);

/* What the recording has cost until now; `recorder` is a struct pt_recorder. */
void pt_recorder_cost(void *recorder, struct pt_own_cost *cost);

/* Closes the journal and writes all other files from it. */
void pt_recorder_finish(struct pt_recorder *r);

#endif
