/* gputrace/torch.h -- traces of torch.profiler, export_chrome_trace():
 *
 *     {"baseTimeNanoseconds": 1700000000000000000, "traceEvents": [
 *       {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12.5, "dur": 3.25,
 *        "args": {"device": 0, "stream": 7, "correlation": 5, "grid": [4, 1, 1], ...}}, ...]}
 *
 * Times are microseconds since the base; without one of Unix time, or (without Kineto, where the
 * file is the array alone) of a beginning of their own. A range that is called "pitot.clock 123 7"
 * began at 123 ns of CLOCK_MONOTONIC in process 7: with it, all times are known. */
#ifndef PT_GPUTRACE_TORCH_H
#define PT_GPUTRACE_TORCH_H

#include "base/err.h"
#include "gputrace/timeline.h"

#define PT_TORCH_CLOCK "pitot.clock "

/* Adds what the text of a file holds. -EBADMSG: it is no such trace. */
int pt_torch_read(struct pt_timeline *t, struct pt_str text) PT_MUST_CHECK;

#endif
