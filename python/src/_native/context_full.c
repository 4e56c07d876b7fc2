/* The request of a task is in a context variable: asyncio gives each task its own context, a copy
 * of that of the creating task; a thread has one as well. */
#include "native.h"

static PyObject *variable;
static int is_used; /* a span has had a request: before, no lookup is needed; atomic */

int native_context_init(void) {
    if (!variable)
        variable = PyContextVar_New("pitot_request", NULL);
    return variable ? 0 : -1;
}

static struct native_request from_long(PyObject *value) {
    struct native_request request = { PyLong_AsUnsignedLongLong(value), true };
    Py_DECREF(value);
    return request;
}

struct native_request native_context_get(void) {
    PyObject *value = NULL;
    if (!__atomic_load_n(&is_used, __ATOMIC_RELAXED))
        return (struct native_request){ 0 };
    if (PyContextVar_Get(variable, NULL, &value))
        PyErr_Clear();
    return value ? from_long(value) : (struct native_request){ 0 };
}

/* PyContextVar_Set() itself crashes if two of its allocations fail, so one is tried before. */
static bool has_memory(void) {
    void *memory = PyObject_Malloc(512);
    PyObject_Free(memory);
    return memory;
}

PyObject *native_context_set(uint64_t id) {
    __atomic_store_n(&is_used, 1, __ATOMIC_RELAXED);
    PyObject *value = has_memory() ? PyLong_FromUnsignedLongLong(id) : NULL;
    PyObject *token = value ? PyContextVar_Set(variable, value) : NULL;
    Py_XDECREF(value);
    if (!token)
        PyErr_Clear();
    return token;
}

/* A generator may end in another context than it began in, which never had the value. */
void native_context_reset(PyObject *token) {
    if (PyContextVar_Reset(variable, token))
        PyErr_Clear();
    Py_DECREF(token);
}
