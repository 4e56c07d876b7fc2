#include "profile/sample/preload_files.h"

#include "base/confine.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/scan.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#define FILES_MAX 4096 /* at a time; further files wait in the directory */

void pt_preload_files_init(struct pt_preload_files *f, int directory, const char *suffix,
                           struct pt_preload_files_reader reader) {
    *f = (struct pt_preload_files){ .directory = directory, .suffix = suffix, .reader = reader };
}

void pt_preload_files_release(struct pt_preload_files *f) {
    for (size_t i = 0; i < f->count; i++)
        pt_preload_source_close(&f->at[i].source);
    pt_free(f->at);
    *f = (struct pt_preload_files){ 0 };
}

static void note(struct pt_preload_files *f, const char *name) {
    struct pt_str text = pt_str_from(name);
    if (f->count >= FILES_MAX || text.len >= sizeof f->at->name ||
        !pt_str_ends(text, pt_str_from(f->suffix)))
        return;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->at[i].name, name) == 0)
            return;
    pt_grow(&f->at, &f->capacity, f->count + 1, sizeof *f->at);
    f->at[f->count] = (struct pt_preload_file_state){ .is_open = false };
    pt_str_copy(f->at[f->count++].name, sizeof f->at->name, text);
}

/* PID-TIME.heap: sorted by time, so that the files of one process are in order. */
static uint64_t time_of(const char *name) {
    const char *dash = strchr(name, '-');
    struct pt_scan s = pt_scan_of(pt_str_from(dash ? dash + 1 : name));
    return pt_scan_u64(&s);
}

static int by_time(const void *a, const void *b) {
    const struct pt_preload_file_state *x = a, *y = b;
    uint64_t first = time_of(x->name), second = time_of(y->name);
    return first < second ? -1 : first > second;
}

void pt_preload_files_look(struct pt_preload_files *f) {
    DIR *d = pt_fs_list(f->directory, ".");
    for (struct dirent *e; d && (e = readdir(d));)
        note(f, e->d_name);
    if (d)
        closedir(d);
    if (f->count > 1)
        qsort(f->at, f->count, sizeof *f->at, by_time);
}

static void open_new(struct pt_preload_files *f, struct pt_preload_file_state *s) {
    if (s->is_open)
        return;
    int rc = pt_preload_source_open(&s->source, f->directory, s->name);
    if (rc) {
        if (rc != -EAGAIN)
            pt_log(PT_LOG_DEBUG, "%s: %s", s->name, strerror(-rc));
        return;
    }
    s->is_open = true;
    s->process = f->reader.add(f->reader.state, &s->source);
    f->seen_count++;
    f->own_malloc_count += s->source.has_own_malloc;
    if (f->first_wall_ns == 0)
        f->first_wall_ns = s->source.start_wall_ns;
}

/* The process has executed another program, or has ended. */
static bool is_over(const struct pt_preload_files *f, size_t index) {
    const struct pt_preload_file_state *s = &f->at[index];
    for (size_t i = index + 1; i < f->count; i++)
        if (f->at[i].is_open && f->at[i].source.pid == s->source.pid)
            return true;
    return kill(s->source.pid, 0) != 0 && errno == ESRCH;
}

double pt_preload_files_fill(const struct pt_preload_files *f) {
    double most = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->at[i].is_open)
            most = fmax(most, pt_preload_source_fill(&f->at[i].source));
    return most;
}

void pt_preload_files_read(struct pt_preload_files *f, bool is_final) {
    for (size_t i = 0; i < f->count;) {
        struct pt_preload_file_state *s = &f->at[i];
        /* an earlier file may belong to the same process: that one is read to its end first */
        open_new(f, s);
        bool is_last = s->is_open && (is_final || is_over(f, i));
        if (s->is_open)
            f->reader.read(f->reader.state, s->process, &s->source, is_last);
        if (!is_last) {
            i++;
            continue;
        }
        f->sandboxed_count += pt_preload_source_is_sandboxed(&s->source);
        pt_preload_source_close(&s->source);
        pt_confine_unlink(f->directory, s->name);
        f->count--;
        memmove(s, s + 1, (f->count - i) * sizeof *s);
    }
}
