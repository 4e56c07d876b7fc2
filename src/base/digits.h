/* base/digits.h -- numbers to decimal text, fast and exact. */
#ifndef PT_BASE_DIGITS_H
#define PT_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define PT_DIGITS_MAX 32

/* All return the length of the text, which is not terminated; bytes behind it, up to
 * PT_DIGITS_MAX in all, may be overwritten. */
size_t pt_digits_i64(char *into, int64_t value);
size_t pt_digits_u64(char *into, uint64_t value);
/* The shortest decimal that reads back as the same (finite) double, and of those the nearest. */
size_t pt_digits_f64(char *into, double value);

#endif
