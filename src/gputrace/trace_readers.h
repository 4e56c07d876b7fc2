/* gputrace/trace_readers.h -- reads a timeline from the file of any supported profiler. */
#ifndef PT_GPUTRACE_TRACE_READERS_H
#define PT_GPUTRACE_TRACE_READERS_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Adds the events of the file; its first bytes select the format: SQLite of nsys, CSV of rocprofv3,
 * JSON of torch. 0 or -errno with a message. */
int pt_timeline_read(struct pt_timeline *t, const char *path, struct pt_err *err) PT_MUST_CHECK;

#endif
