/* base/log.h -- one line to stderr: "pitot: warning: what happened".
 *
 * State changes are logged, repetitions are not. Levels: -q errors only,
 * default warnings, -v information, -vv debugging. */
#ifndef PT_BASE_LOG_H
#define PT_BASE_LOG_H

#include "base/attr.h"

enum pt_log_level { PT_LOG_ERROR, PT_LOG_WARNING, PT_LOG_INFO, PT_LOG_DEBUG };

extern enum pt_log_level pt_log_level;

void pt_log(enum pt_log_level level, const char *format, ...) PT_PRINTF(2, 3);

/* Called before and after each line, so that a status line can step aside. */
extern void (*pt_log_hook)(void);

#endif
