#include "serve/file_answer.h"

#include "serve/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLICY                                                                                \
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; " \
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

static int read_whole(int fd, struct pt_buf *into) {
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size > PT_FILE_ANSWER_BYTES)
        return -EFBIG;
    size_t size = (size_t)st.st_size;
    uint8_t *at = pt_buf_reserve(into, size + 1);
    while (into->len < size) {
        ssize_t n = read(fd, at + into->len, size - into->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        into->len += (size_t)n;
    }
    return 0;
}

int pt_answer_file(const struct pt_http_server *http, struct pt_http_exchange *x, const char *path,
                   const char *type) {
    static const struct pt_http_header headers[] = { { "Content-Security-Policy", POLICY } };
    struct pt_buf body = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = read_whole(fd, &body);
    close(fd);
    if (!rc)
        pt_answer_buf(http, x, type, &body, headers, PT_COUNT(headers));
    pt_buf_release(&body);
    return rc;
}
