/* A span: with pitot.span("decode", tokens=n): ...
 *
 * Enter and exit take the times and keep them in the object, so that tasks of one thread cannot
 * disturb each other. The record gets the id of the thread that exits. */
#include "span.h"

/* Code for when recording is on is kept out of line, so that the off path stays short. */
#define APART __attribute__((noinline))

static PyTypeObject *span_type;

/* Its address differs between threads, and is cheaper than a thread id. */
static _Thread_local char thread_mark __attribute__((tls_model("initial-exec")));

/* Keywords are mostly these same objects, so identity is compared first. */
enum keyword { TOKENS, SAMPLES, FLOWS, REQUEST, ARG, KEYWORDS };
static const char *const keyword_names[KEYWORDS] = { "tokens", "samples", "flows", "request",
                                                     "arg" };
static PyObject *keywords[KEYWORDS];
static const enum pt_work works[] = { PT_TOKENS, PT_SAMPLES, PT_FLOWS };

static bool set_request(struct native_span *self, PyObject *value) {
    uint64_t id;
    if (!native_request_id(value, &id))
        return false;
    pt_span_set_request(&self->model, id);
    return true;
}

static bool set_text(struct native_span *self, PyObject *value) {
    PyObject *text = native_exact_text(value);
    if (!text) {
        PyErr_Clear();
        return false;
    }
    Py_XDECREF(self->text);
    self->text = text;
    self->text_id = 0;
    pt_span_set_text(&self->model, 0);
    return true;
}

static bool set_number(struct native_span *self, enum keyword keyword, PyObject *value) {
    int64_t number;
    if (!native_integer(value, &number))
        return false;
    Py_CLEAR(self->text);
    if (keyword == ARG)
        pt_span_set_argument(&self->model, number);
    else
        pt_span_set_work(&self->model, works[keyword], number);
    return true;
}

/* False: unusable. None counts as absent. */
static bool set(struct native_span *self, enum keyword keyword, PyObject *value) {
    if (value == Py_None)
        return true;
    if (keyword == REQUEST)
        return set_request(self, value);
    if (keyword == ARG && PyUnicode_Check(value))
        return set_text(self, value);
    return set_number(self, keyword, value);
}

static int find_keyword(PyObject *name) {
    for (int i = 0; i < KEYWORDS; i++)
        if (name == keywords[i])
            return i;
    for (int i = 0; i < KEYWORDS; i++)
        if (!PyUnicode_Compare(name, keywords[i]))
            return i;
    PyErr_Format(PyExc_TypeError, "span() has no argument %R", name);
    return -1;
}

static int set_keyword(struct native_span *self, PyObject *name, PyObject *value) {
    int keyword = find_keyword(name);
    if (keyword < 0)
        return -1;
    if (set(self, (enum keyword)keyword, value))
        return 0;
    PyErr_Format(PyExc_TypeError, "span(): %U must be a number, not %R", name, value);
    return -1;
}

static struct native_span *new_span(PyObject *text) {
    PyObject *name = native_exact_text(text);
    struct native_span *self = name ? native_span_allocate(span_type) : NULL;
    if (self)
        self->name = name;
    else
        Py_XDECREF(name);
    return self;
}

static PyObject *span(PyObject *module, PyObject *const *values, Py_ssize_t n, PyObject *names) {
    (void)module;
    if (n != 1 || !PyUnicode_Check(values[0])) {
        PyErr_SetString(PyExc_TypeError, "span() takes a name, then keywords");
        return NULL;
    }
    struct native_span *self = new_span(values[0]);
    Py_ssize_t name_count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; self && i < name_count; i++)
        if (set_keyword(self, PyTuple_GetItem(names, i), values[n + i]))
            Py_CLEAR(self);
    return (PyObject *)self;
}
NATIVE_METHOD(span)

static struct native_open *open_at(struct native_span *self, uint32_t index) {
    return index == 0 ? &self->first : &self->more[index - 1];
}

APART static bool grow(struct native_span *self) {
    uint32_t capacity = self->more_capacity ? 2 * self->more_capacity : 4;
    struct native_open *more = PyMem_Realloc(self->more, capacity * sizeof *more);
    if (!more)
        return false;
    self->more = more;
    self->more_capacity = capacity;
    return true;
}

/* NULL: no memory. */
static struct native_open *push_open(struct native_span *self) {
    if (self->open_count > self->more_capacity && !grow(self))
        return NULL;
    struct native_open *open = open_at(self, self->open_count++);
    open->thread = &thread_mark;
    open->token = NULL;
    open->span.name = 0;
    return open;
}

static void ask_for_names(struct native_span *self) {
    if (!self->name_id)
        self->name_id = native_name(self->name);
    if (self->text && !self->text_id)
        self->text_id = native_name(self->text);
}

/* An explicit request also applies to spans inside; without one the outer request applies. */
static struct native_request enter_request(struct native_span *self, struct native_open *open) {
    if (!(self->model.flags & PT_SPAN_HAS_REQUEST_))
        return native_context_get();
    open->token = native_context_set(self->model.request);
    return (struct native_request){ 0 };
}

/* This may run code of the program, which may use this span: the open is stored only afterwards. */
static struct native_open begin(struct native_span *self) {
    struct native_open open = { .thread = &thread_mark };
    struct native_request outer = enter_request(self, &open);
    ask_for_names(self);
    open.span = pt_span_begin(self->name_id);
    if (outer.is_known)
        pt_span_set_request(&open.span, outer.id);
    return open;
}

APART static void enter_on(struct native_span *self) {
    struct native_open begun = begin(self), *open = push_open(self);
    if (open)
        *open = begun;
    else
        Py_XDECREF(begun.token);
}

/* Without memory the exit finds one open too few and records nothing. */
static void enter(struct native_span *self) {
    if (native_is_off())
        push_open(self);
    else
        enter_on(self);
}

/* Moves the newest open of this thread to the end, if there is one. */
APART static void bring_own_last(struct native_span *self) {
    const char *thread = &thread_mark;
    uint32_t last = self->open_count - 1, i = last;
    while (i > 0 && open_at(self, i)->thread != thread)
        i--;
    struct native_open found = *open_at(self, i);
    if (found.thread != thread)
        return;
    for (; i < last; i++)
        *open_at(self, i) = *open_at(self, i + 1);
    *open_at(self, last) = found;
}

/* The amount of work may have been set inside the block. */
static void record(struct native_span *self, pt_span *span) {
    const pt_span *model = &self->model;
    if (self->text)
        ask_for_names(self);
    span->argument = self->text ? self->text_id : model->argument;
    span->flags |= model->flags;
    if (model->flags & PT_SPAN_HAS_REQUEST_)
        span->request = model->request;
    pt_span_end(span);
}

APART static void finish(struct native_span *self, struct native_open open) {
    if (open.span.name && !native_is_off())
        record(self, &open.span);
    if (open.token)
        native_context_reset(open.token);
}

static void leave(struct native_span *self) {
    if (self->open_count == 0)
        return;
    if (self->open_count > 1)
        bring_own_last(self);
    const struct native_open *last = open_at(self, --self->open_count);
    if (last->span.name || last->token)
        finish(self, *last);
}

/* Does nothing in builds with a GIL. */
#ifndef Py_BEGIN_CRITICAL_SECTION
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION()         }
#endif

PyObject *native_span_enter(PyObject *self) {
    Py_BEGIN_CRITICAL_SECTION(self);
    enter((struct native_span *)self);
    Py_END_CRITICAL_SECTION();
    Py_INCREF(self);
    return self;
}

PyObject *native_span_exit(PyObject *self) {
    Py_BEGIN_CRITICAL_SECTION(self);
    leave((struct native_span *)self);
    Py_END_CRITICAL_SECTION();
    Py_RETURN_NONE;
}

/* A span that is not open, for calls of a decorated function. */
static PyObject *span_again(PyObject *object, PyObject *unused) {
    (void)unused;
    struct native_span *self = (struct native_span *)object, *made = new_span(self->name);
    if (!made)
        return NULL;
    Py_BEGIN_CRITICAL_SECTION(object);
    Py_XINCREF(self->text);
    made->text = self->text;
    made->model = self->model;
    made->name_id = self->name_id;
    made->text_id = self->text_id;
    Py_END_CRITICAL_SECTION();
    return (PyObject *)made;
}

static PyObject *span_repr(PyObject *self) {
    return PyUnicode_FromFormat("<pitot.Span %R>", ((struct native_span *)self)->name);
}

static PyObject *get_name(PyObject *self, void *unused) {
    (void)unused;
    PyObject *name = ((struct native_span *)self)->name;
    Py_INCREF(name);
    return name;
}

/* None unless set; of the kinds of work, the one set last. */
static PyObject *get(struct native_span *self, enum keyword wanted) {
    const pt_span *model = &self->model;
    enum pt_work work = (enum pt_work)(model->flags >> PT_SPAN_WORK_SHIFT_);
    if (wanted == REQUEST && model->flags & PT_SPAN_HAS_REQUEST_)
        return PyLong_FromUnsignedLongLong(model->request);
    if (wanted == ARG && self->text) {
        Py_INCREF(self->text);
        return self->text;
    }
    if (model->flags & PT_SPAN_HAS_ARGUMENT_ && wanted != REQUEST &&
        work == (wanted == ARG ? 0 : works[wanted]))
        return PyLong_FromLongLong(model->argument);
    Py_RETURN_NONE;
}

static PyObject *get_attribute(PyObject *self, void *keyword) {
    PyObject *value;
    Py_BEGIN_CRITICAL_SECTION(self);
    value = get((struct native_span *)self, (enum keyword)(intptr_t)keyword);
    Py_END_CRITICAL_SECTION();
    return value;
}

/* The amount of work is often known only inside the block. Values of other types are ignored. */
static int set_attribute(PyObject *self, PyObject *value, void *keyword) {
    if (!value) {
        PyErr_SetString(PyExc_AttributeError, "attributes of a span cannot be deleted");
        return -1;
    }
    Py_BEGIN_CRITICAL_SECTION(self);
    set((struct native_span *)self, (enum keyword)(intptr_t)keyword, value);
    Py_END_CRITICAL_SECTION();
    return 0;
}

static void span_dealloc(PyObject *object) {
    struct native_span *self = (struct native_span *)object;
    while (self->open_count > 0)
        Py_XDECREF(open_at(self, --self->open_count)->token);
    if (self->more)
        PyMem_Free(self->more);
    Py_DECREF(self->name);
    Py_XDECREF(self->text);
    native_span_free(self, Py_TYPE(object));
}

static PyMethodDef methods[] = {
    { "again", span_again, METH_NOARGS, "A new span like this one." },
    { 0 },
};
static PyGetSetDef attributes[] = {
    { "name", get_name, NULL, NULL, NULL },
    { "tokens", get_attribute, set_attribute, "tokens done, for a rate", (void *)TOKENS },
    { "samples", get_attribute, set_attribute, "samples done, for a rate", (void *)SAMPLES },
    { "flows", get_attribute, set_attribute, "flows done, for a rate", (void *)FLOWS },
    { "request", get_attribute, set_attribute, "number of the request", (void *)REQUEST },
    { "arg", get_attribute, set_attribute, "a number or a text", (void *)ARG },
    { 0 },
};
static PyType_Slot slots[] = {
    { Py_tp_doc, (void *)"A block of code that is timed; made by pitot.span()." },
    { Py_tp_methods, methods },
    { Py_tp_getset, attributes },
    { Py_tp_call, native_span_call },
    { Py_tp_members, native_span_members },
    { Py_tp_repr, span_repr },
    { Py_tp_dealloc, span_dealloc },
    { 0 },
};
static PyType_Spec spec = {
    .name = "pitot.Span",
    .basicsize = sizeof(struct native_span),
    .flags = Py_TPFLAGS_DEFAULT | NATIVE_SPAN_FLAGS,
    .slots = slots,
};
static PyMethodDef functions[] = {
    { "span", NATIVE_ENTRY(span), NATIVE_FLAGS,
      "span(name, *, tokens=None, samples=None, flows=None, request=None, arg=None)\n--\n\n"
      "Times a block (with) or a function (as decorator)." },
    { 0 },
};

int native_add_span(PyObject *module) {
    for (int i = 0; i < KEYWORDS; i++)
        if (!keywords[i] && !(keywords[i] = PyUnicode_InternFromString(keyword_names[i])))
            return -1;
    if (native_add_type(module, &spec, &span_type) || native_span_add_block(span_type))
        return -1;
    return PyModule_AddFunctions(module, functions);
}
