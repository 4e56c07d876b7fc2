/* profile/names/demangle.h -- names of C++ and Rust functions as people write them. */
#ifndef PT_PROFILE_NAMES_DEMANGLE_H
#define PT_PROFILE_NAMES_DEMANGLE_H

#include "base/buf.h"

/* Sets `into` to the name. What cannot be taken apart stays as it is. C++ needs libstdc++.so.6,
 * which is opened when the first such name comes. */
void pt_demangle(const char *name, struct pt_buf *into);

#endif
