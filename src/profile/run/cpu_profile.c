#include "profile/run/cpu_profile.h"

#include "launch/signals.h"
#include "launch/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/model/lines.h"
#include "profile/model/by_function.h"
#include "profile/run/cpu_summary.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct run {
    const struct pt_cpu_profile_options *o;
    struct pt_child child;
    struct pt_cpu_sampling sampling;
    bool saw_end; /* the command was sampled to its end */
    struct pt_waiting waiting;
};

static struct pt_cpu_sampling_options sampling_options(const struct run *r) {
    return (struct pt_cpu_sampling_options){ .fs = &r->o->fs,
                                             .how = r->o->perf,
                                             .method = r->o->method,
                                             .command = r->o->command,
                                             .program = r->o->command ? r->o->command[0] : NULL };
}

static int start_command(struct run *r, struct pt_err *err) {
    struct pt_cpu_sampling_options options = sampling_options(r);
    struct pt_environment environment;
    int rc = pt_cpu_sampling_choose(&r->sampling, &options, err);
    if (rc)
        return rc;
    pt_environment_init(&environment);
    pt_cpu_sampling_prepare(&r->sampling, &environment);
    rc = pt_waiting_create_command(&r->waiting, &r->o->fs, r->o->command, &environment, err);
    return rc ? rc : pt_cpu_sampling_start(&r->sampling, r->child.pid, err);
}

static int start_process(struct run *r, struct pt_err *err) {
    struct pt_cpu_sampling_options options = sampling_options(r);
    if (r->o->pid == getpid())
        return pt_fail(err, -EINVAL, "--pid: this is Pitot's own process");
    r->waiting.target_fd = (int)syscall(SYS_pidfd_open, r->o->pid, 0);
    int64_t start_ticks;
    int rc = pt_pid_check(&r->o->fs, r->o->pid, &start_ticks, err);
    if (rc)
        return rc;
    return pt_cpu_sampling_attach(&r->sampling, &options, &r->o->pid, 1, err);
}

static void print_summary(const struct run *r) {
    const struct pt_profile *p = &r->sampling.helper.file.profile;
    struct pt_out out;
    struct pt_top top;
    if (r->o->files.is_quiet || !pt_log_is_ready(PT_LOG_PATIENCE_MS))
        return;
    pt_out_show(&out, STDERR_FILENO);
    pt_cpu_summary_print(p, &out);
    if (r->o->top_rows > 0) {
        pt_top_make(&top, p);
        struct pt_top_style style = pt_top_style_of(STDERR_FILENO);
        pt_top_print(&top, p, r->o->top_rows, &style, &out);
        pt_top_release(&top);
    }
    struct pt_err err;
    if (r->o->lines && pt_lines_print(p, r->o->lines, &out, &err))
        pt_out_printf(&out, "%s\n", err.text);
    (void)pt_out_close(&out);
}

/* CPU time of a command that was sampled to its end, with timers; 0 otherwise. */
static int64_t used_ns(const struct run *r) {
    const struct timeval *user = &r->child.usage.ru_utime, *kernel = &r->child.usage.ru_stime;
    if (!r->saw_end || r->sampling.method != PT_CPU_TIMER)
        return 0;
    return (user->tv_sec + kernel->tv_sec) * PT_NS_PER_SECOND +
           (user->tv_usec + kernel->tv_usec) * PT_NS_PER_US;
}

static int check_samples(struct run *r) {
    struct pt_err err = { "" };
    int rc = pt_profile_helper_finish(&r->sampling.helper, &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s%s", rc == -ENODATA ? "" : "no CPU profile: ", err.text);
        return rc;
    }
    rc = pt_cpu_summary_check(&r->sampling.helper.file.profile, used_ns(r), r->o->perf.is_off_cpu,
                              &err);
    if (err.text[0])
        pt_log(rc ? PT_LOG_ERROR : PT_LOG_WARNING, "%s", err.text);
    return rc;
}

static int finish(struct run *r) {
    int rc = check_samples(r);
    if (rc) /* a command that ran keeps its exit code */
        return r->o->command ? 0 : rc;
    print_summary(r);
    /* an empty profile is only written if a file was requested */
    if (r->o->files.count == 0 && r->sampling.helper.file.profile.samples.count == 0)
        return 0;
    return pt_profile_files_write(&r->o->files, &r->sampling.helper.file.profile,
                                  r->o->command ? r->child.pid : r->o->pid);
}

static int run_to_end(struct run *r, struct pt_err *err) {
    bool is_released = false;
    int rc = pt_elf_check(err);
    if (!rc)
        rc = pt_waiting_open(&r->waiting, r->o->grace_ns, err);
    if (!rc)
        rc = r->o->command ? start_command(r, err) : start_process(r, err);
    pt_signals_ignore();
    if (!rc && r->o->command) {
        is_released = true;
        rc = pt_child_release(&r->child, r->o->command[0], err);
    }
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err->text);
        return is_released ? pt_child_failure_code(rc) : PT_EXIT_OWN_FAILURE;
    }
    pt_waiting_until_end(&r->waiting, r->o->duration_ns);
    r->saw_end = r->o->command && r->child.has_ended;
    pt_profile_helper_stop(&r->sampling.helper);
    pt_waiting_for_command(&r->waiting);
    rc = finish(r);
    int code = r->o->command ? pt_child_exit_code(&r->child) : 0;
    return rc && code == 0 ? PT_EXIT_OWN_FAILURE : code;
}

int pt_cpu_profile_run(const struct pt_cpu_profile_options *options) {
    struct run r = { .o = options };
    pt_waiting_init(&r.waiting, options->command ? &r.child : NULL);
    struct pt_err err = { "" };
    int code = run_to_end(&r, &err);
    pt_cpu_sampling_release(&r.sampling);
    pt_waiting_close(&r.waiting);
    return code;
}
