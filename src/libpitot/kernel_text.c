#include "libpitot/kernel_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_CAPACITY 8192

static int grow(struct pt_kernel_text *t) {
    size_t capacity = t->capacity ? t->capacity * 2 : FIRST_CAPACITY;
    char *moved = realloc(t->at, capacity);
    if (!moved)
        return -ENOMEM;
    t->at = moved;
    t->capacity = capacity;
    return 0;
}

static int read_all(struct pt_kernel_text *t, int fd, size_t limit, size_t *length) {
    *length = 0;
    while (*length < limit) {
        int rc = *length == t->capacity ? grow(t) : 0;
        if (rc)
            return rc;
        size_t room = (limit < t->capacity ? limit : t->capacity) - *length;
        ssize_t n = read(fd, t->at + *length, room);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        *length += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int pt_kernel_text_read(struct pt_kernel_text *t, const char *path, size_t limit,
                        struct pt_scan *text) {
    size_t length;
    *text = (struct pt_scan){ .failed = true };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int rc = read_all(t, fd, limit, &length);
    close(fd);
    if (!rc)
        *text = pt_scan_of((struct pt_str){ t->at, length });
    return rc;
}

void pt_kernel_text_release(struct pt_kernel_text *t) {
    free(t->at);
    *t = (struct pt_kernel_text){ 0 };
}

bool pt_kernel_text_find(struct pt_scan text, struct pt_str key, int64_t *value) {
    struct pt_scan line;
    while (pt_scan_line(&text, &line)) {
        if (!pt_scan_take(&line, key))
            continue;
        *value = pt_scan_i64(&line);
        return !line.failed;
    }
    return false;
}
