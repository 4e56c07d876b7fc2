/* source/engine/decimal.h -- decimal text to the nearest double: always correctly rounded, and
 * fast.
 *
 *     0.0   162.0   8.128902e+06   0.31326723098754883   1.7268398130168908e+09 */
#ifndef PT_SOURCE_ENGINE_DECIMAL_H
#define PT_SOURCE_ENGINE_DECIMAL_H

#include "base/attr.h"
#include "base/str.h"

#include <stdint.h>

/* Longer numbers are rejected. */
#define PT_DECIMAL_MAX          512

#define PT_DECIMAL_BYTES_(byte) (UINT64_C(0x0101010101010101) * (uint8_t)(byte))

/* How many of the first (lowest) of eight bytes are digits. A byte is a digit if its high half is
 * 3, also after 6 is added; a carry reaches only bytes above the first other byte. */
static inline unsigned pt_decimal_digit_count(uint64_t word) {
    uint64_t high = PT_DECIMAL_BYTES_(0xf0), three = PT_DECIMAL_BYTES_(0x30);
    uint64_t odd = ((word & high) ^ three) | (((word + PT_DECIMAL_BYTES_(6)) & high) ^ three);
    return odd ? (unsigned)__builtin_ctzll(odd) >> 3 : 8;
}

/* The number in the first `count` (1 to 8) of eight bytes: pairs, fours, all. */
static inline uint64_t pt_decimal_digits(uint64_t word, unsigned count) {
    word = (word & PT_DECIMAL_BYTES_(0x0f)) << (64 - 8 * count);
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (word * 10000 + (word >> 32)) & UINT32_MAX;
}

size_t pt_decimal_scan_any(struct pt_str text, double *value);

/* [sign] digits [. digits] [e [sign] digits] at the start of the text. Returns the number of bytes
 * used; 0 if there is no number or it is too large for a double. */
static inline size_t pt_decimal_scan(struct pt_str text, double *value) {
    uint64_t word;
    if (PT_UNLIKELY(text.len < sizeof word))
        return pt_decimal_scan_any(text, value);
    memcpy(&word, text.at, sizeof word);
    unsigned count = pt_decimal_digit_count(word);
    if (count == 0 || count > 5)
        return pt_decimal_scan_any(text, value);
    /* Most numbers are small and whole: "37\n" or "37.0\n". */
    uint64_t rest = word >> (8 * count);
    unsigned fraction = (rest & 0xffff) == ('.' | '0' << 8) ? 2 : 0;
    uint8_t after = (uint8_t)(rest >> (8 * fraction));
    if (after != '\n' && after != ' ')
        return pt_decimal_scan_any(text, value);
    *value = (double)pt_decimal_digits(word, count);
    return count + fraction;
}

/* The whole text: a decimal, or (any case) [sign] inf, [sign] infinity, nan. */
bool pt_decimal_parse(struct pt_str text, double *value);

/* The whole text as Go's ParseFloat accepts it: all of the above and 0x1.8p-3. */
bool pt_decimal_parse_go(struct pt_str text, double *value);

#endif
