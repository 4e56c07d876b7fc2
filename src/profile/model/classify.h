/* profile/model/classify.h -- waiting is not work: what a thread waits for, by the functions at
 * the leaf end of its stack. */
#ifndef PT_PROFILE_MODEL_CLASSIFY_H
#define PT_PROFILE_MODEL_CLASSIFY_H

#include "profile/model/profile.h"

/* The state of a stack. `is_on_cpu`: it was sampled while it ran; then only what is known to spin
 * while it waits counts as waiting. */
enum pt_profile_state pt_classify_stack(const struct pt_profile *p, uint32_t stack, bool is_on_cpu);

/* What the code at the leaf end of each stack is for, whether it waits there or runs: `states` has
 * one for each stack, PT_STATE_IDLE where nothing is known. */
void pt_classify_stacks(const struct pt_profile *p, uint8_t *states);

/* Sets the state of every sample. After names are known. */
void pt_classify(struct pt_profile *p, bool is_on_cpu);

#endif
