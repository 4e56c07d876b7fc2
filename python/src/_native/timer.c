/* histogram.time(): the seconds of a block. One block at a time; a decorated function gets a new
 * timer for each call. */
#include "native.h"

#include <time.h>

struct timer {
    PyObject head;
    PyObject *histogram;
    pt_histogram handle;
    int64_t start_ns; /* 0: not entered */
};

static PyTypeObject *type;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static PyObject *enter(PyObject *self, PyObject *unused) {
    (void)unused;
    int64_t start_ns = pt_is_off_(PT_HISTOGRAMS_ON_) ? 0 : now_ns();
    __atomic_store_n(&((struct timer *)self)->start_ns, start_ns, __ATOMIC_RELAXED);
    Py_INCREF(self);
    return self;
}

static PyObject *leave(PyObject *object, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)values, (void)n, (void)names;
    struct timer *self = (struct timer *)object;
    int64_t start_ns = __atomic_exchange_n(&self->start_ns, 0, __ATOMIC_RELAXED);
    if (start_ns && !pt_is_off_(PT_HISTOGRAMS_ON_))
        pt_histogram_record(self->handle, (double)(now_ns() - start_ns) * 1e-9);
    Py_RETURN_NONE;
}
NATIVE_METHOD(leave)

static PyObject *call(PyObject *self, PyObject *args, PyObject *dict) {
    PyObject *function;
    if ((dict && PyDict_Size(dict) > 0) || !PyArg_ParseTuple(args, "O", &function)) {
        PyErr_SetString(PyExc_TypeError, "a timer decorates one function");
        return NULL;
    }
    return native_decorate(((struct timer *)self)->histogram, "time", function);
}

static void dealloc(PyObject *self) {
    PyTypeObject *own = Py_TYPE(self);
    Py_DECREF(((struct timer *)self)->histogram);
    PyObject_Free(self);
    Py_DECREF(own);
}

PyObject *native_timer_new(PyObject *histogram, pt_histogram handle) {
    struct timer *self = PyObject_New(struct timer, type);
    if (!self)
        return NULL;
    Py_INCREF(histogram);
    self->histogram = histogram;
    self->handle = handle;
    self->start_ns = 0;
    return (PyObject *)self;
}

static PyMethodDef methods[] = {
    { "__enter__", enter, METH_NOARGS, NULL },
    { "__exit__", NATIVE_ENTRY(leave), NATIVE_FLAGS, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"Times a block for a histogram; made by Histogram.time()." },
    { Py_tp_methods, methods },
    { Py_tp_call, call },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Timer",
    .basicsize = sizeof(struct timer),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int native_add_timer(PyObject *module) {
    return native_add_type(module, &spec, &type);
}
