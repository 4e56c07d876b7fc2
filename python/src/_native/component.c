/* collector.time_component("decode"): a block that is a timing of its collector, an observation of
 * a histogram, and a span. It does nothing while the governor has turned spans off. */
#include "native.h"

#include <time.h>

struct component {
    PyObject_HEAD PyObject *name, *append; /* append((name, seconds, wall time)) */
    double min_seconds;
    pt_histogram histogram;
    int64_t start_ns; /* 0: not entered, or off */
    pt_span span;
};

static PyTypeObject *type;

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Recording is on, spans are off. */
static bool is_switched_off(void) {
    int on = __atomic_load_n(&pt_is_on_, __ATOMIC_RELAXED);
    return on && !(on & PT_SPANS_ON_);
}

/* Other objects are ignored. */
static pt_histogram histogram_of(PyObject *object) {
    return (pt_histogram){ native_is_histogram(object) ? ((struct native_metric *)object)->slot
                                                       : 0 };
}

static PyObject *component(PyObject *module, PyObject *const *values, Py_ssize_t n,
                           PyObject *names) {
    (void)module;
    double min_seconds;
    if (n != 4 || names || !PyUnicode_Check(values[0]) || !native_double(values[2], &min_seconds)) {
        PyErr_SetString(PyExc_TypeError, "the name of a component must be a str");
        return NULL;
    }
    PyObject *name = native_exact_text(values[0]);
    struct component *self = name ? PyObject_New(struct component, type) : NULL;
    if (!self) {
        Py_XDECREF(name);
        return NULL;
    }
    self->name = name;
    Py_INCREF(self->append = values[1]);
    self->min_seconds = min_seconds;
    self->histogram = histogram_of(values[3]);
    self->start_ns = 0;
    return (PyObject *)self;
}
NATIVE_METHOD(component)

/* A block without a name is not recorded: it measures the cost of a block. */
static bool is_span(const struct component *self) {
    return !native_is_off() && PyUnicode_GetLength(self->name) > 0;
}

static PyObject *enter(PyObject *object, PyObject *unused) {
    (void)unused;
    struct component *self = (struct component *)object;
    if (is_switched_off())
        Py_RETURN_NONE;
    self->span = is_span(self) ? pt_span_begin(native_name(self->name)) : (pt_span){ 0 };
    self->start_ns = now_ns();
    Py_RETURN_NONE;
}

/* Errors here must not reach the program. */
static void put(struct component *self, double seconds) {
    PyObject *timing = Py_BuildValue("(Odd)", self->name, seconds, seconds_of(CLOCK_REALTIME));
    PyObject *done = timing ? PyObject_CallFunctionObjArgs(self->append, timing, NULL) : NULL;
    if (!done)
        PyErr_Clear();
    Py_XDECREF(done);
    Py_XDECREF(timing);
}

static PyObject *leave(PyObject *object, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)values, (void)n, (void)names;
    struct component *self = (struct component *)object;
    if (!self->start_ns)
        Py_RETURN_NONE;
    double seconds = (double)(now_ns() - self->start_ns) * 1e-9;
    self->start_ns = 0;
    pt_span_end(&self->span);
    pt_histogram_record(self->histogram, seconds);
    if (seconds > self->min_seconds)
        put(self, seconds);
    Py_RETURN_NONE;
}
NATIVE_METHOD(leave)

static void dealloc(PyObject *object) {
    struct component *self = (struct component *)object;
    PyTypeObject *own = Py_TYPE(object);
    Py_DECREF(self->name);
    Py_DECREF(self->append);
    PyObject_Free(self);
    Py_DECREF(own);
}

static PyMethodDef methods[] = {
    { "__enter__", enter, METH_NOARGS, NULL },
    { "__exit__", NATIVE_ENTRY(leave), NATIVE_FLAGS, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"A block of a collector; made by MetricsCollector.time_component()." },
    { Py_tp_methods, methods },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Component",
    .basicsize = sizeof(struct component),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "component", NATIVE_ENTRY(component), NATIVE_FLAGS,
      "component(name, append, min_seconds, histogram, /)\n--\n\n" },
    { 0 },
};

int native_add_component(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
