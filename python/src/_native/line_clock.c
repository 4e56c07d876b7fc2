/* Time and hits of source lines. The interpreter reports when a function is entered, reaches a line
 * and is left; the time from one line to the next belongs to the first, including its calls.
 *
 * Entered functions are on a stack shared by all threads; each thread uses its own entries. The
 * cost of this code is not included in the times. */
#include "line_clock.h"

#include "critical.h"

#include <time.h>

#define LINES_MAX 100000 /* of one function */

struct line {
    uint64_t hits;
    int64_t ns;
};

struct chosen {
    PyObject *code;
    int first, count;   /* of lines */
    struct line *lines; /* from the first on */
};

struct entered {
    const char *thread;
    struct chosen *chosen;
    int line; /* 0: none yet */
    int64_t since_ns;
};

struct native_line_clock {
    PyObject_HEAD struct chosen *chosen;
    size_t chosen_count;
    struct entered *entered;
    size_t entered_count, entered_capacity;
};

static PyTypeObject *type;
static _Thread_local char thread_mark __attribute__((tls_model("initial-exec")));

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct chosen *find(struct native_line_clock *clock, PyObject *code) {
    for (size_t i = 0; i < clock->chosen_count; i++)
        if (clock->chosen[i].code == code)
            return &clock->chosen[i];
    return NULL;
}

/* The newest of this thread, or NULL. */
static struct entered *top(struct native_line_clock *clock) {
    for (size_t i = clock->entered_count; i > 0; i--)
        if (clock->entered[i - 1].thread == &thread_mark)
            return &clock->entered[i - 1];
    return NULL;
}

static struct entered *push(struct native_line_clock *clock, struct chosen *chosen) {
    if (clock->entered_count == clock->entered_capacity) {
        size_t capacity = clock->entered_capacity ? 2 * clock->entered_capacity : 16;
        struct entered *more = PyMem_Realloc(clock->entered, capacity * sizeof *more);
        if (!more)
            return NULL;
        clock->entered = more;
        clock->entered_capacity = capacity;
    }
    struct entered *made = &clock->entered[clock->entered_count++];
    *made = (struct entered){ .thread = &thread_mark, .chosen = chosen };
    return made;
}

static void pop(struct native_line_clock *clock, struct entered *gone) {
    struct entered *end = clock->entered + --clock->entered_count;
    for (; gone < end; gone++)
        gone[0] = gone[1];
}

static struct line *line_of(struct chosen *chosen, int line) {
    int index = line - chosen->first;
    if (index < 0 || index >= LINES_MAX)
        return NULL;
    if (index >= chosen->count) {
        int count = 2 * index + 16;
        struct line *more = PyMem_Realloc(chosen->lines, (size_t)count * sizeof *more);
        if (!more)
            return NULL;
        for (int i = chosen->count; i < count; i++)
            more[i] = (struct line){ 0 };
        chosen->lines = more;
        chosen->count = count;
    }
    return &chosen->lines[index];
}

static void close_line(struct entered *e, int64_t at_ns) {
    struct line *line = e->line ? line_of(e->chosen, e->line) : NULL;
    if (line)
        line->ns += at_ns - e->since_ns;
}

void native_line_enter(struct native_line_clock *clock, PyObject *code) {
    struct chosen *chosen = find(clock, code);
    if (chosen)
        push(clock, chosen);
}

/* A function that was already running at the start is found at its first line. */
void native_line_reach(struct native_line_clock *clock, PyObject *code, int number) {
    struct chosen *chosen = find(clock, code);
    if (!chosen)
        return;
    int64_t at_ns = now_ns();
    struct entered *e = top(clock);
    if (!e || e->chosen != chosen)
        e = push(clock, chosen);
    struct line *line = e ? line_of(chosen, number) : NULL;
    if (!line)
        return;
    close_line(e, at_ns);
    line->hits++;
    e->line = number;
    e->since_ns = now_ns();
}

void native_line_leave(struct native_line_clock *clock, PyObject *code) {
    struct chosen *chosen = find(clock, code);
    struct entered *e = chosen ? top(clock) : NULL;
    if (!e || e->chosen != chosen)
        return;
    close_line(e, now_ns());
    pop(clock, e);
}

static struct native_line_clock *of(PyObject *self) {
    return (struct native_line_clock *)self;
}

/* The interpreter passes more arguments than the code; they are not needed. */
static PyObject *enter(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)names;
    Py_BEGIN_CRITICAL_SECTION(self);
    if (n > 0)
        native_line_enter(of(self), values[0]);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}
NATIVE_METHOD(enter)

static PyObject *reach(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)names;
    int64_t line;
    Py_BEGIN_CRITICAL_SECTION(self);
    if (n > 1 && native_integer(values[1], &line) && line > 0 && line < INT32_MAX)
        native_line_reach(of(self), values[0], (int)line);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}
NATIVE_METHOD(reach)

static PyObject *leave(PyObject *self, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)names;
    Py_BEGIN_CRITICAL_SECTION(self);
    if (n > 0)
        native_line_leave(of(self), values[0]);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}
NATIVE_METHOD(leave)

/* Functions that are still open get their time so far. */
static PyObject *finish(PyObject *self, PyObject *unused) {
    (void)unused;
    struct native_line_clock *clock = of(self);
    Py_BEGIN_CRITICAL_SECTION(self);
    int64_t at_ns = now_ns();
    for (size_t i = 0; i < clock->entered_count; i++)
        close_line(&clock->entered[i], at_ns);
    clock->entered_count = 0;
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}

static int add_lines(PyObject *list, const struct chosen *chosen) {
    for (int i = 0; i < chosen->count; i++) {
        const struct line *line = &chosen->lines[i];
        if (line->hits == 0)
            continue;
        PyObject *row = Py_BuildValue("(iKd)", chosen->first + i, (unsigned long long)line->hits,
                                      (double)line->ns * 1e-9);
        int rc = row ? PyList_Append(list, row) : -1;
        Py_XDECREF(row);
        if (rc)
            return -1;
    }
    return 0;
}

/* [(line, hits, seconds)] of a code. */
static PyObject *lines(PyObject *self, PyObject *code) {
    struct chosen *chosen = find(of(self), code);
    PyObject *list = PyList_New(0);
    if (list && chosen && add_lines(list, chosen))
        Py_CLEAR(list);
    return list;
}

static int first_line(PyObject *code) {
    PyObject *number = PyObject_GetAttrString(code, "co_firstlineno");
    int64_t first = 0;
    if (number)
        native_integer(number, &first);
    Py_XDECREF(number);
    return number ? (int)first : -1;
}

static int choose(struct native_line_clock *self, PyObject *codes) {
    Py_ssize_t count = PyTuple_Size(codes);
    self->chosen = PyMem_Calloc((size_t)count + 1, sizeof *self->chosen);
    if (!self->chosen) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *code = PyTuple_GetItem(codes, i);
        int first = first_line(code);
        if (first < 0)
            return -1;
        Py_INCREF(code);
        self->chosen[self->chosen_count++] = (struct chosen){ .code = code, .first = first };
    }
    return 0;
}

static PyObject *line_clock(PyObject *module, PyObject *codes) {
    (void)module;
    if (!PyTuple_Check(codes)) {
        PyErr_SetString(PyExc_TypeError, "needs a tuple of code objects");
        return NULL;
    }
    struct native_line_clock *self = PyObject_New(struct native_line_clock, type);
    if (!self)
        return NULL;
    self->chosen_count = self->entered_count = self->entered_capacity = 0;
    self->chosen = NULL;
    self->entered = NULL;
    if (choose(self, codes))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *start_trace(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyBool_FromLong(native_line_trace_start(self));
}

static PyObject *stop_trace(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    native_line_trace_stop();
    Py_RETURN_NONE;
}

static void dealloc(PyObject *object) {
    struct native_line_clock *self = of(object);
    PyTypeObject *own = Py_TYPE(object);
    for (size_t i = 0; i < self->chosen_count; i++) {
        Py_DECREF(self->chosen[i].code);
        PyMem_Free(self->chosen[i].lines);
    }
    PyMem_Free(self->chosen);
    PyMem_Free(self->entered);
    PyObject_Free(self);
    Py_DECREF(own);
}

static PyMethodDef methods[] = {
    { "enter", NATIVE_ENTRY(enter), NATIVE_FLAGS, NULL },
    { "reach", NATIVE_ENTRY(reach), NATIVE_FLAGS, NULL },
    { "leave", NATIVE_ENTRY(leave), NATIVE_FLAGS, NULL },
    { "finish", finish, METH_NOARGS, NULL },
    { "lines", lines, METH_O, NULL },
    { "start_trace", start_trace, METH_NOARGS, "False: not supported by this interpreter." },
    { "stop_trace", stop_trace, METH_NOARGS, NULL },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc,
      (void *)"Time and hits of the lines of selected functions; see pitot.line_profile." },
    { Py_tp_methods, methods },
    { Py_tp_dealloc, dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.LineClock",
    .basicsize = sizeof(struct native_line_clock),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "line_clock", line_clock, METH_O, "line_clock(codes, /)\n--\n\n" },
    { 0 },
};

int native_add_line_clock(PyObject *module) {
    if (native_add_type(module, &spec, &type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
