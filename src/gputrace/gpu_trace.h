/* gputrace/gpu_trace.h -- the GPU profiler of a run: runs the command, then imports the files it
 * wrote next to the journal, <uuid>.<tool>*. Its failures never end the recording. */
#ifndef PT_GPUTRACE_GPU_TRACE_H
#define PT_GPUTRACE_GPU_TRACE_H

#include "gputrace/gpu_tool.h"
#include "base/out.h"
#include "gputrace/timeline.h"

#define PT_GPU_TRACE_VARIABLES 2

struct pt_gpu_trace {
    const struct pt_gpu_tool *tool;              /* NULL: none */
    char directory[PATH_MAX];                    /* of the run */
    char prefix[NAME_MAX + 1];                   /* name of the tool's files there: <uuid>.nsys */
    char **command;                              /* with the tool before it */
    size_t own_count;                            /* how many of its words are owned */
    char *variables[PT_GPU_TRACE_VARIABLES + 1]; /* "NAME=value" for the command */
    char *hook;                                  /* directory for Python, or NULL */
    struct pt_timeline timeline;
    int64_t start_ns;
    bool is_imported;
};

/* `journal` is the path of the run; borrows the words of the command. 0 or -errno with a
 * message. */
int pt_gpu_trace_prepare(struct pt_gpu_trace *g, const struct pt_gpu_tool *tool, const char *path,
                         const char *journal, char *const *command,
                         struct pt_err *err) PT_MUST_CHECK;
/* Into the journal, which is closed. 0, or -errno after logging an error. */
int pt_gpu_trace_import(struct pt_gpu_trace *g, const char *journal) PT_MUST_CHECK;
/* For people: GPU activity, in tables of at most `rows`; paths of the tool's own files. */
void pt_gpu_trace_print(const struct pt_gpu_trace *g, size_t rows, struct pt_out *out);
void pt_gpu_trace_release(struct pt_gpu_trace *g);

#endif
