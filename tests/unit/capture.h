/* tests/unit/capture.h -- captured data. Our own is in tests/fixtures; its README.md says where it
 * comes from. Captures that others published are in ../shared/fixtures, which an ordinary clone
 * does not have. Every test runs on our own data, and also on theirs if it is there. */
#ifndef PT_TEST_CAPTURE_H
#define PT_TEST_CAPTURE_H

#include "test.h"

#include <limits.h>
#include <unistd.h>

#define OURS   "tests/fixtures/"
#define THEIRS "../shared/fixtures/"

/* Writes the path of OURS "name" or THEIRS "name". False only if it is theirs and not present. */
static inline bool find_capture(const char *name, char path[PATH_MAX]) {
    const char *source = getenv("PITOT_SOURCE");
    assert_true(snprintf(path, PATH_MAX, "%s/%s", source ? source : ".", name) < PATH_MAX);
    bool is_there = access(path, R_OK) == 0;
    if (!is_there && strncmp(name, THEIRS, strlen(THEIRS)) != 0)
        fail_msg("%s is missing", path);
    return is_there;
}

#endif
