/* libpitot/trace_export.h -- a trace of some of the spans that the process holds. */
#ifndef PT_LIBPITOT_TRACE_EXPORT_H
#define PT_LIBPITOT_TRACE_EXPORT_H

#include "base/attr.h"

#include <stdint.h>

/* Spans from number `from` of libpitot/span_history.h on; otherwise as pt_write_trace(). */
int pt_trace_write_since(const char *path, uint64_t from) PT_MUST_CHECK;

#endif
