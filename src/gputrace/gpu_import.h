/* gputrace/gpu_import.h -- puts files of GPU profilers into the run they belong to. */
#ifndef PT_GPUTRACE_GPU_IMPORT_H
#define PT_GPUTRACE_GPU_IMPORT_H

#include "base/err.h"
#include "gputrace/timeline.h"

/* Reads the files into `t`, on the clock of the run, and makes them tables of its journal; what was
 * imported before is replaced. `*start_ns` is when the run began. 0 or -errno with words: the run
 * is then as it was. */
int pt_gpu_import(const char *journal, char *const *files, size_t file_count, struct pt_timeline *t,
                  int64_t *start_ns, struct pt_err *err) PT_MUST_CHECK;

#endif
