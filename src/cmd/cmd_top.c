#include "top/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/command.h"
#include "source/kernel/pid.h"
#include "store/run.h"

#include <errno.h>
#include <unistd.h>

#define MIN_INTERVAL_NS (10 * PT_NS_PER_MS)

static int check(const struct pt_command_options *o, struct pt_top_options *top, const char **url,
                 struct pt_err *err) {
    if (o->interval_ns < MIN_INTERVAL_NS)
        return pt_fail(err, -EINVAL, "--interval: must be at least 10 ms");
    if (o->top_count < 0)
        return pt_fail(err, -EINVAL, "--iterations: must not be negative; 0 = no limit");
    int rc = pt_command_engines(o, &top->engines, url, err);
    if (!rc)
        rc = pt_command_pids(&o->pids, top->target.pids, &top->target.pid_count, err);
    return rc;
}

/* Takes a copy of the options, because it adds pointers to its own variables. */
static int show_now(const struct pt_command_options *o, struct pt_top_options top,
                    struct pt_err *err) {
    struct pt_fs fs;
    int rc = pt_fs_open(&fs, o->procfs, o->sysfs, o->rootfs, err);
    if (rc)
        return rc;
    top.fs = &fs;
    for (int i = 0; i < top.target.pid_count && !rc; i++)
        rc = pt_pid_check(&fs, top.target.pids[i], &top.target.start_ticks[i], err);
    if (!rc && top.target.pid_count > 0)
        pt_subject_of_pids(&top.subject, &fs, top.target.pids, top.target.pid_count);
    else
        top.subject.kind = PT_SUBJECT_MACHINE;
    if (!rc)
        rc = pt_top_run(&top, err);
    pt_fs_close(&fs);
    return rc;
}

int pt_cmd_top(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    struct pt_top_options top = { .start_ns = o->start_ns,
                                  .interval_ns = o->interval_ns,
                                  .update_limit = o->top_count,
                                  .panel = o->panel,
                                  .sort = o->sort,
                                  .filter = o->filter,
                                  .is_tree = o->as_tree,
                                  .alerts = o->alerts };
    struct pt_err err = { "" };
    const char *url;
    if (operands[0] && operands[1])
        return pt_command_misused(PT_COMMAND_TOP,
                                  "give at most one run; without one, top shows this machine");
    if (operands[0] && (o->pids.count > 0 || o->engines.count > 0))
        return pt_command_misused(PT_COMMAND_TOP,
                                  "--pid and --engine: cannot be used with a recorded run");
    if (!operands[0] && o->start_ns > 0)
        return pt_command_misused(PT_COMMAND_TOP, "--at: works with a recorded run only");
    if (check(o, &top, &url, &err))
        return pt_command_misused(PT_COMMAND_TOP, "%s", err.text);
    int rc;
    char journal[PATH_MAX];
    if (operands[0]) {
        rc = pt_command_find_run(operands[0], journal, &err);
        top.journal = journal;
        if (!rc)
            rc = pt_top_run(&top, &err);
    } else {
        rc = show_now(o, top, &err);
    }
    if (rc == -EINVAL)
        return pt_command_misused(PT_COMMAND_TOP, "%s", err.text);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return rc ? 1 : 0;
}
