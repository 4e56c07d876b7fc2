#include "store/ring.h"

#include "base/mem.h"
#include "base/place.h"
#include "base/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uuid.h>

const struct pt_ring_kind pt_ring_recording = { "", 8, 16 };

void pt_ring_path(const struct pt_ring_kind *kind, const char *directory, uint64_t number,
                  char into[PATH_MAX]) {
    snprintf(into, PATH_MAX, "%.*s/%s%0*" PRIu64 PT_RUN_EXTENSION, PATH_MAX - 40, directory,
             kind->prefix, kind->digits, number);
}

void pt_ring_segment_path(const char *path, uint64_t number, char into[PATH_MAX]) {
    pt_ring_path(&pt_ring_recording, path, number, into);
}

/* "00000012.pitot"; 0 if it is not the name of a segment. */
static uint64_t segment_number(const struct pt_ring_kind *kind, const char *name) {
    struct pt_scan s = pt_scan_of(pt_str_from(name));
    if (!pt_scan_take(&s, pt_str_from(kind->prefix)))
        return 0;
    uint64_t number = pt_scan_u64(&s);
    return !s.failed && pt_str_eq(pt_scan_rest(&s), PT_STR(PT_RUN_EXTENSION)) ? number : 0;
}

static void add_segment(struct pt_ring_list *list, struct pt_ring_segment segment) {
    pt_grow(&list->at, &list->capacity, list->count + 1, sizeof *list->at);
    list->at[list->count++] = segment;
}

static int by_number(const void *a, const void *b) {
    const struct pt_ring_segment *left = a, *right = b;
    return left->number < right->number ? -1 : left->number > right->number;
}

int pt_ring_list(const struct pt_ring_kind *kind, const char *directory,
                 struct pt_ring_list *list) {
    DIR *d = opendir(directory);
    *list = (struct pt_ring_list){ 0 };
    if (!d)
        return -errno;
    for (struct dirent *e; (e = readdir(d));) {
        uint64_t number = segment_number(kind, e->d_name);
        struct stat st;
        if (number > 0 && !fstatat(dirfd(d), e->d_name, &st, 0))
            add_segment(list, (struct pt_ring_segment){ number, (uint64_t)st.st_size, 0 });
    }
    closedir(d);
    if (list->count > 0)
        qsort(list->at, list->count, sizeof *list->at, by_number);
    return 0;
}

bool pt_ring_next_segment(const char *path, uint64_t *number) {
    DIR *d = opendir(path);
    uint64_t next = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        uint64_t found = segment_number(&pt_ring_recording, e->d_name);
        if (found > *number && (next == 0 || found < next))
            next = found;
    }
    if (d)
        closedir(d);
    if (next > 0)
        *number = next;
    return next > 0;
}

void pt_ring_remove(const char *path) {
    char segment[PATH_MAX];
    for (uint64_t number = 0; pt_ring_next_segment(path, &number);) {
        pt_ring_segment_path(path, number, segment);
        unlink(segment);
    }
    if (rmdir(path))
        unlink(path);
}

static uint64_t segment_bytes(const struct pt_ring *r) {
    return r->bound_bytes / r->kind->segments;
}

void pt_ring_drop(struct pt_ring *r, size_t count) {
    struct pt_ring_list *ended = &r->ended;
    char path[PATH_MAX];
    for (size_t i = 0; i < count; i++) {
        pt_ring_path(r->kind, r->path, ended->at[i].number, path);
        r->removed_count += !unlink(path);
    }
    if (count == 0)
        return;
    ended->count -= count;
    memmove(ended->at, ended->at + count, ended->count * sizeof *ended->at);
}

/* Removes the oldest segments until another one fits. */
static void make_room(struct pt_ring *r) {
    const struct pt_ring_list *ended = &r->ended;
    uint64_t used = segment_bytes(r);
    size_t count = 0;
    for (size_t i = 0; i < ended->count; i++)
        used += ended->at[i].bytes;
    for (; count < ended->count && used > r->bound_bytes; count++)
        used -= ended->at[count].bytes;
    pt_ring_drop(r, count);
}

static int begin_segment(struct pt_ring *r, struct pt_err *err) {
    char path[PATH_MAX];
    uuid_t uuid;
    make_room(r);
    pt_ring_path(r->kind, r->path, r->next_number, path);
    uuid_copy(uuid, r->uuid);
    if (uuid_is_null(uuid))
        uuid_generate_random(uuid);
    int rc = pt_journal_create(&r->journal, path, uuid, r->schema, err);
    if (rc)
        return rc;
    r->number = r->next_number++;
    for (size_t i = 0; i < r->note_count && !rc; i++)
        rc = pt_journal_note(&r->journal, pt_str_from(r->notes[i].key),
                             (struct pt_str){ r->notes[i].text, r->notes[i].text_len });
    return rc;
}

int pt_ring_end_segment(struct pt_ring *r) {
    if (!pt_fd_is_open(r->journal.fd))
        return 0;
    int rc = pt_journal_close(&r->journal);
    add_segment(&r->ended,
                (struct pt_ring_segment){ r->number, r->journal.byte_count, r->last_ns });
    return rc;
}

int pt_ring_create(struct pt_ring *r, const char *path, uint64_t bound_bytes,
                   const uint8_t uuid[16], const struct pt_schema *schema, struct pt_err *err) {
    *r = (struct pt_ring){
        .kind = &pt_ring_recording, .bound_bytes = bound_bytes, .schema = schema, .next_number = 1
    };
    memcpy(r->uuid, uuid, sizeof r->uuid);
    pt_str_copy(r->path, sizeof r->path, pt_str_from(path));
    if (bound_bytes == 0)
        return pt_journal_create(&r->journal, path, uuid, schema, err);
    if (mkdir(path, pt_directory_mode()))
        return pt_fail(err, -errno, "cannot create %s: %s", path, strerror(errno));
    int rc = begin_segment(r, err);
    if (rc)
        rmdir(path);
    return rc;
}

int pt_ring_adopt(struct pt_ring *r, const struct pt_ring_kind *kind, const char *directory,
                  uint64_t bound_bytes, const struct pt_schema *schema) {
    *r = (struct pt_ring){ .kind = kind, .bound_bytes = bound_bytes, .schema = schema };
    pt_str_copy(r->path, sizeof r->path, pt_str_from(directory));
    int rc = pt_ring_list(kind, directory, &r->ended);
    if (r->ended.count > 0)
        r->number = r->ended.at[r->ended.count - 1].number;
    r->next_number = r->number + 1;
    return rc;
}

/* Begins the next segment if this one is full, or if the last attempt failed. */
static int turn(struct pt_ring *r) {
    bool is_open = pt_fd_is_open(r->journal.fd);
    if (r->bound_bytes == 0 || (is_open && r->journal.byte_count < segment_bytes(r)))
        return 0;
    int end_rc = pt_ring_end_segment(r), rc = begin_segment(r, NULL);
    return rc ? rc : end_rc;
}

int pt_ring_write(struct pt_ring *r, const struct pt_sample *s) {
    int turn_rc = turn(r);
    if (!pt_fd_is_open(r->journal.fd))
        return turn_rc;
    r->last_ns = s->mono_ns;
    int rc = pt_journal_write(&r->journal, s);
    return rc ? rc : turn_rc;
}

static void remember(struct pt_ring *r, struct pt_str key, struct pt_str text) {
    struct pt_ring_note *note = NULL;
    for (size_t i = 0; i < r->note_count; i++)
        if (pt_str_eq(pt_str_from(r->notes[i].key), key))
            note = &r->notes[i];
    if (!note) {
        pt_grow(&r->notes, &r->note_capacity, r->note_count + 1, sizeof *r->notes);
        note = &r->notes[r->note_count++];
        *note = (struct pt_ring_note){ .key = pt_strndup(key) };
    }
    pt_free(note->text);
    note->text = pt_strndup(text);
    note->text_len = text.len;
}

int pt_ring_note(struct pt_ring *r, struct pt_str key, struct pt_str text) {
    if (r->bound_bytes > 0)
        remember(r, key, text);
    return pt_fd_is_open(r->journal.fd) ? pt_journal_note(&r->journal, key, text) : -EBADF;
}

int pt_ring_close(struct pt_ring *r) {
    int rc = pt_journal_close(&r->journal);
    for (size_t i = 0; i < r->note_count; i++) {
        pt_free(r->notes[i].key);
        pt_free(r->notes[i].text);
    }
    pt_free(r->notes);
    pt_free(r->ended.at);
    r->notes = NULL;
    r->note_count = 0;
    r->ended = (struct pt_ring_list){ 0 };
    return rc;
}

/* Where there are no links: not every file system has them, and none leads to another one. */
static int copy_file(const char *from, const char *to) {
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, pt_file_mode());
    int rc = out < 0 ? -errno : 0;
    ssize_t n = 0;
    while (!rc && (n = sendfile(out, in, NULL, 1 << 30)) > 0)
        continue;
    if (n < 0)
        rc = -errno;
    if (in >= 0)
        close(in);
    if (out >= 0 && close(out) && !rc)
        rc = -errno;
    return rc;
}

/* Appends a segment with the last sample and the reason for keeping the ring. */
static int add_ending(const struct pt_ring *r, const char *into, const struct pt_sample *last,
                      struct pt_str key, struct pt_str text) {
    struct pt_journal ending = { 0 };
    char path[PATH_MAX];
    pt_ring_segment_path(into, r->next_number, path);
    int rc = pt_journal_create(&ending, path, r->uuid, r->schema, NULL);
    if (rc)
        return rc;
    rc = pt_journal_write(&ending, last);
    if (!rc)
        rc = pt_journal_note(&ending, key, text);
    int close_rc = pt_journal_close(&ending);
    return rc ? rc : close_rc;
}

int pt_ring_keep(struct pt_ring *r, int64_t since_ns, const char *into,
                 const struct pt_sample *last, struct pt_str key, struct pt_str text,
                 struct pt_err *err) {
    if (mkdir(into, pt_directory_mode()))
        return pt_fail(err, -errno, "cannot create %s: %s", into, strerror(errno));
    int rc = pt_ring_end_segment(r); /* so that what is kept no longer changes */
    for (size_t i = 0; i < r->ended.count && !rc; i++) {
        char from[PATH_MAX], to[PATH_MAX];
        if (r->ended.at[i].last_ns < since_ns)
            continue;
        pt_ring_segment_path(r->path, r->ended.at[i].number, from);
        pt_ring_segment_path(into, r->ended.at[i].number, to);
        rc = link(from, to) == 0 ? 0 : copy_file(from, to);
    }
    if (!rc)
        rc = add_ending(r, into, last, key, text);
    int begin_rc = begin_segment(r, NULL); /* if it fails the next sample tries again */
    if (rc) {
        pt_ring_remove(into);
        return pt_fail(err, rc, "cannot keep the recording in %s: %s", into, strerror(-rc));
    }
    return begin_rc ? pt_fail(err, begin_rc, "recording stopped: %s", strerror(-begin_rc)) : 0;
}
