/* profile/model/profile_diff.h -- what changed from one profile to another.
 *
 * The difference is itself a profile, with one sample per stack of either profile and two columns,
 * "before" and "after". Every writer accepts it; HTML, SVG and folded compare shares of the whole,
 * so that a longer run is not "more of everything". */
#ifndef PT_PROFILE_MODEL_PROFILE_DIFF_H
#define PT_PROFILE_MODEL_PROFILE_DIFF_H

#include "profile/model/profile.h"

#include "base/err.h"
#include "base/out.h"

/* Compares the first column of each. Functions are the same if name, source file, module name and
 * kind are equal: addresses and lines change with every build. -EINVAL: the units differ, or only
 * one of them has modules. */
int pt_profile_diff(const struct pt_profile *before, const struct pt_profile *after,
                    struct pt_profile *diff, struct pt_err *err) PT_MUST_CHECK;

bool pt_profile_is_diff(const struct pt_profile *p);

/* Prints the functions with the largest change of their own share, at most `limit`. */
void pt_profile_diff_print(const struct pt_profile *diff, size_t limit, struct pt_out *out);

#endif
