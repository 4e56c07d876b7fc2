/* counter.inc(), counter.inc(n): amounts that only grow. Others are ignored. */
#include "native.h"

static PyTypeObject *type;

static pt_counter handle(PyObject *self) {
    return (pt_counter){ ((struct native_metric *)self)->slot };
}

static PyObject *inc(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    uint64_t amount = 1;
    if (n > 1 || names) {
        PyErr_SetString(PyExc_TypeError, "inc() takes at most one amount");
        return NULL;
    }
    if (n == 0 || native_count(values[0], &amount))
        pt_counter_add(handle(self), amount);
    Py_RETURN_NONE;
}
NATIVE_METHOD(inc)

static PyObject *get_value(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(pt_counter_value(handle(self)));
}

static PyObject *counter(PyObject *module, PyObject *args) {
    (void)module;
    struct native_metric_texts texts;
    if (native_metric_parse(args, &texts))
        return NULL;
    pt_counter made = pt_counter_new(texts.c[0], texts.c[1], texts.c[2], texts.c[3]);
    return native_metric_new(type, &texts, made.slot);
}

static PyMethodDef methods[] = {
    { "inc", NATIVE_ENTRY(inc), NATIVE_FLAGS, "inc(n=1, /)\n--\n\nAdds a whole number." },
    { 0 },
};
static PyGetSetDef attributes[] = {
    { "name", native_metric_get_name, NULL, NULL, NULL },
    { "labels", native_metric_get_labels, NULL, "as in Prometheus text", NULL },
    { "value", get_value, NULL, "the total of all threads", NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"An amount that only grows; made by pitot.counter()." },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_tp_repr, native_metric_repr },
    { Py_tp_dealloc, native_metric_dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Counter",
    .basicsize = sizeof(struct native_metric),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "counter", counter, METH_VARARGS, "counter(name, unit, help, labels, /)\n--\n\n" },
    { 0 },
};

int native_add_counter(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
