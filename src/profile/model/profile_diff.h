/* profile/model/profile_diff.h -- what changed from one profile to another.
 *
 * The difference is itself a profile, with a sample for each stack that either has and two columns,
 * "before" and "after". So every writer takes it; those that know what it is (HTML, SVG, folded)
 * compare the shares of the whole, so that a longer run is not "more of everything". */
#ifndef PT_PROFILE_MODEL_PROFILE_DIFF_H
#define PT_PROFILE_MODEL_PROFILE_DIFF_H

#include "profile/model/profile.h"

#include "base/err.h"
#include "base/out.h"

/* By the first column of each. Functions are the same if name, source file, name of the module and
 * kind are: addresses and lines move with every build. -EINVAL: they count
 * different things, or only one of them knows modules. */
int pt_profile_diff(const struct pt_profile *before, const struct pt_profile *after,
                    struct pt_profile *diff, struct pt_err *err) PT_MUST_CHECK;

bool pt_profile_is_diff(const struct pt_profile *p);

/* The functions whose own share changed most, at most `limit`. */
void pt_profile_diff_print(const struct pt_profile *diff, size_t limit, struct pt_out *out);

#endif
