/* `with span:` looks up __enter__ and __exit__ in the type and binds them. Binding methods would
 * create two objects, which cost more than everything else. These descriptors bind to the span
 * itself: it is called without arguments to enter, with three to exit, with one to decorate. */
#include "span.h"

struct block_method {
    PyObject head;
    PyObject *(*run)(PyObject *span);
};

static PyTypeObject *method_type;

/* type(span).__enter__ is not bound: contextlib.ExitStack calls it with the span. */
static PyObject *bind(PyObject *method, PyObject *span, PyObject *type) {
    (void)type;
    PyObject *bound = span ? span : method;
    Py_INCREF(bound);
    return bound;
}

static PyObject *call_unbound(PyObject *method, PyObject *args, PyObject *dict) {
    (void)dict;
    PyObject *span = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (!span || PyType_GetSlot(Py_TYPE(span), Py_tp_call) != (void *)native_span_call) {
        PyErr_SetString(PyExc_TypeError, "the first argument must be a span");
        return NULL;
    }
    return ((struct block_method *)method)->run(span);
}

static void dealloc(PyObject *method) {
    PyTypeObject *type = Py_TYPE(method);
    PyObject_Free(method);
    Py_DECREF(type);
}

static PyType_Slot slots[] = {
    { Py_tp_descr_get, bind },
    { Py_tp_call, call_unbound },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.block_method",
    .basicsize = sizeof(struct block_method),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

static int add(PyTypeObject *type, const char *name, PyObject *(*run)(PyObject *)) {
    struct block_method *method = PyObject_New(struct block_method, method_type);
    if (!method)
        return -1;
    method->run = run;
    int rc = PyObject_SetAttrString((PyObject *)type, name, (PyObject *)method);
    Py_DECREF(method);
    return rc;
}

int native_span_add_block(PyTypeObject *type) {
    if (method_type)
        return 0;
    method_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!method_type || add(type, "__enter__", native_span_enter))
        return -1;
    return add(type, "__exit__", native_span_exit);
}

static PyObject *call(PyObject *self, PyObject *const *values, size_t n, PyObject *names) {
    Py_ssize_t count = PyVectorcall_NARGS(n);
    if (count == 3)
        return native_span_exit(self);
    if (count == 0)
        return native_span_enter(self);
    if (count == 1 && !names)
        return native_decorate(self, "again", values[0]);
    PyErr_SetString(PyExc_TypeError, "a span decorates one function");
    return NULL;
}

native_vector *const native_span_vector = call;

PyMemberDef native_span_members[] = {
    { "__vectorcalloffset__", T_PYSSIZET, offsetof(struct native_span, call), READONLY, NULL },
    { 0 },
};

PyObject *native_span_call(PyObject *self, PyObject *args, PyObject *dict) {
    return PyVectorcall_Call(self, args, dict);
}
