/* profile/unwind/generated.h -- unwinds code that has no rules because the program generated it,
 * such as oneDNN kernels: by what the code does before it returns (profile/unwind/epilogue.h), or
 * by the frame pointer. The result must be the address after a call instruction. */
#ifndef PT_PROFILE_UNWIND_GENERATED_H
#define PT_PROFILE_UNWIND_GENERATED_H

#include "profile/unwind/space.h"
#include "profile/unwind/unwind.h"

/* The rule at the PC of `s`; reads the memory of the process. False: no rule fits this stack. */
bool pt_generated_rule(const struct pt_space *space, const struct pt_unwind_state *s,
                       struct pt_unwind_rule *rule);

#endif
