/* The native part of pitot.measure: operations with their time, memory, work and energy. */
#include "profiler.h"

static PyTypeObject *type;

/* (track_gpu, track_carbon, detailed_memory, estimate_flops, memory_interval) */
static int parse(PyObject *args, pt_profiler_options *options) {
    int track_gpu, track_carbon, detailed_memory, estimate_flops;
    pt_profiler_options_init(options);
    if (!PyArg_ParseTuple(args, "ppppd", &track_gpu, &track_carbon, &detailed_memory,
                          &estimate_flops, &options->memory_interval))
        return -1;
    options->track_gpu = track_gpu;
    options->track_carbon = track_carbon;
    options->detailed_memory = detailed_memory;
    options->estimate_flops = estimate_flops;
    return 0;
}

static PyObject *profiler(PyObject *module, PyObject *args) {
    (void)module;
    pt_profiler_options options;
    if (parse(args, &options))
        return NULL;
    pt_profiler *made;
    Py_BEGIN_ALLOW_THREADS made = pt_profiler_new(&options);
    Py_END_ALLOW_THREADS if (!made) return PyErr_NoMemory();
    struct native_profiler *self = PyObject_New(struct native_profiler, type);
    if (self)
        self->profiler = made;
    else
        pt_profiler_free(made);
    return (PyObject *)self;
}

static pt_profiler *of(PyObject *self) {
    return ((struct native_profiler *)self)->profiler;
}

static PyObject *begin(PyObject *self, PyObject *name) {
    PyObject *bytes = native_utf8(name);
    if (!bytes)
        return NULL;
    PyObject *operation =
        native_operation_begin((struct native_profiler *)self, PyBytes_AsString(bytes));
    Py_DECREF(bytes);
    return operation;
}

/* The name as bytes, or NULL for None; -1 and an exception. */
static int name_of(PyObject *name, PyObject **bytes) {
    *bytes = name == Py_None ? NULL : native_utf8(name);
    return name != Py_None && !*bytes ? -1 : 0;
}

static PyObject *get(PyObject *self, PyObject *name) {
    PyObject *bytes;
    if (name_of(name, &bytes))
        return NULL;
    pt_performance performance;
    int rc = pt_profiler_get(of(self), bytes ? PyBytes_AsString(bytes) : NULL, &performance);
    Py_XDECREF(bytes);
    if (rc)
        Py_RETURN_NONE;
    return native_performance(&performance);
}

static PyObject *has_results(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(pt_profiler_has_results(of(self)));
}

static PyObject *breakdown_dict(const char **names, const double *seconds, size_t count) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < count; i++) {
        PyObject *value = PyFloat_FromDouble(seconds[i]);
        if (!value || PyDict_SetItemString(dict, names[i], value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

/* The list may have grown between the two calls. */
static PyObject *breakdown(PyObject *self, PyObject *unused) {
    (void)unused;
    size_t capacity = pt_profiler_breakdown(of(self), NULL, NULL, 0), count;
    const char **names = PyMem_Calloc(capacity + 1, sizeof *names);
    double *seconds = PyMem_Calloc(capacity + 1, sizeof *seconds);
    PyObject *dict = NULL;
    if (names && seconds) {
        count = pt_profiler_breakdown(of(self), names, seconds, capacity);
        dict = breakdown_dict(names, seconds, count < capacity ? count : capacity);
    } else {
        PyErr_NoMemory();
    }
    PyMem_Free((void *)names);
    PyMem_Free(seconds);
    return dict;
}

static PyObject *sample_list(const double *seconds, const double *mb, size_t count) {
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *sample = Py_BuildValue("(dd)", seconds[i], mb[i]);
        if (!sample || PyList_SetItem(list, (Py_ssize_t)i, sample))
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *memory_samples(PyObject *self, PyObject *name) {
    enum { CAPACITY = 512 };
    double seconds[CAPACITY], mb[CAPACITY];
    PyObject *bytes;
    if (name_of(name, &bytes))
        return NULL;
    size_t count = pt_profiler_memory_samples(of(self), bytes ? PyBytes_AsString(bytes) : NULL,
                                              seconds, mb, CAPACITY);
    Py_XDECREF(bytes);
    return sample_list(seconds, mb, count < CAPACITY ? count : CAPACITY);
}

static void dealloc(PyObject *self) {
    PyTypeObject *own = Py_TYPE(self);
    Py_BEGIN_ALLOW_THREADS pt_profiler_free(of(self));
    Py_END_ALLOW_THREADS PyObject_Free(self);
    Py_DECREF(own);
}

static PyObject *current_memory(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyFloat_FromDouble(pt_current_memory_mb());
}

static PyObject *current_gpu_memory(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    double fraction;
    Py_BEGIN_ALLOW_THREADS fraction = pt_current_gpu_memory();
    Py_END_ALLOW_THREADS return PyFloat_FromDouble(fraction);
}

static PyMethodDef methods[] = {
    { "begin", begin, METH_O, "begin(name, /)\n--\n\n" },
    { "get", get, METH_O, "get(name, /)\n--\n\nSections of figures; None: there is none." },
    { "has_results", has_results, METH_NOARGS, "has_results()\n--\n\n" },
    { "breakdown", breakdown, METH_NOARGS, "breakdown()\n--\n\n" },
    { "memory_samples", memory_samples, METH_O, "memory_samples(name, /)\n--\n\n" },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"Operations and their resource usage; made by profiler()." },
    { Py_tp_methods, methods },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Profiler",
    .basicsize = sizeof(struct native_profiler),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "profiler", profiler, METH_VARARGS,
      "profiler(track_gpu, track_carbon, detailed_memory, estimate_flops, memory_interval, /)\n"
      "--\n\n" },
    { "current_memory", current_memory, METH_NOARGS, "current_memory()\n--\n\nMB." },
    { "current_gpu_memory", current_gpu_memory, METH_NOARGS,
      "current_gpu_memory()\n--\n\nUsed share of the memory of the first GPU; nan: no GPU." },
    { 0 },
};

int native_add_profiler(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
