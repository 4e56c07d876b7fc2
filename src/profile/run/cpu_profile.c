#include "profile/run/cpu_profile.h"

#include "launch/signals.h"
#include "launch/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/model/lines.h"
#include "profile/model/by_function.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COVERAGE_MIN_NS  (300 * PT_NS_PER_MS)
#define COVERAGE_PERCENT 75

struct run {
    const struct pt_cpu_profile_options *o;
    struct pt_child child;
    struct pt_cpu_sampling sampling;
    struct pt_recording *recording; /* of `sampling`, once started */
    bool saw_end;                   /* the command was sampled to its end */
    struct pt_waiting waiting;
};

static struct pt_cpu_sampling_options sampling_options(const struct run *r) {
    return (struct pt_cpu_sampling_options){ .fs = &r->o->fs,
                                             .how = r->o->perf,
                                             .method = r->o->method,
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
    return pt_cpu_sampling_attach(&r->sampling, &options, &r->o->pid, 1, err);
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Prints time by thread state, unless all of it is on the CPU. */
static void print_states(const struct pt_profile *p, struct pt_out *out) {
    int64_t sums[PT_STATE_COUNT] = { 0 }, all = 0;
    for (size_t i = 0; i < p->samples.count; i++) {
        sums[p->samples.at[i].state] += pt_profile_value(p, i, 0);
        all += pt_profile_value(p, i, 0);
    }
    if (sums[PT_STATE_ON_CPU] == all)
        return;
    pt_out_text(out, "time:");
    for (int i = 0; i < PT_STATE_COUNT; i++)
        if (sums[i] > 0)
            pt_out_printf(out, " %s %.1f %%", pt_profile_state_name((enum pt_profile_state)i),
                          percent(sums[i], all));
    pt_out_char(out, '\n');
}

#define WORTH_A_WORD    5  /* percent */
#define SAMPLES_BETWEEN 20 /* each thread ends between two samples */

/* A virtual machine does not always run: its timers fire late, and part of the CPU time it counts
 * gets no samples. */
static void print_late(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_meta *m = &p->meta;
    int64_t sampled_ns = ((int64_t)p->samples.count + m->lost + m->dropped) * m->period_ns;
    int64_t late_ns = m->counted_ns - sampled_ns;
    double late = percent(late_ns, m->counted_ns);
    if (m->period_ns > 0 && late >= WORTH_A_WORD && late_ns >= SAMPLES_BETWEEN * m->period_ns)
        pt_out_printf(out,
                      "without samples: %.1f %% of %.3g s of CPU time, because timers fired late "
                      "(steal)\n",
                      late, (double)m->counted_ns / 1e9);
}

static void print_summary(const struct run *r) {
    const struct pt_profile *p = &r->recording->profile;
    const struct pt_profile_meta *m = &p->meta;
    struct pt_out out;
    struct pt_top top;
    if (r->o->files.is_quiet || !pt_log_is_ready(PT_LOG_PATIENCE_MS))
        return;
    pt_out_borrow(&out, STDERR_FILENO);
    pt_out_printf(&out, "%s: %s", m->title, m->method);
    if (m->rate_hz > 0)
        pt_out_printf(&out, ", %" PRId64 " Hz", m->rate_hz);
    pt_out_printf(&out, "\nsamples: %zu, lost %" PRId64, p->samples.count, m->lost);
    if (m->unwound > 0)
        pt_out_printf(&out, "; %.1f %% of %" PRId64 " stacks reach the root, %" PRId64 " cut short",
                      percent(m->rooted, m->unwound), m->unwound, m->truncated);
    pt_out_char(&out, '\n');
    pt_out_printf(&out, "overhead: %.1f ms of CPU time, %.1f us per sample\n",
                  (double)m->own_cpu_ns / 1e6,
                  p->samples.count ? (double)m->own_cpu_ns / 1e3 / (double)p->samples.count : 0);
    print_late(p, &out);
    if (m->dropped > 0)
        pt_out_printf(&out, "not kept: %" PRId64 " samples beyond %u\n", m->dropped,
                      PT_PROFILE_SAMPLES_MAX);
    if (m->python_wanted > 0)
        pt_out_printf(&out, "python: %.1f %% of %" PRId64 " samples are %s\n",
                      percent(m->python_matched, m->python_wanted), m->python_wanted,
                      m->unwound > 0 ? "merged with certainty" : "certain (two reads agree)");
    pt_top_print_gil(p, &out);
    print_states(p, &out);
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

/* Timers are not in every program: the kernel's CPU time shows how much was missed. */
static int check_coverage(const struct run *r) {
    const struct pt_profile *p = &r->recording->profile;
    const struct timeval *user = &r->child.usage.ru_utime, *kernel = &r->child.usage.ru_stime;
    int64_t sampled_ns = 0, used_ns = 0;
    if (r->saw_end)
        used_ns = (user->tv_sec + kernel->tv_sec) * PT_NS_PER_SECOND +
                  (user->tv_usec + kernel->tv_usec) * PT_NS_PER_US;
    if (r->sampling.method != PT_CPU_TIMER || used_ns < COVERAGE_MIN_NS)
        return 0;
    for (size_t i = 0; i < p->samples.count; i++)
        sampled_ns += pt_profile_value(p, i, 1);
    if (percent(sampled_ns, used_ns) >= COVERAGE_PERCENT)
        return 0;
    pt_log(
        p->samples.count ? PT_LOG_WARNING : PT_LOG_ERROR,
        "only %.0f %% of the command's CPU time was sampled (not sampled: programs that are static "
        "or setuid or use the timer's signal themselves, and very short threads)",
        percent(sampled_ns, used_ns));
    return p->samples.count ? 0 : -ENODATA;
}

/* A target without CPU time is only a warning. If all samples were lost, that is an error. */
static int check_samples(const struct run *r) {
    struct pt_err err;
    int rc = pt_cpu_sampling_check(&r->sampling, &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        return rc;
    }
    rc = check_coverage(r);
    if (rc)
        return rc;
    const struct pt_profile *p = &r->recording->profile;
    if (p->samples.count > 0)
        return 0;
    if (p->meta.lost > 0) {
        pt_log(PT_LOG_ERROR, "all samples were lost (use a lower --rate or --stack)");
        return -EIO;
    }
    pt_log(PT_LOG_WARNING, "no samples: %s",
           r->o->perf.is_off_cpu ? "no thread waited" : "the target used almost no CPU time");
    return 0;
}

static int finish(struct run *r) {
    pt_recording_finish(r->recording, r->o->command, &r->o->pid, 1);
    int rc = check_samples(r);
    if (rc)
        return rc;
    print_summary(r);
    /* an empty profile is only written if a file was requested */
    if (r->o->files.count == 0 && r->recording->profile.samples.count == 0)
        return 0;
    return pt_profile_files_write(&r->o->files, &r->recording->profile,
                                  r->o->command ? r->child.pid : r->o->pid);
}

static int run_to_end(struct run *r, struct pt_err *err) {
    bool is_released = false;
    int rc = pt_elf_check(err);
    if (!rc)
        rc = pt_waiting_open(&r->waiting, err);
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
    r->recording = pt_cpu_sampling_recording(&r->sampling);
    pt_waiting_until_end(&r->waiting, r->o->duration_ns);
    r->saw_end = r->o->command && r->child.has_ended;
    pt_cpu_sampling_stop(&r->sampling);
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
