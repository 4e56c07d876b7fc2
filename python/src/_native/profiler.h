/* python/src/_native/profiler.h -- a profiler and its operations, as objects. */
#ifndef PITOT_NATIVE_PROFILER_H
#define PITOT_NATIVE_PROFILER_H

#include "native.h"

#include <pitot/operation.h>

struct native_profiler {
    PyObject_HEAD pt_profiler *profiler;
};

/* operation.c: begins an operation, which holds a reference to the profiler. */
PyObject *native_operation_begin(struct native_profiler *profiler, const char *name);

/* performance.c: sections with their figures as dicts; unknown is None. */
PyObject *native_performance(const pt_performance *performance);

#endif
