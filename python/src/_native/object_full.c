/* Spans come and go by the million: those that went are kept for those that come. The lock of the
 * interpreter guards the list; interpreters without one have an allocator that needs no help. */
#include "span.h"

#define KEPT 64

#ifdef Py_GIL_DISABLED
struct native_span *native_span_allocate(PyTypeObject *type) {
    return PyObject_New(struct native_span, type);
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    PyObject_Free(span);
    Py_DECREF(type);
}
#else
static struct native_span *kept[KEPT];
static int kept_count;

struct native_span *native_span_allocate(PyTypeObject *type) {
    if (kept_count == 0)
        return PyObject_New(struct native_span, type);
    return (struct native_span *)PyObject_Init((PyObject *)kept[--kept_count], type);
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    if (kept_count < KEPT)
        kept[kept_count++] = span;
    else
        PyObject_Free(span);
    Py_DECREF(type);
}
#endif
