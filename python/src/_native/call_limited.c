/* The stable interface of 3.9 passes a tuple and a dict: converts them to a vector. */
#include "native.h"

#define MAX_VALUES 32

struct vector {
    PyObject *values[MAX_VALUES]; /* borrowed */
    Py_ssize_t count;
};

static int add(struct vector *vector, PyObject *value) {
    if (vector->count == MAX_VALUES) {
        PyErr_SetString(PyExc_TypeError, "too many arguments");
        return -1;
    }
    vector->values[vector->count++] = value;
    return 0;
}

static int add_tuple(struct vector *vector, PyObject *tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); i++)
        if (add(vector, PyTuple_GetItem(tuple, i)))
            return -1;
    return 0;
}

/* The names, a new tuple; NULL and an exception. */
static PyObject *add_dict(struct vector *vector, PyObject *dict) {
    PyObject *names = PyTuple_New(PyDict_Size(dict));
    PyObject *name, *value;
    Py_ssize_t position = 0, i = 0;
    while (names && PyDict_Next(dict, &position, &name, &value)) {
        Py_INCREF(name);
        if (PyTuple_SetItem(names, i++, name) || add(vector, value))
            Py_CLEAR(names);
    }
    return names;
}

PyObject *native_spread(native_function *call, PyObject *self, PyObject *tuple, PyObject *dict) {
    struct vector vector = { .count = 0 };
    PyObject *names = NULL;
    if (add_tuple(&vector, tuple))
        return NULL;
    Py_ssize_t n = vector.count;
    if (dict && PyDict_Size(dict) > 0) {
        names = add_dict(&vector, dict);
        if (!names)
            return NULL;
    }
    PyObject *result = call(self, vector.values, n, names);
    Py_XDECREF(names);
    return result;
}
