#include "push/queue.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "store/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC           "PTPUSHQ1"
#define HEAD_BYTES      24
#define FRAME_BYTES     32
#define EXTENSION       ".queue"

#define DEFAULT_BYTES   ((uint64_t)512 << 20)
#define DEFAULT_SEGMENT ((uint64_t)4 << 20)
#define DEFAULT_AGE_NS  (24 * 3600 * PT_NS_PER_SECOND)

struct pt_push_segment {
    int fd;
    char name[48];
    uint64_t size, done;          /* bytes of the file, and bytes done */
    uint64_t first_id;            /* of the first request in it */
    uint64_t requests, points;    /* queued requests */
    int64_t oldest_ns, newest_ns; /* points of those */
    bool is_unsynced;
};

struct frame {
    uint32_t crc, length;
    uint64_t id;
    int64_t time_ns;
    uint32_t points, reserved;
};
_Static_assert(sizeof(struct frame) == FRAME_BYTES, "frames are as wide as the header says");

struct head {
    char magic[8];
    uint64_t done;
    uint32_t crc, reserved;
};
_Static_assert(sizeof(struct head) == HEAD_BYTES, "heads are as wide as the header says");

static int write_all(int fd, const void *bytes, size_t n, uint64_t at) {
    const char *from = bytes;
    while (n > 0) {
        ssize_t written = pwrite(fd, from, n, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? -errno : -EIO;
        from += written;
        at += (uint64_t)written;
        n -= (size_t)written;
    }
    return 0;
}

static bool read_all(int fd, void *into, size_t n, uint64_t at) {
    char *to = into;
    while (n > 0) {
        ssize_t got = pread(fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* A head torn by a crash has a wrong checksum: its segment is then sent from the start. */
static int write_head(const struct pt_push_segment *s) {
    struct head head = { .magic = MAGIC, .done = s->done };
    head.crc = pt_crc32c(0, &head.done, sizeof head.done);
    return write_all(s->fd, &head, sizeof head, 0);
}

static bool read_head(struct pt_push_segment *s) {
    struct head head;
    if (!read_all(s->fd, &head, sizeof head, 0) || memcmp(head.magic, MAGIC, sizeof head.magic))
        return false;
    bool is_whole = head.crc == pt_crc32c(0, &head.done, sizeof head.done);
    s->done = is_whole && head.done >= HEAD_BYTES && head.done <= s->size ? head.done : HEAD_BYTES;
    return true;
}

/* Reads the request at `at` into q->frame; false: there is no whole request. */
static bool read_frame(struct pt_push_queue *q, const struct pt_push_segment *s, uint64_t at,
                       struct frame *f) {
    if (s->size - at < FRAME_BYTES || !read_all(s->fd, f, sizeof *f, at) ||
        f->length > PT_PUSH_REQUEST_MAX || f->length > s->size - at - FRAME_BYTES)
        return false;
    pt_buf_clear(&q->frame);
    uint8_t *bytes = pt_buf_reserve(&q->frame, FRAME_BYTES + f->length);
    if (!read_all(s->fd, bytes, FRAME_BYTES + f->length, at))
        return false;
    q->frame.len = FRAME_BYTES + f->length;
    return pt_crc32c(0, bytes + sizeof f->crc, q->frame.len - sizeof f->crc) == f->crc;
}

static uint64_t frame_end(uint64_t at, const struct frame *f) {
    return at + FRAME_BYTES + f->length;
}

static void count_in(struct pt_push_queue *q, struct pt_push_segment *s, const struct frame *f) {
    if (s->requests++ == 0)
        s->oldest_ns = f->time_ns;
    s->newest_ns = f->time_ns;
    s->points += f->points;
    q->waiting_requests++;
    q->waiting_points += f->points;
    if (f->time_ns > q->newest_ns)
        q->newest_ns = f->time_ns;
    if (f->id > q->last_id)
        q->last_id = f->id;
}

static void close_segment(struct pt_push_queue *q, size_t number) {
    struct pt_push_segment *s = &q->segments[number];
    close(s->fd); /* releases the lock */
    q->segment_count--;
    memmove(s, s + 1, (q->segment_count - number) * sizeof *s);
}

static void path_of(const struct pt_push_queue *q, const struct pt_push_segment *s,
                    char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%s", q->directory, s->name);
}

static void remove_segment(struct pt_push_queue *q, size_t number) {
    struct pt_push_segment *s = &q->segments[number];
    char path[PATH_MAX];
    path_of(q, s, path);
    unlink(path);
    q->bytes -= s->size;
    q->waiting_requests -= s->requests;
    q->waiting_points -= s->points;
    close_segment(q, number);
}

static struct pt_push_segment *add_segment(struct pt_push_queue *q) {
    pt_grow(&q->segments, &q->segment_capacity, q->segment_count + 1, sizeof *q->segments);
    struct pt_push_segment *s = &q->segments[q->segment_count++];
    *s = (struct pt_push_segment){ .fd = -1 };
    return s;
}

/* Counts the queued requests in a segment of an earlier process; bytes after the last whole request
 * are the one being written when that process ended. */
static void count_waiting(struct pt_push_queue *q, struct pt_push_segment *s) {
    struct frame f;
    uint64_t at = s->done;
    while (read_frame(q, s, at, &f)) {
        if (s->requests == 0)
            s->first_id = f.id;
        count_in(q, s, &f);
        at = frame_end(at, &f);
    }
    if (at < s->size) {
        q->counts.damaged_segments++;
        s->size = at;
    }
}

static void adopt(struct pt_push_queue *q, const char *name) {
    struct pt_push_segment *s = add_segment(q);
    char path[PATH_MAX];
    struct stat status;
    pt_str_copy(s->name, sizeof s->name, pt_str_from(name));
    path_of(q, s, path);
    s->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->fd < 0 || flock(s->fd, LOCK_EX | LOCK_NB) || fstat(s->fd, &status) ||
        !S_ISREG(status.st_mode)) {
        close_segment(q, q->segment_count - 1); /* belongs to a running process */
        return;
    }
    s->size = (uint64_t)status.st_size;
    q->bytes += s->size;
    if (!read_head(s)) {
        q->counts.damaged_segments += s->size > 0;
        remove_segment(q, q->segment_count - 1);
        return;
    }
    uint64_t size = s->size;
    count_waiting(q, s);
    q->bytes -= size - s->size;
    if (s->requests == 0)
        remove_segment(q, q->segment_count - 1);
}

static int by_age(const void *a, const void *b) {
    const struct pt_push_segment *x = a, *y = b;
    if (x->oldest_ns != y->oldest_ns)
        return x->oldest_ns < y->oldest_ns ? -1 : 1;
    return x->first_id < y->first_id ? -1 : x->first_id > y->first_id;
}

static int adopt_all(struct pt_push_queue *q, struct pt_err *err) {
    DIR *directory = opendir(q->directory);
    struct dirent *entry;
    if (!directory)
        return pt_fail(err, -errno, "cannot read %s: %s", q->directory, strerror(errno));
    while ((entry = readdir(directory)))
        if (pt_str_ends(pt_str_from(entry->d_name), PT_STR(EXTENSION)) &&
            strlen(entry->d_name) < sizeof q->segments->name)
            adopt(q, entry->d_name);
    closedir(directory);
    if (q->segment_count > 1)
        qsort(q->segments, q->segment_count, sizeof *q->segments, by_age);
    return 0;
}

/* Our own segment. Its name has the time and the process, so that it is unique. */
static int begin_segment(struct pt_push_queue *q) {
    struct pt_push_segment *s = add_segment(q);
    char path[PATH_MAX];
    snprintf(s->name, sizeof s->name, "%019lld-%d" EXTENSION, (long long)pt_wall_ns(),
             (int)getpid());
    path_of(q, s, path);
    s->done = s->size = HEAD_BYTES;
    s->first_id = q->last_id + 1;
    s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = s->fd < 0 ? -errno : flock(s->fd, LOCK_EX | LOCK_NB) ? -errno : write_head(s);
    if (rc) {
        if (s->fd >= 0)
            unlink(path);
        close_segment(q, q->segment_count - 1);
        return rc;
    }
    q->bytes += s->size;
    return 0;
}

int pt_push_queue_open(struct pt_push_queue *q, const char *directory,
                       const struct pt_push_queue_bounds *bounds, struct pt_err *err) {
    size_t made_from;
    *q = (struct pt_push_queue){ 0 };
    q->bounds = *bounds;
    if (q->bounds.bytes == 0)
        q->bounds.bytes = DEFAULT_BYTES;
    if (q->bounds.segment == 0)
        q->bounds.segment = DEFAULT_SEGMENT;
    if (q->bounds.segment > q->bounds.bytes / 16)
        q->bounds.segment = q->bounds.bytes / 16;
    if (q->bounds.age_ns == 0)
        q->bounds.age_ns = DEFAULT_AGE_NS;
    int rc = pt_run_make_directory(directory, &made_from, err);
    if (rc)
        return rc;
    q->directory = pt_strdup(directory);
    rc = adopt_all(q, err);
    if (rc)
        pt_push_queue_close(q);
    return rc;
}

void pt_push_queue_close(struct pt_push_queue *q) {
    while (q->segment_count > 0) {
        size_t last = q->segment_count - 1;
        if (q->segments[last].requests == 0)
            remove_segment(q, last);
        else
            close_segment(q, last);
    }
    pt_free(q->segments);
    pt_free(q->directory);
    pt_buf_release(&q->frame);
    *q = (struct pt_push_queue){ 0 };
}

static void drop_oldest(struct pt_push_queue *q) {
    q->counts.dropped_requests += q->segments[0].requests;
    q->counts.dropped_points += q->segments[0].points;
    remove_segment(q, 0);
}

static bool is_ours(const struct pt_push_segment *s) {
    char end[32];
    snprintf(end, sizeof end, "-%d" EXTENSION, (int)getpid());
    return pt_str_ends(pt_str_from(s->name), pt_str_from(end));
}

/* The segment to append to: our own, and not full. */
static int growing_segment(struct pt_push_queue *q, size_t bytes) {
    if (q->segment_count > 0) {
        const struct pt_push_segment *last = &q->segments[q->segment_count - 1];
        if (is_ours(last) && (last->size == HEAD_BYTES || last->size + bytes <= q->bounds.segment))
            return 0;
    }
    return begin_segment(q);
}

int pt_push_queue_put(struct pt_push_queue *q, struct pt_push_request *request) {
    if (request->bytes.len > PT_PUSH_REQUEST_MAX)
        return -EMSGSIZE;
    request->id = q->last_id + 1;
    struct frame f = { .length = (uint32_t)request->bytes.len,
                       .id = request->id,
                       .time_ns = request->time_ns,
                       .points = request->point_count };
    pt_buf_clear(&q->frame);
    pt_buf_bytes(&q->frame, &f, sizeof f);
    pt_buf_str(&q->frame, request->bytes);
    f.crc = pt_crc32c(0, q->frame.at + sizeof f.crc, q->frame.len - sizeof f.crc);
    memcpy(q->frame.at, &f.crc, sizeof f.crc);
    int rc = growing_segment(q, q->frame.len);
    if (rc)
        return rc;
    struct pt_push_segment *s = &q->segments[q->segment_count - 1];
    rc = write_all(s->fd, q->frame.at, q->frame.len, s->size);
    if (rc)
        return rc; /* the next request overwrites the partial one */
    s->size += q->frame.len;
    s->is_unsynced = true;
    q->bytes += q->frame.len;
    count_in(q, s, &f);
    /* The newest segment stays, however small the limits are. */
    while (q->segment_count > 1 && (q->bytes > q->bounds.bytes ||
                                    q->newest_ns - q->segments[0].newest_ns > q->bounds.age_ns))
        drop_oldest(q);
    return 0;
}

void pt_push_queue_sync(struct pt_push_queue *q) {
    for (size_t i = 0; i < q->segment_count; i++) {
        if (q->segments[i].is_unsynced)
            fdatasync(q->segments[i].fd);
        q->segments[i].is_unsynced = false;
    }
}

/* The first segment with queued requests; empty ones before it are removed. */
static struct pt_push_segment *first_waiting(struct pt_push_queue *q) {
    while (q->segment_count > 1 && q->segments[0].requests == 0)
        remove_segment(q, 0);
    return q->segment_count > 0 && q->segments[0].requests > 0 ? &q->segments[0] : NULL;
}

bool pt_push_queue_peek(struct pt_push_queue *q, struct pt_push_request *request) {
    struct pt_push_segment *s;
    struct frame f;
    while ((s = first_waiting(q))) {
        if (read_frame(q, s, s->done, &f)) {
            s->oldest_ns = f.time_ns;
            *request = (struct pt_push_request){
                .id = f.id,
                .time_ns = f.time_ns,
                .point_count = f.points,
                .bytes = { (char *)q->frame.at + FRAME_BYTES, f.length },
            };
            return true;
        }
        q->counts.damaged_segments++; /* the disk lost the data */
        drop_oldest(q);
    }
    return false;
}

/* Clears the last segment, which is still in use: reuses its file. */
static void empty_segment(struct pt_push_queue *q, struct pt_push_segment *s) {
    if (ftruncate(s->fd, HEAD_BYTES))
        return;
    q->bytes -= s->size - HEAD_BYTES;
    s->done = s->size = HEAD_BYTES;
}

void pt_push_queue_pop(struct pt_push_queue *q, uint64_t id) {
    struct pt_push_segment *s = first_waiting(q);
    struct frame f;
    if (!s || !read_all(s->fd, &f, sizeof f, s->done) || f.id != id)
        return; /* it has been dropped */
    s->done = frame_end(s->done, &f);
    s->requests--;
    s->points -= f.points;
    q->waiting_requests--;
    q->waiting_points -= f.points;
    if (s->requests == 0 && q->segment_count == 1)
        empty_segment(q, s);
    (void)write_head(s); /* if lost, the request is sent twice with the same times */
}

int64_t pt_push_queue_oldest_ns(const struct pt_push_queue *q) {
    for (size_t i = 0; i < q->segment_count; i++)
        if (q->segments[i].requests > 0)
            return q->segments[i].oldest_ns;
    return 0;
}
