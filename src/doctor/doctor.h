/* doctor/doctor.h -- checks what can be recorded on this machine, and how to get the rest.
 *
 * A check is a row: an id that never changes, a title, a function that fills in a finding. Each
 * private module (base/module.h) is a row too. */
#ifndef PT_DOCTOR_DOCTOR_H
#define PT_DOCTOR_DOCTOR_H

#include "base/fs.h"
#include "base/out.h"

enum pt_doctor_state {
    PT_DOCTOR_OK,
    PT_DOCTOR_LIMITED, /* works in part, or unknown */
    PT_DOCTOR_MISSING, /* does not work: its cells will be null */
};

struct pt_finding {
    enum pt_doctor_state state;
    char found[256];
    char remedy[512]; /* the setting or capability; empty if the state is ok */
};

/* Runs all checks and writes a table or JSON. Returns the exit code: 0 all is fine, 1 something is
 * limited or missing, 2 recording would fail. */
int pt_doctor_run(const struct pt_fs *fs, bool as_json, bool use_colour, struct pt_out *out);

#endif
