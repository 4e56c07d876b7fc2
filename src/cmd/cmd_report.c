#include "report/report_page.h"

#include "cmd/command.h"
#include "store/run.h"

#include <errno.h>
#include <stdio.h>

/* Next to the journal, unless -o names a file. */
static int name_page(const char *journal, const char *wanted, char path[PATH_MAX],
                     struct pt_err *err) {
    char directory[PATH_MAX], name[NAME_MAX + 1];
    pt_run_split(journal, directory, name);
    int n = wanted ? snprintf(path, PATH_MAX, "%s", wanted)
                   : snprintf(path, PATH_MAX, "%s/%s.html", directory, name);
    return n < PATH_MAX ? 0 : pt_fail(err, -ENAMETOOLONG, "the path of the page is too long");
}

int pt_cmd_report(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    char journal[PATH_MAX], path[PATH_MAX];
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
    if (!rc)
        rc = name_page(journal, o->output, path, &err);
    if (!rc)
        rc = pt_report_write(&options, &err);
    if (rc)
        return pt_command_fail(&err, 1);
    if (!o->is_quiet)
        fprintf(stderr, "Wrote %s\n", path);
    return 0;
}
