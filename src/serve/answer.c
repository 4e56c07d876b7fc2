#include "serve/answer.h"

#include "base/mask.h"
#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (INT64_C(64) << 20)
#define SANDBOX_POLICY                                                                        \
    "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; " \
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

void pt_answer_json(struct pt_http_exchange *x, unsigned status, pt_answer_function *write,
                    void *user) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &body);
    struct pt_json j = { .out = &out, .mask = pt_mask_value };
    write(user, &j);
    pt_out_char(&out, '\n');
    (void)pt_out_close(&out);
    pt_http_reply(x, status, PT_TYPE_JSON, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

void pt_answer_buf(struct pt_http_exchange *x, const char *type, struct pt_buf *body,
                   const struct pt_http_header *headers, size_t count) {
    /* read it now: the exchange is gone after the reply */
    const struct pt_http_server_interface *module = x->module;
    struct pt_http_content *content = module->content_new(200, type, body, headers, count);
    pt_buf_release(body);
    if (!content) {
        pt_answer_error(x, 500, "out of memory");
        return;
    }
    pt_http_reply_content(x, content);
    module->content_free(content);
}

static void write_error(void *user, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "error", user);
    pt_json_end(j);
}

void pt_answer_error(struct pt_http_exchange *x, unsigned status, const char *words) {
    pt_answer_json(x, status, write_error, (void *)(uintptr_t)words);
}

static int read_whole(int fd, struct pt_buf *into) {
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_BYTES)
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

int pt_answer_file(struct pt_http_exchange *x, const char *path, const char *type) {
    static const struct pt_http_header headers[] = { { "Content-Security-Policy",
                                                       SANDBOX_POLICY } };
    struct pt_buf body = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = read_whole(fd, &body);
    close(fd);
    if (!rc)
        pt_answer_buf(x, type, &body, headers, PT_COUNT(headers));
    pt_buf_release(&body);
    return rc;
}
