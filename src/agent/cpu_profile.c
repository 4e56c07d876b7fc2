#include "agent/cpu_profile.h"

#include "agent/child.h"
#include "agent/recorder.h"
#include "agent/signals.h"
#include "agent/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "kernel/pid_tree.h"
#include "profile/session.h"
#include "profile/lines.h"
#include "profile/top.h"
#include "profile/writers.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

struct run {
    const struct pt_cpu_profile_options *o;
    struct pt_child child;
    struct pt_session session;
    bool is_started; /* the session */
    struct pt_waiting waiting;
};

static int start_session(struct run *r, struct pt_perf *perf, const struct pt_pid_list *running,
                         struct pt_err *err) {
    int rc = pt_session_start(&r->session, perf, &r->o->fs, &r->o->perf, running, err);
    r->is_started = rc == 0;
    if (rc)
        pt_session_release(&r->session);
    return rc;
}

static int start_command(struct run *r, struct pt_err *err) {
    struct pt_child_options c = { .fs = &r->o->fs,
                                  .argv = r->o->command,
                                  .environment = environ,
                                  .signal_mask = &r->waiting.old_mask };
    struct pt_perf perf;
    int rc = pt_child_create(&r->child, &c, err);
    if (!rc)
        rc = pt_perf_open_command(&perf, &r->o->fs, &r->o->perf, r->child.pid, err);
    return rc ? rc : start_session(r, &perf, &(struct pt_pid_list){ 0 }, err);
}

static int start_process(struct run *r, struct pt_err *err) {
    struct pt_perf perf;
    r->waiting.target_fd = (int)syscall(SYS_pidfd_open, r->o->pid, 0);
    struct pt_pid_list tree = { 0 };
    pt_pid_tree_read(r->o->fs.proc, &r->o->pid, 1, &tree);
    if (tree.count == 0)
        return pt_fail(err, -EINVAL, "--pid: that is Pitot itself");
    int rc = pt_perf_open_processes(&perf, &r->o->fs, &r->o->perf, tree.at, tree.count, err);
    if (!rc && perf.left_out > 0)
        pt_log(PT_LOG_WARNING, "%zu of the processes it has started cannot be profiled",
               perf.left_out);
    if (!rc)
        rc = start_session(r, &perf, &tree, err);
    pt_pid_list_release(&tree);
    return rc;
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* By what its threads did; only if there is anything but work. */
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

static void print_summary(const struct run *r) {
    const struct pt_profile *p = &r->session.recording.profile;
    const struct pt_profile_meta *m = &p->meta;
    struct pt_out out;
    struct pt_top top;
    if (r->o->is_quiet || !pt_log_is_ready(1000))
        return;
    pt_out_borrow(&out, STDERR_FILENO);
    pt_out_printf(&out, "%s: %s", m->title, m->way);
    if (m->rate_hz > 0)
        pt_out_printf(&out, ", %" PRId64 " Hz", m->rate_hz);
    pt_out_printf(&out,
                  "\nsamples: %zu, lost %" PRId64 "; %.1f %% of %" PRId64
                  " stacks reach the root, %" PRId64 " cut short\n",
                  p->samples.count, m->lost, percent(m->rooted, m->unwound), m->unwound,
                  m->truncated);
    pt_out_printf(&out, "own cost: %.1f ms of CPU time, %.1f us a sample\n",
                  (double)m->own_cpu_ns / 1e6,
                  p->samples.count ? (double)m->own_cpu_ns / 1e3 / (double)p->samples.count : 0);
    if (m->dropped > 0)
        pt_out_printf(&out, "not kept: %" PRId64 " samples beyond %u\n", m->dropped,
                      PT_PROFILE_SAMPLES_MAX);
    if (m->python_wanted > 0)
        pt_out_printf(&out, "python: %.1f %% of %" PRId64 " samples are merged with certainty\n",
                      percent(m->python_matched, m->python_wanted), m->python_wanted);
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

static int write_file(const struct run *r, const char *path) {
    struct pt_err err;
    int rc = pt_profile_write(&r->session.recording.profile, path, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    else if (!r->o->is_quiet && pt_log_is_ready(1000))
        fprintf(stderr, "profile: %s\n", path);
    return rc;
}

/* Where no file is asked for, a flame graph in this directory; not of nothing. */
static int write_files(const struct run *r) {
    char page[96];
    int rc = 0;
    for (size_t i = 0; i < r->o->output_count; i++)
        rc = write_file(r, r->o->outputs[i]) ? -EIO : rc;
    if (r->o->output_count > 0 || r->session.recording.profile.samples.count == 0)
        return rc;
    pt_profile_name_page(&r->session.recording.profile, r->o->command ? r->child.pid : r->o->pid,
                         page, sizeof page);
    return write_file(r, page);
}

/* A target that used no CPU time is worth a word. Samples that were all lost are a failure. */
static int check_samples(const struct run *r) {
    const struct pt_profile *p = &r->session.recording.profile;
    if (p->samples.count > 0)
        return 0;
    if (p->meta.lost > 0) {
        pt_log(PT_LOG_ERROR, "all samples were lost; use a lower --rate or --stack");
        return -EIO;
    }
    pt_log(PT_LOG_WARNING, "there are no samples: %s",
           r->o->perf.is_off_cpu ? "nothing waited" : "the target used next to no CPU time");
    return 0;
}

static int finish(struct run *r) {
    pt_session_finish(&r->session, r->o->command, &r->o->pid, 1);
    print_summary(r);
    int rc = check_samples(r), written = write_files(r);
    return rc ? rc : written;
}

static int failure_code(const struct run *r, int rc, bool is_released) {
    if (!r->o->command || !is_released)
        return PT_EXIT_OWN_FAILURE;
    return rc == -ENOENT ? PT_EXIT_NOT_FOUND : PT_EXIT_CANNOT_RUN;
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
        return failure_code(r, rc, is_released);
    }
    pt_waiting_until_end(&r->waiting, r->o->duration_ns);
    pt_session_stop(&r->session);
    pt_waiting_for_command(&r->waiting);
    rc = finish(r);
    int code = r->o->command ? pt_child_exit_code(&r->child) : 0;
    return rc && code == 0 ? PT_EXIT_OWN_FAILURE : code;
}

static void clean_up(struct run *r) {
    if (r->is_started) {
        if (r->session.is_running)
            pt_session_stop(&r->session);
        pt_session_release(&r->session);
    }
    if (r->o->command)
        pt_child_close(&r->child);
    pt_waiting_close(&r->waiting);
}

int pt_cpu_profile_run(const struct pt_cpu_profile_options *options) {
    struct run r = { .o = options };
    r.child = (struct pt_child){ .pid_fd = -1, .barrier_fd = -1, .error_fd = -1 };
    pt_waiting_init(&r.waiting, options->command ? &r.child : NULL);
    struct pt_err err = { "" };
    int code = run_to_end(&r, &err);
    clean_up(&r);
    return code;
}
