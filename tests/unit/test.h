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

/* qemu-user 7.2 lacks, and a program of ten lines shows each:
 *   - sub-reapers: prctl(PR_SET_CHILD_SUBREAPER) is EINVAL, orphans go to process 1;
 *   - clone3, and so CLONE_INTO_CGROUP: ENOSYS;
 *   - most of madvise: any advice "succeeds", MADV_POPULATE_WRITE gives no memory;
 *   - /proc/PID of the program: it tells of the emulator, and exe cannot be run. */
static inline bool is_emulated(void) {
    return getenv("PITOT_EMULATED") != NULL;
}

static inline void skip_if_emulated(void) {
    if (is_emulated())
        skip();
}

#endif
