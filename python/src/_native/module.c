/* pitot._native: the fast part of the package. */
#include "native.h"

int native_add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **type) {
    const char *name = spec->name + sizeof "pitot." - 1;
    if (!*type)
        *type = (PyTypeObject *)PyType_FromSpec(spec);
    return *type ? PyObject_SetAttrString(module, name, (PyObject *)*type) : -1;
}

/* Spans and metrics belong to the process, but objects belong to an interpreter. */
static int check_interpreter(void) {
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0)
        return 0;
    PyErr_SetString(PyExc_ImportError, "pitot works only in the main interpreter of a process");
    return -1;
}

static int fill(PyObject *module) {
    int (*const parts[])(PyObject *) = {
        native_add_span,      native_add_counter,   native_add_gauge,     native_add_histogram,
        native_add_timer,     native_add_recording, native_add_requests,  native_add_settings,
        native_add_exports,   native_add_profiler,  native_add_operation, native_add_monitor,
        native_add_component, native_add_steps,     native_add_readings,  native_add_line_clock,
    };
    if (check_interpreter() || native_name_init() || native_context_init())
        return -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module))
            return -1;
    return PyModule_AddStringConstant(module, "__version__", PITOT_VERSION);
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, fill },
#if defined(Py_mod_multiple_interpreters) && !defined(Py_LIMITED_API)
    { Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED },
#endif
#if defined(Py_mod_gil) && !defined(Py_LIMITED_API)
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0 },
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pitot._native",
    .m_doc = "The fast part of pitot.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void) {
    return PyModuleDef_Init(&definition);
}
