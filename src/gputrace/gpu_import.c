#include "gputrace/gpu_import.h"

#include "base/log.h"
#include "store/journal_extend.h"
#include "gputrace/gpu_tables.h"
#include "gputrace/nsys.h"
#include "gputrace/rocprof.h"
#include "gputrace/torch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a file; NULL: error, with -errno in `rc`. */
static struct pt_str map(const char *path, int *rc) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *rc = fd < 0 || fstat(fd, &st) ? -errno : 0;
    if (!*rc && !S_ISREG(st.st_mode))
        *rc = -EINVAL;
    void *at = NULL;
    if (!*rc && st.st_size > 0) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        *rc = at == MAP_FAILED ? -errno : 0;
    }
    if (fd >= 0)
        close(fd);
    return *rc || !at ? PT_STR("") : (struct pt_str){ at, (size_t)st.st_size };
}

/* Ignores leading blanks. */
static bool is_json(struct pt_str text) {
    size_t i = 0;
    while (i < text.len && (text.at[i] == ' ' || text.at[i] == '\n'))
        i++;
    return i < text.len && (text.at[i] == '{' || text.at[i] == '[');
}

/* Adds the events of the file, on the clock of the run; its first bytes select the format. */
static int read_file(struct pt_timeline *t, const char *path, const struct pt_timeline_run *run,
                     struct pt_err *err) {
    int rc;
    size_t first = t->count;
    struct pt_str text = map(path, &rc);
    if (rc)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    if (pt_str_starts(text, PT_STR("SQLite format 3"))) {
        rc = pt_nsys_read(t, path, err);
    } else {
        rc = is_json(text) ? pt_torch_read(t, text) : pt_rocprof_read(t, text);
        if (rc)
            pt_fail(err, rc,
                    "%s is damaged, or not one of: SQLite export of nsys, CSV trace of "
                    "rocprofv3, Chrome trace of torch",
                    path);
    }
    if (text.len > 0)
        munmap((void *)text.at, text.len);
    if (!rc && !pt_timeline_align(t, first, run))
        pt_log(
            PT_LOG_WARNING,
            "%s has no usable start time, or was recorded during another run; its first event is "
            "aligned with the start of this run",
            path);
    return rc;
}

int pt_gpu_import(const char *journal, char *const *files, size_t file_count, struct pt_timeline *t,
                  int64_t *start_ns, struct pt_err *err) {
    struct pt_journal_span span;
    int rc = pt_journal_read_span(journal, &span, err);
    if (!rc && !span.is_complete)
        rc = pt_fail(err, -EBUSY, "the run %s is still being recorded, or is incomplete", journal);
    struct pt_timeline_run run = { span.first_mono_ns, span.last_mono_ns, span.ahead_ns };
    for (size_t i = 0; !rc && i < file_count; i++)
        rc = read_file(t, files[i], &run, err);
    if (rc)
        return rc;
    pt_timeline_finish(t);
    *start_ns = span.first_mono_ns;
    struct pt_timeline_cursor cursor = { .timeline = t };
    struct pt_journal_extension extension = { pt_timeline_tables, PT_TIMELINE_TABLES,
                                              pt_timeline_fill, &cursor };
    return pt_journal_extend(journal, &extension, err);
}
