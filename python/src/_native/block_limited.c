/* Like block_full.c, with plain methods. */
#include "span.h"

static PyObject *enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_span_enter(self);
}

static PyObject *leave(PyObject *self, PyObject *args) {
    (void)args;
    return native_span_exit(self);
}

static PyMethodDef methods[] = {
    { "__enter__", enter, METH_NOARGS, NULL },
    { "__exit__", leave, METH_VARARGS, NULL },
};

int native_span_add_block(PyTypeObject *type) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        PyObject *method = PyDescr_NewMethod(type, &methods[i]);
        int rc = method ? PyObject_SetAttrString((PyObject *)type, methods[i].ml_name, method) : -1;
        Py_XDECREF(method);
        if (rc)
            return -1;
    }
    return 0;
}

PyMemberDef native_span_members[] = { { 0 } };

PyObject *native_span_call(PyObject *self, PyObject *args, PyObject *dict) {
    PyObject *function;
    if ((dict && PyDict_Size(dict) > 0) || !PyArg_ParseTuple(args, "O", &function)) {
        PyErr_SetString(PyExc_TypeError, "a span decorates one function");
        return NULL;
    }
    return native_decorate(self, "again", function);
}
