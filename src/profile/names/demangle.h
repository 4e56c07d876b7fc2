/* profile/names/demangle.h -- C++ and Rust function names as they are written in the source:
 *
 *     _ZN2at6matmulEi                 ->  at::matmul(int)
 *     _RNvNtCs1234_7mycrate3foo3bar   ->  mycrate::foo::bar
 */
#ifndef PT_PROFILE_NAMES_DEMANGLE_H
#define PT_PROFILE_NAMES_DEMANGLE_H

#include "base/buf.h"

#define PT_DEMANGLED_MAX (64 * 1024) /* bytes */

/* Sets `into` to the demangled name, without Rust's hashes. A name that is not mangled, is
 * malformed or would become longer than PT_DEMANGLED_MAX is copied as it is. */
void pt_demangle(const char *name, struct pt_buf *into);

#endif
