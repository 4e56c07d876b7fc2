/* The stable interface has no trace functions: pitot.line_profile uses those of Python. */
#include "line_clock.h"

bool native_line_trace_start(PyObject *clock) {
    (void)clock;
    return false;
}

void native_line_trace_stop(void) {}
