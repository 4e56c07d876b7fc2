/* gputrace/nsys.h -- the SQLite export of Nsight Systems: `nsys profile --export=sqlite`.
 *
 * Tables exist only if they have rows, and columns differ between versions; absent ones are
 * skipped. Times are nanoseconds since the session started; TARGET_INFO_SESSION_START_TIME has the
 * Unix time of that. */
#ifndef PT_GPUTRACE_NSYS_H
#define PT_GPUTRACE_NSYS_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Adds to `t`. 0 or -errno with a message. */
int pt_nsys_read(struct pt_timeline *t, const char *path, struct pt_err *err) PT_MUST_CHECK;

#endif
