#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum pt_log_level pt_log_level = PT_LOG_WARNING;
void (*pt_log_hook)(void);

bool pt_log_is_ready(int timeout_ms) {
    struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&p, 1, timeout_ms) == 1;
}

void pt_log(enum pt_log_level level, const char *format, ...) {
    static const char *const names[] = { "error: ", "warning: ", "", "debug: " };
    if (level > pt_log_level)
        return;

    int saved_errno = errno;
    char line[1024];
    int n = snprintf(line, sizeof line, "pitot: %s", names[level]);
    va_list args;
    va_start(args, format);
    n += vsnprintf(line + n, sizeof line - (size_t)n, format, args);
    va_end(args);
    if (n > (int)sizeof line - 2)
        n = (int)sizeof line - 2;
    line[n++] = '\n';

    if (pt_log_is_ready(0)) {
        if (pt_log_hook)
            pt_log_hook();
        (void)!write(STDERR_FILENO, line, (size_t)n);
    }
    errno = saved_errno;
}
