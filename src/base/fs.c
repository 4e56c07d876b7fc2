#include "base/fs.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

/* seq_file returns whole records, up to a page per read. Files that are read repeatedly have
 * records below 512 bytes or only one record, so a read shorter than this is the last one: this
 * saves the read that would return 0. */
#define SHORT_READ 3584

#define FILE_LIMIT (256u << 20) /* no kernel file is larger: bounds the memory */

static int open_root(const char *path, int *fd, struct pt_err *err) {
    *fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return pt_fail(err, -errno, "cannot open %s: %s", path, strerror(errno));
    return 0;
}

int pt_fs_open(struct pt_fs *fs, const char *procfs, const char *sysfs, const char *rootfs,
               struct pt_err *err) {
    *fs = (struct pt_fs){ -1, -1, -1, false };
    int rc = open_root(procfs, &fs->proc, err);
    if (!rc)
        rc = open_root(sysfs, &fs->sys, err);
    if (!rc)
        rc = open_root(rootfs, &fs->root, err);
    if (rc)
        pt_fs_close(fs);

    char real[PATH_MAX];
    fs->is_live = realpath(procfs, real) && strcmp(real, "/proc") == 0;
    return rc;
}

static void close_root(int *fd) {
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void pt_fs_close(struct pt_fs *fs) {
    close_root(&fs->proc);
    close_root(&fs->sys);
    close_root(&fs->root);
}

void pt_text_release(struct pt_text *t) {
    pt_free(t->at);
    *t = (struct pt_text){ 0 };
}

int pt_file_open(struct pt_file *f, int directory, const char *path) {
    int fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    f->fd = pt_fd_of(fd);
    return 0;
}

bool pt_file_is_open(const struct pt_file *f) {
    return pt_fd_is_open(f->fd);
}

void pt_file_close(struct pt_file *f) {
    (void)pt_fd_close(&f->fd);
}

/* A read that returns fewer than `end_below` bytes is the last one. */
static int read_all(const struct pt_file *f, ssize_t end_below, struct pt_text *into,
                    struct pt_scan *text) {
    size_t length = 0;
    *text = (struct pt_scan){ .failed = true };
    if (!pt_file_is_open(f))
        return -EBADF;
    if (!pt_try_grow(&into->at, &into->capacity, 8192, 1))
        return -ENOMEM;
    for (;;) {
        ssize_t n =
            pread(pt_fd_get(f->fd), into->at + length, into->capacity - length, (off_t)length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        length += (size_t)n;
        if (n < end_below && length < into->capacity)
            break;
        if (length > FILE_LIMIT)
            return -EFBIG;
        if (length == into->capacity &&
            !pt_try_grow(&into->at, &into->capacity, into->capacity + 1, 1))
            return -ENOMEM;
    }
    *text = pt_scan_of((struct pt_str){ into->at, length });
    return 0;
}

int pt_file_read(const struct pt_file *f, struct pt_text *into, struct pt_scan *text) {
    return read_all(f, SHORT_READ, into, text);
}

int pt_file_read_kept(struct pt_file *f, int directory, const char *path, struct pt_text *into,
                      struct pt_scan *text) {
    *text = (struct pt_scan){ .failed = true };
    int rc = pt_file_is_open(f) ? 0 : pt_file_open(f, directory, path);
    if (!rc)
        rc = pt_file_read(f, into, text);
    if (rc)
        pt_file_close(f);
    return rc;
}

int pt_fs_read(int directory, const char *path, struct pt_text *into, struct pt_scan *text) {
    struct pt_file f = { 0 };
    *text = (struct pt_scan){ .failed = true };
    int rc = pt_file_open(&f, directory, path);
    if (!rc)
        rc = read_all(&f, 1, into, text);
    pt_file_close(&f);
    return rc;
}

int pt_fs_read_line(int directory, const char *path, char *line, size_t capacity) {
    struct pt_file f = { 0 };
    line[0] = 0;
    int rc = pt_file_open(&f, directory, path);
    if (rc)
        return rc;
    ssize_t n = pread(pt_fd_get(f.fd), line, capacity - 1, 0);
    rc = n < 0 ? -errno : 0;
    pt_file_close(&f);
    if (rc)
        return rc;
    line[n] = 0;
    line[strcspn(line, "\n")] = 0;
    return 0;
}

DIR *pt_fs_list(int directory, const char *path) {
    int fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && !entries)
        close(fd);
    return entries;
}

int pt_fs_read_i64(int directory, const char *path, int64_t *value) {
    char line[64];
    int rc = pt_fs_read_line(directory, path, line, sizeof line);
    if (rc)
        return rc;
    struct pt_scan s = pt_scan_of(pt_str_from(line));
    *value = pt_scan_i64(&s);
    return s.failed ? -EINVAL : 0;
}

int pt_fs_readlink(int directory, const char *path, char *target, size_t capacity) {
    ssize_t n = readlinkat(directory, path, target, capacity - 1);
    if (n < 0) {
        target[0] = 0;
        return -errno;
    }
    target[n] = 0;
    return 0;
}

int pt_fs_own_directory(char *into, size_t capacity) {
    int rc = pt_fs_readlink(AT_FDCWD, "/proc/self/exe", into, capacity);
    char *slash = rc ? NULL : strrchr(into, '/');
    if (!slash)
        return rc ? rc : -ENOENT;
    *slash = 0;
    return 0;
}
