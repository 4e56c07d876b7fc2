/* libpitot never writes to the program's streams: what there is to say goes to its callback. */
#include "monitor/log.h"

#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

enum pt_log_level pt_log_level = PT_LOG_INFO;
void (*pt_log_hook)(void);

/* Both are one setting: a callback never gets another's argument. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pt_log_function *callback;
static void *callback_arg;

void pt_set_log(pt_log_function *log, void *arg) {
    pthread_mutex_lock(&lock);
    callback = log;
    callback_arg = arg;
    pthread_mutex_unlock(&lock);
}

static void say(int level, const char *format, va_list args) {
    pthread_mutex_lock(&lock);
    pt_log_function *call = callback;
    void *arg = callback_arg;
    pthread_mutex_unlock(&lock);
    if (!call)
        return;
    char text[512];
    vsnprintf(text, sizeof text, format, args);
    call(arg, level, text);
}

void pt_monitor_log(int level, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(level, format, args);
    va_end(args);
}

/* What the layers below have to say. */
void pt_log(enum pt_log_level level, const char *format, ...) {
    static const int levels[] = {
        [PT_LOG_ERROR] = PT_LEVEL_WARNING,
        [PT_LOG_WARNING] = PT_LEVEL_WARNING,
        [PT_LOG_INFO] = PT_LEVEL_INFO,
        [PT_LOG_DEBUG] = PT_LEVEL_DEBUG_PERFORMANCE,
    };
    va_list args;
    va_start(args, format);
    say(levels[level], format, args);
    va_end(args);
}
