/* libpitot/library_log.h -- a line for the program's own log, through the callback of
 * pt_set_log(). */
#ifndef PT_LIBPITOT_LIBRARY_LOG_H
#define PT_LIBPITOT_LIBRARY_LOG_H

#include "base/attr.h"

#include <pitot/config.h>

/* `level` is one of enum pt_level. Not on the recording path. The first warning without a callback
 * waits for one. */
void pt_monitor_log(int level, const char *format, ...) PT_PRINTF(2, 3);
/* False: there is no callback. */
bool pt_monitor_is_logging(void);

#endif
