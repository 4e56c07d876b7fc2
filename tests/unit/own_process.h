/* tests/unit/own_process.h -- a test whose program is a child, so that its region and switches are
 * its own. */
#ifndef PT_OWN_PROCESS_H
#define PT_OWN_PROCESS_H

#include "test.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

static inline pid_t start_child(void (*program)(void)) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        program();
        _exit(0);
    }
    return pid;
}

static inline void run_child(void (*program)(void)) {
    int status;
    assert_int_equal(waitpid(start_child(program), &status, 0) > 0, 1);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* For use in children, where cmocka's own has no way back. */
static inline void expect_at(bool is_so, int line) {
    if (!is_so) {
        fprintf(stderr, "child: line %d\n", line);
        _exit(1);
    }
}
#define expect(condition) expect_at(condition, __LINE__)

/* The number behind a key of a file, such as "VmRSS:" of /proc/self/status; NAN: there is none. */
static inline double own_value(const char *path, const char *key) {
    char line[256];
    double value = NAN;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtod(line + strlen(key), NULL);
    if (file)
        fclose(file);
    return value;
}

static inline double own_rss_mb(void) {
    return own_value("/proc/self/status", "VmRSS:") / 1024;
}

#endif
