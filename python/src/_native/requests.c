/* record_request(), request_begin(), request_end() and health(). */
#include "native.h"

#include <math.h>
#include <pitot/monitor.h>

static PyObject *record_request(PyObject *module, PyObject *args, PyObject *keywords) {
    (void)module;
    static char *names[] = { (char *)"duration", (char *)"tokens", (char *)"ok", NULL };
    PyObject *duration, *tokens = NULL;
    int has_succeeded = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|Op", names, &duration, &tokens,
                                     &has_succeeded))
        return NULL;
    double seconds;
    uint64_t count = 0;
    if (!native_double(duration, &seconds))
        seconds = (double)NAN;
    if (tokens)
        native_count(tokens, &count);
    Py_BEGIN_ALLOW_THREADS pt_record_request(seconds, count, has_succeeded);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *request_begin(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    pt_request_begin();
    Py_RETURN_NONE;
}

static PyObject *request_end(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    pt_request_end();
    Py_RETURN_NONE;
}

/* An Exception of the probe means unhealthy; anything else, such as KeyboardInterrupt, goes to the
 * caller. */
static int run_probe(void *function) {
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *answer = PyObject_CallObject(function, NULL);
    int is_well = answer && (answer == Py_None || PyObject_IsTrue(answer) == 1);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear();
    Py_XDECREF(answer);
    PyGILState_Release(state);
    return is_well ? 0 : -1;
}

/* Takes the value. */
static int put(PyObject *dict, const char *name, PyObject *value) {
    int rc = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return rc;
}

/* Unknown is None. */
static int put_double(PyObject *dict, const char *name, double value) {
    if (!isnan(value))
        return put(dict, name, PyFloat_FromDouble(value));
    return PyDict_SetItemString(dict, name, Py_None);
}

static int put_health(PyObject *dict, const pt_health *health) {
    const char *status = health->is_healthy ? "healthy" : "unhealthy";
    return put(dict, "status", PyUnicode_FromString(status)) ||
           put_double(dict, "latency_p50", health->latency_p50) ||
           put_double(dict, "latency_p95", health->latency_p95) ||
           put_double(dict, "memory_usage_mb", health->memory_usage_mb) ||
           put_double(dict, "gpu_utilization", health->gpu_utilization) ||
           put_double(dict, "error_rate", health->error_rate) ||
           put_double(dict, "probe_seconds", health->probe_seconds);
}

static PyObject *health(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *probe = Py_None;
    if (!PyArg_ParseTuple(args, "|O", &probe))
        return NULL;
    pt_health found;
    Py_BEGIN_ALLOW_THREADS pt_health_check(&found, probe == Py_None ? NULL : run_probe, probe);
    Py_END_ALLOW_THREADS if (PyErr_Occurred()) return NULL;
    PyObject *dict = PyDict_New();
    if (dict && put_health(dict, &found))
        Py_CLEAR(dict);
    return dict;
}

static PyMethodDef functions[] = {
    { "record_request", (PyCFunction)(void (*)(void))record_request, METH_VARARGS | METH_KEYWORDS,
      "record_request(duration, tokens=0, ok=True)\n--\n\nRecords a request; duration in "
      "seconds." },
    { "request_begin", request_begin, METH_NOARGS, "request_begin()\n--\n\nActive requests + 1." },
    { "request_end", request_end, METH_NOARGS, "request_end()\n--\n\nActive requests - 1." },
    { "health", health, METH_VARARGS,
      "health(probe=None, /)\n--\n\nHealth of the service: healthy unless probe() raises an "
      "Exception or returns False." },
    { 0 },
};

int native_add_requests(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
