#include "agent/heap_profile.h"
#include "agent/recorder.h"
#include "cmd/command.h"
#include "profile/writers.h"

#include <errno.h>

#define MIN_MEAN (INT64_C(1) << 10)
#define MAX_MEAN (INT64_C(1) << 40)

/* 512k, 64K, 2m, 65536; all is 0. */
static int parse_mean(const char *text, uint64_t *mean_bytes, struct pt_err *err) {
    *mean_bytes = 0;
    if (strcmp(text, "all") == 0)
        return 0;
    int64_t bytes = 0;
    if (pt_bytes_parse(text, &bytes, NULL) || bytes < MIN_MEAN || bytes > MAX_MEAN)
        return pt_fail(err, -EINVAL, "--heap: '%s' is neither 512k, 64k, ... nor all", text);
    *mean_bytes = (uint64_t)bytes;
    return 0;
}

static int parse_metric(const char *text, enum pt_heap_metric *metric, struct pt_err *err) {
    const char *name;
    for (size_t i = 0; (name = pt_heap_metric_name(i)); i++)
        if (strcmp(text, name) == 0) {
            *metric = (enum pt_heap_metric)i;
            return 0;
        }
    return pt_fail(err, -EINVAL, "--metric: '%s' is none of live, peak, allocated, temporary",
                   text);
}

static int check(const struct pt_command_options *o, struct pt_heap_profile_options *h,
                 struct pt_err *err) {
    int rc = parse_mean(o->heap_mean, &h->mean_bytes, err);
    if (!rc)
        rc = parse_metric(o->heap_metric, &h->metric, err);
    if (!rc && o->stack_kib != 8 && o->stack_kib != 16 && o->stack_kib != 32 && o->stack_kib != 64)
        rc = pt_fail(err, -EINVAL, "--stack: 8, 16, 32 or 64");
    if (!rc && o->top_rows < 0)
        rc = pt_fail(err, -EINVAL, "--top: not below 0");
    for (size_t i = 0; !rc && i < o->profile_outputs.count; i++)
        rc = pt_profile_check_path(o->profile_outputs.items[i], err);
    return rc;
}

int pt_cmd_heap(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)argv;
    (void)has_dashes;
    struct pt_heap_profile_options h = {
        .command = operands,
        .stack_bytes = (size_t)o->stack_kib << 10,
        .outputs = o->profile_outputs.items,
        .output_count = o->profile_outputs.count,
        .top_rows = (size_t)o->top_rows,
        .wants_leaks = o->wants_leaks,
        .counts_mmap = o->counts_mmap,
        .wants_python_malloc = o->wants_python_malloc,
        .is_quiet = o->is_quiet,
    };
    struct pt_err err = { "" };
    if (!*operands)
        return pt_command_misused(PT_COMMAND_HEAP, "there is no command");
    if (check(o, &h, &err))
        return pt_command_misused(PT_COMMAND_HEAP, "%s", err.text);
    if (pt_command_open_fs(o, &h.fs))
        return PT_EXIT_OWN_FAILURE;
    int code = pt_heap_profile_run(&h);
    pt_fs_close(&h.fs);
    return code;
}
