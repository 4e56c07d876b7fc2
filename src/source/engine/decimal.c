#include "source/engine/decimal.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

#define DIGITS_IN_A_WORD 19 /* this many decimal digits always fit into 64 bits */
#define EXACT_INTEGER    (UINT64_C(1) << 53)
#define EXACT_POWER      22 /* 10^22 is the largest power of ten that is a double */
#define WORD_POWER       19 /* and 10^19 the largest in 64 bits */

static const double double_powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static const uint64_t word_powers[WORD_POWER + 1] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
    UINT64_C(10000000000000000000),
};

/* Rounds half to even: 64 bits with the top bit set, and whether anything was cut off below, times
 * 2^exponent. Not for results near the ends of the range of a double. */
static double rounded(uint64_t bits, bool has_rest, int exponent) {
    uint64_t mantissa = bits >> 11, rest = bits & 0x7ff;
    if (rest > 0x400 || (rest == 0x400 && (has_rest || mantissa & 1)))
        mantissa++;
    /* The top bit of the mantissa, and a carry out of it, add to the exponent. */
    uint64_t word = ((uint64_t)(exponent + 11 + 52 + 1023 - 1) << 52) + mantissa;
    double value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static double multiplied(uint64_t digits, unsigned power) {
    unsigned __int128 product = (unsigned __int128)digits * word_powers[power];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if (high == 0) {
        int shift = __builtin_clzll(low);
        return rounded(low << shift, false, -shift);
    }
    int shift = __builtin_clzll(high);
    product <<= shift;
    return rounded((uint64_t)(product >> 64), (uint64_t)product != 0, 64 - shift);
}

static double divided(uint64_t digits, unsigned power) {
    int shift = __builtin_clzll(digits);
    unsigned __int128 dividend = (unsigned __int128)(digits << shift) << 64;
    unsigned __int128 quotient = dividend / word_powers[power];
    bool has_rest = quotient * word_powers[power] != dividend;
    uint64_t high = (uint64_t)(quotient >> 64);
    int exponent = -64 - shift;
    if (high == 0) { /* the dividend is at least 2^127, so at most one bit is missing */
        int gap = __builtin_clzll((uint64_t)quotient);
        return rounded((uint64_t)quotient << gap, has_rest, exponent - gap);
    }
    int gap = __builtin_clzll(high);
    quotient <<= gap;
    has_rest |= (uint64_t)quotient != 0;
    return rounded((uint64_t)(quotient >> 64), has_rest, exponent - gap + 64);
}

static bool from_library(struct pt_str text, double *value) {
    char copy[PT_DECIMAL_MAX + 1], *end;
    if (text.len > PT_DECIMAL_MAX)
        return false;
    pt_str_copy(copy, sizeof copy, text);
    *value = strtod(copy, &end);
    return end == copy + text.len && isfinite(*value);
}

/* Eight bytes; those after the end are not digits. */
static inline uint64_t load(const char *p, const char *end) {
    uint64_t word = 0;
    size_t n = (size_t)(end - p);
    if (PT_UNLIKELY(n < sizeof word))
        memcpy(&word, p, n);
    else
        memcpy(&word, p, sizeof word);
    return word;
}

/* No loop over digits: its last iteration would be mispredicted. */
static inline const char *take_digits(const char *p, const char *end, uint64_t *digits) {
    for (;;) {
        uint64_t word = load(p, end);
        unsigned count = pt_decimal_digit_count(word);
        if (count > 0)
            *digits = *digits * word_powers[count] + pt_decimal_digits(word, count);
        p += count;
        if (count < 8)
            return p;
    }
}

static inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Skips "e+06"; does not move if it is not an exponent. */
static const char *take_exponent(const char *p, const char *end, int *exponent) {
    const char *start = p++;
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    const char *first = p;
    int value = 0;
    for (; p < end && is_digit(*p); p++)
        if (value < 100000)
            value = value * 10 + (*p - '0');
    if (p == first)
        return start;
    *exponent += is_negative ? -value : value;
    return p;
}

size_t pt_decimal_scan_any(struct pt_str text, double *value) {
    const char *p = text.at, *end = text.at + text.len;
    bool is_negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    uint64_t digits = 0;
    const char *start = p;
    p = take_digits(p, end, &digits);
    ptrdiff_t count = p - start;
    int exponent = 0;
    if (end - p > 2 && p[0] == '.' && p[1] == '0' && !is_digit(p[2])) {
        p += 2; /* whole number as Python writes it */
    } else if (p < end && *p == '.') {
        const char *point = p++;
        p = take_digits(p, end, &digits);
        count += p - point - 1;
        exponent = (int)(point + 1 - p);
    }
    if (count == 0)
        return 0;
    if (p < end && (*p | 0x20) == 'e')
        p = take_exponent(p, end, &exponent);
    size_t len = (size_t)(p - text.at);
    double magnitude;
    if (count > DIGITS_IN_A_WORD)
        return from_library((struct pt_str){ text.at, len }, value) ? len : 0;
    if (digits <= EXACT_INTEGER && exponent == 0)
        magnitude = (double)digits;
    else if (digits == 0)
        magnitude = 0;
    else if (digits <= EXACT_INTEGER && exponent <= 0 && exponent >= -EXACT_POWER)
        magnitude = (double)digits / double_powers[-exponent];
    else if (digits <= EXACT_INTEGER && exponent > 0 && exponent <= EXACT_POWER)
        magnitude = (double)digits * double_powers[exponent];
    else if (exponent <= 0 && exponent >= -WORD_POWER)
        magnitude = divided(digits, (unsigned)-exponent);
    else if (exponent > 0 && exponent <= WORD_POWER)
        magnitude = multiplied(digits, (unsigned)exponent);
    else
        return from_library((struct pt_str){ text.at, len }, value) ? len : 0;
    *value = is_negative ? -magnitude : magnitude;
    return len;
}

static bool is_word(struct pt_str text, const char *word) {
    return text.len == strlen(word) && strncasecmp(text.at, word, text.len) == 0;
}

bool pt_decimal_parse(struct pt_str text, double *value) {
    if (text.len > 0 && pt_decimal_scan(text, value) == text.len)
        return true;
    if (is_word(text, "nan")) {
        *value = NAN;
        return true;
    }
    bool is_signed = text.len > 0 && (text.at[0] == '+' || text.at[0] == '-');
    struct pt_str rest = pt_str_skip(text, is_signed);
    if (!is_word(rest, "inf") && !is_word(rest, "infinity"))
        return false;
    *value = text.at[0] == '-' ? -INFINITY : INFINITY;
    return true;
}

/* Go requires the exponent of a hexadecimal number, C does not. */
static bool is_hexadecimal(struct pt_str text) {
    bool is_signed = text.len > 0 && (text.at[0] == '+' || text.at[0] == '-');
    struct pt_str rest = pt_str_skip(text, is_signed);
    return rest.len > 2 && rest.at[0] == '0' && (rest.at[1] | 0x20) == 'x' &&
           (memchr(rest.at, 'p', rest.len) || memchr(rest.at, 'P', rest.len));
}

bool pt_decimal_parse_go(struct pt_str text, double *value) {
    if (pt_decimal_parse(text, value))
        return true;
    return is_hexadecimal(text) && from_library(text, value);
}
