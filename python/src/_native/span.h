/* python/src/_native/span.h -- the object of a span, for the files that allocate it.
 *
 * An object may be entered again while it is open: by recursion, or by several threads. Each enter
 * is an `open`; an exit belongs to the newest open of its thread. */
#ifndef PITOT_NATIVE_SPAN_H
#define PITOT_NATIVE_SPAN_H

#include "native.h"

#include <structmember.h>

typedef PyObject *native_vector(PyObject *self, PyObject *const *values, size_t n, PyObject *names);

struct native_open {
    pt_span span;       /* name 0: recording was off */
    const char *thread; /* that entered, see thread_mark in span.c */
    PyObject *token;    /* of the request, or NULL */
};

struct native_span {
    PyObject head;
    PyObject *name;           /* str */
    PyObject *text;           /* str: the argument; or NULL */
    pt_span model;            /* argument, request and flags */
    pt_name name_id, text_id; /* 0: not looked up yet */
    uint32_t open_count, more_capacity;
    struct native_open first;
    struct native_open *more; /* all but the first */
    native_vector *call;      /* see block_full.c */
};

/* Zeroes everything after the head. */
static inline void native_span_blank(struct native_span *span) {
    const size_t head = offsetof(struct native_span, name);
    memset((char *)span + head, 0, sizeof *span - head);
}

/* span.c: for `with`. */
PyObject *native_span_enter(PyObject *self);
PyObject *native_span_exit(PyObject *self);

/* block_*.c: how `with` calls them, and the call as a decorator. */
int native_span_add_block(PyTypeObject *type);
PyObject *native_span_call(PyObject *self, PyObject *args, PyObject *dict);
extern PyMemberDef native_span_members[];
extern native_vector *const native_span_vector;
#ifdef Py_LIMITED_API
#define NATIVE_SPAN_FLAGS 0
#else
#define NATIVE_SPAN_FLAGS Py_TPFLAGS_HAVE_VECTORCALL
#endif

#endif
