/* gputrace/gpu_import.h -- imports files of GPU profilers into their run. */
#ifndef PT_GPUTRACE_GPU_IMPORT_H
#define PT_GPUTRACE_GPU_IMPORT_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Reads the files into `t`, on the clock of the run, and adds them as tables to its journal;
 * replaces an earlier import. `*start_ns` is when the run began. 0, or -errno with a message: the
 * run is then unchanged. */
int pt_gpu_import(const char *journal, char *const *files, size_t file_count, struct pt_timeline *t,
                  int64_t *start_ns, struct pt_err *err) PT_MUST_CHECK;

#endif
