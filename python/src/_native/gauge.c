/* gauge.set(x), .inc(n), .dec(n): a value that goes up and down. Values that are not numbers are
 * ignored. */
#include "native.h"

static PyTypeObject *type;

static pt_gauge handle(PyObject *self) {
    return (pt_gauge){ ((struct native_metric *)self)->slot };
}

static PyObject *set(PyObject *self, PyObject *value) {
    double number;
    if (native_double(value, &number))
        pt_gauge_set(handle(self), number);
    Py_RETURN_NONE;
}

static PyObject *add(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names,
                     double sign) {
    double amount = 1;
    if (n > 1 || names) {
        PyErr_SetString(PyExc_TypeError, "at most one amount");
        return NULL;
    }
    if (n == 0 || native_double(values[0], &amount))
        pt_gauge_add(handle(self), sign * amount);
    Py_RETURN_NONE;
}

static PyObject *inc(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    return add(self, values, n, names, 1);
}
NATIVE_METHOD(inc)

static PyObject *dec(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    return add(self, values, n, names, -1);
}
NATIVE_METHOD(dec)

static PyObject *get_value(PyObject *self, void *unused) {
    (void)unused;
    return PyFloat_FromDouble(pt_gauge_value(handle(self)));
}

static PyObject *gauge(PyObject *module, PyObject *args) {
    (void)module;
    struct native_metric_texts texts;
    if (native_metric_parse(args, &texts))
        return NULL;
    pt_gauge made = pt_gauge_new(texts.c[0], texts.c[1], texts.c[2], texts.c[3]);
    return native_metric_new(type, &texts, made.slot);
}

static PyMethodDef methods[] = {
    { "set", set, METH_O, "set(value, /)\n--\n\n" },
    { "inc", NATIVE_ENTRY(inc), NATIVE_FLAGS, "inc(n=1, /)\n--\n\n" },
    { "dec", NATIVE_ENTRY(dec), NATIVE_FLAGS, "dec(n=1, /)\n--\n\n" },
    { 0 },
};
static PyGetSetDef attributes[] = {
    { "name", native_metric_get_name, NULL, NULL, NULL },
    { "labels", native_metric_get_labels, NULL, "as in Prometheus text", NULL },
    { "value", get_value, NULL, "the last value", NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"A value that goes up and down; made by pitot.gauge()." },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_tp_repr, native_metric_repr },
    { Py_tp_dealloc, native_metric_dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Gauge",
    .basicsize = sizeof(struct native_metric),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "gauge", gauge, METH_VARARGS, "gauge(name, unit, help, labels, /)\n--\n\n" },
    { 0 },
};

int native_add_gauge(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
