/* Single figures of a service: latency, errors, GPU. nan: unknown. */
#include "native.h"

#include <pitot/monitor.h>

static PyObject *latency_percentile(PyObject *module, PyObject *args) {
    (void)module;
    double q;
    if (!PyArg_ParseTuple(args, "d", &q))
        return NULL;
    return PyFloat_FromDouble(pt_latency_percentile(q));
}

static PyObject *error_rate(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyFloat_FromDouble(pt_error_rate());
}

static PyObject *gpu_utilization(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    double percent;
    Py_BEGIN_ALLOW_THREADS percent = pt_gpu_utilization();
    Py_END_ALLOW_THREADS return PyFloat_FromDouble(percent);
}

static PyMethodDef functions[] = {
    { "latency_percentile", latency_percentile, METH_VARARGS, "latency_percentile(q, /)\n--\n\n" },
    { "error_rate", error_rate, METH_NOARGS, "error_rate()\n--\n\n" },
    { "gpu_utilization", gpu_utilization, METH_NOARGS, "gpu_utilization()\n--\n\n" },
    { 0 },
};

int native_add_readings(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
