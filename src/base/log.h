/* base/log.h -- one line to stderr: "pitot: warning: what happened".
 *
 * State changes are logged, repetitions are not. Levels: -q errors only,
 * default warnings, -v information, -vv debugging. */
#ifndef PT_BASE_LOG_H
#define PT_BASE_LOG_H

#include "base/attr.h"

#include <stdbool.h>

enum pt_log_level { PT_LOG_ERROR, PT_LOG_WARNING, PT_LOG_INFO, PT_LOG_DEBUG };

extern enum pt_log_level pt_log_level;

/* A line that stderr cannot take at once is dropped: the recording does not wait for whoever
 * reads it. */
void pt_log(enum pt_log_level level, const char *format, ...) PT_PRINTF(2, 3);

/* Can stderr take a page of text? A full pipe or a stopped terminal cannot. Waits at most so
 * long for it. */
bool pt_log_is_ready(int timeout_ms);

#define PT_LOG_PATIENCE_MS 1000 /* for whoever reads what is printed at the end of a run */

/* Called before and after each line, so that a status line can step aside. */
extern void (*pt_log_hook)(void);

#endif
