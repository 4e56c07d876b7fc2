#include "agent/run_profile.h"

#include "base/log.h"
#include "kernel/pid_tree.h"
#include "profile/writers.h"
#include "store/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define STACK_BYTES (32u << 10)

const char *pt_run_profile_kind(size_t index) {
    static const char *const kinds[] = { PT_RUN_PROFILE_CPU, PT_RUN_PROFILE_HEAP };
    return index < PT_COUNT(kinds) ? kinds[index] : NULL;
}

static int open_processes(struct pt_perf *perf, const struct pt_run_profile_options *o,
                          const struct pt_perf_options *how, struct pt_pid_list *running,
                          struct pt_err *err) {
    pt_pid_tree_read(o->fs->proc, o->pids, o->pid_count, running);
    if (running->count == 0)
        return pt_fail(err, -ESRCH, "there is no process to profile");
    int rc = pt_perf_open_processes(perf, o->fs, how, running->at, running->count, err);
    if (!rc && perf->left_out > 0)
        pt_log(PT_LOG_WARNING, "%zu of the %zu processes cannot be profiled", perf->left_out,
               running->count);
    return rc;
}

static int start(struct pt_run_profile *p, const struct pt_run_profile_options *o,
                 struct pt_pid_list *running, struct pt_err *err) {
    struct pt_perf_options how = { .rate_hz = o->rate_hz,
                                   .stack_bytes = STACK_BYTES,
                                   .wants_python = true };
    struct pt_perf perf;
    int rc = pt_elf_check(err);
    if (!rc)
        rc = o->is_command ? pt_perf_open_command(&perf, o->fs, &how, o->pids[0], err)
                           : open_processes(&perf, o, &how, running, err);
    if (rc)
        return rc;
    rc = pt_session_start(&p->session, &perf, o->fs, &how, running, err);
    if (rc)
        pt_session_release(&p->session);
    return rc;
}

void pt_run_profile_start(struct pt_run_profile *p, const struct pt_run_profile_options *o) {
    struct pt_pid_list running = { 0 };
    int n = snprintf(p->path, sizeof p->path, "%s/%s.%s" PT_RUN_PROFILE_EXTENSION, o->directory,
                     o->name, PT_RUN_PROFILE_CPU);
    int rc = n < (int)sizeof p->path ? start(p, o, &running, &p->reason)
                                     : pt_fail(&p->reason, -ENAMETOOLONG, "its path is too long");
    pt_pid_list_release(&running);
    p->is_started = rc == 0;
    if (rc)
        pt_log(PT_LOG_ERROR, "no CPU profile: %s; the recording goes on without", p->reason.text);
}

int64_t pt_run_profile_cpu_ns(const struct pt_run_profile *p) {
    return p->is_started ? pt_session_cpu_ns(&p->session) : 0;
}

void pt_run_profile_stop(struct pt_run_profile *p) {
    if (p->is_started && p->session.is_running)
        pt_session_stop(&p->session);
}

int pt_run_profile_save(struct pt_run_profile *p, char *const *command, const pid_t *pids,
                        size_t count) {
    if (!p->is_started)
        return 0;
    pt_session_finish(&p->session, command, pids, count);
    int rc = pt_profile_write(&p->session.recording.profile, p->path, &p->reason);
    p->is_saved = rc == 0;
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", p->reason.text);
    return rc;
}

/* A profile that is not whole says so. */
void pt_run_profile_print(const struct pt_run_profile *p, struct pt_out *out) {
    const struct pt_profile *profile = &p->session.recording.profile;
    const struct pt_profile_meta *m = &profile->meta;
    if (!p->is_saved) {
        if (p->reason.text[0])
            pt_out_printf(out, "CPU profile: none (%s)\n", p->reason.text);
        return;
    }
    pt_out_printf(out, "CPU profile: %s (%zu samples, lost %" PRId64, p->path,
                  profile->samples.count, m->lost + m->dropped);
    if (m->unwound > 0)
        pt_out_printf(out, "; %.1f %% of the stacks reach the root",
                      100.0 * (double)m->rooted / (double)m->unwound);
    pt_out_text(out, ")\n");
}

void pt_run_profile_release(struct pt_run_profile *p) {
    pt_run_profile_stop(p);
    if (p->is_started)
        pt_session_release(&p->session);
    p->is_started = false;
}
