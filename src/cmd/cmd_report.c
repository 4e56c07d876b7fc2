#include "report/report_page.h"

#include "base/log.h"
#include "cmd/command.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>

int pt_cmd_report(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX], directory[PATH_MAX], name[NAME_MAX + 1], path[PATH_MAX];
    struct pt_energy_basis assumed = { 0 };
    struct pt_report_options options = { journal, path, o->profile, &assumed };
    struct pt_err err = { "" };
    if (!operands[0] || operands[1])
        return pt_command_misused(PT_COMMAND_REPORT, "give one run");
    if (pt_command_energy_basis(o, &assumed, &err))
        return pt_command_misused(PT_COMMAND_REPORT, "%s", err.text);
    int rc = pt_report_check(&err);
    if (!rc)
        rc = pt_command_find_run(operands[0], journal, &err);
    if (!rc) { /* next to the journal, unless -o names a file */
        pt_run_split(journal, directory, name);
        int n = o->output ? snprintf(path, sizeof path, "%s", o->output)
                          : snprintf(path, sizeof path, "%s/%s.html", directory, name);
        if (n >= PATH_MAX)
            rc = pt_fail(&err, -ENAMETOOLONG, "the path of the page is too long");
    }
    if (!rc)
        rc = pt_report_write(&options, &err);
    if (rc)
        return pt_command_fail(&err, 1);
    if (!o->is_quiet)
        pt_say("Wrote %s", path);
    return 0;
}
