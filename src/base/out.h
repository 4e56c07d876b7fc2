/* base/out.h -- buffered output with a sticky error.
 *
 * After the first failure nothing more is written and pt_out_close() returns that failure, so
 * writers do not check. A file opened by name appears under that name only when it is complete
 * (temporary name, then rename). */
#ifndef PT_BASE_OUT_H
#define PT_BASE_OUT_H

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

#define PT_OUT_BUFFER 65536

struct pt_buf;

/* Consumes bytes; 0, or -errno, which becomes the sticky error. */
typedef int pt_out_drain_function(void *arg, const void *bytes, size_t n);

struct pt_out {
    char *buffer;
    size_t used;
    uint64_t written; /* bytes given to the kernel so far */
    int fd;
    int error; /* 0 or the first -errno */
    bool owns_fd;
    void (*show)(struct pt_out *o,
                 size_t kept);    /* of pt_out_show(), or NULL; so libpitot has none */
    char *path, *temporary;       /* of a file opened by name; the name until it is complete */
    struct pt_buf *memory;        /* receives the bytes instead of a descriptor, or NULL */
    pt_out_drain_function *drain; /* or this */
    void *drain_arg;
};

/* Creates a file by the rule of base/place.h: it never follows links, and on close without error
 * it replaces only what Pitot made. A device, a FIFO of this user and /dev/stdout are written
 * directly. */
int pt_out_create(struct pt_out *o, const char *path, struct pt_err *err) PT_MUST_CHECK;
/* Borrows a descriptor. */
void pt_out_borrow(struct pt_out *o, int fd);
/* The same for text that people read in a terminal: control characters besides newline and tab are
 * written \x1b, whoever they come from. Styles go through pt_out_style(). */
void pt_out_show(struct pt_out *o, int fd);
void pt_out_style(struct pt_out *o, const char *escape);
/* Appends to a buffer, which is borrowed. */
void pt_out_memory(struct pt_out *o, struct pt_buf *into);
/* For code that must not end the program when out of memory: the caller provides the buffer of
 * PT_OUT_BUFFER bytes, and `drain` consumes its contents. */
void pt_out_through(struct pt_out *o, char *buffer, pt_out_drain_function *drain, void *arg);
/* Flushes, closes, renames; 0 or the first error since open. A failed file is removed. */
int pt_out_close(struct pt_out *o);
int pt_out_flush(struct pt_out *o);
/* Closes and removes the file. */
void pt_out_discard(struct pt_out *o);

/* Bytes written or buffered so far: the offset of the next byte in the file. */
static inline uint64_t pt_out_offset(const struct pt_out *o) {
    return o->written + o->used;
}

/* Space for `bytes` more, at most PT_OUT_BUFFER; the caller writes there and advances `used`. */
static inline char *pt_out_reserve(struct pt_out *o, size_t bytes) {
    if (PT_UNLIKELY(o->used + bytes > PT_OUT_BUFFER))
        pt_out_flush(o);
    return o->buffer + o->used;
}

void pt_out_large(struct pt_out *o, const void *bytes, size_t n);

static inline void pt_out_bytes(struct pt_out *o, const void *bytes, size_t n) {
    if (o->used + n <= PT_OUT_BUFFER) {
        if (n > 0) /* no bytes may be at NULL */
            memcpy(o->buffer + o->used, bytes, n);
        o->used += n;
    } else {
        pt_out_large(o, bytes, n);
    }
}

static inline void pt_out_str(struct pt_out *o, struct pt_str s) {
    if (s.len > 0)
        pt_out_bytes(o, s.at, s.len);
}

static inline void pt_out_text(struct pt_out *o, const char *text) {
    pt_out_str(o, pt_str_from(text));
}

static inline void pt_out_char(struct pt_out *o, char c) {
    pt_out_bytes(o, &c, 1);
}

/* For text from outside: bytes that are not UTF-8 become U+FFFD. */
void pt_out_utf8(struct pt_out *o, struct pt_str text);
void pt_out_printf(struct pt_out *o, const char *format, ...) PT_PRINTF(2, 3);
void pt_out_i64(struct pt_out *o, int64_t value);
void pt_out_u64(struct pt_out *o, uint64_t value);
/* The shortest decimal that reads back as the same double; not for NaN and infinities. */
void pt_out_f64(struct pt_out *o, double value);

#endif
