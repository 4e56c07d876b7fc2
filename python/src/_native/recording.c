/* start(), stop(), is_on(), dropped(). */
#include "native.h"

#include <errno.h>

static PyObject *start(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *directory = NULL;
    const char *path = NULL;
    if (!PyArg_ParseTuple(args, "|O", &directory))
        return NULL;
    PyObject *bytes = NULL;
    if (directory && directory != Py_None) {
        if (!PyUnicode_FSConverter(directory, &bytes))
            return NULL;
        path = PyBytes_AsString(bytes);
    }
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = pt_start(path);
    Py_END_ALLOW_THREADS Py_XDECREF(bytes);
    if (rc == 0)
        Py_RETURN_NONE;
    errno = -rc;
    return directory ? PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, directory)
                     : PyErr_SetFromErrno(PyExc_OSError);
}

static PyObject *stop(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS pt_stop();
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyBool_FromLong(__atomic_load_n(&pt_is_on_, __ATOMIC_RELAXED) != 0);
}

static PyObject *dropped(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromUnsignedLongLong(pt_dropped());
}

static PyMethodDef functions[] = {
    { "start", start, METH_VARARGS,
      "start(directory=None, /)\n--\n\nTurns recording on, into a file in this directory.\n"
      "None: the directory PITOT_REGION, otherwise only memory. OSError." },
    { "stop", stop, METH_NOARGS, "stop()\n--\n\nTurns recording off for all threads." },
    { "is_on", is_on, METH_NOARGS, "is_on()\n--\n\n" },
    { "dropped", dropped, METH_NOARGS,
      "dropped()\n--\n\nNumber of dropped spans, names and metrics." },
    { 0 },
};

int native_add_recording(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
