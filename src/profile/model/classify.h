/* profile/model/classify.h -- what a thread waits for, judged by the functions near the leaf of its
 * stack. */
#ifndef PT_PROFILE_MODEL_CLASSIFY_H
#define PT_PROFILE_MODEL_CLASSIFY_H

#include "profile/model/profile.h"

/* The purpose of the code near the leaf of each stack, whether it waits or runs: sets one element
 * of `states` per stack, PT_STATE_IDLE where nothing is known. */
void pt_classify_stacks(const struct pt_profile *p, uint8_t *states);

/* Sets the state of every sample. Call after symbols are resolved. `is_on_cpu`: samples were taken
 * while threads ran; then only functions that are known to spin count as waiting. */
void pt_classify(struct pt_profile *p, bool is_on_cpu);

#endif
