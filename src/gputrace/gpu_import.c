#include "gputrace/gpu_import.h"

#include "base/log.h"
#include "store/journal_extend.h"
#include "gputrace/trace_readers.h"
#include "gputrace/gpu_tables.h"

#include <errno.h>

static int read_file(struct pt_timeline *t, const char *path, const struct pt_timeline_run *run,
                     struct pt_err *err) {
    size_t first = t->count;
    int rc = pt_timeline_read(t, path, err);
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
