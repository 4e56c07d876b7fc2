/* base/log.h -- one line to stderr: "pitot: warning: what happened".
 *
 * Log changes of state, not repetitions. Levels: -q errors only, default warnings, -v information,
 * -vv debugging. PT_LOG_AUDIT is always logged. */
#ifndef PT_BASE_LOG_H
#define PT_BASE_LOG_H

#include "base/attr.h"

#include <stdbool.h>

enum pt_log_level { PT_LOG_AUDIT = -1, PT_LOG_ERROR, PT_LOG_WARNING, PT_LOG_INFO, PT_LOG_DEBUG };

extern enum pt_log_level pt_log_level;

/* Drops the line if writing to stderr would block: a recording never waits for the reader. */
void pt_log(enum pt_log_level level, const char *format, ...) PT_PRINTF(2, 3);

/* A line to stderr that is an answer and not a message: "Wrote run.html". Never dropped. Both hide
 * secrets and show control characters of others (base/mask.h). */
void pt_say(const char *format, ...) PT_PRINTF(1, 2);

/* True if stderr accepts a page of text within the timeout; a full pipe or a stopped terminal does
 * not. */
bool pt_log_is_ready(int timeout_ms);

#define PT_LOG_PATIENCE_MS 1000 /* for the reader of the output at the end of a run */

/* Called before each line, so that a status line can be erased. */
extern void (*pt_log_hook)(void);

#endif
