/* python/src/_native/native.h -- shared declarations of pitot._native.
 *
 * Compiled twice: against the full interface of one CPython, with argument vectors and a free list,
 * and against the stable one (Py_LIMITED_API), which any CPython from 3.9 on can load. Where they
 * differ there are two files, X_full.c and X_limited.c.
 *
 * Static variables are set by the import and constant afterwards, or their comment says what guards
 * them. The module only loads in the main interpreter of a process, so types may be static. */
#ifndef PITOT_NATIVE_H
#define PITOT_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pitot/pitot.h>
#include <stdbool.h>

/* Spans are off. */
static inline bool native_is_off(void) {
    return pt_is_off_(PT_SPANS_ON_);
}

/* A method that takes a vector of `n` values, then those of the names in `keywords` (or NULL). */
typedef PyObject *native_function(PyObject *self, PyObject *const *values, Py_ssize_t n,
                                  PyObject *keywords);
#ifdef Py_LIMITED_API
PyObject *native_spread(native_function *call, PyObject *self, PyObject *tuple, PyObject *dict);
#define NATIVE_METHOD(function)                                                           \
    static PyObject *function##_spread(PyObject *self, PyObject *tuple, PyObject *dict) { \
        return native_spread(function, self, tuple, dict);                                \
    }
#define NATIVE_ENTRY(function) (PyCFunction)(void (*)(void)) function##_spread
#define NATIVE_FLAGS           (METH_VARARGS | METH_KEYWORDS)
#else
#define NATIVE_METHOD(function) /* called directly */
#define NATIVE_ENTRY(function)  (PyCFunction)(void (*)(void)) function
#define NATIVE_FLAGS            (METH_FASTCALL | METH_KEYWORDS)
#endif

/* values.c: converts numbers of any kind to C. False: not a number; no exception is set. */
bool native_integer(PyObject *value, int64_t *into);
bool native_double(PyObject *value, double *into);
bool native_count(PyObject *value, uint64_t *into); /* not negative */
/* The id of a request: larger numbers, such as UUIDs, are cut to their lower 63 bits. */
bool native_request_id(PyObject *value, uint64_t *into);
/* An exact str, not of a subclass, which could run its own code; new, or NULL. */
PyObject *native_exact_text(PyObject *text);
/* UTF-8; characters without an encoding become \udc80. New bytes, or NULL and an exception. */
PyObject *native_utf8(PyObject *text);

/* name.c: the number of a text, for libpitot. 0: off, or the table is full. No exception is set. */
int native_name_init(void);
pt_name native_name(PyObject *text);

/* context_*.c: the request of this task or thread. */
struct native_request {
    uint64_t id;
    bool is_known;
};
int native_context_init(void);
struct native_request native_context_get(void);
/* A token for the reset; NULL: it could not be set. */
PyObject *native_context_set(uint64_t id);
void native_context_reset(PyObject *token); /* takes the token */

/* object_*.c: memory of spans. */
struct native_span;
/* All zero, except the head and `call`. */
struct native_span *native_span_allocate(PyTypeObject *type);
/* The span must not own anything any more. */
void native_span_free(struct native_span *span, PyTypeObject *type);

/* Add the types and functions of a file to the module. 0, or -1 and an exception. */
int native_add_span(PyObject *module);
int native_add_counter(PyObject *module);
int native_add_gauge(PyObject *module);
int native_add_histogram(PyObject *module);
int native_add_timer(PyObject *module);
int native_add_exports(PyObject *module);
int native_add_recording(PyObject *module);
int native_add_requests(PyObject *module);
int native_add_settings(PyObject *module);
int native_add_profiler(PyObject *module);
int native_add_operation(PyObject *module);
int native_add_monitor(PyObject *module);
int native_add_component(PyObject *module);
int native_add_steps(PyObject *module);
int native_add_readings(PyObject *module);
int native_add_line_clock(PyObject *module);

/* timer.c: the result of histogram.time(). */
PyObject *native_timer_new(PyObject *histogram, pt_histogram handle);

/* decorate.c: pitot.decorate.wrap(function, make). */
PyObject *native_decorate(PyObject *self, const char *method, PyObject *function);

/* histogram.c */
bool native_is_histogram(PyObject *object);

/* metric.c: the common part of counters, gauges and histograms. */
struct native_metric {
    PyObject head;
    uint32_t slot;
    PyObject *name, *labels; /* str */
};
/* (name, unit, help, labels), all str. */
struct native_metric_texts {
    PyObject *name, *labels; /* borrowed */
    PyObject *bytes[4];      /* owned */
    const char *c[4];        /* name, unit, help, labels */
};
int native_metric_parse(PyObject *args, struct native_metric_texts *texts);
/* Slot 0 by an error of the caller: ValueError; by a full table and the like: an object. */
PyObject *native_metric_new(PyTypeObject *type, struct native_metric_texts *texts, uint32_t slot);
void native_metric_dealloc(PyObject *self);
PyObject *native_metric_repr(PyObject *self);
PyObject *native_metric_get_name(PyObject *self, void *unused);
PyObject *native_metric_get_labels(PyObject *self, void *unused);

/* Creates the type if it is NULL; adds it to the module under the last part of its name. */
int native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type);

#endif
