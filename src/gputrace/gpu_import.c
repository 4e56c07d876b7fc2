#include "gputrace/gpu_import.h"

#include "base/confine.h"
#include "base/log.h"
#include "store/journal_extend.h"
#include "gputrace/gpu_tables.h"
#include "gputrace/nsys.h"
#include "gputrace/rocprof.h"
#include "gputrace/sqlite.h"
#include "gputrace/timeline_bytes.h"
#include "gputrace/torch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SQLITE_MAGIC "SQLite format 3"

/* Messages of the helper, in this order: names, events as often as needed, done with -errno and the
 * text of an error. */
enum message { NAMES, EVENTS, DONE };

struct task {
    char *const *files;
    size_t file_count;
    const struct pt_timeline_run *run;
};

struct done {
    int rc;
    struct pt_err err;
};

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
    if (pt_str_starts(text, PT_STR(SQLITE_MAGIC))) {
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

/* No code can be loaded once the process is sealed. */
static void load_sqlite(const struct task *task) {
    const void *interface;
    struct pt_err err;
    char magic[sizeof SQLITE_MAGIC - 1];
    for (size_t i = 0; i < task->file_count; i++) {
        int fd = open(task->files[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        bool is_sqlite = fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
                         memcmp(magic, SQLITE_MAGIC, sizeof magic) == 0;
        if (is_sqlite && pt_module_open("sqlite", PT_SQLITE_VERSION, &interface, &err))
            pt_log(PT_LOG_DEBUG, "%s", err.text); /* reading the file reports it */
        if (fd >= 0)
            close(fd);
    }
}

static void read_files(void *state) {
    const struct task *task = state;
    struct pt_timeline t = { .count = 0 };
    struct pt_buf message = { 0 };
    struct done done = { .rc = 0 };
    load_sqlite(task);
    int unsealed = pt_confine_seal();
    if (unsealed)
        pt_log(PT_LOG_WARNING, "reading GPU traces without a sandbox (seccomp): %s",
               strerror(-unsealed));
    for (size_t i = 0; !done.rc && i < task->file_count; i++)
        done.rc = read_file(&t, task->files[i], task->run, &done.err);
    pt_timeline_put_names(&t, &message);
    pt_confine_send(NAMES, pt_buf_as_str(&message));
    for (size_t i = 0; i < t.count;) {
        pt_buf_clear(&message);
        i += pt_timeline_put_events(&t, i, &message);
        pt_confine_send(EVENTS, pt_buf_as_str(&message));
    }
    pt_confine_send(DONE, (struct pt_str){ (const char *)&done, sizeof done });
}

static int take_done(struct pt_str message, struct pt_err *err) {
    struct done done;
    if (message.len != sizeof done)
        return pt_fail(err, -EPROTO, "cannot read GPU traces: invalid answer of the helper");
    memcpy(&done, message.at, sizeof done);
    done.err.text[sizeof done.err.text - 1] = 0;
    pt_confined_clean(done.err.text, sizeof done.err.text);
    return done.rc ? pt_fail(err, done.rc < 0 ? done.rc : -EPROTO, "%s", done.err.text) : 0;
}

/* The files are read in a confined process, because they come from other programs. */
static int read_confined(struct task *task, struct pt_timeline *t, struct pt_err *err) {
    struct pt_confine_options o = {
        .name = "(gpu trace)", .run = read_files, .state = task, .directory = -1
    };
    struct pt_confined helper;
    struct pt_buf message = { 0 };
    struct pt_err why;
    uint32_t kind = NAMES;
    bool is_valid = true;
    int rc = pt_confined_start(&helper, &o, &why);
    while (!rc && is_valid && kind != DONE) {
        rc = pt_confined_receive(&helper, &kind, &message, &why);
        struct pt_str bytes = pt_buf_as_str(&message);
        if (!rc && kind != DONE)
            is_valid = kind == NAMES    ? pt_timeline_get_names(t, bytes)
                       : kind == EVENTS ? pt_timeline_get_events(t, bytes)
                                        : false;
    }
    if (rc)
        (void)pt_fail(err, rc, "cannot read GPU traces: %s", why.text);
    else
        rc = take_done(is_valid ? pt_buf_as_str(&message) : PT_STR(""), err);
    pt_confined_close(&helper);
    pt_buf_release(&message);
    return rc;
}

int pt_gpu_import(const char *journal, char *const *files, size_t file_count, struct pt_timeline *t,
                  int64_t *start_ns, struct pt_err *err) {
    struct pt_journal_span span;
    int rc = pt_journal_read_span(journal, &span, err);
    if (!rc && !span.is_complete)
        rc = pt_fail(err, -EBUSY, "the run %s is still being recorded, or is incomplete", journal);
    struct pt_timeline_run run = { span.first_mono_ns, span.last_mono_ns, span.ahead_ns };
    if (!rc)
        rc = read_confined(&(struct task){ files, file_count, &run }, t, err);
    if (rc)
        return rc;
    pt_timeline_finish(t);
    *start_ns = span.first_mono_ns;
    struct pt_timeline_cursor cursor = { .timeline = t };
    struct pt_journal_extension extension = { pt_timeline_tables, PT_TIMELINE_TABLES,
                                              pt_timeline_fill, &cursor };
    return pt_journal_extend(journal, &extension, err);
}
