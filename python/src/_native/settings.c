/* The settings of libpitot by their names, in both directions. */
#include "native.h"

#include <errno.h>
#include <pitot/config.h>
#include <stddef.h>
#include <string.h>

enum kind { SWITCH, WHOLE, REAL, TEXT };
struct field {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define FIELD(name, kind) \
    { #name, kind, offsetof(struct pt_config, name) }
static const struct field fields[] = {
    FIELD(enable_metrics, SWITCH),
    FIELD(enable_profiler, SWITCH),
    FIELD(enable_gpu_monitoring, SWITCH),
    FIELD(collect_timing, SWITCH),
    FIELD(collect_throughput, SWITCH),
    FIELD(collect_memory_basic, SWITCH),
    FIELD(collect_gpu_utilization, SWITCH),
    FIELD(collect_memory_detailed, SWITCH),
    FIELD(collect_component_profiling, SWITCH),
    FIELD(profiler_record_shapes, SWITCH),
    FIELD(profiler_profile_memory, SWITCH),
    FIELD(profiler_with_stack, SWITCH),
    FIELD(profiler_export_interval, WHOLE),
    FIELD(profiler_trace_dir, TEXT),
    FIELD(metrics_log_interval, WHOLE),
    FIELD(gpu_monitor_interval, REAL),
    FIELD(memory_cleanup_check_interval, WHOLE),
    FIELD(auto_disable_on_slow, SWITCH),
    FIELD(performance_threshold, REAL),
    FIELD(debug_mode, SWITCH),
    FIELD(min_duration, REAL),
    FIELD(history_spans, WHOLE),
    FIELD(memory_interval, REAL),
};

static PyObject *value_of(const pt_config *config, const struct field *field) {
    const char *at = (const char *)config + field->offset;
    bool is_true;
    int whole;
    double real;
    switch (field->kind) {
    case SWITCH:
        memcpy(&is_true, at, sizeof is_true);
        return PyBool_FromLong(is_true);
    case WHOLE:
        memcpy(&whole, at, sizeof whole);
        return PyLong_FromLong(whole);
    case REAL:
        memcpy(&real, at, sizeof real);
        return PyFloat_FromDouble(real);
    case TEXT:
        break;
    }
    return PyUnicode_DecodeFSDefault(at);
}

static PyObject *settings(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    pt_config config;
    pt_config_get(&config);
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof fields / sizeof *fields; i++) {
        PyObject *value = value_of(&config, &fields[i]);
        if (!value || PyDict_SetItemString(dict, fields[i].name, value))
            Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static int set(pt_config *config, PyObject *key, PyObject *value) {
    char message[256] = "";
    PyObject *name = native_utf8(key), *text = name ? native_utf8(value) : NULL;
    int rc = text ? pt_config_set(config, PyBytes_AsString(name), PyBytes_AsString(text), message,
                                  sizeof message)
                  : -1;
    if (text && rc)
        PyErr_Format(PyExc_ValueError, "%s", message);
    Py_XDECREF(text);
    Py_XDECREF(name);
    return rc;
}

/* All or nothing. */
static PyObject *configure(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *dict, *key, *value;
    Py_ssize_t position = 0;
    if (!PyArg_ParseTuple(args, "O!", &PyDict_Type, &dict))
        return NULL;
    pt_config config;
    pt_config_get(&config);
    while (PyDict_Next(dict, &position, &key, &value))
        if (set(&config, key, value))
            return NULL;
    int rc;
    Py_BEGIN_ALLOW_THREADS rc = pt_configure(&config);
    Py_END_ALLOW_THREADS if (rc == 0) Py_RETURN_NONE;
    if (rc == -EINVAL)
        return PyErr_Format(PyExc_ValueError, "a setting is out of range: %R", dict);
    errno = -rc;
    return PyErr_SetFromErrno(PyExc_OSError);
}

static PyMethodDef functions[] = {
    { "settings", settings, METH_NOARGS, "settings()\n--\n\nThe current settings by name." },
    { "configure", configure, METH_VARARGS, "configure(texts, /)\n--\n\n" },
    { 0 },
};

int native_add_settings(PyObject *module) {
    return PyModule_AddFunctions(module, functions);
}
