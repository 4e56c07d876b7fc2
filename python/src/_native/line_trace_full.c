/* Before 3.12 a trace function of C; from then on sys.monitoring, which pitot.line_profile sets up,
 * costs nothing in other code. */
#include "line_clock.h"

#if PY_VERSION_HEX < 0x030c0000

static int trace(PyObject *self, PyFrameObject *frame, int what, PyObject *unused) {
    (void)unused;
    struct native_line_clock *clock = (struct native_line_clock *)self;
    PyCodeObject *code = PyFrame_GetCode(frame);
    if (what == PyTrace_LINE)
        native_line_reach(clock, (PyObject *)code, PyFrame_GetLineNumber(frame));
    else if (what == PyTrace_CALL)
        native_line_enter(clock, (PyObject *)code);
    else if (what == PyTrace_RETURN)
        native_line_leave(clock, (PyObject *)code);
    Py_DECREF(code);
    return 0;
}

bool native_line_trace_start(PyObject *clock) {
    PyEval_SetTrace(trace, clock);
    return true;
}

void native_line_trace_stop(void) {
    PyEval_SetTrace(NULL, NULL);
}

#else

bool native_line_trace_start(PyObject *clock) {
    (void)clock;
    return false;
}

void native_line_trace_stop(void) {}

#endif
