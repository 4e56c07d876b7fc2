/* profile/model/by_thread.h -- the samples of a profile by thread, each thread's in the order of
 * time. */
#ifndef PT_PROFILE_MODEL_BY_THREAD_H
#define PT_PROFILE_MODEL_BY_THREAD_H

#include "profile/model/profile.h"

struct pt_by_thread {
    uint32_t *samples; /* numbers of samples */
    /* of each thread in `samples`; then of the samples without a thread; then the end */
    size_t *starts;
};

void pt_by_thread_init(struct pt_by_thread *b, const struct pt_profile *p);
void pt_by_thread_release(struct pt_by_thread *b);

#endif
