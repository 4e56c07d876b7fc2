#include "profile/run/cpu_sampling.h"

#include "base/confine.h"
#include "base/log.h"
#include "source/kernel/pid_tree.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* The work of a helper. */
struct task {
    struct pt_cpu_sampling *sampling;
    const pid_t *pids; /* the command, or running processes */
    size_t count;
    const struct pt_pid_list *tree; /* of running processes */
};

static const char *const names[] = { "auto", "perf", "timer", "python" };

static const char *const described[PT_CPU_METHODS] = {
    [PT_CPU_AUTO] = "",
    [PT_CPU_PERF] = "using perf events",
    [PT_CPU_TIMER] = "using timers inside the command's processes (no kernel frames)",
    [PT_CPU_PYTHON] = "reading only Python frames, from outside",
};

const char *pt_cpu_method_name(size_t index) {
    return index < PT_COUNT(names) ? names[index] : NULL;
}

int pt_cpu_method_parse(const char *text, enum pt_cpu_method *method, struct pt_err *err) {
    for (size_t i = 0; i < PT_COUNT(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *method = (enum pt_cpu_method)i;
            return 0;
        }
    return pt_fail(err, -EINVAL, "--method: '%s' is not one of: auto, perf, timer, python", text);
}

/* Only perf can sample waiting. */
static bool is_asked(const struct pt_cpu_sampling *s, enum pt_cpu_method method) {
    if ((method == PT_CPU_PYTHON && !s->o.how.wants_python) ||
        (method != PT_CPU_PERF && s->o.how.is_off_cpu))
        return false;
    return s->o.method == PT_CPU_AUTO || s->o.method == method;
}

/* Adds the reason why a method cannot be used: "perf: ...; timer: ...". */
static void refuse(struct pt_cpu_sampling *s, enum pt_cpu_method method, const char *why) {
    char *text = s->refused.text;
    size_t used = strlen(text);
    snprintf(text + used, sizeof s->refused.text - used, "%s%s: %s", used ? "; " : "",
             names[method], why);
}

static int fail(const struct pt_cpu_sampling *s, int rc, struct pt_err *err) {
    return pt_fail(err, rc, "cannot sample CPU time: %s", s->refused.text);
}

/* Errors that another method would have too. */
static bool is_final(int rc) {
    return rc == -ESRCH;
}

static void init(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o) {
    memset(s, 0, sizeof *s);
    s->o = *o;
}

/* Tries it on our own process: what is permitted there is permitted for the command. */
static int try_perf(struct pt_cpu_sampling *s) {
    struct pt_perf perf;
    struct pt_err why;
    int rc = pt_perf_open_command(&perf, s->o.fs, &s->o.how, getpid(), &why);
    if (rc) {
        refuse(s, PT_CPU_PERF, why.text);
        return rc;
    }
    s->has_kernel = perf.has_kernel;
    pt_perf_close(&perf);
    return 0;
}

static int try_timer(struct pt_cpu_sampling *s) {
    struct pt_err why;
    int rc = pt_timer_session_open(&s->timer, s->o.fs, &s->o.how, s->o.program, &why);
    if (rc)
        refuse(s, PT_CPU_TIMER, why.text);
    return rc;
}

int pt_cpu_sampling_choose(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           struct pt_err *err) {
    int rc = -ENOTSUP;
    init(s, o);
    if (is_asked(s, PT_CPU_PERF) && !(rc = try_perf(s))) {
        s->method = PT_CPU_PERF;
        return 0;
    }
    if (is_asked(s, PT_CPU_TIMER) && !(rc = try_timer(s))) {
        s->method = PT_CPU_TIMER;
        return 0;
    }
    if (!is_asked(s, PT_CPU_PYTHON))
        return fail(s, rc, err);
    /* other programs may start Python, but one that cannot be preloaded is probably the whole
     * command */
    const char *slash = strrchr(o->program, '/');
    const char *name = slash ? slash + 1 : o->program;
    if (rc == -ENOEXEC && strncmp(name, "python", 6) != 0) {
        refuse(s, PT_CPU_PYTHON, "the program is not Python");
        return fail(s, rc, err);
    }
    s->method = PT_CPU_PYTHON;
    return 0;
}

void pt_cpu_sampling_prepare(const struct pt_cpu_sampling *s, struct pt_environment *e) {
    if (s->method == PT_CPU_TIMER)
        pt_timer_session_prepare(&s->timer, e);
}

/* From here on in the helper: events are opened before it is sealed, files and memory are read
 * after that. */

static int start_perf(struct pt_cpu_sampling *s, struct pt_perf *perf,
                      const struct pt_pid_list *running, struct pt_helper_report *r) {
    r->unsealed = pt_confine_seal();
    return pt_session_start(&s->perf, perf, s->o.fs, &s->o.how, running, &r->err);
}

static int start_python(struct pt_cpu_sampling *s, const struct task *t,
                        struct pt_helper_report *r) {
    struct pt_err why;
    r->unsealed = pt_confine_seal();
    int rc = pt_python_session_start(&s->python, s->o.fs, &s->o.how, t->pids, t->count,
                                     s->o.program != NULL, &why);
    if (!rc || is_final(rc))
        return rc ? pt_fail(&r->err, rc, "%s", why.text) : 0;
    refuse(s, PT_CPU_PYTHON, why.text);
    return fail(s, rc, &r->err);
}

static int start_command(struct pt_cpu_sampling *s, const struct task *t,
                         struct pt_helper_report *r) {
    struct pt_perf perf;
    switch (s->method) {
    case PT_CPU_TIMER:
        r->unsealed = pt_confine_seal();
        return pt_timer_session_start(&s->timer, &r->err);
    case PT_CPU_PYTHON:
        return start_python(s, t, r);
    default:;
        int rc = pt_perf_open_command(&perf, s->o.fs, &s->o.how, t->pids[0], &r->err);
        return rc ? rc : start_perf(s, &perf, &(struct pt_pid_list){ 0 }, r);
    }
}

static int attach(struct pt_cpu_sampling *s, const struct task *t, struct pt_helper_report *r) {
    const struct pt_pid_list *tree = t->tree;
    struct pt_err why;
    struct pt_perf perf;
    int rc = is_asked(s, PT_CPU_PERF)
                 ? pt_perf_open_processes(&perf, s->o.fs, &s->o.how, tree->at, tree->count, &why)
                 : -ENOTSUP;
    if (!rc && perf.left_out > 0)
        pt_log(PT_LOG_WARNING, "cannot profile %zu of %zu processes", perf.left_out, tree->count);
    if (!rc || is_final(rc)) {
        s->method = PT_CPU_PERF;
        return rc ? pt_fail(&r->err, rc, "%s", why.text) : start_perf(s, &perf, tree, r);
    }
    if (is_asked(s, PT_CPU_PERF))
        refuse(s, PT_CPU_PERF, why.text);
    if (is_asked(s, PT_CPU_TIMER))
        refuse(s, PT_CPU_TIMER, "only for commands, not for running processes");
    if (!is_asked(s, PT_CPU_PYTHON))
        return fail(s, rc, &r->err);
    s->method = PT_CPU_PYTHON;
    return start_python(s, t, r);
}

static struct pt_recording *stop_session(struct pt_cpu_sampling *s) {
    switch (s->method) {
    case PT_CPU_TIMER:
        pt_timer_session_stop(&s->timer);
        return &s->timer.recording;
    case PT_CPU_PYTHON:
        pt_python_session_stop(&s->python);
        return &s->python.recording;
    default:
        pt_session_stop(&s->perf);
        return &s->perf.recording;
    }
}

static int check_session(const struct pt_cpu_sampling *s, struct pt_err *err) {
    switch (s->method) {
    case PT_CPU_TIMER:
        return pt_timer_session_check(&s->timer, err);
    case PT_CPU_PYTHON:
        return pt_python_session_check(&s->python, err);
    default:
        return 0;
    }
}

static void run_helper(void *state) {
    const struct task *t = state;
    struct pt_cpu_sampling *s = t->sampling;
    struct pt_helper_report r = { .rc = 0 };
    r.rc = t->tree ? attach(s, t, &r) : start_command(s, t, &r);
    r.method = s->method;
    r.refused = s->refused;
    if (!pt_helper_started(&r) || !pt_helper_must_stop(-1))
        return;
    struct pt_recording *recording = stop_session(s);
    pt_helper_stopped();
    pt_recording_finish(recording, s->o.command, t->pids, t->count);
    r.rc = check_session(s, &r.err);
    pt_helper_done(&r, &recording->profile);
}

/* From here on in Pitot. */

static int start_helper(struct pt_cpu_sampling *s, struct task *t, struct pt_err *err) {
    struct pt_helper_report r = { .rc = 0 };
    int rc = pt_profile_helper_start(&s->helper, run_helper, t, s->o.fs,
                                     pt_fd_get(s->timer.regions.fd), &r, err);
    if (rc)
        return rc;
    s->method = r.method > PT_CPU_AUTO && r.method < PT_CPU_METHODS ? r.method : PT_CPU_PERF;
    s->refused = r.refused;
    if (s->refused.text[0]) /* why a better method is not used */
        pt_log(PT_LOG_WARNING, "%s; %s", s->refused.text, described[s->method]);
    return 0;
}

int pt_cpu_sampling_start(struct pt_cpu_sampling *s, pid_t pid, struct pt_err *err) {
    return start_helper(s, &(struct task){ s, &pid, 1, NULL }, err);
}

int pt_cpu_sampling_attach(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           const pid_t *pids, size_t count, struct pt_err *err) {
    struct pt_pid_list tree = { 0 };
    init(s, o);
    pt_pid_tree_read(o->fs->proc, pids, count, &tree);
    int rc = tree.count > 0 ? start_helper(s, &(struct task){ s, pids, count, &tree }, err)
                            : pt_fail(err, -ESRCH, "no process to profile");
    pt_pid_list_release(&tree);
    return rc;
}

void pt_cpu_sampling_release(struct pt_cpu_sampling *s) {
    pt_profile_helper_release(&s->helper);
    pt_timer_session_release(&s->timer);
}
