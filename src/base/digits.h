/* base/digits.h -- converts numbers to decimal text, fast and exactly. */
#ifndef PT_BASE_DIGITS_H
#define PT_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

#define PT_DIGITS_MAX 32

/* All return the length of the text, which is not terminated. They may overwrite up to
 * PT_DIGITS_MAX bytes of `into`. */
size_t pt_digits_i64(char *into, int64_t value);
size_t pt_digits_u64(char *into, uint64_t value);
/* The shortest decimal that reads back as the same (finite) double; the nearest one if there are
 * several. */
size_t pt_digits_f64(char *into, double value);

#endif
