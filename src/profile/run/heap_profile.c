#include "profile/run/heap_profile.h"

#include "profile/run/heap_session.h"
#include "launch/signals.h"
#include "launch/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "profile/heap/heap_report.h"
#include "profile/model/lines.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct run {
    const struct pt_heap_profile_options *o;
    struct pt_child child;
    struct pt_waiting waiting;
    struct pt_heap_session session;
};

static void print_summary(const struct run *r) {
    const struct pt_profile *p = &r->session.helper.file.profile;
    struct pt_heap_report how = { .top_rows = r->o->top_rows,
                                  .wants_leaks = r->o->wants_leaks,
                                  .style = pt_top_style_of(STDERR_FILENO) };
    struct pt_err err;
    struct pt_out out;
    if (r->o->files.is_quiet || !pt_log_is_ready(PT_LOG_PATIENCE_MS))
        return;
    pt_out_show(&out, STDERR_FILENO);
    pt_heap_report_print(p, &how, &out);
    if (r->o->lines && pt_lines_print(p, r->o->lines, &out, &err))
        pt_out_printf(&out, "%s\n", err.text);
    (void)pt_out_close(&out);
}

static int finish(struct run *r) {
    struct pt_err why;
    int rc = pt_profile_helper_finish(&r->session.helper, &why);
    if (rc) { /* the command ran and keeps its exit code */
        pt_log(rc == -ENODATA ? PT_LOG_WARNING : PT_LOG_ERROR, "no heap profile: %s", why.text);
        return 0;
    }
    print_summary(r);
    return pt_profile_files_write(&r->o->files, &r->session.helper.file.profile, r->child.pid);
}

static int prepare(struct run *r, struct pt_err *err) {
    struct pt_heap_session_options o = { .fs = &r->o->fs,
                                         .mean_bytes = r->o->mean_bytes,
                                         .stack_bytes = r->o->stack_bytes,
                                         .counts_mmap = r->o->counts_mmap,
                                         .wants_python_malloc = r->o->wants_python_malloc,
                                         .command = r->o->command,
                                         .metric = r->o->metric };
    struct pt_environment environment;
    int rc = pt_heap_session_open(&r->session, &o, err);
    if (!rc)
        rc = pt_waiting_open(&r->waiting, r->o->grace_ns, err);
    if (!rc) {
        pt_environment_init(&environment);
        pt_heap_session_set(&r->session, &environment);
        rc = pt_waiting_create_command(&r->waiting, &r->o->fs, r->o->command, &environment, err);
    }
    pt_signals_ignore();
    return rc ? rc : pt_heap_session_start(&r->session, err);
}

static int run_to_end(struct run *r, struct pt_err *err) {
    int rc = prepare(r, err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err->text);
        return PT_EXIT_OWN_FAILURE;
    }
    rc = pt_child_release(&r->child, r->o->command[0], err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err->text);
        return pt_child_failure_code(rc);
    }
    pt_waiting_until_end(&r->waiting, 0);
    pt_waiting_for_command(&r->waiting);
    pt_profile_helper_stop(&r->session.helper);
    rc = finish(r);
    int code = pt_child_exit_code(&r->child);
    return rc && code == 0 ? PT_EXIT_OWN_FAILURE : code;
}

int pt_heap_profile_run(const struct pt_heap_profile_options *options) {
    struct run r = { .o = options };
    struct pt_err err = { "" };
    pt_waiting_init(&r.waiting, &r.child);
    int code = run_to_end(&r, &err);
    pt_heap_session_release(&r.session);
    pt_waiting_close(&r.waiting);
    return code;
}
