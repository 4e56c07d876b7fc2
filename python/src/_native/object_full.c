/* A free list of spans, which are created by the million. The GIL guards the list; free-threaded
 * interpreters have an allocator that needs no such list. */
#include "span.h"

#define KEPT 64

static struct native_span *new_object(PyTypeObject *type) {
    struct native_span *span = PyObject_New(struct native_span, type);
    if (!span)
        return NULL;
    native_span_blank(span);
    span->call = native_span_vector;
    return span;
}

#ifdef Py_GIL_DISABLED
struct native_span *native_span_allocate(PyTypeObject *type) {
    return new_object(type);
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    PyObject_Free(span);
    Py_DECREF(type);
}
#else
static struct native_span *kept[KEPT]; /* they keep their reference to the type */
static int kept_count;

struct native_span *native_span_allocate(PyTypeObject *type) {
    if (kept_count == 0)
        return new_object(type);
    struct native_span *span = kept[--kept_count];
    _Py_NewReference((PyObject *)span);
    return span;
}

/* Most spans have neither work nor nesting, so little must be zeroed. */
static void make_blank(struct native_span *span) {
    if (span->model.flags)
        span->model = (pt_span){ 0 };
    span->text = NULL;
    span->name_id = span->text_id = 0;
    span->more = NULL;
    span->more_capacity = 0;
}

void native_span_free(struct native_span *span, PyTypeObject *type) {
    if (kept_count < KEPT) {
        make_blank(span);
        kept[kept_count++] = span;
        return;
    }
    PyObject_Free(span);
    Py_DECREF(type);
}
#endif
