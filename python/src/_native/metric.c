/* The common part of counters, gauges and histograms: a handle, a name and labels. */
#include "native.h"

#include <errno.h>

static void release(struct native_metric_texts *texts) {
    for (int i = 0; i < 4; i++)
        Py_CLEAR(texts->bytes[i]);
}

int native_metric_parse(PyObject *args, struct native_metric_texts *texts) {
    PyObject *text[4];
    *texts = (struct native_metric_texts){ 0 };
    if (!PyArg_ParseTuple(args, "UUUU", &text[0], &text[1], &text[2], &text[3]))
        return -1;
    for (int i = 0; i < 4; i++) {
        texts->bytes[i] = native_utf8(text[i]);
        if (!texts->bytes[i]) {
            release(texts);
            return -1;
        }
        texts->c[i] = PyBytes_AsString(texts->bytes[i]);
    }
    texts->name = text[0];
    texts->labels = text[3];
    return 0;
}

/* The error of name or labels; NULL: none. */
static const char *fault(int error) {
    if (error == -EINVAL)
        return "a metric or label name must be letters, digits and _, without a leading digit";
    if (error == -ENAMETOOLONG)
        return "name or labels of the metric are too long";
    if (error == -EEXIST)
        return "the name is used by another kind of metric";
    return NULL;
}

static bool is_right(const struct native_metric_texts *texts, uint32_t slot) {
    const char *message = slot ? NULL : fault(pt_registration_error());
    if (message)
        PyErr_Format(PyExc_ValueError, "%s: %s{%s}", message, texts->c[0], texts->c[3]);
    return !message;
}

PyObject *native_metric_new(PyTypeObject *type, struct native_metric_texts *texts, uint32_t slot) {
    struct native_metric *self =
        is_right(texts, slot) ? PyObject_New(struct native_metric, type) : NULL;
    if (self) {
        Py_INCREF(texts->name);
        Py_INCREF(texts->labels);
        self->slot = slot;
        self->name = texts->name;
        self->labels = texts->labels;
    }
    release(texts);
    return (PyObject *)self;
}

void native_metric_dealloc(PyObject *object) {
    struct native_metric *self = (struct native_metric *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(self->name);
    Py_DECREF(self->labels);
    PyObject_Free(self);
    Py_DECREF(type);
}

PyObject *native_metric_repr(PyObject *object) {
    struct native_metric *self = (struct native_metric *)object;
    return PyUnicode_FromFormat("<pitot metric %U{%U}>", self->name, self->labels);
}

PyObject *native_metric_get_name(PyObject *self, void *unused) {
    (void)unused;
    PyObject *name = ((struct native_metric *)self)->name;
    Py_INCREF(name);
    return name;
}

PyObject *native_metric_get_labels(PyObject *self, void *unused) {
    (void)unused;
    PyObject *labels = ((struct native_metric *)self)->labels;
    Py_INCREF(labels);
    return labels;
}
