/* As object_full.c, without a list. */
#include "span.h"

struct native_span *native_span_allocate(PyTypeObject *type) {
    return PyObject_New(struct native_span, type);
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    PyObject_Free(span);
    Py_DECREF(type);
}
