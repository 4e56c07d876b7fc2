#include "cmd/command.h"

#include <unistd.h>

int pt_cmd_version(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv) {
    (void)o;
    (void)operands;
    (void)has_dashes;
    (void)argv;
    struct pt_out out;
    pt_out_show(&out, STDOUT_FILENO);
    pt_out_text(&out, "pitot " PITOT_VERSION "\n");
    pt_out_close(&out);
    return 0;
}
