/* Like context_full.c, with the methods of contextvars.ContextVar. */
#include "native.h"

static PyObject *variable;
static int is_used; /* as in context_full.c; atomic */

static PyObject *make_variable(void) {
    PyObject *module = PyImport_ImportModule("contextvars");
    PyObject *made =
        module ? PyObject_CallMethod(module, "ContextVar", "s", "pitot_request") : NULL;
    Py_XDECREF(module);
    return made;
}

int native_context_init(void) {
    if (!variable)
        variable = make_variable();
    return variable ? 0 : -1;
}

struct native_request native_context_get(void) {
    struct native_request request = { 0 };
    if (!__atomic_load_n(&is_used, __ATOMIC_RELAXED))
        return request;
    PyObject *value = PyObject_CallMethod(variable, "get", "O", Py_None);
    if (value && value != Py_None) {
        request.id = PyLong_AsUnsignedLongLong(value);
        request.is_known = true;
    }
    if (!value)
        PyErr_Clear();
    Py_XDECREF(value);
    return request;
}

PyObject *native_context_set(uint64_t id) {
    __atomic_store_n(&is_used, 1, __ATOMIC_RELAXED);
    PyObject *token = PyObject_CallMethod(variable, "set", "K", (unsigned long long)id);
    if (!token)
        PyErr_Clear();
    return token;
}

void native_context_reset(PyObject *token) {
    PyObject *none = PyObject_CallMethod(variable, "reset", "O", token);
    if (!none)
        PyErr_Clear();
    Py_XDECREF(none);
    Py_DECREF(token);
}
