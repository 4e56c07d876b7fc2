#include "gputrace/gpu_tool.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const nsys_folders[] = {
    "/usr/local/cuda/bin",
    "/usr/local/cuda-*/bin",
    "/opt/nvidia/nsight-systems/*/bin",
    "/opt/nvidia/nsight-systems-cli/*/bin",
    NULL,
};
static const char *const ncu_folders[] = {
    "/usr/local/cuda/bin",
    "/usr/local/cuda-*/bin",
    "/opt/nvidia/nsight-compute/*",
    NULL,
};
static const char *const rocm_folders[] = { "/opt/rocm/bin", "/opt/rocm-*/bin", NULL };

/* Pitot samples the CPU itself. */
static const char *const nsys_arguments[] = {
    "/",
    "profile",
    "--trace=cuda,nvtx,osrt",
    "--sample=none",
    "--cpuctxsw=none",
    "--export=sqlite",
    "--force-overwrite=true",
    "--output=@",
    NULL,
};
static const char *const ncu_arguments[] = {
    "/", "--set", "full", "--target-processes", "all", "--force-overwrite", "--export", "@", NULL,
};
static const char *const rocprof_arguments[] = {
    "/",
    "--kernel-trace",
    "--memory-copy-trace",
    "--hip-runtime-trace",
    "--marker-trace",
    "--output-format",
    "csv",
    "--output-directory",
    "@/",
    "--output-file",
    "@._%pid%",
    "--",
    NULL,
};

static const char *const nsys_imports[] = { ".sqlite", NULL };
static const char *const rocprof_imports[] = { "_kernel_trace.csv", "_memory_copy_trace.csv",
                                               "_hip_api_trace.csv", "_marker_api_trace.csv",
                                               NULL };
static const char *const torch_imports[] = { ".json", NULL };

/* Tools for timelines come first: "auto" uses the first one found. */
static const struct pt_gpu_tool tools[] = {
    { "nsys", PT_GPU_NVIDIA, nsys_folders, nsys_arguments, nsys_imports,
      "install Nsight Systems (package nsight-systems-cli of NVIDIA's repository)" },
    { "ncu", PT_GPU_NVIDIA, ncu_folders, ncu_arguments, NULL,
      "install Nsight Compute (package nsight-compute of NVIDIA's repository)" },
    { "rocprofv3", PT_GPU_AMD, rocm_folders, rocprof_arguments, rocprof_imports,
      "install the ROCm profiler (package rocprofiler-sdk of AMD's repository)" },
    { "torch", PT_GPU_VENDOR_COUNT, NULL, NULL, torch_imports,
      "run a Python program that uses torch" },
};

const char *pt_gpu_tool_name(size_t index) {
    if (index == 0)
        return "auto";
    return index <= PT_COUNT(tools) ? tools[index - 1].name : NULL;
}

const struct pt_gpu_tool *pt_gpu_tool_find(const char *name) {
    for (size_t i = 0; i < PT_COUNT(tools); i++)
        if (strcmp(tools[i].name, name) == 0)
            return &tools[i];
    return NULL;
}

static int try_program(const char *folder, size_t length, const char *name, char path[PATH_MAX]) {
    struct stat st;
    int n = length > 0 ? snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name)
                       : snprintf(path, PATH_MAX, "%s", name);
    if (n >= PATH_MAX)
        return -ENAMETOOLONG;
    if (stat(path, &st))
        return -errno;
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

int pt_program_find(const char *name, char path[PATH_MAX]) {
    if (strchr(name, '/'))
        return try_program("", 0, name, path);
    const char *list = getenv("PATH");
    int found = -ENOENT;
    for (const char *at = list ? list : "/bin:/usr/bin";; at++) {
        size_t length = strcspn(at, ":");
        int rc = try_program(length > 0 ? at : ".", length > 0 ? length : 1, name, path);
        if (rc == 0)
            return 0;
        found = rc == -EACCES ? rc : found;
        at += length;
        if (!*at)
            return found;
    }
}

/* The last of several versions. */
static int find_in_folders(const char *const *folders, const char *name, char path[PATH_MAX]) {
    int rc = -ENOENT;
    for (; *folders && rc; folders++) {
        glob_t found = { 0 };
        if (glob(*folders, 0, NULL, &found) == 0)
            for (size_t i = found.gl_pathc; i-- > 0 && rc;)
                rc = try_program(found.gl_pathv[i], strlen(found.gl_pathv[i]), name, path);
        globfree(&found);
    }
    return rc;
}

int pt_gpu_tool_locate(const struct pt_gpu_tool *tool, char path[PATH_MAX]) {
    path[0] = 0;
    if (!tool->arguments)
        return 0;
    if (pt_program_find(tool->name, path) == 0)
        return 0;
    return find_in_folders(tool->folders, tool->name, path) ? -ENOENT : 0;
}

enum pt_gpu_vendor pt_gpu_vendor_of(const struct pt_fs *fs) {
    if (faccessat(fs->proc, "driver/nvidia", F_OK, 0) == 0 ||
        faccessat(fs->sys, "module/nvidia", F_OK, 0) == 0)
        return PT_GPU_NVIDIA;
    if (faccessat(fs->sys, "class/kfd/kfd", F_OK, 0) == 0 ||
        faccessat(fs->sys, "module/amdgpu", F_OK, 0) == 0)
        return PT_GPU_AMD;
    return PT_GPU_VENDOR_COUNT;
}

/* python, python3, python3.11 */
static bool is_python(const char *command) {
    const char *slash = strrchr(command, '/');
    return strncmp(slash ? slash + 1 : command, "python", strlen("python")) == 0;
}

static int say_what_to_install(enum pt_gpu_vendor vendor, struct pt_err *err) {
    if (vendor == PT_GPU_NVIDIA)
        return pt_fail(err, -ENOENT,
                       "neither nsys nor ncu is installed: %s; a Python program can be profiled "
                       "with --tool torch",
                       pt_gpu_tool_find("nsys")->install);
    if (vendor == PT_GPU_AMD)
        return pt_fail(err, -ENOENT, "rocprofv3 is not installed: %s",
                       pt_gpu_tool_find("rocprofv3")->install);
    return pt_fail(err, -ENOENT,
                   "no GPU profiler and no GPU driver found: NVIDIA needs nsys (package "
                   "nsight-systems-cli), AMD rocprofv3 (package rocprofiler-sdk)");
}

static int choose_any(const struct pt_fs *fs, const char *command, const struct pt_gpu_tool **tool,
                      char path[PATH_MAX], struct pt_err *err) {
    enum pt_gpu_vendor vendor = pt_gpu_vendor_of(fs);
    for (size_t i = 0; i < PT_COUNT(tools); i++) {
        *tool = &tools[i];
        bool is_of_vendor = vendor == PT_GPU_VENDOR_COUNT || tools[i].vendor == vendor;
        if (tools[i].arguments && is_of_vendor && !pt_gpu_tool_locate(*tool, path))
            return 0;
    }
    *tool = pt_gpu_tool_find("torch");
    path[0] = 0;
    return is_python(command) ? 0 : say_what_to_install(vendor, err);
}

int pt_gpu_tool_choose(const struct pt_fs *fs, const char *name, const char *command,
                       const struct pt_gpu_tool **tool, char path[PATH_MAX], struct pt_err *err) {
    if (strcmp(name, pt_gpu_tool_name(0)) == 0)
        return choose_any(fs, command, tool, path, err);
    *tool = pt_gpu_tool_find(name);
    if (!*tool)
        return pt_fail(err, -EINVAL, "--tool: '%s' is not a GPU profiler", name);
    if (pt_gpu_tool_locate(*tool, path))
        return pt_fail(err, -ENOENT, "%s is not installed: %s", name, (*tool)->install);
    return 0;
}

static char *argument(const char *pattern, const char *path, const char *files) {
    const char *at = strchr(pattern, '@'), *name = strrchr(files, '/') + 1;
    if (strcmp(pattern, "/") == 0)
        return pt_strdup(path);
    if (!at)
        return pt_strdup(pattern);
    if (at[1] == '/')
        return pt_strndup((struct pt_str){ files, (size_t)(name - files) });
    if (at[1] == '.')
        return pt_asprintf("%s%s", name, at + 2);
    return pt_asprintf("%.*s%s", (int)(at - pattern), pattern, files);
}

char **pt_gpu_tool_wrap(const struct pt_gpu_tool *tool, const char *path, const char *files,
                        char *const *command, size_t *own_count) {
    size_t own = 0, count = 0;
    while (tool->arguments && tool->arguments[own])
        own++;
    while (command[count])
        count++;
    char **wrapped = pt_calloc(own + count + 1, sizeof *wrapped);
    for (size_t i = 0; i < own; i++)
        wrapped[i] = argument(tool->arguments[i], path, files);
    for (size_t i = 0; i < count; i++)
        wrapped[own + i] = command[i];
    *own_count = own;
    return wrapped;
}
