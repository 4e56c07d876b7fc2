/* gputrace/torch.h -- traces of torch.profiler, export_chrome_trace():
 *
 *     {"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
 *       {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12.5, "dur": 3.25,
 *        "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [4, 1, 1], ...}}, ...]}
 *
 * Times are microseconds since the base; without a base they are Unix time, or (without Kineto,
 * where the file is only the array) start at an unknown time. A range named "pitot.clock 123 7"
 * began at 123 ns of CLOCK_MONOTONIC in process 7: it aligns all times. */
#ifndef PT_GPUTRACE_TORCH_H
#define PT_GPUTRACE_TORCH_H

#include "base/err.h"
#include "gputrace/timeline.h"

#define PT_TORCH_CLOCK "pitot.clock "

/* Adds the events in the text of a file. -EBADMSG: it is not such a trace. */
int pt_torch_read(struct pt_timeline *t, struct pt_str text) PT_MUST_CHECK;

#endif
