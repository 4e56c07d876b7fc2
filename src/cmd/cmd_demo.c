#include "base/log.h"
#include "base/module.h"
#include "cmd/command.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "pitot-demo"

/* The demo engine is a program of its own (demo/main.c), which checks its options itself. */
int pt_cmd_demo(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)o;
    (void)operands;
    (void)has_dashes;
    char path[PATH_MAX];
    int rc = pt_module_find(PROGRAM, path, sizeof path);
    if (!rc) {
        static char name[] = PROGRAM;
        argv[1] = name; /* pitot demo --serve: the rest of it as it is */
        execv(path, argv + 1);
        rc = -errno;
    }
    pt_log(PT_LOG_ERROR, "cannot run %s: %s (install Pitot again)", PROGRAM, strerror(-rc));
    return 1;
}
