/* profile/sample/gil_wait.h -- threads that wait for the lock of a Python interpreter: "[GIL
 * wait]" in place of the C library's and the kernel's way of sleeping. */
#ifndef PT_PROFILE_SAMPLE_GIL_WAIT_H
#define PT_PROFILE_SAMPLE_GIL_WAIT_H

#include "profile/model/profile.h"

/* In a profile of waiting, after names are known and samples have their states. */
void pt_gil_wait_mark(struct pt_profile *p);

#endif
