/* format/metrics/point.h -- values of a series over time, as requests to receivers carry them. */
#ifndef PT_FORMAT_METRICS_POINT_H
#define PT_FORMAT_METRICS_POINT_H

#include "format/metrics/native.h"

struct pt_point {
    int64_t time_ns;  /* Unix time */
    int64_t start_ns; /* since when its counter counts; 0: unknown */
    double value;
    const struct pt_native *histogram; /* used instead of the value, or NULL */
    bool is_stale;                     /* the series has ended: the fields above are unused */
};

#endif
