#include "base/log.h"

#include "base/mask.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 1024

enum pt_log_level pt_log_level = PT_LOG_WARNING;
void (*pt_log_hook)(void);

bool pt_log_is_ready(int timeout_ms) {
    struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
    return poll(&p, 1, timeout_ms) == 1;
}

/* The text has space for one more byte. */
static void write_line(char *text) {
    size_t n = strlen(text);
    text[n] = '\n';
    (void)!write(STDERR_FILENO, text, n + 1);
}

void pt_log(enum pt_log_level level, const char *format, ...) {
    static const char *const names[] = { "audit: ", "error: ", "warning: ", "", "debug: " };
    if (level > pt_log_level)
        return;

    int saved_errno = errno;
    char line[LINE_BYTES];
    int n = snprintf(line, sizeof line, "pitot: %s", names[level + 1]);
    va_list args;
    va_start(args, format);
    pt_mask_message(line + n, sizeof line - 1 - (size_t)n, format, args);
    va_end(args);
    if (pt_log_is_ready(0)) {
        if (pt_log_hook)
            pt_log_hook();
        write_line(line);
    }
    errno = saved_errno;
}

void pt_say(const char *format, ...) {
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    pt_mask_message(line, sizeof line - 1, format, args);
    va_end(args);
    write_line(line);
}
