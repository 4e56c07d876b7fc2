/* histogram.observe(x), .time(), .quantile(q). Values that are not numbers are ignored. */
#include "native.h"

#include <pitot/export.h>

static PyTypeObject *type;

static pt_histogram handle(PyObject *self) {
    return (pt_histogram){ ((struct native_metric *)self)->slot };
}

static PyObject *observe(PyObject *self, PyObject *value) {
    double number;
    if (native_double(value, &number))
        pt_histogram_record(handle(self), number);
    Py_RETURN_NONE;
}

static PyObject *quantile(PyObject *self, PyObject *q) {
    double wanted = PyFloat_AsDouble(q);
    if (wanted == -1.0 && PyErr_Occurred())
        return NULL;
    return PyFloat_FromDouble(pt_histogram_quantile(handle(self), wanted));
}

/* Takes the sequence. */
static PyObject *set_bounds(pt_histogram histogram, PyObject *sequence) {
    Py_ssize_t count = PySequence_Size(sequence);
    double *bounds = PyMem_Malloc((size_t)(count > 0 ? count : 1) * sizeof *bounds);
    bool is_right = bounds && count >= 0;
    for (Py_ssize_t i = 0; is_right && i < count; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        is_right = item && native_double(item, &bounds[i]);
        Py_XDECREF(item);
    }
    if (is_right)
        is_right = pt_histogram_set_buckets(histogram, bounds, (size_t)count) == 0;
    PyMem_Free(bounds);
    Py_DECREF(sequence);
    if (is_right)
        Py_RETURN_NONE;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "buckets must be increasing numbers, and not too many");
    return NULL;
}

static PyObject *set_buckets(PyObject *self, PyObject *bounds) {
    PyObject *sequence = PySequence_Tuple(bounds);
    return sequence ? set_bounds(handle(self), sequence) : NULL;
}

static PyObject *time_block(PyObject *self, PyObject *unused) {
    (void)unused;
    return native_timer_new(self, handle(self));
}

static PyObject *histogram(PyObject *module, PyObject *args) {
    (void)module;
    struct native_metric_texts texts;
    if (native_metric_parse(args, &texts))
        return NULL;
    pt_histogram made = pt_histogram_new(texts.c[0], texts.c[1], texts.c[2], texts.c[3]);
    return native_metric_new(type, &texts, made.slot);
}

static PyMethodDef methods[] = {
    { "observe", observe, METH_O, "observe(value, /)\n--\n\n" },
    { "quantile", quantile, METH_O, "quantile(q, /)\n--\n\nWithin 1.1 %; nan without values." },
    { "set_buckets", set_buckets, METH_O,
      "set_buckets(bounds, /)\n--\n\nUpper bounds of the buckets in Prometheus text." },
    { "time", time_block, METH_NOARGS,
      "time()\n--\n\nObserves the seconds of a block (with) or of a function (as decorator)." },
    { 0 },
};
static PyGetSetDef attributes[] = {
    { "name", native_metric_get_name, NULL, NULL, NULL },
    { "labels", native_metric_get_labels, NULL, "as in Prometheus text", NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"A distribution of values; made by pitot.histogram()." },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_tp_repr, native_metric_repr },
    { Py_tp_dealloc, native_metric_dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Histogram",
    .basicsize = sizeof(struct native_metric),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "histogram", histogram, METH_VARARGS, "histogram(name, unit, help, labels, /)\n--\n\n" },
    { 0 },
};

bool native_is_histogram(PyObject *object) {
    return Py_TYPE(object) == type;
}

int native_add_histogram(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
