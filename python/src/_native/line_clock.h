/* python/src/_native/line_clock.h -- time and hits of the lines of selected code objects. */
#ifndef PITOT_NATIVE_LINE_CLOCK_H
#define PITOT_NATIVE_LINE_CLOCK_H

#include "native.h"

struct native_line_clock;

/* Other code objects are ignored. */
void native_line_enter(struct native_line_clock *clock, PyObject *code);
void native_line_reach(struct native_line_clock *clock, PyObject *code, int line);
void native_line_leave(struct native_line_clock *clock, PyObject *code);

/* line_trace_*.c: events of this thread, if the interpreter lets C receive them. */
bool native_line_trace_start(PyObject *clock);
void native_line_trace_stop(void);

#endif
