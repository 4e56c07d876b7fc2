#include "store/segments.h"

#include "base/scan.h"
#include "store/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid.h>

#define NAME_START "history-"
#define LOCK_NAME  "history.lock"
#define NS_PER_MS  INT64_C(1000000)

struct segment {
    int64_t start_ms;
    uint64_t bytes;
};

struct list {
    struct segment *at;
    size_t count, capacity;
};

static bool parse_name(const char *name, int64_t *start_ms) {
    struct pt_scan s = pt_scan_of(pt_str_from(name));
    if (!pt_scan_take(&s, PT_STR(NAME_START)))
        return false;
    *start_ms = pt_scan_i64(&s);
    return !s.failed && pt_str_eq(pt_scan_rest(&s), PT_STR(PT_RUN_EXTENSION));
}

static int path_of(char into[PATH_MAX], const char *directory, int64_t start_ms) {
    int length = snprintf(into, PATH_MAX, "%s/" NAME_START "%013lld" PT_RUN_EXTENSION, directory,
                          (long long)start_ms);
    return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int by_start(const void *a, const void *b) {
    const struct segment *left = a, *right = b;
    return left->start_ms < right->start_ms ? -1 : left->start_ms > right->start_ms;
}

/* All segments, the oldest first. */
static int list_segments(const char *directory, struct list *list) {
    DIR *d = opendir(directory);
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d));) {
        struct segment found = { 0 };
        struct stat st;
        if (!parse_name(e->d_name, &found.start_ms) || fstatat(dirfd(d), e->d_name, &st, 0))
            continue;
        found.bytes = (uint64_t)st.st_size;
        pt_grow(&list->at, &list->capacity, list->count + 1, sizeof *list->at);
        list->at[list->count++] = found;
    }
    closedir(d);
    if (list->count > 0)
        qsort(list->at, list->count, sizeof *list->at, by_start);
    return 0;
}

struct pt_segments_extent pt_segments_extent(const char *directory) {
    struct list list = { 0 };
    struct pt_segments_extent extent = { 0 };
    if (list_segments(directory, &list))
        list.count = 0;
    extent.count = list.count;
    extent.start_ms = list.count > 0 ? list.at[0].start_ms : 0;
    for (size_t i = 0; i < list.count; i++)
        extent.bytes += list.at[i].bytes;
    pt_free(list.at);
    return extent;
}

static uint64_t segment_bytes(const struct pt_segments *s) {
    return s->options.bytes_max / PT_SEGMENTS_PARTS;
}

/* A segment ends where the next one starts. */
static bool is_too_old(const struct pt_segments *s, const struct list *list, size_t i,
                       int64_t now_ms) {
    return s->options.age_max_ns > 0 && i + 1 < list->count &&
           list->at[i + 1].start_ms < now_ms - s->options.age_max_ns / NS_PER_MS;
}

/* Makes room for one more segment. */
static void remove_old(struct pt_segments *s, int64_t now_ms) {
    struct list list = { 0 };
    uint64_t bytes = segment_bytes(s);
    if (list_segments(s->directory, &list))
        return;
    for (size_t i = 0; i < list.count; i++)
        bytes += list.at[i].bytes;
    for (size_t i = 0; i < list.count; i++) {
        char path[PATH_MAX];
        if (bytes <= s->options.bytes_max && !is_too_old(s, &list, i, now_ms))
            break;
        if (!path_of(path, s->directory, list.at[i].start_ms) && !unlink(path))
            s->removed_count++;
        bytes -= list.at[i].bytes;
    }
    pt_free(list.at);
}

/* After the newest one that is there, whatever the clock says. */
static int64_t next_start(const struct pt_segments *s, int64_t now_ms) {
    struct list list = { 0 };
    int64_t start_ms = now_ms > 0 ? now_ms : 0;
    if (list_segments(s->directory, &list) == 0 && list.count > 0 &&
        list.at[list.count - 1].start_ms >= start_ms)
        start_ms = list.at[list.count - 1].start_ms + 1;
    pt_free(list.at);
    return start_ms;
}

static int begin(struct pt_segments *s, int64_t wall_ns, struct pt_err *err) {
    char path[PATH_MAX];
    uuid_t uuid;
    remove_old(s, wall_ns / NS_PER_MS);
    s->start_ms = next_start(s, wall_ns / NS_PER_MS);
    int rc = path_of(path, s->directory, s->start_ms);
    if (rc)
        return pt_fail(err, rc, "the path of the history is too long");
    uuid_generate_random(uuid);
    return pt_journal_create(&s->journal, path, uuid, s->schema, err);
}

static int lock(struct pt_segments *s, struct pt_err *err) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" LOCK_NAME, s->directory) >= PATH_MAX)
        return pt_fail(err, -ENAMETOOLONG, "the path of the history is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot write the history in %s: %s", s->directory,
                       strerror(errno));
    s->lock_fd_plus_one = fd + 1;
    if (flock(fd, LOCK_EX | LOCK_NB))
        return pt_fail(err, -EBUSY, "another program writes the history in %s", s->directory);
    return 0;
}

int pt_segments_open(struct pt_segments *s, const struct pt_segments_options *options,
                     const struct pt_schema *schema, struct pt_err *err) {
    size_t made_from;
    *s = (struct pt_segments){ .options = *options, .schema = schema };
    if (s->options.bytes_max < PT_SEGMENTS_BYTES_MIN)
        s->options.bytes_max = PT_SEGMENTS_BYTES_MIN;
    pt_str_copy(s->directory, sizeof s->directory, pt_str_from(options->directory));
    int rc = pt_run_make_directory(s->directory, &made_from, err);
    if (!rc)
        rc = lock(s, err);
    if (rc)
        pt_segments_close(s);
    return rc;
}

static bool is_over(const struct pt_segments *s, int64_t wall_ns) {
    int64_t age_ns = wall_ns - s->start_ms * NS_PER_MS;
    return s->journal.byte_count >= segment_bytes(s) ||
           (s->options.age_max_ns > 0 && age_ns > s->options.age_max_ns / PT_SEGMENTS_PARTS);
}

int pt_segments_write(struct pt_segments *s, const struct pt_sample *sample) {
    bool is_open = s->journal.fd_plus_one > 0;
    if (is_open && is_over(s, sample->wall_ns)) {
        (void)pt_journal_close(&s->journal);
        is_open = false;
    }
    int rc = is_open ? 0 : begin(s, sample->wall_ns, NULL);
    return rc ? rc : pt_journal_write(&s->journal, sample);
}

void pt_segments_close(struct pt_segments *s) {
    if (s->journal.fd_plus_one > 0)
        (void)pt_journal_close(&s->journal);
    if (s->lock_fd_plus_one > 0)
        close(s->lock_fd_plus_one - 1);
    *s = (struct pt_segments){ 0 };
}

struct span {
    int64_t from_ns, to_ns;
    pt_segments_function *take;
    void *arg;
};

/* 1: go on with the next segment; 0: enough; -errno. */
static int read_samples(struct pt_journal_reader *reader, const struct span *span) {
    struct pt_sample sample;
    pt_sample_init(&sample, &reader->schema);
    int rc = pt_journal_seek_time(reader, &sample, span->from_ns);
    while (!rc && (rc = pt_journal_next(reader, &sample)) == 1) {
        rc = 0;
        if (sample.wall_ns >= span->from_ns && sample.wall_ns <= span->to_ns &&
            !span->take(span->arg, &sample))
            rc = -ECANCELED;
    }
    pt_sample_release(&sample);
    return rc == -ECANCELED ? 0 : rc ? rc : 1;
}

static int read_segment(const char *directory, const struct segment *segment,
                        const struct span *span) {
    struct pt_journal_reader reader;
    char path[PATH_MAX];
    int rc = path_of(path, directory, segment->start_ms);
    if (!rc && pt_journal_open(&reader, path, NULL))
        return 1;
    if (!rc) {
        rc = read_samples(&reader, span);
        pt_journal_reader_close(&reader);
    }
    return rc;
}

int pt_segments_read(const char *directory, int64_t from_ns, int64_t to_ns,
                     pt_segments_function *take, void *arg) {
    struct list list = { 0 };
    const struct span span = { from_ns, to_ns, take, arg };
    int rc = list_segments(directory, &list);
    for (size_t i = 0; i < list.count && rc >= 0; i++) {
        bool is_before = i + 1 < list.count && list.at[i + 1].start_ms < from_ns / NS_PER_MS;
        if (is_before || list.at[i].start_ms > to_ns / NS_PER_MS)
            continue;
        rc = read_segment(directory, &list.at[i], &span);
        if (rc == 0)
            break;
    }
    pt_free(list.at);
    return rc < 0 ? rc : 0;
}
