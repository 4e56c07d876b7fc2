#include "cmd/command.h"

#include <stdio.h>

int pt_cmd_version(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv) {
    (void)o;
    (void)operands;
    (void)has_dashes;
    (void)argv;
    puts("pitot " PITOT_VERSION);
    return 0;
}
