/* profile/unwind/loader.h -- can a library be preloaded into a program? Not into one that is linked
 * statically, changes its rights when it starts, or belongs to another C library. */
#ifndef PT_PROFILE_UNWIND_LOADER_H
#define PT_PROFILE_UNWIND_LOADER_H

#include "base/err.h"
#include "base/str.h"

enum pt_loader {
    PT_LOADER_DYNAMIC,
    PT_LOADER_STATIC,
    PT_LOADER_MUSL,    /* would end the program over a library of glibc */
    PT_LOADER_SCRIPT,  /* its interpreter decides */
    PT_LOADER_UNKNOWN, /* another architecture, or no program */
};

/* From the first bytes of a file; `name` is the loader or the interpreter, borrowed. */
enum pt_loader pt_loader_parse(struct pt_str head, struct pt_str *name);

/* As exec would find the program. 0, also if there is none; -ENOEXEC with words if it cannot be
 * done. */
int pt_loader_check(const char *program, struct pt_err *err) PT_MUST_CHECK;

#endif
