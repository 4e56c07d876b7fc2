#include "launch/child.h"
#include "profile/run/heap_profile.h"
#include "base/log.h"
#include "cmd/command.h"
#include "profile/heap/heap_report.h"
#include "profile/model/lines.h"
#include "profile/files/profile_readers.h"
#include "profile/sample/confined_names.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <unistd.h>

#define MIN_MEAN (INT64_C(1) << 10)
#define MAX_MEAN (INT64_C(1) << 40)

int pt_command_heap_mean(const char *text, uint64_t *mean_bytes, struct pt_err *err) {
    *mean_bytes = 0;
    if (strcmp(text, "all") == 0)
        return 0;
    int64_t bytes = 0;
    if (pt_bytes_parse(text, &bytes, NULL) || bytes < MIN_MEAN || bytes > MAX_MEAN)
        return pt_fail(err, -EINVAL, "--heap: '%s' is not a size from 1k to 1T, nor 'all'", text);
    *mean_bytes = (uint64_t)bytes;
    return 0;
}

static int parse_metric(const char *text, enum pt_heap_metric *metric, struct pt_err *err) {
    const char *name;
    *metric = PT_HEAP_LIVE;
    if (!text)
        return 0;
    for (size_t i = 0; (name = pt_heap_metric_name(i)); i++)
        if (strcmp(text, name) == 0) {
            *metric = (enum pt_heap_metric)i;
            return 0;
        }
    return pt_fail(err, -EINVAL, "--metric: '%s' is not one of: live, peak, allocated, temporary",
                   text);
}

static int check(const struct pt_command_options *o, struct pt_heap_profile_options *h,
                 struct pt_err *err) {
    int rc = pt_command_heap_mean(o->heap_mean, &h->mean_bytes, err);
    if (!rc)
        rc = parse_metric(o->heap_metric, &h->metric, err);
    if (!rc && o->stack_kib != 8 && o->stack_kib != 16 && o->stack_kib != 32 && o->stack_kib != 64)
        rc = pt_fail(err, -EINVAL, "--stack: must be 8, 16, 32 or 64");
    if (!rc && o->top_rows < 0)
        rc = pt_fail(err, -EINVAL, "--top: must not be negative");
    for (size_t i = 0; !rc && i < o->profile_outputs.count; i++)
        rc = pt_profile_check_path(o->profile_outputs.items[i], err);
    return rc;
}

int pt_command_heap_file(const struct pt_command_options *o, const char *path,
                         struct pt_profile_file *into, struct pt_err *err) {
    enum pt_heap_metric metric;
    int rc = pt_profile_file_read(into, path, err);
    if (rc)
        return rc;
    if (into->profile.meta.unnamed)
        pt_log(PT_LOG_WARNING, "%s is incomplete; using what there is", path);
    pt_confined_names_saved(into);
    if (!o->heap_metric)
        return 0;
    rc = parse_metric(o->heap_metric, &metric, err);
    if (!rc && !pt_heap_put_first(&into->profile, metric))
        rc = pt_fail(err, -EINVAL, "%s is not a heap profile", path);
    return rc;
}

static int print(const struct pt_command_options *o, const struct pt_profile *p) {
    struct pt_heap_report how = { .top_rows = (size_t)o->top_rows,
                                  .wants_leaks = o->wants_leaks,
                                  .style = pt_top_style_of(STDOUT_FILENO) };
    struct pt_err err;
    struct pt_out out;
    int code = 0;
    pt_out_show(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_heap_report_print_json(p, how.top_rows, &out);
    else if (o->lines)
        code = pt_lines_print(p, o->lines, &out, &err) ? pt_command_fail(&err, 1) : 0;
    else if (!o->is_quiet)
        pt_heap_report_print(p, &how, &out);
    return pt_command_close(&out, code);
}

/* Shows an existing profile. */
static int show(const struct pt_command_options *o, const char *path) {
    struct pt_profile_file file;
    struct pt_err err;
    int rc = pt_command_heap_file(o, path, &file, &err);
    if (!rc && !pt_heap_report_fits(&file.profile))
        rc = pt_fail(&err, -EINVAL, "%s is not a heap profile", path);
    for (size_t i = 0; !rc && i < o->profile_outputs.count; i++)
        rc = pt_profile_write(&file.profile, o->profile_outputs.items[i], &err);
    int code = rc ? pt_command_fail(&err, 1) : print(o, &file.profile);
    pt_profile_file_release(&file);
    return code;
}

int pt_cmd_heap(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)argv;
    struct pt_heap_profile_options h = {
        .command = operands,
        .grace_ns = o->grace_ns,
        .stack_bytes = (size_t)o->stack_kib << 10,
        .files = { o->profile_outputs.items, o->profile_outputs.count, o->is_quiet },
        .top_rows = (size_t)o->top_rows,
        .lines = o->lines,
        .wants_leaks = o->wants_leaks,
        .counts_mmap = o->counts_mmap,
        .wants_python_malloc = o->wants_python_malloc,
    };
    struct pt_err err = { "" };
    bool is_show = !has_dashes && operands[0] && strcmp(operands[0], "show") == 0;
    if (!*operands)
        return pt_command_misused(PT_COMMAND_HEAP, "missing command");
    if (is_show && (!operands[1] || operands[2]))
        return pt_command_misused(PT_COMMAND_HEAP, "give one profile to show");
    if (!is_show && o->as_json)
        return pt_command_misused(PT_COMMAND_HEAP, "--json: works with show only");
    if (check(o, &h, &err))
        return pt_command_misused(PT_COMMAND_HEAP, "%s", err.text);
    if (is_show)
        return show(o, operands[1]);
    if (pt_command_open_fs(o, &h.fs))
        return PT_EXIT_OWN_FAILURE;
    int code = pt_heap_profile_run(&h);
    pt_fs_close(&h.fs);
    return code;
}
