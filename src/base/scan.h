/* base/scan.h -- a cursor over text with a sticky failure.
 *
 * Once a call fails, `failed` stays set and every later call returns an empty string or 0, so a
 * parser reads on and checks once at the end. Numbers that do not fit are failures, not wrapped
 * values. */
#ifndef PT_BASE_SCAN_H
#define PT_BASE_SCAN_H

#include "base/attr.h"
#include "base/str.h"

#include <stdint.h>

struct pt_scan {
    const char *at, *end;
    bool failed;
};

static inline struct pt_scan pt_scan_of(struct pt_str text) {
    return (struct pt_scan){ .at = text.at, .end = pt_str_end(text) };
}

static inline struct pt_str pt_scan_rest(const struct pt_scan *s) {
    return (struct pt_str){ s->at, (size_t)(s->end - s->at) };
}

/* The next line without its newline; false at the end of the text. */
static inline bool pt_scan_line(struct pt_scan *s, struct pt_scan *line) {
    if (s->at >= s->end)
        return false;
    const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
    line->at = s->at;
    line->end = newline ? newline : s->end;
    line->failed = false;
    s->at = newline ? newline + 1 : s->end;
    return true;
}

/* Skips blanks and tabs. */
static inline void pt_scan_blanks(struct pt_scan *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

/* Skips blanks, then consumes everything up to the next blank. Fails if there is no word. */
static inline struct pt_str pt_scan_word(struct pt_scan *s) {
    pt_scan_blanks(s);
    const char *start = s->at;
    while (s->at < s->end && *s->at != ' ' && *s->at != '\t' && *s->at != '\n')
        s->at++;
    if (s->failed || s->at == start) {
        s->failed = true;
        return PT_STR("");
    }
    return (struct pt_str){ start, (size_t)(s->at - start) };
}

static inline void pt_scan_skip(struct pt_scan *s, int words) {
    while (words-- > 0)
        (void)pt_scan_word(s);
}

/* Consumes everything up to and including `stop`; returns it without `stop`. Fails without a
 * `stop`. */
static inline struct pt_str pt_scan_until(struct pt_scan *s, char stop) {
    const char *found = s->failed ? NULL : memchr(s->at, stop, (size_t)(s->end - s->at));
    if (!found) {
        s->failed = true;
        return PT_STR("");
    }
    struct pt_str taken = { s->at, (size_t)(found - s->at) };
    s->at = found + 1;
    return taken;
}

/* Consumes `text` if it is next. */
static inline bool pt_scan_take(struct pt_scan *s, struct pt_str text) {
    if (s->failed || !pt_str_starts(pt_scan_rest(s), text))
        return false;
    s->at += text.len;
    return true;
}

/* Unsigned decimal; at least one digit. Stops at the first other character. */
static inline uint64_t pt_scan_u64(struct pt_scan *s) {
    pt_scan_blanks(s);
    const char *p = s->at;
    uint64_t value = 0;
    unsigned digit;
    while (p < s->end && (digit = (unsigned)(*p - '0')) <= 9) {
        if (PT_UNLIKELY(value >= UINT64_MAX / 10) && value > (UINT64_MAX - digit) / 10) {
            s->failed = true;
            return 0;
        }
        value = value * 10 + digit;
        p++;
    }
    if (p == s->at || s->failed) {
        s->failed = true;
        return 0;
    }
    s->at = p;
    return value;
}

static inline int64_t pt_scan_i64(struct pt_scan *s) {
    pt_scan_blanks(s);
    bool negative = s->at < s->end && *s->at == '-';
    if (negative)
        s->at++;
    if (negative && (s->at == s->end || *s->at < '0' || *s->at > '9'))
        s->failed = true;
    uint64_t magnitude = pt_scan_u64(s);
    if (magnitude > (uint64_t)INT64_MAX + negative) {
        s->failed = true;
        return 0;
    }
    return negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
}

uint64_t pt_scan_hex(struct pt_scan *s);
/* Decimal fraction as the kernel and people write it: 12, 0.25, -3.5, 1e9. */
double pt_scan_f64(struct pt_scan *s);

#endif
