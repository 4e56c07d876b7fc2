#include "profile/run/cpu_sampling.h"

#include "base/log.h"
#include "source/kernel/pid_tree.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

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

/* Explains why a better method is not used. */
static void announce(const struct pt_cpu_sampling *s) {
    if (s->refused.text[0])
        pt_log(PT_LOG_WARNING, "%s; %s", s->refused.text, described[s->method]);
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

static int start_perf(struct pt_cpu_sampling *s, struct pt_perf *perf,
                      const struct pt_pid_list *running, struct pt_err *err) {
    int rc = pt_session_start(&s->perf, perf, s->o.fs, &s->o.how, running, err);
    if (rc)
        pt_session_release(&s->perf);
    return rc;
}

static int start_python(struct pt_cpu_sampling *s, const pid_t *pids, size_t count,
                        struct pt_err *err) {
    struct pt_err why;
    int rc = pt_python_session_start(&s->python, s->o.fs, &s->o.how, pids, count,
                                     s->o.program != NULL, &why);
    if (!rc || is_final(rc))
        return rc ? pt_fail(err, rc, "%s", why.text) : 0;
    refuse(s, PT_CPU_PYTHON, why.text);
    return fail(s, rc, err);
}

int pt_cpu_sampling_start(struct pt_cpu_sampling *s, pid_t pid, struct pt_err *err) {
    struct pt_perf perf;
    int rc;
    switch (s->method) {
    case PT_CPU_TIMER:
        rc = pt_timer_session_start(&s->timer, err);
        break;
    case PT_CPU_PYTHON:
        rc = start_python(s, &pid, 1, err);
        break;
    default:
        rc = pt_perf_open_command(&perf, s->o.fs, &s->o.how, pid, err);
        if (!rc)
            rc = start_perf(s, &perf, &(struct pt_pid_list){ 0 }, err);
    }
    s->is_started = rc == 0;
    if (!rc)
        announce(s);
    return rc;
}

static int attach_perf(struct pt_cpu_sampling *s, const struct pt_pid_list *tree,
                       struct pt_err *err) {
    struct pt_perf perf;
    int rc = pt_perf_open_processes(&perf, s->o.fs, &s->o.how, tree->at, tree->count, err);
    if (rc)
        return rc;
    if (perf.left_out > 0)
        pt_log(PT_LOG_WARNING, "cannot profile %zu of %zu processes", perf.left_out, tree->count);
    return start_perf(s, &perf, tree, err);
}

static int attach(struct pt_cpu_sampling *s, const struct pt_pid_list *tree, const pid_t *pids,
                  size_t count, struct pt_err *err) {
    struct pt_err why;
    int rc = is_asked(s, PT_CPU_PERF) ? attach_perf(s, tree, &why) : -ENOTSUP;
    if (!rc || is_final(rc)) {
        s->method = PT_CPU_PERF;
        return rc ? pt_fail(err, rc, "%s", why.text) : 0;
    }
    if (is_asked(s, PT_CPU_PERF))
        refuse(s, PT_CPU_PERF, why.text);
    if (is_asked(s, PT_CPU_TIMER))
        refuse(s, PT_CPU_TIMER, "only for commands, not for running processes");
    if (!is_asked(s, PT_CPU_PYTHON))
        return fail(s, rc, err);
    s->method = PT_CPU_PYTHON;
    rc = start_python(s, pids, count, err);
    if (!rc)
        announce(s);
    return rc;
}

int pt_cpu_sampling_attach(struct pt_cpu_sampling *s, const struct pt_cpu_sampling_options *o,
                           const pid_t *pids, size_t count, struct pt_err *err) {
    struct pt_pid_list tree = { 0 };
    init(s, o);
    pt_pid_tree_read(o->fs->proc, pids, count, &tree);
    int rc = tree.count > 0 ? attach(s, &tree, pids, count, err)
                            : pt_fail(err, -ESRCH, "no process to profile");
    pt_pid_list_release(&tree);
    s->is_started = rc == 0;
    return rc;
}

int64_t pt_cpu_sampling_cpu_ns(const struct pt_cpu_sampling *s) {
    return pt_session_cpu_ns(&s->perf) + pt_timer_session_cpu_ns(&s->timer) +
           pt_python_session_cpu_ns(&s->python);
}

void pt_cpu_sampling_stop(struct pt_cpu_sampling *s) {
    if (s->perf.is_running)
        pt_session_stop(&s->perf);
    if (s->timer.is_running)
        pt_timer_session_stop(&s->timer);
    if (s->python.is_running)
        pt_python_session_stop(&s->python);
}

int pt_cpu_sampling_check(const struct pt_cpu_sampling *s, struct pt_err *err) {
    switch (s->method) {
    case PT_CPU_TIMER:
        return pt_timer_session_check(&s->timer, err);
    case PT_CPU_PYTHON:
        return pt_python_session_check(&s->python, err);
    default:
        return 0;
    }
}

struct pt_recording *pt_cpu_sampling_recording(struct pt_cpu_sampling *s) {
    return s->method == PT_CPU_TIMER    ? &s->timer.recording
           : s->method == PT_CPU_PYTHON ? &s->python.recording
                                        : &s->perf.recording;
}

void pt_cpu_sampling_release(struct pt_cpu_sampling *s) {
    pt_cpu_sampling_stop(s);
    if (s->method == PT_CPU_PERF && s->is_started)
        pt_session_release(&s->perf);
    pt_timer_session_release(&s->timer);
    pt_python_session_release(&s->python);
    s->is_started = false;
}
