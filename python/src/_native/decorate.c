/* Spans and timers are decorators as well; the functions around functions are Python. */
#include "native.h"

/* wrap(function, self.method): each call gets an object of its own. */
PyObject *native_decorate(PyObject *self, const char *method, PyObject *function) {
    PyObject *module = PyImport_ImportModule("pitot.decorate");
    PyObject *make = module ? PyObject_GetAttrString(self, method) : NULL;
    PyObject *wrapped = make ? PyObject_CallMethod(module, "wrap", "OO", function, make) : NULL;
    Py_XDECREF(make);
    Py_XDECREF(module);
    return wrapped;
}
