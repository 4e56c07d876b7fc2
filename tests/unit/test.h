/* tests/unit/test.h -- what every cmocka program here includes. */
#ifndef PT_TEST_H
#define PT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* Names of tests are sentences: PT_TEST(function, "a sentence"). */
#define PT_TEST(function, sentence) \
    { sentence, function, NULL, NULL, NULL }

/* Compares a struct pt_str with a literal. */
#define assert_str_eq(piece, literal) assert_str_eq_at((piece), (literal), __FILE__, __LINE__)

static inline void assert_str_eq_at(struct pt_str piece, const char *literal, const char *file,
                                    int line) {
    char copy[4096];
    _assert_string_equal(pt_str_copy(copy, sizeof copy, piece), literal, file, line);
}

/* Under qemu-user /proc tells of the emulator, not of the program it runs, and prctl knows no
 * sub-reapers. */
static inline void skip_if_emulated(void) {
    if (getenv("PITOT_EMULATED"))
        skip();
}

#endif
