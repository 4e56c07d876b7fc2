/* profile/sample/gil_wait.h -- marks threads that wait for the lock of a Python interpreter: "[GIL
 * wait]" replaces the frames of the C library and the kernel. */
#ifndef PT_PROFILE_SAMPLE_GIL_WAIT_H
#define PT_PROFILE_SAMPLE_GIL_WAIT_H

#include "profile/model/profile.h"

/* For an off-CPU profile, after symbols are resolved and samples classified. */
void pt_gil_wait_mark(struct pt_profile *p);

#endif
