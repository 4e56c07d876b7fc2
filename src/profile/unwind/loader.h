/* profile/unwind/loader.h -- can a library be preloaded into a program? Not if the program is
 * statically linked, gains privileges when it starts, or uses another C library. */
#ifndef PT_PROFILE_UNWIND_LOADER_H
#define PT_PROFILE_UNWIND_LOADER_H

#include "base/err.h"
#include "base/str.h"

enum pt_loader {
    PT_LOADER_DYNAMIC,
    PT_LOADER_STATIC,
    PT_LOADER_MUSL,    /* its loader refuses to start with a library built for glibc */
    PT_LOADER_SCRIPT,  /* its interpreter decides */
    PT_LOADER_UNKNOWN, /* another architecture, or not a program */
};

/* From the first bytes of a file; `name` is the loader or the interpreter, borrowed. */
enum pt_loader pt_loader_parse(struct pt_str head, struct pt_str *name);

/* Finds the program as exec does. 0, also if it does not exist; -ENOEXEC with a message if
 * preloading is impossible. */
int pt_loader_check(const char *program, struct pt_err *err) PT_MUST_CHECK;

#endif
