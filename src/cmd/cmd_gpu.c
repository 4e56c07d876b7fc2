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

/* Files that were made elsewhere, and the run they belong to. */
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
        return pt_command_misused(PT_COMMAND_GPU, "import: give files, then the run");
    int rc = pt_run_find(operands[count - 1], journal, &other_count, &err);
    if (!rc && other_count > 0)
        pt_log(PT_LOG_WARNING, "%d runs there, taking the newest: %s", other_count + 1, journal);
    if (!rc)
        rc = pt_gpu_import(journal, operands, count - 1, &timeline, &start_ns, &err);
    if (!rc && !o->is_quiet)
        print_timeline(&timeline, start_ns, (size_t)o->top_rows);
    pt_timeline_release(&timeline);
    return rc ? pt_command_fail(&err, PT_EXIT_OWN_FAILURE) : 0;
}

/* The tool would only say so in words of its own. */
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
        return pt_command_misused(PT_COMMAND_GPU, "--top: not below 0");
    if (!has_dashes && *operands && strcmp(*operands, "import") == 0)
        return import(o, operands + 1);
    if (!*operands)
        return pt_command_misused(PT_COMMAND_GPU, "there is no command");
    int code = check_command(*operands);
    return code ? code : pt_command_record(PT_COMMAND_GPU, o, operands, has_dashes, argv);
}
