#include "launch/child.h"
#include "gputrace/gpu_import.h"
#include "gputrace/gpu_tool.h"
#include "base/log.h"
#include "cmd/command.h"
#include "store/run.h"
#include "gputrace/gpu_summary.h"

#include <errno.h>
#include <unistd.h>

static void print_timeline(const struct pt_timeline *t, int64_t start_ns, size_t rows) {
    struct pt_out out;
    pt_out_borrow(&out, STDERR_FILENO);
    pt_timeline_print(t, start_ns, rows, &out);
    (void)pt_out_close(&out);
}

/* Adds the files of a GPU profiler to an existing run. */
static int import(const struct pt_command_options *o, char **operands) {
    struct pt_timeline timeline = { 0 };
    struct pt_err err = { "" };
    char journal[PATH_MAX];
    int other_count;
    int64_t start_ns = 0;
    size_t count = 0;
    while (operands[count])
        count++;
    if (count < 2)
        return pt_command_misused(PT_COMMAND_GPU, "import: give the files, then the run");
    int rc = pt_run_find(operands[count - 1], journal, &other_count, &err);
    if (!rc && other_count > 0)
        pt_log(PT_LOG_WARNING, "found %d runs; using the newest: %s", other_count + 1, journal);
    if (!rc)
        rc = pt_gpu_import(journal, operands, count - 1, &timeline, &start_ns, &err);
    if (!rc && !o->is_quiet)
        print_timeline(&timeline, start_ns, (size_t)o->top_rows);
    pt_timeline_release(&timeline);
    return rc ? pt_command_fail(&err, PT_EXIT_OWN_FAILURE) : 0;
}

/* The message of the tool would be less clear. */
static int check_command(const char *command) {
    char path[PATH_MAX];
    int rc = pt_program_find(command, path);
    if (!rc)
        return 0;
    pt_log(PT_LOG_ERROR, "cannot run %s: %s", command, strerror(-rc));
    return pt_child_failure_code(rc);
}

int pt_cmd_gpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    if (o->top_rows < 0)
        return pt_command_misused(PT_COMMAND_GPU, "--top: must not be negative");
    if (!has_dashes && *operands && strcmp(*operands, "import") == 0)
        return import(o, operands + 1);
    if (!*operands)
        return pt_command_misused(PT_COMMAND_GPU, "missing command");
    int code = check_command(*operands);
    return code ? code : pt_command_record(PT_COMMAND_GPU, o, operands, has_dashes, argv);
}
