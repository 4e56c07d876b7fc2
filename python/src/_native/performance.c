/* The figures of one operation: {"memory": {"peak_ram_mb": 2457.6, ...}, ...}. */
#include "profiler.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum kind { REAL, WHOLE, COUNT, SWITCH, LEAK, FLOPS_SOURCE, ENERGY_SOURCE };
struct figure {
    const char *section, *name;
    enum kind kind;
    size_t offset;
};

#define FIGURE(section, name, kind) \
    { #section, #name, kind, offsetof(pt_performance, section.name) }
static const struct figure figures[] = {
    FIGURE(memory, initial_ram_mb, REAL),
    FIGURE(memory, peak_ram_mb, REAL),
    FIGURE(memory, final_ram_mb, REAL),
    FIGURE(memory, peak_gpu_mb, REAL),
    FIGURE(memory, memory_leak_detected, LEAK),
    FIGURE(memory, growth_mb_per_step, REAL),
    FIGURE(memory, growth_mb_per_second, REAL),
    FIGURE(memory, growth_error_mb, REAL),
    FIGURE(memory, is_peak_exact, SWITCH),
    FIGURE(memory, steps, COUNT),
    FIGURE(timing, wall_time_s, REAL),
    FIGURE(timing, cpu_time_s, REAL),
    FIGURE(timing, user_time_s, REAL),
    FIGURE(timing, system_time_s, REAL),
    FIGURE(compute, estimated_flops, WHOLE),
    FIGURE(compute, flops_per_second, REAL),
    FIGURE(compute, flops_source, FLOPS_SOURCE),
    FIGURE(compute, gpu_utilization_percent, REAL),
    FIGURE(compute, cpu_utilization_percent, REAL),
    FIGURE(system, cpu_percent, REAL),
    FIGURE(system, memory_percent, REAL),
    FIGURE(system, disk_io_percent, REAL),
    FIGURE(system, network_io_mb, REAL),
    FIGURE(system, disk_read_mb, REAL),
    FIGURE(system, disk_write_mb, REAL),
    FIGURE(energy, energy_joules, REAL),
    FIGURE(energy, error_low_percent, REAL),
    FIGURE(energy, error_high_percent, REAL),
    FIGURE(energy, carbon_grams, REAL),
    FIGURE(energy, carbon_error_low_percent, REAL),
    FIGURE(energy, carbon_error_high_percent, REAL),
    FIGURE(energy, source, ENERGY_SOURCE),
};

static PyObject *none(void) {
    Py_INCREF(Py_None);
    return Py_None;
}

static PyObject *text_of(const char *const *texts, unsigned number) {
    return texts[number] ? PyUnicode_FromString(texts[number]) : none();
}

static PyObject *number_of(enum kind kind, const char *at) {
    double value;
    memcpy(&value, at, sizeof value);
    if (isnan(value))
        return none();
    return kind == WHOLE ? PyLong_FromDouble(value) : PyFloat_FromDouble(value);
}

static PyObject *leak_of(enum pt_leak leak) {
    return leak == PT_LEAK_UNKNOWN ? none() : PyBool_FromLong(leak == PT_LEAK_YES);
}

static PyObject *value_of(const pt_performance *performance, const struct figure *figure) {
    static const char *const flops[] = { NULL, "counted", "analytical" };
    static const char *const energy[] = { NULL, "measured", "modelled" };
    const char *at = (const char *)performance + figure->offset;
    switch (figure->kind) {
    case REAL:
    case WHOLE:
        return number_of(figure->kind, at);
    case COUNT:
        return PyLong_FromUnsignedLongLong(performance->memory.steps);
    case SWITCH:
        return PyBool_FromLong(performance->memory.is_peak_exact);
    case LEAK:
        return leak_of(performance->memory.memory_leak_detected);
    case FLOPS_SOURCE:
        return text_of(flops, performance->compute.flops_source);
    case ENERGY_SOURCE:
        break;
    }
    return text_of(energy, performance->energy.source);
}

/* Takes the value. */
static int put(PyObject *dict, const char *name, PyObject *value) {
    int rc = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return rc;
}

/* The dict of that section, borrowed; created on first use. */
static PyObject *section_of(PyObject *dict, const char *name) {
    PyObject *section = PyDict_GetItemString(dict, name);
    if (section)
        return section;
    if (put(dict, name, PyDict_New()))
        return NULL;
    return PyDict_GetItemString(dict, name);
}

static int put_all(PyObject *dict, const pt_performance *performance) {
    PyObject *name = PyUnicode_DecodeUTF8(performance->operation,
                                          (Py_ssize_t)strlen(performance->operation), "replace");
    if (put(dict, "operation", name) ||
        put(dict, "is_complete", PyBool_FromLong(performance->is_complete)) ||
        put(dict, "has_failed", PyBool_FromLong(performance->has_failed)))
        return -1;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        PyObject *section = section_of(dict, figures[i].section);
        if (!section || put(section, figures[i].name, value_of(performance, &figures[i])))
            return -1;
    }
    return 0;
}

PyObject *native_performance(const pt_performance *performance) {
    PyObject *dict = PyDict_New();
    if (dict && put_all(dict, performance))
        Py_CLEAR(dict);
    return dict;
}
