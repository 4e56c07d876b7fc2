/* gputrace/gpu_tool.h -- the profilers of GPUs that others make: which are installed, and how
 * each is put before a command. */
#ifndef PT_GPUTRACE_GPU_TOOL_H
#define PT_GPUTRACE_GPU_TOOL_H

#include "base/fs.h"
#include "source/gpu/gpu_device.h"

#include <limits.h>

struct pt_gpu_tool {
    const char *name;           /* nsys; also how its files are called: <uuid>.nsys.sqlite */
    enum pt_gpu_vendor vendor;  /* PT_GPU_VENDOR_COUNT: of none */
    const char *const *folders; /* where it may be beside $PATH; patterns */
    /* What stands before the command. "/" is the path of the tool; @ stands for that of its files
     * without an ending, @/ for their directory and @. for their name in it. NULL: the tool is a
     * part of Python, see gputrace/torch_hook.h. */
    const char *const *arguments;
    const char *const *imports; /* endings of the files that are imported, after <uuid>.; or NULL */
    const char *install;        /* what to do to have it */
};

/* "auto", then the tools; NULL after the last. */
const char *pt_gpu_tool_name(size_t index);
const struct pt_gpu_tool *pt_gpu_tool_find(const char *name);

/* Where the tool is, from $PATH or its usual folders. 0 or -ENOENT. */
int pt_gpu_tool_locate(const struct pt_gpu_tool *tool, char path[PATH_MAX]) PT_MUST_CHECK;

/* Whose GPUs the machine has, by what its drivers leave in /proc and /sys; PT_GPU_VENDOR_COUNT: of
 * none that has a profiler. */
enum pt_gpu_vendor pt_gpu_vendor_of(const struct pt_fs *fs);

/* The tool of that name, or for "auto" the timeline of the vendor that is there, else torch if the
 * command is Python; `path` is where it is. 0, or -errno with words on what to install. */
int pt_gpu_tool_choose(const struct pt_fs *fs, const char *name, const char *command,
                       const struct pt_gpu_tool **tool, char path[PATH_MAX],
                       struct pt_err *err) PT_MUST_CHECK;

/* The command with the tool before it; `files` is the path of its files without an ending. The
 * caller frees the strings up to `own_count`, and the array. */
char **pt_gpu_tool_wrap(const struct pt_gpu_tool *tool, const char *path, const char *files,
                        char *const *command, size_t *own_count);

/* Is there such a program? $PATH is searched for a name without a slash. 0 or -errno. */
int pt_program_find(const char *name, char path[PATH_MAX]) PT_MUST_CHECK;

#endif
