/* gputrace/nsys.h -- the SQLite export of Nsight Systems: `nsys profile --export=sqlite`.
 *
 * Tables are there only if something was recorded for them, and columns come and go with versions;
 * what is absent is left out. Times are nanoseconds since the session started, of which
 * TARGET_INFO_SESSION_START_TIME has the Unix time. */
#ifndef PT_GPUTRACE_NSYS_H
#define PT_GPUTRACE_NSYS_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Adds to `t`. 0 or -errno with words. */
int pt_nsys_read(struct pt_timeline *t, const char *path, struct pt_err *err) PT_MUST_CHECK;

#endif
