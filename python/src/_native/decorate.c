/* Spans and timers are also decorators; the wrappers themselves are Python. */
#include "native.h"

/* wrap(function, self.method): each call gets its own object. */
PyObject *native_decorate(PyObject *self, const char *method, PyObject *function) {
    PyObject *module = PyImport_ImportModule("pitot.decorate");
    PyObject *make = module ? PyObject_GetAttrString(self, method) : NULL;
    PyObject *wrapped = make ? PyObject_CallMethod(module, "wrap", "OO", function, make) : NULL;
    Py_XDECREF(make);
    Py_XDECREF(module);
    return wrapped;
}
