/* base/confine_filter.h -- the system calls of a confined process (seccomp). */
#ifndef PT_BASE_CONFINE_FILTER_H
#define PT_BASE_CONFINE_FILTER_H

#include "base/attr.h"

/* From now on for the calling thread and those it starts. 0 or -errno: the kernel, or a sandbox
 * around Pitot, does not allow it. */
int pt_confine_filter(void) PT_MUST_CHECK;

#endif
