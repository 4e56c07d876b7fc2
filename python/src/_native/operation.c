/* A running operation: step(), add_flops(n), end(has_succeeded). */
#include "critical.h"
#include "profiler.h"

struct operation {
    PyObject_HEAD PyObject *profiler; /* must not be freed before the operation has ended */
    pt_operation *operation;          /* NULL: has ended */
};

static PyTypeObject *type;

PyObject *native_operation_begin(struct native_profiler *profiler, const char *name) {
    struct operation *self = PyObject_New(struct operation, type);
    if (!self)
        return NULL;
    Py_INCREF(profiler);
    self->profiler = (PyObject *)profiler;
    self->operation = pt_operation_begin(profiler->profiler, name);
    return (PyObject *)self;
}

static void end_with(PyObject *object, bool has_succeeded) {
    struct operation *self = (struct operation *)object;
    Py_BEGIN_CRITICAL_SECTION(object);
    if (self->operation)
        pt_operation_end(self->operation, has_succeeded);
    self->operation = NULL;
    Py_END_CRITICAL_SECTION();
}

static PyObject *end(PyObject *self, PyObject *has_succeeded) {
    end_with(self, has_succeeded == Py_True);
    Py_RETURN_NONE;
}

static PyObject *step(PyObject *object, PyObject *unused) {
    (void)unused;
    struct operation *self = (struct operation *)object;
    Py_BEGIN_CRITICAL_SECTION(object);
    if (self->operation)
        pt_operation_step(self->operation);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}

static PyObject *add_flops(PyObject *object, PyObject *flops) {
    struct operation *self = (struct operation *)object;
    double number;
    if (!native_double(flops, &number))
        Py_RETURN_NONE;
    Py_BEGIN_CRITICAL_SECTION(object);
    if (self->operation)
        pt_operation_add_flops(self->operation, number);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}

static void dealloc(PyObject *self) {
    PyTypeObject *own = Py_TYPE(self);
    end_with(self, false);
    Py_DECREF(((struct operation *)self)->profiler);
    PyObject_Free(self);
    Py_DECREF(own);
}

static PyMethodDef methods[] = {
    { "step", step, METH_NOARGS, "step()\n--\n\nMarks the end of one iteration." },
    { "add_flops", add_flops, METH_O, "add_flops(flops, /)\n--\n\n" },
    { "end", end, METH_O, "end(has_succeeded, /)\n--\n\nA second end does nothing." },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"An operation that is measured; made by Profiler.begin()." },
    { Py_tp_methods, methods },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Operation",
    .basicsize = sizeof(struct operation),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int native_add_operation(PyObject *module) {
    return native_add_type(module, &spec, &type);
}
