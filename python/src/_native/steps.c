/* Steps of a loop, the log of libpitot, and its overhead. */
#include "native.h"

#include <math.h>
#include <pitot/config.h>
#include <pitot/monitor.h>

#define REGRESSIONS_MAX 16

static PyObject *logger; /* called with level and text; NULL: silent. Guarded by the GIL */

/* Called by any thread, also by those of libpitot. */
static void say(void *unused, int level, const char *text) {
    (void)unused;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *call = logger;
    Py_XINCREF(call);
    PyObject *done = call ? PyObject_CallFunction(call, "is", level, text) : NULL;
    if (call && !done)
        PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(call);
    PyGILState_Release(state);
}

static PyObject *set_log(PyObject *module, PyObject *call) {
    (void)module;
    PyObject *before = logger;
    Py_INCREF(call);
    logger = call == Py_None ? NULL : call;
    Py_BEGIN_ALLOW_THREADS pt_set_log(call == Py_None ? NULL : say, NULL);
    Py_END_ALLOW_THREADS Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyObject *step(PyObject *module, PyObject *name) {
    (void)module;
    PyObject *bytes = native_utf8(name);
    if (!bytes)
        return NULL;
    const char *text = PyBytes_AsString(bytes);
    uint64_t number;
    Py_BEGIN_ALLOW_THREADS number = pt_step(text);
    Py_END_ALLOW_THREADS Py_DECREF(bytes);
    return PyLong_FromUnsignedLongLong(number);
}

/* Unknown is None. */
static PyObject *number(double value) {
    if (!isnan(value))
        return PyFloat_FromDouble(value);
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *overhead(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    pt_overhead o;
    pt_overhead_get(&o);
    return Py_BuildValue(
        "{sNsNsNsNsNsIsNsNsN}", "fraction", number(o.fraction), "recent_fraction",
        number(o.recent_fraction), "span_seconds", number(o.span_seconds), "thread_seconds",
        number(o.thread_seconds), "spans", PyLong_FromUnsignedLongLong(o.spans), "actions",
        (unsigned)o.actions, "spans_on", PyBool_FromLong(o.spans_on), "histograms_on",
        PyBool_FromLong(o.histograms_on), "memory_on", PyBool_FromLong(o.memory_on));
}

static PyObject *regression(const pt_regression *r) {
    return Py_BuildValue("{sssKsdsdsdsd}", "name", r->name, "step", (unsigned long long)r->step,
                         "before", r->before, "after", r->after, "p", r->p, "since", r->since);
}

static PyObject *regressions(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    pt_regression found[REGRESSIONS_MAX];
    size_t count = pt_regressions(found, REGRESSIONS_MAX);
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && i < count && i < REGRESSIONS_MAX; i++) {
        PyObject *one = regression(&found[i]);
        if (!one || PyList_Append(list, one))
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyMethodDef functions[] = {
    { "set_log", set_log, METH_O, "set_log(call, /)\n--\n\ncall(level, text); None: silence." },
    { "step", step, METH_O, "step(name, /)\n--\n\nThe number of the step; 0: off." },
    { "regressions", regressions, METH_NOARGS,
      "regressions()\n--\n\nSteps that became permanently slower: name, step, before and after "
      "in seconds, p, since." },
    { "overhead", overhead, METH_NOARGS,
      "overhead()\n--\n\nOverhead as a fraction of the CPU time of the program, and what is "
      "still on." },
    { 0 },
};

int native_add_steps(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
