/* base/digits.h -- numbers to decimal text, fast and exact. */
#ifndef PT_BASE_DIGITS_H
#define PT_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define PT_DIGITS_MAX 32

/* Both write at most PT_DIGITS_MAX bytes, unterminated, and return how many. */
size_t pt_digits_i64(char *into, int64_t value);
/* The shortest decimal that reads back as the same (finite) double. */
size_t pt_digits_f64(char *into, double value);

#endif
