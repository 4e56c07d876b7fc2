#include "cmd/command.h"
#include "launch/child.h"
#include "profile/files/profile_readers.h"
#include "profile/files/profile_writers.h"
#include "profile/model/by_function.h"
#include "profile/model/lines.h"
#include "profile/model/profile_diff.h"
#include "profile/run/cpu_profile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int write_files(const struct pt_option_list *outputs, const struct pt_profile *p) {
    struct pt_err err;
    for (size_t i = 0; i < outputs->count; i++)
        if (pt_profile_write(p, outputs->items[i], &err))
            return pt_command_fail(&err, 1);
    return 0;
}

/* `pitot cpu show`: an existing profile. */
static int show(const struct pt_command_options *o, char **operands) {
    struct pt_profile_file file;
    struct pt_err err;
    struct pt_out out;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_CPU, "give one profile to show");
    int code = pt_profile_file_read(&file, operands[0], &err) ? pt_command_fail(&err, 1) : 0;
    if (!code)
        code = write_files(&o->profile_outputs, &file.profile);
    if (!code) {
        pt_out_show(&out, STDOUT_FILENO);
        if (o->lines) {
            if (pt_lines_print(&file.profile, o->lines, &out, &err))
                code = pt_command_fail(&err, 1);
        } else if (o->top_rows > 0 && !o->is_quiet) {
            struct pt_top_style style = pt_top_style_of(STDOUT_FILENO);
            struct pt_top top;
            pt_top_make(&top, &file.profile);
            pt_top_print(&top, &file.profile, (size_t)o->top_rows, &style, &out);
            pt_top_release(&top);
            pt_top_print_gil(&file.profile, &out);
        }
        code = pt_command_close(&out, code);
    }
    pt_profile_file_release(&file);
    return code;
}

static int compare(const struct pt_command_options *o, const struct pt_profile *before,
                   const struct pt_profile *after) {
    struct pt_profile diff;
    struct pt_err err;
    struct pt_out out;
    if (pt_profile_diff(before, after, &diff, &err))
        return pt_command_fail(&err, 1);
    int code = write_files(&o->profile_outputs, &diff);
    pt_out_show(&out, STDOUT_FILENO);
    if (!code && !o->is_quiet && o->top_rows > 0)
        pt_profile_diff_print(&diff, (size_t)o->top_rows, &out);
    pt_profile_release(&diff);
    return pt_command_close(&out, code);
}

/* `pitot cpu diff`: two existing profiles. */
static int diff(const struct pt_command_options *o, char **operands) {
    struct pt_profile_file before, after;
    struct pt_err err;
    if (!operands[0] || !operands[1] || operands[2])
        return pt_command_misused(PT_COMMAND_CPU, "give two profiles to compare");
    int rc = pt_profile_file_read(&before, operands[0], &err);
    if (rc) {
        pt_profile_file_release(&before);
        return pt_command_fail(&err, 1);
    }
    rc = pt_profile_file_read(&after, operands[1], &err);
    int code = rc ? pt_command_fail(&err, 1) : compare(o, &before.profile, &after.profile);
    pt_profile_file_release(&before);
    pt_profile_file_release(&after);
    return code;
}

static int check(const struct pt_command_options *o, struct pt_cpu_profile_options *c,
                 struct pt_err *err) {
    int pid_count = 0;
    if (o->pids.count > 1)
        return pt_fail(err, -EINVAL, "--pid: only one process can be profiled");
    int rc = pt_command_pids(&o->pids, &c->pid, &pid_count, err);
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
        .grace_ns = o->grace_ns,
        .files = { o->profile_outputs.items, o->profile_outputs.count, o->is_quiet },
        .top_rows = (size_t)o->top_rows,
        .lines = o->lines,
    };
    struct pt_err err = { "" };
    for (size_t i = 0; i < o->profile_outputs.count; i++) /* before sampling, not after it */
        if (pt_profile_check_path(o->profile_outputs.items[i], &err))
            return pt_command_misused(PT_COMMAND_CPU, "%s", err.text);
    if (!has_dashes && *operands && strcmp(*operands, "show") == 0)
        return show(o, operands + 1);
    if (!has_dashes && *operands && strcmp(*operands, "diff") == 0)
        return diff(o, operands + 1);
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
