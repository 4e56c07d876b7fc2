#include "sampler/marks.h"

#include "base/clock.h"
#include "base/log.h"
#include "store/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_COLUMNS(X, t)                                                          \
    X(t, text, "mText", INFO, STRING, NONE, 0, "Text of the note", .title = "Note", \
      .heading = "NOTE", .role = PT_ROLE_NAME, .words = "mark")
PT_TABLE(mark, PT_TABLE_ROWS(EVENTS, "marks", NULL), "Timestamped notes, added by `pitot mark`",
         MARK_COLUMNS, "pitot mark");

const struct pt_table *const pt_mark_table = &mark_table;

static char *control_path(const char *journal) {
    struct pt_str stem = pt_run_stem(pt_str_from(journal));
    return pt_asprintf("%.*s.ctl", (int)stem.len, stem.at);
}

void pt_marks_open(struct pt_marks *m, const char *journal) {
    *m = (struct pt_marks){ .fd = -1, .path = control_path(journal) };
    if (mkfifo(m->path, 0600)) {
        pt_log(PT_LOG_INFO, "`pitot mark` will not work for this run: cannot create %s: %s",
               m->path, strerror(errno));
        pt_free(m->path);
        m->path = NULL;
        return;
    }
    /* Also open for writing: a FIFO without writers would always be readable. */
    m->fd = open(m->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

void pt_marks_close(struct pt_marks *m) {
    if (m->fd >= 0)
        close(m->fd);
    if (m->path)
        unlink(m->path);
    pt_free(m->path);
    *m = (struct pt_marks){ .fd = -1 };
}

/* The first byte of a line may say what it is; a text that starts with one of these has another in
 * front. */
#define KEEP  '\x01' /* a black box shall keep the minutes before */
#define PLAIN '\x02'

bool pt_marks_next(struct pt_marks *m, struct pt_str *text, bool *must_keep,
                   char into[PT_MARK_SPACE]) {
    char *newline = memchr(m->line, '\n', m->line_length);
    if (!newline) {
        ssize_t n =
            m->fd < 0 ? 0 : read(m->fd, m->line + m->line_length, sizeof m->line - m->line_length);
        m->line_length += n > 0 ? (size_t)n : 0;
        newline = memchr(m->line, '\n', m->line_length);
    }
    if (!newline) {
        if (m->line_length == sizeof m->line)
            m->line_length = 0; /* not from `pitot mark` */
        return false;
    }
    struct pt_str line = { m->line, (size_t)(newline - m->line) };
    pt_str_copy(into, PT_MARK_SPACE, line);
    m->line_length -= line.len + 1;
    memmove(m->line, newline + 1, m->line_length);
    *must_keep = into[0] == KEEP;
    *text = pt_str_from(into + (into[0] == KEEP || into[0] == PLAIN));
    return true;
}

void pt_mark_fill(struct pt_sample *sample, uint32_t table, struct pt_str text) {
    pt_sample_clear(sample);
    sample->mono_ns = pt_mono_ns();
    sample->wall_ns = pt_wall_ns();
    struct pt_batch *b = &sample->batches[table];
    pt_batch_add_row(b);
    pt_set_time(b, 0, sample->mono_ns);
    pt_set_str(b, mark_text, text);
}

static int open_control(const char *journal) {
    char *path = control_path(journal);
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    pt_free(path);
    return fd;
}

bool pt_mark_is_recording(const char *journal) {
    int fd = open_control(journal);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int pt_mark_send(const char *journal, const char *text, bool must_keep, struct pt_err *err) {
    size_t length = strlen(text);
    if (length == 0 || length > PT_MARK_MAX || strchr(text, '\n'))
        return pt_fail(err, -EINVAL, "the note must be one line of 1 to %d bytes", PT_MARK_MAX);
    int fd = open_control(journal);
    if (fd < 0 && (errno == ENXIO || errno == ENOENT))
        return pt_fail(err, -ENXIO, "the recording %s is not running", journal);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot reach the recording %s: %s", journal, strerror(errno));
    char line[PT_MARK_SPACE + 1];
    bool needs_plain = text[0] == KEEP || text[0] == PLAIN;
    int written = snprintf(line, sizeof line, "%s%s\n",
                           must_keep     ? (char[]){ KEEP, 0 }
                           : needs_plain ? (char[]){ PLAIN, 0 }
                                         : "",
                           text);
    ssize_t n = write(fd, line, (size_t)written);
    int rc =
        n == written ? 0 : pt_fail(err, -EAGAIN, "the recording %s is busy (try again)", journal);
    close(fd);
    return rc;
}
