/* Like object_full.c, without a free list. */
#include "span.h"

struct native_span *native_span_allocate(PyTypeObject *type) {
    struct native_span *span = PyObject_New(struct native_span, type);
    if (span)
        native_span_blank(span);
    return span;
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    PyObject_Free(span);
    Py_DECREF(type);
}
