/* doctor/doctor_module.c -- checks that a private module and its library are installed. */
#include "doctor/doctor_finding.h"

#include <errno.h>
#include <stdio.h>

void pt_check_module(const struct pt_module_info *info, struct pt_finding *f) {
    const struct pt_module *module;
    struct pt_err err;
    char remedy[96];
    int rc = pt_module_look(info->name, &module, &err);
    if (rc) {
        if (rc == -EACCES)
            snprintf(remedy, sizeof remedy, "give this user the right to read the file");
        else
            snprintf(remedy, sizeof remedy, "apt-get install %s", info->package);
        pt_finding_bad(f, PT_DOCTOR_MISSING, remedy, "%s", err.text);
        return;
    }
    pt_finding_ok(f, "%s%s%s, %s", module->library, module->library_version ? "/" : "",
                  module->library_version ? module->library_version() : "", info->use);
}
