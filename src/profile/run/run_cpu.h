/* profile/run/run_cpu.h -- the profile of CPU time that is taken while a run is recorded, and lies
 * beside its journal as <uuid>.cpu.pitotprof. Its samples have the clock of the run's rows. What
 * goes wrong with it never ends the recording. */
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
    struct pt_err reason; /* why there is none */
};

struct pt_run_profile_options {
    const struct pt_fs *fs;
    int64_t rate_hz;
    enum pt_cpu_method method;
    const char *program; /* of a command; NULL: processes run, and their children are added */
    const char *directory, *name; /* of the run */
};

/* Before a command is made, and what it needs in its environment. Says why if it is not possible.
 */
void pt_run_profile_choose(struct pt_run_profile *p, const struct pt_run_profile_options *o);
void pt_run_profile_prepare(const struct pt_run_profile *p, struct pt_environment *e);
/* `pids` run, or are a command that waits for its exec. */
void pt_run_profile_start(struct pt_run_profile *p, const pid_t *pids, size_t count);
/* What it used until now; leave it alone while it is started or stopped. */
int64_t pt_run_profile_cpu_ns(const struct pt_run_profile *p);
void pt_run_profile_stop(struct pt_run_profile *p);
/* Looks up names and writes the file. 0, or -errno after an error was logged. */
int pt_run_profile_save(struct pt_run_profile *p, char *const *command, const pid_t *pids,
                        size_t count) PT_MUST_CHECK;
/* For people: where it is and what it is worth, or why there is none. */
void pt_run_profile_print(const struct pt_run_profile *p, struct pt_out *out);
void pt_run_profile_release(struct pt_run_profile *p);

#endif
