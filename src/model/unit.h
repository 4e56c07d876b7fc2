/* model/unit.h -- units of measurement, and how each is shown and exported. */
#ifndef PT_MODEL_UNIT_H
#define PT_MODEL_UNIT_H

#include "base/attr.h"

/* X(constant, name, Prometheus suffix, factor to the Prometheus base unit) */
#define PT_UNITS(X)                               \
    X(NONE, "", "", 1)                            \
    X(COUNT, "count", "", 1)                      \
    X(BYTES, "bytes", "_bytes", 1)                \
    X(MEBIBYTES, "MB", "_bytes", 1048576)         \
    X(CENTISECONDS, "cs", "_seconds", 0.01)       \
    X(MILLISECONDS, "ms", "_seconds", 0.001)      \
    X(MICROSECONDS, "us", "_seconds", 0.000001)   \
    X(NANOSECONDS, "ns", "_seconds", 0.000000001) \
    X(SECONDS, "s", "_seconds", 1)                \
    X(PERCENT, "%", "_ratio", 0.01)               \
    X(RATIO, "ratio", "_ratio", 1)                \
    X(MEGAHERTZ, "MHz", "_hertz", 1000000)        \
    X(CELSIUS, "degC", "_celsius", 1)             \
    X(WATTS, "W", "_watts", 1)                    \
    X(JOULES, "J", "_joules", 1)                  \
    X(MICROJOULES, "uJ", "_joules", 0.000001)     \
    X(MILLIJOULES, "mJ", "_joules", 0.001)

#define PT_UNIT_ENUM_(constant, ...) PT_##constant,
enum pt_unit { PT_UNITS(PT_UNIT_ENUM_) PT_UNIT_COUNT } PT_SMALL;

struct pt_unit_info {
    const char *name, *prometheus_suffix;
    double prometheus_factor;
};

extern const struct pt_unit_info pt_units[PT_UNIT_COUNT];

/* bytes, seconds, ratio, hertz, celsius, watts, joules, or "" */
static inline const char *pt_unit_base(enum pt_unit unit) {
    const char *suffix = pt_units[unit].prometheus_suffix;
    return *suffix == '_' ? suffix + 1 : "";
}

#endif
