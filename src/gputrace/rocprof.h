/* gputrace/rocprof.h -- the CSV files of rocprofv3 (`--output-format csv`):
 *
 *     "Kind","Agent_Id","Queue_Id",...,"Kernel_Name","Correlation_Id","Start_Timestamp",...
 *     "KERNEL_DISPATCH","Agent 4",1,...,"vec_add(float*)",1,1062,1075,...
 *
 * *_kernel_trace.csv, *_memory_copy_trace.csv, *_hip_api_trace.csv and *_marker_api_trace.csv are
 * known by their columns, which differ between versions. Times are CLOCK_BOOTTIME. */
#ifndef PT_GPUTRACE_ROCPROF_H
#define PT_GPUTRACE_ROCPROF_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Adds the events in the text of a file. -EBADMSG: it is not one of these files, or damaged. */
int pt_rocprof_read(struct pt_timeline *t, struct pt_str text) PT_MUST_CHECK;

#endif
