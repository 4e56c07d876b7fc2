/* inside/region/sigbus_guard.h -- mapped files that another program may cut while they are read.
 *
 * Reading beyond the end of a file is SIGBUS. In a guarded mapping it is zeros from then on: the
 * whole mapping becomes memory of the process. Takes over SIGBUS, so it is for programs of our own;
 * what is not in a guarded mapping goes to the handler that was there before. */
#ifndef PT_INSIDE_REGION_SIGBUS_GUARD_H
#define PT_INSIDE_REGION_SIGBUS_GUARD_H

#include "base/attr.h"

#include <stddef.h>

/* 0, -ENOSPC or -errno. */
int pt_sigbus_guard_add(void *at, size_t size) PT_MUST_CHECK;
void pt_sigbus_guard_remove(const void *at);

#endif
