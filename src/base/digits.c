#include "base/digits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static size_t digits_u64(char *into, uint64_t value) {
    char text[20], *p = text + sizeof text;
    while (value >= 100) {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + value * 2, 2);
    } else {
        *--p = (char)('0' + value);
    }
    size_t n = (size_t)(text + sizeof text - p);
    memcpy(into, p, n);
    return n;
}

size_t pt_digits_i64(char *into, int64_t value) {
    if (value >= 0)
        return digits_u64(into, (uint64_t)value);
    *into = '-';
    return 1 + digits_u64(into + 1, 0 - (uint64_t)value);
}

/* Most measured values have few decimals: scaled by a power of ten they are
 * integers below 2^53, and dividing back is correctly rounded, so equality
 * proves that the short text is exact. Returns 0 where that does not hold. */
static size_t short_decimal(char *into, double value) {
    static const double powers[] = { 1, 10, 100, 1e3, 1e4, 1e5, 1e6 };
    double magnitude = fabs(value);
    for (unsigned decimals = 0; decimals < sizeof powers / sizeof *powers; decimals++) {
        double scaled = magnitude * powers[decimals];
        if (scaled >= 9007199254740992.0)
            return 0;
        uint64_t integer = (uint64_t)(scaled + 0.5);
        if ((double)integer / powers[decimals] != magnitude)
            continue;
        char *p = into;
        if (signbit(value))
            *p++ = '-';
        uint64_t unit = (uint64_t)powers[decimals];
        p += digits_u64(p, integer / unit);
        if (decimals == 0)
            return (size_t)(p - into);
        uint64_t fraction = integer % unit;
        *p++ = '.';
        for (unsigned i = decimals; i-- > 0; fraction /= 10)
            p[i] = (char)('0' + fraction % 10);
        return (size_t)(p - into) + decimals;
    }
    return 0;
}

size_t pt_digits_f64(char *into, double value) {
    size_t n = short_decimal(into, value);
    for (int precision = 15; n == 0 && precision <= 17; precision++) {
        char text[PT_DIGITS_MAX];
        int length = snprintf(text, sizeof text, "%.*g", precision, value);
        if (precision < 17 && strtod(text, NULL) != value)
            continue;
        n = (size_t)length;
        memcpy(into, text, n);
    }
    return n;
}
