/* format/metrics/family.h -- metrics as Prometheus expositions represent them: families of series.
 *
 * All text is borrowed and clean: names and labels come from format/metrics/label.h. */
#ifndef PT_FORMAT_METRICS_FAMILY_H
#define PT_FORMAT_METRICS_FAMILY_H

#include "base/buf.h"
#include "inside/region/histogram.h"
#include "format/metrics/bounds.h"

enum pt_family_kind { PT_FAMILY_COUNTER, PT_FAMILY_GAUGE, PT_FAMILY_HISTOGRAM };

struct pt_distribution {
    uint64_t count; /* of all buckets */
    double sum;
    const uint64_t *buckets;        /* PT_BUCKET_COUNT */
    struct pt_bucket_range used;    /* of the buckets */
    const struct pt_bounds *bounds; /* of the classic buckets */
};

struct pt_series {
    struct pt_str labels; /* a="b",c="d" */
    double value;
    uint64_t integer; /* used instead, exact */
    bool is_integer;
    const struct pt_distribution *distribution; /* of histograms */
    int64_t time_ns;                            /* Unix time of its reading; 0: now */
};

/* The lines above the series in text: made once and kept from one exposition to the next. */
struct pt_family_heads {
    struct pt_buf prometheus, openmetrics;
};

struct pt_family {
    struct pt_str name; /* of counters: without _total */
    struct pt_str help; /* as the program gave it, not escaped */
    struct pt_str unit; /* s, By, ... or empty */
    enum pt_family_kind kind;
    const struct pt_series *series;
    size_t series_count;
    struct pt_family_heads *heads; /* for families that stay the same, or NULL */
};

#endif
