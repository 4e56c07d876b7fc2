#include "base/log.h"
#include "cmd/command.h"
#include "demo/run.h"

#include <unistd.h>

int pt_cmd_demo(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_DEMO, "unexpected argument '%s'", *operands);
    if (o->demo_threads < 0 || o->demo_threads > 64)
        return pt_command_misused(PT_COMMAND_DEMO, "--threads takes 1 to 64, 0 = one for each CPU");
    struct pt_demo_options options = { .seconds = (double)o->demo_seconds_ns / 1e9,
                                       .worker_count = (size_t)o->demo_threads };
    struct pt_err err = { "" };
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    int rc = pt_demo_run(&options, &out, NULL, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return pt_command_close(&out, rc ? 1 : 0);
}
