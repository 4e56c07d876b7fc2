/* base/str.h -- a borrowed string with a length: not terminated, not owned, never NULL-checked. */
#ifndef PT_BASE_STR_H
#define PT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct pt_str {
    const char *at;
    size_t len;
};

#define PT_STR(literal) ((struct pt_str){ (literal), sizeof(literal) - 1 })

static inline struct pt_str pt_str_from(const char *c) {
    return (struct pt_str){ c, strlen(c) };
}

static inline bool pt_str_eq(struct pt_str a, struct pt_str b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* An empty string may have no address, and C does not define NULL + 0. */
static inline struct pt_str pt_str_skip(struct pt_str s, size_t bytes) {
    if (bytes > s.len)
        bytes = s.len;
    return (struct pt_str){ bytes > 0 ? s.at + bytes : s.at, s.len - bytes };
}

/* One past the last byte. */
static inline const char *pt_str_end(struct pt_str s) {
    return pt_str_skip(s, s.len).at;
}

static inline bool pt_str_starts(struct pt_str s, struct pt_str prefix) {
    return s.len >= prefix.len && pt_str_eq((struct pt_str){ s.at, prefix.len }, prefix);
}

static inline bool pt_str_ends(struct pt_str s, struct pt_str suffix) {
    return s.len >= suffix.len && pt_str_eq(pt_str_skip(s, s.len - suffix.len), suffix);
}

/* Copies into a fixed buffer; truncates to fit, always terminates. Returns the buffer. */
static inline char *pt_str_copy(char *into, size_t capacity, struct pt_str s) {
    size_t n = s.len < capacity - 1 ? s.len : capacity - 1;
    if (n > 0)
        memcpy(into, s.at, n);
    into[n] = 0;
    return into;
}

#endif
