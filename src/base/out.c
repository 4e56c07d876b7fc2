#include "base/out.h"

#include "base/buf.h"
#include "base/digits.h"
#include "base/mem.h"
#include "base/place.h"
#include "base/scan.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* /dev/stdout, /dev/fd/3 and what shells make of >(command): a descriptor that is open here. */
static int inherited_descriptor(const char *path) {
    static const char *const names[] = { "/dev/stdout", "/dev/stderr" };
    static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
    for (int i = 0; i < 2; i++)
        if (strcmp(path, names[i]) == 0)
            return STDOUT_FILENO + i;
    for (size_t i = 0; i < 2; i++) {
        struct pt_scan number = pt_scan_of(pt_str_from(path));
        int64_t fd = pt_scan_take(&number, pt_str_from(folders[i])) ? pt_scan_i64(&number) : -1;
        if (!number.failed && number.at == number.end && fd >= 0 && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

int pt_out_create(struct pt_out *o, const char *path, struct pt_err *err) {
    struct pt_place place = { .directory = -1 };
    int inherited = inherited_descriptor(path);
    int rc = inherited >= 0 ? 1 : pt_place_open(&place, path);
    bool is_opened = !rc;
    if (is_opened)
        rc = pt_place_look(&place);
    int fd = rc < 0           ? rc
             : inherited >= 0 ? fcntl(inherited, F_DUPFD_CLOEXEC, 0)
             : rc > 0         ? pt_place_open_special(&place)
                              : pt_place_create(&place);
    if (inherited >= 0 && fd < 0)
        fd = -errno;
    if (is_opened)
        pt_place_close(&place);
    if (fd < 0)
        return pt_fail(err, fd, "cannot create %s: %s", path, pt_place_words(fd));
    *o = (struct pt_out){ .fd = fd,
                          .owns_fd = true,
                          .path = pt_strdup(path),
                          .temporary = rc == 0 ? pt_strdup(place.temporary) : NULL,
                          .buffer = pt_malloc(PT_OUT_BUFFER) };
    return 0;
}

/* The file gets its name, or is removed if there was an error. */
static int finish_file(const struct pt_out *o) {
    struct pt_place place;
    int rc = pt_place_open(&place, o->path);
    if (rc)
        return rc;
    pt_str_copy(place.temporary, sizeof place.temporary, pt_str_from(o->temporary));
    if (o->error)
        pt_place_remove(&place);
    else
        rc = pt_place_publish(&place);
    pt_place_close(&place);
    return rc;
}

void pt_out_borrow(struct pt_out *o, int fd) {
    *o = (struct pt_out){ .fd = fd, .buffer = pt_malloc(PT_OUT_BUFFER) };
}

static int append(void *into, const void *bytes, size_t n) {
    pt_buf_bytes(into, bytes, n);
    return 0;
}

void pt_out_memory(struct pt_out *o, struct pt_buf *into) {
    *o = (struct pt_out){ .fd = -1,
                          .memory = into,
                          .buffer = pt_malloc(PT_OUT_BUFFER),
                          .drain = append,
                          .drain_arg = into };
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

/* How many bytes of a character stand at the end without the rest of it. */
static size_t half_character(const struct pt_out *o) {
    for (size_t back = 1; back <= 3 && back <= o->used; back++) {
        unsigned char c = (unsigned char)o->buffer[o->used - back];
        if (c >= 0xc0)
            return back < (c < 0xe0 ? 2u : c < 0xf0 ? 3u : 4u) ? back : 0;
        if (c < 0x80)
            return 0;
    }
    return 0;
}

static void flush_shown(struct pt_out *o, size_t kept) {
    struct pt_buf shown = { 0 };
    size_t n = o->used - kept;
    pt_utf8_printable(&shown, (struct pt_str){ o->buffer, n }, "\n\t");
    write_all(o, (const char *)shown.at, shown.len);
    pt_buf_release(&shown);
    memmove(o->buffer, o->buffer + n, kept);
    o->used = kept;
}

void pt_out_show(struct pt_out *o, int fd) {
    pt_out_borrow(o, fd);
    o->show = flush_shown;
}

int pt_out_flush(struct pt_out *o) {
    if (o->show) {
        o->show(o, half_character(o));
        return o->error;
    }
    write_all(o, o->buffer, o->used);
    o->used = 0;
    return o->error;
}

void pt_out_style(struct pt_out *o, const char *escape) {
    pt_out_flush(o);
    write_all(o, escape, strlen(escape));
}

void pt_out_large(struct pt_out *o, const void *bytes, size_t n) {
    const char *at = bytes;
    pt_out_flush(o);
    if (n >= PT_OUT_BUFFER && !o->show) {
        write_all(o, bytes, n);
        return;
    }
    while (o->used + n > PT_OUT_BUFFER) {
        size_t part = PT_OUT_BUFFER - o->used;
        memcpy(o->buffer + o->used, at, part);
        o->used += part;
        at += part;
        n -= part;
        pt_out_flush(o);
    }
    memcpy(o->buffer + o->used, at, n);
    o->used += n;
}

int pt_out_close(struct pt_out *o) {
    if (!o->buffer)
        return o->error;
    if (o->memory && !o->memory->at && o->used > 0) {
        /* Text that fits into the buffer is handed to the memory without a copy. */
        void *shorter = pt_try_realloc(o->buffer, o->used);
        *o->memory = (struct pt_buf){ shorter ? shorter : o->buffer, o->used, o->used };
        o->written = o->used;
        o->used = 0;
        o->buffer = NULL;
    } else {
        pt_out_flush(o);
        if (o->show && o->used > 0)
            o->show(o, 0);
    }
    if (o->owns_fd && close(o->fd) && !o->error)
        o->error = -errno;
    if (o->temporary) {
        int rc = finish_file(o);
        o->error = o->error ? o->error : rc;
    }
    if (!o->drain || o->memory)
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
    char *large = pt_try_calloc((size_t)n + 1, 1);
    if (!large) {
        o->error = o->error ? o->error : -ENOMEM;
        return;
    }
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
