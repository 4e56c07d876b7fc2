#include "launch/child.h"
#include "gputrace/gpu_import.h"
#include "gputrace/gpu_tool.h"
#include "base/log.h"
#include "cmd/command.h"
#include "gputrace/gpu_summary.h"

#include <errno.h>
#include <unistd.h>

/* Adds the files of a GPU profiler to an existing run. */
static int import(const struct pt_command_options *o, char **operands) {
    struct pt_timeline timeline = { 0 };
    struct pt_err err = { "" };
    struct pt_out out;
    char journal[PATH_MAX];
    int64_t start_ns = 0;
    size_t count = 0;
    while (operands[count])
        count++;
    if (count < 2)
        return pt_command_misused(PT_COMMAND_GPU, "import: give the files, then the run");
    int rc = pt_command_find_run(operands[count - 1], journal, &err);
    if (!rc)
        rc = pt_gpu_import(journal, operands, count - 1, &timeline, &start_ns, &err);
    if (!rc && !o->is_quiet) {
        pt_out_show(&out, STDERR_FILENO);
        pt_timeline_print(&timeline, start_ns, (size_t)o->top_rows, &out);
        (void)pt_out_close(&out);
    }
    pt_timeline_release(&timeline);
    return rc ? pt_command_fail(&err, PT_EXIT_OWN_FAILURE) : 0;
}

int pt_cmd_gpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    if (o->top_rows < 0)
        return pt_command_misused(PT_COMMAND_GPU, "--top: must not be negative");
    if (!has_dashes && *operands && strcmp(*operands, "import") == 0)
        return import(o, operands + 1);
    if (!*operands)
        return pt_command_misused(PT_COMMAND_GPU, "missing command");
    char path[PATH_MAX];
    int rc = pt_program_find(*operands, path);
    if (!rc)
        return pt_command_record(PT_COMMAND_GPU, o, operands, has_dashes, argv);
    /* the message of the tool would be less clear */
    pt_log(PT_LOG_ERROR, "cannot run %s: %s", *operands, strerror(-rc));
    return pt_child_failure_code(rc);
}
