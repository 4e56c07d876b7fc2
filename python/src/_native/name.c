/* Numbers of texts in libpitot, cached so that a text is looked up by its content only once, then
 * by its hash. Only texts with a number are cached, and libpitot limits their count. */
#include "native.h"

static PyObject *names; /* dict: str to int; thread-safe by itself */

int native_name_init(void) {
    if (!names)
        names = PyDict_New();
    return names ? 0 : -1;
}

/* A new reference, or NULL. */
#if PY_VERSION_HEX >= 0x030d0000 && (!defined(Py_LIMITED_API) || Py_LIMITED_API >= 0x030d0000)
static PyObject *find(PyObject *text) {
    PyObject *number;
    if (PyDict_GetItemRef(names, text, &number) < 0)
        PyErr_Clear();
    return number;
}
#else
static PyObject *find(PyObject *text) {
    PyObject *number = PyDict_GetItemWithError(names, text);
    if (!number)
        PyErr_Clear();
    Py_XINCREF(number);
    return number;
}
#endif

static void keep(PyObject *text, pt_name name) {
    PyObject *number = PyLong_FromUnsignedLong(name);
    if (!number || PyDict_SetItem(names, text, number))
        PyErr_Clear();
    Py_XDECREF(number);
}

static pt_name make(PyObject *text) {
    PyObject *bytes = native_utf8(text);
    if (!bytes) {
        PyErr_Clear();
        return 0;
    }
    pt_name once = 0;
    pt_name name = pt_name_once(&once, PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    if (name)
        keep(text, name);
    return name;
}

pt_name native_name(PyObject *text) {
    PyObject *number = find(text);
    if (!number)
        return make(text);
    pt_name name = (pt_name)PyLong_AsUnsignedLong(number);
    Py_DECREF(number);
    return name;
}
