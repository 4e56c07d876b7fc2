/* profile/run/run_cpu.h -- the CPU profile of a recorded run, written next to its journal as
 * <uuid>.cpu.pitotprof. Its samples use the clock of the run's rows. Its errors never end the
 * recording. */
#ifndef PT_PROFILE_RUN_RUN_CPU_H
#define PT_PROFILE_RUN_RUN_CPU_H

#include "profile/run/cpu_sampling.h"
#include "base/out.h"

#include <limits.h>

#define PT_RUN_PROFILE_CPU  "cpu"
#define PT_RUN_PROFILE_HEAP "heap" /* profile/run/run_heap.h */

/* The kinds of profiles that a run may have, NULL after the last. */
const char *pt_run_profile_kind(size_t index);

struct pt_run_profile {
    struct pt_cpu_sampling sampling;
    bool is_chosen, is_started, is_saved;
    char path[PATH_MAX];
    struct pt_err reason; /* why there is no profile */
};

struct pt_run_profile_options {
    const struct pt_fs *fs;
    int64_t rate_hz;
    enum pt_cpu_method method;
    char *const *command;         /* argv; NULL: running processes and their descendants */
    const char *directory, *name; /* of the run */
};

/* Call before the command is created; prepare sets the environment it needs. Logs an error if
 * sampling is not possible.
 */
void pt_run_profile_choose(struct pt_run_profile *p, const struct pt_run_profile_options *o);
void pt_run_profile_prepare(const struct pt_run_profile *p, struct pt_environment *e);
/* `pids` are running processes, or a command that waits for its exec. Call before there are
 * threads. */
void pt_run_profile_start(struct pt_run_profile *p, const pid_t *pids, size_t count);
void pt_run_profile_stop(struct pt_run_profile *p);
/* Waits for symbols and writes the file. 0, or -errno after logging the error. */
int pt_run_profile_save(struct pt_run_profile *p) PT_MUST_CHECK;
/* Prints path and quality of the profile, or why there is none. */
void pt_run_profile_print(const struct pt_run_profile *p, struct pt_out *out);
void pt_run_profile_release(struct pt_run_profile *p);

#endif
