#include "cmd/command.h"
#include "report/explain_text.h"
#include "store/run.h"

#include <unistd.h>

int pt_cmd_explain(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX];
    struct pt_explained_run run;
    struct pt_err err = { "" };
    struct pt_out out;
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_EXPLAIN, "give one run");
    int rc = pt_command_find_run(operands[0], journal, &err);
    if (!rc)
        rc = pt_explain_run(&run, journal, &err);
    if (rc)
        return pt_command_fail(&err, 2);
    pt_out_show(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_explain_print_json(&run, &out);
    else
        pt_explain_print(&run, &out);
    return pt_command_close(&out, 0);
}
