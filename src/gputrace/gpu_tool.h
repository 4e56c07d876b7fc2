/* gputrace/gpu_tool.h -- third-party GPU profilers: which are installed, and how to run a command
 * under each. */
#ifndef PT_GPUTRACE_GPU_TOOL_H
#define PT_GPUTRACE_GPU_TOOL_H

#include "base/fs.h"
#include "source/gpu/gpu_device.h"

#include <limits.h>

struct pt_gpu_tool {
    const char *name;           /* nsys; also part of its file names: <uuid>.nsys.sqlite */
    enum pt_gpu_vendor vendor;  /* PT_GPU_VENDOR_COUNT: of none */
    const char *const *folders; /* patterns of paths to search after $PATH */
    /* The words before the command. "/" is the path of the tool; @ is the path of its files without
     * extension, @/ their directory and @. their name in it. NULL: the tool is part of Python, see
     * gputrace/torch_hook.h. */
    const char *const *arguments;
    const char *const *imports; /* extensions of the files to import, after <uuid>.; or NULL */
    const char *install;        /* how to install it */
};

/* "auto", then the tools; NULL after the last. */
const char *pt_gpu_tool_name(size_t index);
const struct pt_gpu_tool *pt_gpu_tool_find(const char *name);

/* The path of the tool, from $PATH or its usual directories. 0 or -ENOENT. */
int pt_gpu_tool_locate(const struct pt_gpu_tool *tool, char path[PATH_MAX]) PT_MUST_CHECK;

/* The vendor of the machine's GPUs, from its drivers' files in /proc and /sys; PT_GPU_VENDOR_COUNT:
 * no vendor with a profiler. */
enum pt_gpu_vendor pt_gpu_vendor_of(const struct pt_fs *fs);

/* The tool of that name; for "auto" the timeline tool of the vendor found, else torch if the
 * command is Python; `path` is its path. 0, or -errno with a message about what to install. */
int pt_gpu_tool_choose(const struct pt_fs *fs, const char *name, const char *command,
                       const struct pt_gpu_tool **tool, char path[PATH_MAX],
                       struct pt_err *err) PT_MUST_CHECK;

/* The command with the tool before it; `files` is the path of its files without extension. The
 * caller frees the strings up to `own_count`, and the array. */
char **pt_gpu_tool_wrap(const struct pt_gpu_tool *tool, const char *path, const char *files,
                        char *const *command, size_t *own_count);

/* Does such a program exist? Searches $PATH for a name without a slash. 0 or -errno. */
int pt_program_find(const char *name, char path[PATH_MAX]) PT_MUST_CHECK;

#endif
