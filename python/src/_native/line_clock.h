/* python/src/_native/line_clock.h -- time and hits of the lines of chosen code objects. */
#ifndef PITOT_NATIVE_LINE_CLOCK_H
#define PITOT_NATIVE_LINE_CLOCK_H

#include "native.h"

struct native_line_clock;

/* What is not one of the chosen codes is ignored. */
void native_line_enter(struct native_line_clock *clock, PyObject *code);
void native_line_reach(struct native_line_clock *clock, PyObject *code, int line);
void native_line_leave(struct native_line_clock *clock, PyObject *code);

/* line_trace_*.c: events of this thread, where the interpreter has a way for C to get them. */
bool native_line_trace_start(PyObject *clock);
void native_line_trace_stop(void);

#endif
