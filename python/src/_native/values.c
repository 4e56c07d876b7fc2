/* Converts numbers and texts of Python to C. Bad values are not errors: measuring must never stop
 * the measured program. */
#include "native.h"

#include <math.h>

static bool from_long(PyObject *value, int64_t *into) {
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow) {
        *into = overflow > 0 ? INT64_MAX : INT64_MIN;
        return true;
    }
    *into = number;
    return true;
}

static bool from_double(double number, int64_t *into) {
    if (isnan(number))
        return false;
    if (number >= 0x1p63)
        *into = INT64_MAX;
    else if (number <= -0x1p63)
        *into = INT64_MIN;
    else
        *into = (int64_t)number;
    return true;
}

/* Integers of numpy and similar libraries have __index__. */
static bool from_index(PyObject *value, int64_t *into) {
    PyObject *number = PyNumber_Index(value);
    if (number) {
        bool is_known = from_long(number, into);
        Py_DECREF(number);
        return is_known;
    }
    PyErr_Clear();
    double real;
    return native_double(value, &real) && from_double(real, into);
}

bool native_integer(PyObject *value, int64_t *into) {
    return PyLong_Check(value) ? from_long(value, into) : from_index(value, into);
}

bool native_count(PyObject *value, uint64_t *into) {
    int64_t number;
    if (!native_integer(value, &number) || number < 0)
        return false;
    *into = (uint64_t)number;
    return true;
}

bool native_request_id(PyObject *value, uint64_t *into) {
    int64_t number;
    if (!native_integer(value, &number) || number < 0)
        return false;
    *into = (uint64_t)number;
    if (number == INT64_MAX && PyLong_Check(value))
        *into = PyLong_AsUnsignedLongLongMask(value) & INT64_MAX;
    return true;
}

bool native_double(PyObject *value, double *into) {
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    *into = number;
    return true;
}

PyObject *native_exact_text(PyObject *text) {
    if (!PyUnicode_CheckExact(text))
        return PyUnicode_FromObject(text);
    Py_INCREF(text);
    return text;
}

PyObject *native_utf8(PyObject *text) {
    return PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
}
