/* base/buf.h -- a growing byte buffer ({0} is empty) with little-endian and varint writers, and a
 * reader for such bytes. */
#ifndef PT_BASE_BUF_H
#define PT_BASE_BUF_H

#include "base/mem.h"
#include "base/str.h"

#include <stdint.h>

struct pt_buf {
    uint8_t *at;
    size_t len, capacity;
};

void pt_buf_release(struct pt_buf *b);

static inline void pt_buf_clear(struct pt_buf *b) {
    b->len = 0;
}

/* Makes space for `bytes` more and returns where they go; the caller then advances `len`. */
static inline uint8_t *pt_buf_reserve(struct pt_buf *b, size_t bytes) {
    if (PT_UNLIKELY(b->len + bytes > b->capacity))
        pt_grow(&b->at, &b->capacity, b->len + bytes, 1);
    return b->at + b->len;
}

static inline void pt_buf_bytes(struct pt_buf *b, const void *bytes, size_t n) {
    if (n > 0)
        memcpy(pt_buf_reserve(b, n), bytes, n);
    b->len += n;
}

static inline void pt_buf_str(struct pt_buf *b, struct pt_str s) {
    pt_buf_bytes(b, s.at, s.len);
}

static inline void pt_buf_u8(struct pt_buf *b, uint8_t value) {
    *pt_buf_reserve(b, 1) = value;
    b->len++;
}

/* x86-64 and arm64 are little-endian: base/buf.c asserts it. */
static inline void pt_buf_u32(struct pt_buf *b, uint32_t value) {
    pt_buf_bytes(b, &value, sizeof value);
}

static inline void pt_buf_u64(struct pt_buf *b, uint64_t value) {
    pt_buf_bytes(b, &value, sizeof value);
}

/* Seven bits per byte, lowest first; at most ten bytes. */
static inline void pt_buf_varint(struct pt_buf *b, uint64_t value) {
    uint8_t *p = pt_buf_reserve(b, 10), *start = p;
    while (value >= 0x80) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    b->len += (size_t)(p - start);
}

static inline uint64_t pt_zigzag(int64_t value) {
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t pt_unzigzag(uint64_t value) {
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static inline void pt_buf_zigzag(struct pt_buf *b, int64_t value) {
    pt_buf_varint(b, pt_zigzag(value));
}

/* A length, then the bytes. */
static inline void pt_buf_lstr(struct pt_buf *b, struct pt_str s) {
    pt_buf_varint(b, s.len);
    pt_buf_str(b, s);
}

/* Borrows the bytes. */
static inline struct pt_str pt_buf_as_str(const struct pt_buf *b) {
    return (struct pt_str){ (const char *)b->at, b->len };
}

/* The reader: a cursor over bytes with a sticky failure. */
struct pt_bytes {
    const uint8_t *at, *end;
    bool failed;
};

static inline struct pt_bytes pt_bytes_of(struct pt_str bytes) {
    return (struct pt_bytes){ (const uint8_t *)bytes.at, (const uint8_t *)pt_str_end(bytes),
                              false };
}

uint64_t pt_bytes_varint_slow(struct pt_bytes *r);

static inline uint64_t pt_bytes_varint(struct pt_bytes *r) {
    if (r->at < r->end && *r->at < 0x80)
        return *r->at++;
    return pt_bytes_varint_slow(r);
}

static inline int64_t pt_bytes_zigzag(struct pt_bytes *r) {
    return pt_unzigzag(pt_bytes_varint(r));
}

/* Leaves `value` unchanged if there are too few bytes. */
static inline void pt_bytes_copy(struct pt_bytes *r, void *value, size_t n) {
    if (PT_UNLIKELY(r->failed || n > (size_t)(r->end - r->at))) {
        r->failed = true;
        return;
    }
    memcpy(value, r->at, n);
    r->at += n;
}

static inline uint8_t pt_bytes_u8(struct pt_bytes *r) {
    uint8_t value = 0;
    pt_bytes_copy(r, &value, sizeof value);
    return value;
}

static inline uint32_t pt_bytes_u32(struct pt_bytes *r) {
    uint32_t value = 0;
    pt_bytes_copy(r, &value, sizeof value);
    return value;
}

static inline uint64_t pt_bytes_u64(struct pt_bytes *r) {
    uint64_t value = 0;
    pt_bytes_copy(r, &value, sizeof value);
    return value;
}

/* The next `n` bytes, or the bytes after a length prefix; borrowed. Fails if there are fewer. */
struct pt_str pt_bytes_take(struct pt_bytes *r, uint64_t n);
struct pt_str pt_bytes_lstr(struct pt_bytes *r);

#endif
