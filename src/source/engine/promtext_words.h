/* source/engine/promtext_words.h -- text eight bytes at a time, for promtext.c only: most of a
 * scrape is names and label values, which are skipped, compared and checked here. */
#ifndef PT_SOURCE_ENGINE_PROMTEXT_WORDS_H
#define PT_SOURCE_ENGINE_PROMTEXT_WORDS_H

#include "base/attr.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

/* Bytes after the end are newlines. */
static inline uint64_t load(const char *s, const char *end) {
    uint64_t word = EACH_BYTE('\n');
    size_t n = (size_t)(end - s);
    if (PT_UNLIKELY(n < sizeof word))
        memcpy(&word, s, n);
    else
        memcpy(&word, s, sizeof word);
    return word;
}

/* The top bit of each byte that is zero; bytes above the lowest such one may be marked wrongly. */
static inline uint64_t zero_bytes(uint64_t word) {
    return (word - EACH_BYTE(1)) & ~word & EACH_BYTE(0x80);
}

/* Quotes, backslashes and newlines, marked in the same way. */
static inline uint64_t special_bytes(uint64_t word) {
    return zero_bytes(word ^ EACH_BYTE('"')) | zero_bytes(word ^ EACH_BYTE('\\')) |
           zero_bytes(word ^ EACH_BYTE('\n'));
}

/* The top bit of each byte between `low` and `high`; top bits of the word are clear. */
static inline uint64_t bytes_between(uint64_t word, uint8_t low, uint8_t high) {
    return (word + EACH_BYTE(0x80 - low)) & ~(word + EACH_BYTE(0x7f - high)) & EACH_BYTE(0x80);
}

/* How many of the first bytes are letters, digits, _ or : (which follows 9). */
static inline unsigned name_bytes(uint64_t word) {
    uint64_t ascii = word & EACH_BYTE(0x7f);
    uint64_t is_name = bytes_between(ascii | EACH_BYTE(0x20), 'a', 'z') |
                       bytes_between(ascii, '0', ':') | bytes_between(ascii, '_', '_');
    uint64_t stop = (~is_name | word) & EACH_BYTE(0x80);
    return stop ? (unsigned)__builtin_ctzll(stop) >> 3 : 8;
}

static inline bool has_high_bit(uint64_t word) {
    return (word & EACH_BYTE(0x80)) != 0;
}

/* The next special byte; ORs the words passed over into `seen`. */
static inline const char *find_special(const char *s, const char *end, uint64_t *seen) {
    for (;; s += 8) {
        uint64_t word = load(s, end), stop = special_bytes(word);
        *seen |= word;
        if (stop)
            return s + (__builtin_ctzll(stop) >> 3);
    }
}

static inline uint64_t difference(const char *a, const char *b) {
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

/* How many bytes, at most `max`, equal those at an earlier position. */
static inline size_t common_length(const char *s, const char *end, const char *earlier,
                                   size_t max) {
    size_t n = 0, left = (size_t)(end - s);
    for (; n < max && n + 8 <= left; n += 8) {
        uint64_t d = difference(s + n, earlier + n);
        if (d) {
            n += (size_t)__builtin_ctzll(d) >> 3;
            return n < max ? n : max;
        }
    }
    while (PT_UNLIKELY(n < max && n < left) && s[n] == earlier[n])
        n++;
    return n < max ? n : max;
}

typedef uint64_t two_words __attribute__((vector_size(16)));

static inline two_words differences(const char *a, const char *b) {
    two_words x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x ^ y;
}

/* Compares the two ends first, which may overlap, then the rest between them. No branch depends on
 * where the texts differ. */
static inline bool is_equal(const char *a, const char *b, size_t len) {
    if (PT_UNLIKELY(len < 32))
        return memcmp(a, b, len) == 0;
    two_words d = differences(a, b) | differences(a + 16, b + 16) |
                  differences(a + len - 32, b + len - 32) | differences(a + len - 16, b + len - 16);
    for (size_t n = 32; n + 32 < len; n += 16)
        d |= differences(a + n, b + n);
    return (d[0] | d[1]) == 0;
}

#endif
