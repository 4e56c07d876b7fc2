/* The native part of pitot.monitoring: figures of GPU and machine, rules and alerts. */
#include "native.h"

#include <errno.h>
#include <math.h>
#include <pitot/monitor.h>

#define ALERTS_MAX 128 /* more than there are rules */

struct monitor {
    PyObject_HEAD pt_monitor *monitor;
};

struct figure {
    const char *name;
    double value;
};

static PyTypeObject *type;

static pt_monitor *of(PyObject *self) {
    return ((struct monitor *)self)->monitor;
}

static PyObject *monitor(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    struct monitor *self = PyObject_New(struct monitor, type);
    if (!self)
        return NULL;
    self->monitor = pt_monitor_new();
    if (!self->monitor) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* Unknown values are left out. */
static PyObject *dict_of(const struct figure *figures, size_t count) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        if (isnan(figures[i].value))
            continue;
        PyObject *value = PyFloat_FromDouble(figures[i].value);
        if (!value || PyDict_SetItemString(dict, figures[i].name, value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *gpu(PyObject *self, PyObject *unused) {
    (void)unused;
    pt_gpu_metrics m;
    Py_BEGIN_ALLOW_THREADS pt_monitor_gpu(of(self), &m);
    Py_END_ALLOW_THREADS const struct figure figures[] = {
        { "gpu_utilization", m.gpu_utilization },   { "gpu_memory_used", m.gpu_memory_used },
        { "gpu_memory_total", m.gpu_memory_total }, { "gpu_temperature", m.gpu_temperature },
        { "gpu_power_draw", m.gpu_power_draw },
    };
    return dict_of(figures, m.is_known ? sizeof figures / sizeof *figures : 0);
}

static PyObject *machine(PyObject *self, PyObject *unused) {
    (void)unused;
    pt_system_metrics m;
    Py_BEGIN_ALLOW_THREADS pt_monitor_system(of(self), &m);
    Py_END_ALLOW_THREADS const struct figure figures[] = {
        { "cpu_utilization", m.cpu_utilization },
        { "memory_used_gb", m.memory_used_gb },
        { "memory_total_gb", m.memory_total_gb },
        { "memory_percent", m.memory_percent },
    };
    return dict_of(figures, sizeof figures / sizeof *figures);
}

static PyObject *texts_of(const pt_alert *alerts, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *text = PyUnicode_FromString(alerts[i].text);
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *check(PyObject *self, PyObject *unused) {
    (void)unused;
    pt_alert alerts[ALERTS_MAX];
    size_t count;
    Py_BEGIN_ALLOW_THREADS count = pt_monitor_check(of(self), alerts, ALERTS_MAX);
    Py_END_ALLOW_THREADS return texts_of(alerts, count < ALERTS_MAX ? count : ALERTS_MAX);
}

/* Values that the library refuses, such as names of 64 bytes, are only invisible to rules. */
static PyObject *record(PyObject *self, PyObject *args) {
    PyObject *name;
    double value, timestamp;
    if (!PyArg_ParseTuple(args, "Udd", &name, &value, &timestamp))
        return NULL;
    PyObject *bytes = native_utf8(name);
    if (!bytes)
        return NULL;
    int rc = pt_monitor_record(of(self), PyBytes_AsString(bytes), value, timestamp);
    Py_DECREF(bytes);
    return PyBool_FromLong(rc == 0);
}

static PyObject *rule_error(int rc) {
    if (rc == -ENOSPC)
        PyErr_SetString(PyExc_ValueError, "there are already 64 rules");
    else
        PyErr_SetString(PyExc_ValueError, "a rule needs a metric and a text of at most 127 bytes, "
                                          "and finite numbers that are not negative");
    return NULL;
}

static PyObject *add_rule(PyObject *self, PyObject *args) {
    pt_alert_rule rule;
    int is_above;
    if (!PyArg_ParseTuple(args, "spddds", &rule.metric, &is_above, &rule.threshold,
                          &rule.for_seconds, &rule.hysteresis, &rule.text))
        return NULL;
    rule.is_above = is_above;
    int rc = pt_monitor_add_rule(of(self), &rule);
    if (rc)
        return rule_error(rc);
    Py_RETURN_NONE;
}

static PyObject *clear_rules(PyObject *self, PyObject *unused) {
    (void)unused;
    pt_monitor_clear_rules(of(self));
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self) {
    PyTypeObject *own = Py_TYPE(self);
    Py_BEGIN_ALLOW_THREADS pt_monitor_free(of(self));
    Py_END_ALLOW_THREADS PyObject_Free(self);
    Py_DECREF(own);
}

static PyMethodDef methods[] = {
    { "gpu", gpu, METH_NOARGS, "gpu()\n--\n\nFigures of the first GPU; {}: there is none." },
    { "machine", machine, METH_NOARGS, "machine()\n--\n\n" },
    { "check", check, METH_NOARGS, "check()\n--\n\nTexts of the active alerts." },
    { "record", record, METH_VARARGS, "record(name, value, timestamp, /)\n--\n\n" },
    { "add_rule", add_rule, METH_VARARGS,
      "add_rule(metric, is_above, threshold, for_seconds, hysteresis, text, /)\n--\n\n" },
    { "clear_rules", clear_rules, METH_NOARGS, "clear_rules()\n--\n\n" },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"Figures of GPU and machine, rules and alerts; made by monitor()." },
    { Py_tp_methods, methods },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Monitor",
    .basicsize = sizeof(struct monitor),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "monitor", monitor, METH_NOARGS, "monitor()\n--\n\n" },
    { 0 },
};

int native_add_monitor(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
