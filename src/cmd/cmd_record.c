#include "launch/child.h"
#include "gputrace/gpu_tool.h"
#include "record/recorder.h"
#include "base/clock.h"
#include "cmd/command.h"
#include "profile/sample/perf_event.h"
#include "report/report_page.h"

#include <errno.h>
#include <stdio.h>

static int check_tags(const struct pt_option_list *tags, struct pt_err *err) {
    for (size_t i = 0; i < tags->count; i++) {
        const char *equals = strchr(tags->items[i], '=');
        if (!equals || equals == tags->items[i])
            return pt_fail(err, -EINVAL, "--tag: '%s' is not of the form key=value",
                           tags->items[i]);
    }
    return 0;
}

static int check_profile(const struct pt_command_options *o, struct pt_recorder_options *r,
                         struct pt_err *err) {
    if (o->cpu_hz < 0 || o->cpu_hz > PT_PERF_RATE_MAX)
        return pt_fail(err, -EINVAL,
                       "--cpu: must be from 1 to %d samples per second, or 0 for none",
                       PT_PERF_RATE_MAX);
    if (o->cpu_hz > 0 && !r->command && o->pids.count == 0 && !o->container)
        return pt_fail(err, -EINVAL,
                       "--cpu: nothing to profile (give a command, --pid or --container)");
    return pt_cpu_method_parse(o->cpu_method, &r->cpu_method, err);
}

int pt_command_push(const struct pt_command_options *o, struct pt_push_options *push,
                    struct pt_err *err) {
    struct pt_push_settings settings;
    *push = (struct pt_push_options){ .remote_write = o->remote_write,
                                      .otlp = o->otlp,
                                      .state_directory = o->state_directory,
                                      .token_file = o->push_token_file,
                                      .labels = o->push_labels.items,
                                      .label_count = o->push_labels.count,
                                      .has_processes = o->pushes_processes,
                                      .has_native = o->pushes_native };
    int rc = pt_push_settings_read(&settings, push, err);
    pt_push_settings_release(&settings);
    return rc;
}

static int check_blackbox(const struct pt_command_options *o, struct pt_err *err) {
    if (o->blackbox_bytes > 0 && (o->cpu_hz > 0 || o->heap_mean))
        return pt_fail(
            err, -EINVAL,
            "--blackbox: cannot be used with --cpu or --heap, because profiles have no size limit");
    return 0;
}

/* The library cannot be preloaded into a running process. */
static int choose_heap(const struct pt_command_options *o, struct pt_recorder_options *r,
                       struct pt_err *err) {
    r->wants_heap = o->heap_mean != NULL;
    r->heap_counts_mmap = o->counts_mmap;
    r->heap_wants_python = o->wants_python_malloc;
    if (!r->wants_heap && (o->counts_mmap || o->wants_python_malloc))
        return pt_fail(err, -EINVAL, "--heap-mmap and --heap-python: work with --heap only");
    if (r->wants_heap && !r->command)
        return pt_fail(err, -EINVAL, "--heap: works with a command only");
    return r->wants_heap ? pt_command_heap_mean(o->heap_mean, &r->heap_mean_bytes, err) : 0;
}

static int check(const struct pt_command_options *o, struct pt_recorder_options *r,
                 struct pt_err *err) {
    if (r->command && (o->pids.count > 0 || o->container))
        return pt_fail(err, -EINVAL, "give either a command or --pid/--container, not both");
    int rc = check_profile(o, r, err);
    if (!rc)
        rc = check_blackbox(o, err);
    if (!rc)
        rc = choose_heap(o, r, err);
    if (!rc)
        rc = pt_export_formats_parse(&r->formats, o->formats, err);
    if (!rc)
        rc = pt_command_collectors(o, r->is_enabled, err);
    if (!rc)
        rc = pt_command_pids(&o->pids, r->pids, &r->pid_count, err);
    if (!rc)
        rc = check_tags(&o->tags, err);
    if (!rc)
        rc = pt_command_push(o, &r->push, err);
    if (!rc)
        rc = pt_command_energy_basis(o, &r->energy, err);
    return rc;
}

int pt_command_record(enum pt_command_id id, const struct pt_command_options *o, char **operands,
                      bool has_dashes, char **argv) {
    struct pt_recorder_options r = {
        .directory = o->output,
        .interval_ns = o->interval_ns,
        .duration_ns = o->duration_ns,
        .grace_ns = o->grace_ns,
        .max_overhead = o->max_overhead_percent / 100,
        .container = o->container,
        .cpu_hz = o->cpu_hz,
        .alerts = o->alerts,
        .alert_command = o->alert_command,
        .blackbox = { (uint64_t)o->blackbox_bytes, o->blackbox_keep_ns },
        .tags = o->tags.items,
        .tag_count = o->tags.count,
        .command = *operands ? operands : NULL,
        .own_argv = argv,
        .is_quiet = o->is_quiet,
        .wants_report = o->wants_report,
        .may_add_processes = !o->collect && !o->no_collect,
    };
    struct pt_err err = { "" };
    const char *engine_url;
    if (has_dashes && !r.command)
        return pt_command_misused(id, "missing command after --");
    if (o->wants_report && pt_report_check(&err))
        return pt_command_misused(id, "--report: %s", err.text);
    if (pt_command_engines(o, &r.engines, &engine_url, &err) || check(o, &r, &err))
        return pt_command_misused(id, "%s", err.text);
    if (pt_command_open_fs(o, &r.fs))
        return PT_EXIT_OWN_FAILURE;
    char tool_path[PATH_MAX];
    int rc = 0;
    if (id == PT_COMMAND_GPU) {
        r.gpu_tool_path = tool_path;
        r.gpu_rows = (size_t)o->top_rows;
        rc = pt_gpu_tool_choose(&r.fs, o->gpu_tool, r.command[0], &r.gpu_tool, tool_path, &err);
    }
    int code = rc ? pt_command_fail(&err, PT_EXIT_OWN_FAILURE) : pt_recorder_run(&r);
    pt_fs_close(&r.fs);
    return code;
}

int pt_cmd_record(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    return pt_command_record(PT_COMMAND_RECORD, o, operands, has_dashes, argv);
}
