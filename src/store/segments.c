#include "store/segments.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#define LOCK_NAME "history.lock"
#define NS_PER_MS INT64_C(1000000)

const struct pt_ring_kind pt_segments_kind = { "history-", 13, 8 };

/* A segment is numbered by the time of its start, in ms. */
static int64_t start_ms(const struct pt_ring_segment *segment) {
    return (int64_t)segment->number;
}

static int lock(struct pt_segments *s, const char *directory, struct pt_err *err) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/" LOCK_NAME, directory) >= PATH_MAX)
        return pt_fail(err, -ENAMETOOLONG, "the path of the history is too long");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot write the history in %s: %s", directory,
                       strerror(errno));
    s->lock_fd = pt_fd_of(fd);
    if (flock(fd, LOCK_EX | LOCK_NB))
        return pt_fail(err, -EBUSY, "another program is writing the history in %s", directory);
    return 0;
}

int pt_segments_open(struct pt_segments *s, const struct pt_segments_options *options,
                     const struct pt_schema *schema, struct pt_err *err) {
    const char *directory = options->directory;
    uint64_t bytes_max = options->bytes_max;
    size_t made_from;
    *s = (struct pt_segments){ .age_max_ns = options->age_max_ns };
    if (bytes_max < PT_SEGMENTS_BYTES_MIN)
        bytes_max = PT_SEGMENTS_BYTES_MIN;
    int rc = pt_run_make_directory(directory, &made_from, err);
    if (!rc)
        rc = lock(s, directory, err);
    if (!rc && (rc = pt_ring_adopt(&s->ring, &pt_segments_kind, directory, bytes_max, schema)))
        pt_fail(err, rc, "cannot read the history in %s: %s", directory, strerror(-rc));
    if (rc)
        pt_segments_close(s);
    return rc;
}

/* A segment ends where the next one starts. */
static void remove_old(struct pt_segments *s, int64_t now_ms) {
    const struct pt_ring_list *ended = &s->ring.ended;
    int64_t oldest_ms = now_ms - s->age_max_ns / NS_PER_MS;
    size_t count = 0;
    while (s->age_max_ns > 0 && count + 1 < ended->count &&
           start_ms(&ended->at[count + 1]) < oldest_ms)
        count++;
    pt_ring_drop(&s->ring, count);
}

int pt_segments_write(struct pt_segments *s, const struct pt_sample *sample) {
    struct pt_ring *ring = &s->ring;
    int64_t now_ms = sample->wall_ns / NS_PER_MS;
    int64_t share_ms = s->age_max_ns / NS_PER_MS / (int64_t)pt_segments_kind.segments;
    if (s->age_max_ns > 0 && now_ms - (int64_t)ring->number > share_ms)
        (void)pt_ring_end_segment(ring);
    remove_old(s, now_ms);
    /* numbers only grow, even if the clock was set back */
    if (now_ms > (int64_t)ring->next_number)
        ring->next_number = (uint64_t)now_ms;
    return pt_ring_write(ring, sample);
}

void pt_segments_close(struct pt_segments *s) {
    if (s->ring.kind)
        (void)pt_ring_close(&s->ring);
    (void)pt_fd_close(&s->lock_fd);
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

static int read_segment(const char *directory, uint64_t number, const struct span *span) {
    struct pt_journal_reader reader;
    char path[PATH_MAX];
    pt_ring_path(&pt_segments_kind, directory, number, path);
    if (pt_journal_open(&reader, path, NULL))
        return 1;
    int rc = read_samples(&reader, span);
    pt_journal_reader_close(&reader);
    return rc;
}

int pt_segments_read(const char *directory, int64_t from_ns, int64_t to_ns,
                     pt_segments_function *take, void *arg) {
    struct pt_ring_list list;
    const struct span span = { from_ns, to_ns, take, arg };
    int rc = pt_ring_list(&pt_segments_kind, directory, &list);
    for (size_t i = 0; i < list.count && rc >= 0; i++) {
        bool is_before = i + 1 < list.count && start_ms(&list.at[i + 1]) < from_ns / NS_PER_MS;
        if (is_before || start_ms(&list.at[i]) > to_ns / NS_PER_MS)
            continue;
        rc = read_segment(directory, list.at[i].number, &span);
        if (rc == 0)
            break;
    }
    pt_free(list.at);
    return rc < 0 ? rc : 0;
}
