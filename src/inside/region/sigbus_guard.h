/* inside/region/sigbus_guard.h -- mapped files that another program may truncate while they are
 * read.
 *
 * Reading beyond the end of a file raises SIGBUS. A guarded mapping then reads as zeros: the whole
 * mapping is replaced with private memory. Installs a SIGBUS handler, so it is only for our own
 * programs; faults outside guarded mappings go to the previous handler. */
#ifndef PT_INSIDE_REGION_SIGBUS_GUARD_H
#define PT_INSIDE_REGION_SIGBUS_GUARD_H

#include "base/attr.h"

#include <stddef.h>

/* 0, -ENOSPC or -errno. */
int pt_sigbus_guard_add(void *at, size_t size) PT_MUST_CHECK;
void pt_sigbus_guard_remove(const void *at);

#endif
