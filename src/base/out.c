#include "base/out.h"

#include "base/buf.h"
#include "base/digits.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int pt_out_create(struct pt_out *o, const char *path, struct pt_err *err) {
    struct stat st;
    bool in_place = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    char *temporary = in_place ? NULL : pt_asprintf("%s.tmp", path);
    int fd = open(temporary ? temporary : path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) {
        int rc = pt_fail(err, -errno, "cannot create %s: %s", path, strerror(errno));
        pt_free(temporary);
        return rc;
    }
    *o = (struct pt_out){ .fd = fd,
                          .owns_fd = true,
                          .path = pt_strdup(path),
                          .temporary = temporary,
                          .buffer = pt_malloc(PT_OUT_BUFFER) };
    return 0;
}

void pt_out_borrow(struct pt_out *o, int fd) {
    *o = (struct pt_out){ .fd = fd, .buffer = pt_malloc(PT_OUT_BUFFER) };
}

void pt_out_memory(struct pt_out *o, struct pt_buf *into) {
    *o = (struct pt_out){ .fd = -1, .memory = into, .buffer = pt_malloc(PT_OUT_BUFFER) };
}

void pt_out_through(struct pt_out *o, char *buffer, pt_out_drain_function *drain, void *arg) {
    *o = (struct pt_out){ .fd = -1, .buffer = buffer, .drain = drain, .drain_arg = arg };
}

static void write_all(struct pt_out *o, const char *bytes, size_t n) {
    if (o->drain) {
        if (n > 0 && !o->error)
            o->error = o->drain(o->drain_arg, bytes, n);
        if (!o->error)
            o->written += n;
        return;
    }
    if (o->memory) {
        pt_buf_bytes(o->memory, bytes, n);
        o->written += n;
        return;
    }
    while (n > 0 && !o->error) {
        ssize_t done = write(o->fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            o->error = done < 0 ? -errno : -EIO;
            return;
        }
        bytes += done;
        n -= (size_t)done;
        o->written += (uint64_t)done;
    }
}

int pt_out_flush(struct pt_out *o) {
    write_all(o, o->buffer, o->used);
    o->used = 0;
    return o->error;
}

void pt_out_large(struct pt_out *o, const void *bytes, size_t n) {
    pt_out_flush(o);
    if (n >= PT_OUT_BUFFER) {
        write_all(o, bytes, n);
        return;
    }
    memcpy(o->buffer, bytes, n);
    o->used = n;
}

int pt_out_close(struct pt_out *o) {
    if (!o->buffer)
        return o->error;
    if (o->memory && !o->memory->at && o->used > 0) {
        /* Text that fits into the buffer is handed to the memory without a copy. */
        *o->memory = (struct pt_buf){ pt_realloc(o->buffer, o->used), o->used, o->used };
        o->written = o->used;
        o->used = 0;
        o->buffer = NULL;
    } else {
        pt_out_flush(o);
    }
    if (o->owns_fd && close(o->fd) && !o->error)
        o->error = -errno;
    if (o->temporary && !o->error && rename(o->temporary, o->path))
        o->error = -errno;
    if (o->temporary && o->error)
        unlink(o->temporary);
    if (!o->drain)
        pt_free(o->buffer);
    pt_free(o->path);
    pt_free(o->temporary);
    o->buffer = o->path = o->temporary = NULL;
    return o->error;
}

void pt_out_discard(struct pt_out *o) {
    if (!o->error)
        o->error = -ECANCELED;
    pt_out_close(o);
}

void pt_out_printf(struct pt_out *o, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < (int)sizeof text) {
        pt_out_bytes(o, text, n > 0 ? (size_t)n : 0);
        return;
    }
    char *large = pt_malloc((size_t)n + 1);
    va_start(args, format);
    vsnprintf(large, (size_t)n + 1, format, args);
    va_end(args);
    pt_out_bytes(o, large, (size_t)n);
    pt_free(large);
}

void pt_out_utf8(struct pt_out *o, struct pt_str text) {
    for (;;) {
        size_t valid = pt_utf8_valid_length(text);
        pt_out_str(o, (struct pt_str){ text.at, valid });
        if (valid == text.len)
            return;
        pt_out_text(o, PT_UTF8_REPLACEMENT);
        text = pt_str_skip(text, valid + 1);
    }
}

void pt_out_i64(struct pt_out *o, int64_t value) {
    char *at = pt_out_reserve(o, PT_DIGITS_MAX); /* may flush: `used` is read after it */
    o->used += pt_digits_i64(at, value);
}

void pt_out_u64(struct pt_out *o, uint64_t value) {
    char *at = pt_out_reserve(o, PT_DIGITS_MAX); /* may flush: `used` is read after it */
    o->used += pt_digits_u64(at, value);
}

void pt_out_f64(struct pt_out *o, double value) {
    char *at = pt_out_reserve(o, PT_DIGITS_MAX); /* may flush: `used` is read after it */
    o->used += pt_digits_f64(at, value);
}
