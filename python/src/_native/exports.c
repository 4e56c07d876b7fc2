/* Metrics as text, spans as a trace. Both can take long, so the GIL is released. */
#include "native.h"

#include <errno.h>
#include <pitot/export.h>
#include <stdlib.h>

/* (bytes, content type) */
static PyObject *render(PyObject *module, PyObject *args) {
    (void)module;
    int format;
    if (!PyArg_ParseTuple(args, "i", &format))
        return NULL;
    char *text;
    size_t length = 0;
    Py_BEGIN_ALLOW_THREADS text = pt_render((enum pt_exposition_format)format, &length);
    Py_END_ALLOW_THREADS if (!text) return PyErr_NoMemory();
    PyObject *result = Py_BuildValue("(y#s)", text, (Py_ssize_t)length,
                                     pt_content_type((enum pt_exposition_format)format));
    free(text);
    return result;
}

static PyObject *negotiate(PyObject *module, PyObject *args) {
    (void)module;
    const char *accept;
    if (!PyArg_ParseTuple(args, "z", &accept))
        return NULL;
    return PyLong_FromLong(pt_negotiate(accept));
}

static PyObject *trace(PyObject *module, PyObject *path) {
    (void)module;
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    const char *name = PyBytes_AsString(bytes);
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = pt_write_trace(name);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    if (rc == 0)
        Py_RETURN_NONE;
    errno = -rc;
    return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
}

static PyMethodDef functions[] = {
    { "render", render, METH_VARARGS, "render(format, /)\n--\n\n" },
    { "negotiate", negotiate, METH_VARARGS, "negotiate(accept, /)\n--\n\n" },
    { "trace", trace, METH_O,
      "trace(path, /)\n--\n\nWrites the newest spans for Perfetto or chrome://tracing; *.gz is "
      "compressed. OSError." },
    { 0 },
};

int native_add_exports(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
