#include "base/digits.h"

#include "base/attr.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The eight decimal digits of a number below 10^8 as bytes 0 to 9, the first digit in the lowest
 * byte. Each step divides all parts of the word at once; the factors are 1/100 and 1/10 in fixed
 * point, exact for these ranges. */
static inline uint64_t eight_digits(uint64_t value) {
    uint64_t fours = value / 10000 | value % 10000 << 32;
    uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (fours - hundreds * 100) << 16;
    uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (pairs - tens * 10) << 8;
}

#define ASCII_ZEROS UINT64_C(0x3030303030303030)

/* Always stores eight bytes; returns how many of them are digits. */
static inline size_t up_to_eight(char *into, uint64_t value) {
    uint64_t digits = eight_digits(value);
    unsigned leading_bits = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) & ~7u;
    digits = (digits | ASCII_ZEROS) >> leading_bits;
    memcpy(into, &digits, sizeof digits);
    return 8 - leading_bits / 8;
}

static inline size_t exactly_eight(char *into, uint64_t value) {
    uint64_t digits = eight_digits(value) | ASCII_ZEROS;
    memcpy(into, &digits, sizeof digits);
    return sizeof digits;
}

size_t pt_digits_u64(char *into, uint64_t value) {
    const uint64_t eight = UINT64_C(100000000), sixteen = eight * eight;
    size_t n;
    if (value < eight)
        return up_to_eight(into, value);
    if (value < sixteen) {
        n = up_to_eight(into, value / eight);
    } else {
        n = up_to_eight(into, value / sixteen);
        n += exactly_eight(into + n, value / eight % eight);
    }
    return n + exactly_eight(into + n, value % eight);
}

size_t pt_digits_i64(char *into, int64_t value) {
    if (value >= 0)
        return pt_digits_u64(into, (uint64_t)value);
    *into = '-';
    return 1 + pt_digits_u64(into + 1, 0 - (uint64_t)value);
}

#define MANTISSA_BITS 52
#define MANTISSA_MASK ((UINT64_C(1) << MANTISSA_BITS) - 1)
#define EXPONENT_BIAS 1075 /* with the mantissa as an integer */

/* Fractions are in units of 2^-60, which leaves four bits above for a digit and the error. */
#define POINT 60
#define ONE   (UINT64_C(1) << POINT)

/* The shortest decimals that are nearer to `fraction` than to the neighbouring doubles (Steele and
 * White's fixed-point algorithm): it emits digits until the rest, or the distance to the next
 * digit, is less than half the distance to a neighbour. All steps are exact. */
static inline size_t fraction_digits(char *into, uint64_t fraction, uint64_t half_way) {
    char *p = into;
    do {
        fraction *= 10;
        half_way *= 10;
        *p++ = (char)('0' + (fraction >> POINT));
        fraction &= ONE - 1;
        /* One comparison for both sides: two branches would be mispredicted half the time. */
    } while ((fraction + half_way - 1) % ONE >= 2 * half_way - 1);
    bool is_odd = p[-1] & 1; /* a tie goes to the even digit */
    p[-1] = (char)(p[-1] + (fraction + is_odd > ONE / 2));
    return (size_t)(p - into);
}

/* Most gauges are below 100. */
static inline size_t integer_digits(char *into, uint64_t integer) {
    if (integer >= 100)
        return pt_digits_u64(into, integer);
    char *p = into;
    if (integer >= 10)
        *p++ = (char)('0' + integer / 10);
    *p++ = (char)('0' + integer % 10);
    return (size_t)(p - into);
}

/* The value mantissa / 2^scale, scale below POINT. */
static size_t fixed_point(char *into, uint64_t mantissa, unsigned scale) {
    uint64_t integer = mantissa >> scale;
    uint64_t fraction = mantissa - (integer << scale);
    char *p = into + integer_digits(into, integer);
    if (fraction == 0)
        return (size_t)(p - into);
    *p++ = '.';
    p += fraction_digits(p, fraction << (POINT - scale), ONE / 2 >> scale);
    return (size_t)(p - into);
}

#define SMALL    (1.0 / 256)
#define DECIMALS 9

/* Nanoseconds as seconds: a whole number of billionths below 1/256 has at most seven digits, and
 * numbers with so few digits are distinct doubles. 0: not a whole number of billionths, or too
 * large. */
static size_t billionths(char *into, double value) {
    uint64_t count = value > 0 && value < SMALL ? (uint64_t)(value * 1e9 + 0.5) : 0;
    if (count == 0 || (double)count / 1e9 != value)
        return 0;
    memcpy(into, "0.", 2);
    char *end = into + 2 + DECIMALS;
    for (char *p = end; p > into + 2; count /= 10)
        *--p = (char)('0' + count % 10);
    while (end[-1] == '0')
        end--;
    return (size_t)(end - into);
}

/* By trial; for very large values and those below 1/256. */
static PT_COLD size_t shortest_printf(char *into, double value) {
    char text[PT_DIGITS_MAX];
    int length = 0;
    for (int precision = 15; precision <= 17; precision++) {
        length = snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    memcpy(into, text, (size_t)length);
    return (size_t)length;
}

size_t pt_digits_f64(char *into, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & MANTISSA_MASK;
    int exponent = (int)(bits >> MANTISSA_BITS & 0x7ff);
    int scale = EXPONENT_BIAS - exponent;
    bool is_zero = bits << 1 == 0;
    if (!is_zero && (scale < 0 || scale >= POINT)) {
        size_t length = billionths(into, value);
        return length > 0 ? length : shortest_printf(into, value);
    }
    size_t sign = bits >> 63;
    *into = '-';
    if (is_zero)
        return sign + pt_digits_u64(into + sign, 0);
    return sign + fixed_point(into + sign, mantissa | (MANTISSA_MASK + 1), (unsigned)scale);
}
