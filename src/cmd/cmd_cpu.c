#include "launch/child.h"
#include "profile/run/cpu_profile.h"
#include "cmd/command.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <string.h>

static int choose_pid(const struct pt_option_list *list, pid_t *pid, struct pt_err *err) {
    if (list->count == 0)
        return 0;
    if (list->count > 1)
        return pt_fail(err, -EINVAL, "--pid: only one process can be profiled");
    struct pt_scan s = pt_scan_of(pt_str_from(list->items[0]));
    int64_t number = pt_scan_i64(&s);
    if (s.failed || s.at != s.end || number < 1 || number > INT32_MAX)
        return pt_fail(err, -EINVAL, "--pid: '%s' is not a process id", list->items[0]);
    *pid = (pid_t)number;
    return 0;
}

/* Fail before an hour of sampling, not after it. */
static int check_outputs(const struct pt_option_list *outputs, struct pt_err *err) {
    for (size_t i = 0; i < outputs->count; i++) {
        int rc = pt_profile_check_path(outputs->items[i], err);
        if (rc)
            return rc;
    }
    return 0;
}

static int check(const struct pt_command_options *o, struct pt_cpu_profile_options *c,
                 struct pt_err *err) {
    int rc = choose_pid(&o->pids, &c->pid, err);
    if (rc)
        return rc;
    if (!c->command == !c->pid)
        return pt_fail(err, -EINVAL, "give either a command or --pid");
    if (o->rate_hz < 1 || o->rate_hz > PT_PERF_RATE_MAX)
        return pt_fail(err, -EINVAL, "--rate: must be from 1 to %d", PT_PERF_RATE_MAX);
    if (o->stack_kib != 8 && o->stack_kib != 16 && o->stack_kib != 32 && o->stack_kib != 64)
        return pt_fail(err, -EINVAL, "--stack: must be 8, 16, 32 or 64");
    if (o->top_rows < 0)
        return pt_fail(err, -EINVAL, "--top: must not be negative");
    rc = pt_cpu_method_parse(o->cpu_method, &c->method, err);
    if (!rc && o->wants_off_cpu && c->method != PT_CPU_AUTO && c->method != PT_CPU_PERF)
        rc = pt_fail(err, -EINVAL, "--off-cpu: works with --method perf only");
    if (!rc && !o->wants_python && c->method == PT_CPU_PYTHON)
        rc = pt_fail(err, -EINVAL, "--method python: cannot be used with --no-python");
    if (!rc && c->pid && c->method == PT_CPU_TIMER)
        rc = pt_fail(err, -EINVAL, "--method timer: works for a command only, not for --pid");
    return rc;
}

int pt_cmd_cpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)argv;
    struct pt_cpu_profile_options c = {
        .perf = { .rate_hz = o->rate_hz,
                  .stack_bytes = (size_t)o->stack_kib << 10,
                  .is_off_cpu = o->wants_off_cpu,
                  .wants_python = o->wants_python },
        .command = *operands ? operands : NULL,
        .duration_ns = o->duration_ns,
        .files = { o->profile_outputs.items, o->profile_outputs.count, o->is_quiet },
        .top_rows = (size_t)o->top_rows,
        .lines = o->lines,
    };
    struct pt_err err = { "" };
    if (check_outputs(&o->profile_outputs, &err))
        return pt_command_misused(PT_COMMAND_CPU, "%s", err.text);
    if (!has_dashes && *operands && strcmp(*operands, "show") == 0)
        return pt_cmd_cpu_show(o, operands + 1);
    if (!has_dashes && *operands && strcmp(*operands, "diff") == 0)
        return pt_cmd_cpu_diff(o, operands + 1);
    if (has_dashes && !c.command)
        return pt_command_misused(PT_COMMAND_CPU, "missing command after --");
    if (check(o, &c, &err))
        return pt_command_misused(PT_COMMAND_CPU, "%s", err.text);
    if (pt_command_open_fs(o, &c.fs))
        return PT_EXIT_OWN_FAILURE;
    int code = pt_cpu_profile_run(&c);
    pt_fs_close(&c.fs);
    return code;
}
