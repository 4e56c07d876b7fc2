/* libpitot never writes to the program's streams: messages go to the program's callback. */
#include "libpitot/library_log.h"

#include "base/log.h"
#include "base/mask.h"
#include "libpitot/monitor_lock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum pt_log_level pt_log_level = PT_LOG_INFO;
void (*pt_log_hook)(void);

/* Guarded by libpitot/monitor_lock.h: both are one setting, so that a callback never gets another's
 * argument. */
static pt_log_function *callback;
static void *callback_arg;
static char kept[512]; /* the first warning issued without a callback */

void pt_set_log(pt_log_function *log, void *arg) {
    char text[sizeof kept] = "";
    pt_monitor_lock();
    callback = log;
    callback_arg = arg;
    if (log) {
        memcpy(text, kept, sizeof text);
        kept[0] = '\0';
    }
    pt_monitor_unlock();
    if (text[0])
        log(arg, PT_LEVEL_WARNING, text);
}

bool pt_monitor_is_logging(void) {
    pt_monitor_lock();
    bool is_logging = callback;
    pt_monitor_unlock();
    return is_logging;
}

static void say(int level, const char *format, va_list args) {
    char text[sizeof kept];
    pt_mask_message(text, sizeof text, format, args);
    pt_monitor_lock();
    pt_log_function *call = callback;
    void *arg = callback_arg;
    if (!call && level >= PT_LEVEL_WARNING && !kept[0])
        memcpy(kept, text, sizeof kept);
    pt_monitor_unlock();
    if (call)
        call(arg, level, text);
}

void pt_monitor_log(int level, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(level, format, args);
    va_end(args);
}

/* Messages of the lower layers. */
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
