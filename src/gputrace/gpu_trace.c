#include "gputrace/gpu_trace.h"

#include "gputrace/gpu_import.h"
#include "gputrace/torch_hook.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/run.h"
#include "gputrace/gpu_summary.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_hook(const struct pt_gpu_trace *g, struct pt_err *err) {
    struct pt_out out;
    if (mkdir(g->hook, 0700))
        return pt_fail(err, -errno, "cannot create %s: %s", g->hook, strerror(errno));
    char *path = pt_asprintf("%s/" PT_TORCH_HOOK_FILE, g->hook);
    int rc = pt_out_create(&out, path, err);
    if (!rc) {
        pt_out_text(&out, pt_torch_hook);
        rc = pt_out_close(&out);
        pt_fail(err, rc, "cannot write %s: %s", path, strerror(-rc));
    }
    pt_free(path);
    return rc;
}

static int prepare_torch(struct pt_gpu_trace *g, const char *files, struct pt_err *err) {
    const char *path = getenv("PYTHONPATH");
    bool has_path = path && *path;
    g->hook = pt_asprintf("%s.hook", files);
    g->variables[0] = pt_asprintf(PT_TORCH_HOOK_VARIABLE "=%s", files);
    g->variables[1] =
        pt_asprintf("PYTHONPATH=%s%s%s", g->hook, has_path ? ":" : "", has_path ? path : "");
    return write_hook(g, err);
}

int pt_gpu_trace_prepare(struct pt_gpu_trace *g, const struct pt_gpu_tool *tool, const char *path,
                         const char *journal, char *const *command, struct pt_err *err) {
    char name[NAME_MAX + 1];
    pt_run_split(journal, g->directory, name);
    g->tool = tool;
    if (snprintf(g->prefix, sizeof g->prefix, "%s.%s", name, tool->name) > NAME_MAX)
        return pt_fail(err, -ENAMETOOLONG, "the name of the run is too long");
    char *files = pt_asprintf("%s/%s", g->directory, g->prefix);
    g->command = pt_gpu_tool_wrap(tool, path, files, command, &g->own_count);
    int rc = tool->arguments ? 0 : prepare_torch(g, files, err);
    pt_free(files);
    return rc;
}

static bool is_import(const struct pt_gpu_trace *g, struct pt_str name) {
    if (!pt_str_starts(name, pt_str_from(g->prefix)))
        return false;
    for (const char *const *ending = g->tool->imports; ending && *ending; ending++)
        if (pt_str_ends(name, pt_str_from(*ending)))
            return true;
    return false;
}

struct found {
    char **list;
    size_t count, capacity;
};

/* The files that the tool wrote: all of them, or those to import. */
static void find_files(const struct pt_gpu_trace *g, bool is_for_import, struct found *f) {
    DIR *d = opendir(g->directory);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct pt_str name = pt_str_from(e->d_name);
        if (is_for_import ? !is_import(g, name) : !pt_str_starts(name, pt_str_from(g->prefix)))
            continue;
        pt_grow(&f->list, &f->capacity, f->count + 1, sizeof *f->list);
        f->list[f->count++] = pt_asprintf("%s/%s", g->directory, e->d_name);
    }
    if (d)
        closedir(d);
}

static void release_files(struct found *f) {
    for (size_t i = 0; i < f->count; i++)
        pt_free(f->list[i]);
    pt_free(f->list);
}

static int say_none(const struct pt_gpu_trace *g) {
    pt_log(PT_LOG_ERROR, "%s wrote no %s*%s in %s: %s", g->tool->name, g->prefix,
           g->tool->imports ? g->tool->imports[0] : "", g->directory,
           g->tool->arguments ? "see its output above"
                              : "the command never imported torch, or was killed");
    return -ENOENT;
}

int pt_gpu_trace_import(struct pt_gpu_trace *g, const char *journal) {
    struct found files = { 0 };
    struct pt_err err = { "" };
    int rc = 0;
    if (!g->tool)
        return 0;
    find_files(g, g->tool->imports != NULL, &files);
    if (files.count == 0) {
        rc = say_none(g);
    } else if (g->tool->imports) {
        rc = pt_gpu_import(journal, files.list, files.count, &g->timeline, &g->start_ns, &err);
        g->is_imported = rc == 0;
        if (rc)
            pt_log(PT_LOG_ERROR, "%s; the file is kept (import it with: pitot gpu import FILE RUN)",
                   err.text);
        if (rc == -EPROTO || rc == -ENOMEM)
            rc = 0; /* what ends a helper does not change the exit code */
    }
    release_files(&files);
    return rc;
}

void pt_gpu_trace_print(const struct pt_gpu_trace *g, size_t rows, struct pt_out *out) {
    struct found files = { 0 };
    if (!g->tool)
        return;
    if (g->is_imported)
        pt_timeline_print(&g->timeline, g->start_ns, rows, out);
    find_files(g, false, &files);
    if (files.count > 0)
        pt_out_printf(out, "\nFiles of %s: %s/%s*\n", g->tool->name, g->directory, g->prefix);
    release_files(&files);
}

void pt_gpu_trace_release(struct pt_gpu_trace *g) {
    for (size_t i = 0; i < g->own_count; i++)
        pt_free(g->command[i]);
    pt_free(g->command);
    for (size_t i = 0; i < PT_GPU_TRACE_VARIABLES; i++)
        pt_free(g->variables[i]);
    if (g->hook) {
        char *path = pt_asprintf("%s/" PT_TORCH_HOOK_FILE, g->hook);
        unlink(path);
        rmdir(g->hook);
        pt_free(path);
        pt_free(g->hook);
    }
    pt_timeline_release(&g->timeline);
    *g = (struct pt_gpu_trace){ 0 };
}
