/* profile/run/cpu_summary.h -- what a CPU profile says about itself: how it was sampled, what it
 * lacks. */
#ifndef PT_PROFILE_RUN_CPU_SUMMARY_H
#define PT_PROFILE_RUN_CPU_SUMMARY_H

#include "base/err.h"
#include "base/out.h"
#include "profile/model/profile.h"

/* Prints method, samples, losses, overhead and states. */
void pt_cpu_summary_print(const struct pt_profile *p, struct pt_out *out);

/* Is enough of the CPU time sampled? `used_ns` is what the kernel counted for the whole command, or
 * 0. Returns 0, or -errno if there are no samples and should be some. Sets `err` in either case if
 * there is something to tell. */
int pt_cpu_summary_check(const struct pt_profile *p, int64_t used_ns, bool is_off_cpu,
                         struct pt_err *err);

#endif
