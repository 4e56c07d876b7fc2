/* profile/unwind/generated.h -- the way back from code that has no rules because a program made
 * it while it ran, as the kernels of oneDNN: by what it does before it returns
 * (profile/unwind/epilogue.h), or by a frame pointer. What is found there must be an address
 * that a call returns to. */
#ifndef PT_PROFILE_UNWIND_GENERATED_H
#define PT_PROFILE_UNWIND_GENERATED_H

#include "profile/unwind/space.h"
#include "profile/unwind/unwind.h"

/* The rule of the place where `s` is; looks at the memory of the process. False: nothing fits this
 * stack. */
bool pt_generated_rule(const struct pt_space *space, const struct pt_unwind_state *s,
                       struct pt_unwind_rule *rule);

#endif
