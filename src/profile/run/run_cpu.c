#include "profile/run/run_cpu.h"

#include "base/log.h"
#include "profile/files/profile_writers.h"
#include "store/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define STACK_BYTES (32u << 10)

const char *pt_run_profile_kind(size_t index) {
    static const char *const kinds[] = { PT_RUN_PROFILE_CPU, PT_RUN_PROFILE_HEAP };
    return index < PT_COUNT(kinds) ? kinds[index] : NULL;
}

static void give_up(const struct pt_run_profile *p) {
    pt_log(PT_LOG_ERROR, "no CPU profile: %s; the recording continues without it", p->reason.text);
}

void pt_run_profile_choose(struct pt_run_profile *p, const struct pt_run_profile_options *o) {
    struct pt_cpu_sampling_options options = {
        .fs = o->fs,
        .how = { .rate_hz = o->rate_hz, .stack_bytes = STACK_BYTES, .wants_python = true },
        .method = o->method,
        .program = o->command ? o->command[0] : NULL,
        .command = o->command,
    };
    int n = snprintf(p->path, sizeof p->path, "%s/%s.%s" PT_RUN_PROFILE_EXTENSION, o->directory,
                     o->name, PT_RUN_PROFILE_CPU);
    int rc = n < (int)sizeof p->path ? pt_elf_check(&p->reason)
                                     : pt_fail(&p->reason, -ENAMETOOLONG, "path too long");
    p->sampling.o = options;
    if (!rc && o->command)
        rc = pt_cpu_sampling_choose(&p->sampling, &options, &p->reason);
    p->is_chosen = rc == 0;
    if (rc)
        give_up(p);
}

void pt_run_profile_prepare(const struct pt_run_profile *p, struct pt_environment *e) {
    if (p->is_chosen)
        pt_cpu_sampling_prepare(&p->sampling, e);
}

void pt_run_profile_start(struct pt_run_profile *p, const pid_t *pids, size_t count) {
    struct pt_cpu_sampling_options options = p->sampling.o;
    if (!p->is_chosen)
        return;
    int rc = options.program
                 ? pt_cpu_sampling_start(&p->sampling, pids[0], &p->reason)
                 : pt_cpu_sampling_attach(&p->sampling, &options, pids, count, &p->reason);
    p->is_started = rc == 0;
    if (rc)
        give_up(p);
}

void pt_run_profile_stop(struct pt_run_profile *p) {
    pt_profile_helper_stop(&p->sampling.helper);
}

int pt_run_profile_save(struct pt_run_profile *p) {
    if (!p->is_started)
        return 0;
    int rc = pt_profile_helper_finish(&p->sampling.helper, &p->reason);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s%s", rc == -ENODATA ? "" : "no CPU profile: ", p->reason.text);
        return rc == -ENODATA ? rc : 0; /* what ends a helper does not change the exit code */
    }
    rc = pt_profile_write(&p->sampling.helper.file.profile, p->path, &p->reason);
    p->is_saved = rc == 0;
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", p->reason.text);
    return rc;
}

/* Also prints what is missing in the profile. */
void pt_run_profile_print(const struct pt_run_profile *p, struct pt_out *out) {
    if (!p->is_saved) {
        if (p->reason.text[0])
            pt_out_printf(out, "CPU profile: none (%s)\n", p->reason.text);
        return;
    }
    const struct pt_profile *profile = &p->sampling.helper.file.profile;
    const struct pt_profile_meta *m = &profile->meta;
    pt_out_printf(out, "CPU profile: %s (%zu samples, lost %" PRIu64, p->path,
                  profile->samples.count, (uint64_t)m->lost + (uint64_t)m->dropped);
    if (m->unwound > 0)
        pt_out_printf(out, "; %.1f %% of the stacks reach the root",
                      100.0 * (double)m->rooted / (double)m->unwound);
    pt_out_text(out, ")\n");
}

void pt_run_profile_release(struct pt_run_profile *p) {
    pt_cpu_sampling_release(&p->sampling);
    p->is_started = p->is_chosen = false;
}
