/* monitor/trace.h -- a trace of some of the spans that the process holds. */
#ifndef PT_MONITOR_TRACE_H
#define PT_MONITOR_TRACE_H

#include "base/attr.h"

#include <stdint.h>

/* Of the spans from number `from` of monitor/history.h on; else as pt_write_trace(). */
int pt_trace_write_since(const char *path, uint64_t from) PT_MUST_CHECK;

#endif
