#include "doctor/doctor.h"
#include "cmd/command.h"

#include <stdlib.h>
#include <unistd.h>

static bool wants_colour(void) {
    const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && term && strcmp(term, "dumb") != 0;
}

int pt_cmd_doctor(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_DOCTOR, "unexpected argument '%s'", *operands);
    struct pt_fs fs;
    if (pt_command_open_fs(o, &fs))
        return 2;
    struct pt_out out;
    pt_out_show(&out, STDOUT_FILENO);
    int code = pt_doctor_run(&fs, o->as_json, wants_colour(), &out);
    pt_fs_close(&fs);
    return pt_command_close(&out, code);
}
