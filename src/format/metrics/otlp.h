/* format/metrics/otlp.h -- metrics in OTLP: ExportMetricsServiceRequest of
 * opentelemetry.proto.collector.metrics.v1, and its response. */
#ifndef PT_FORMAT_METRICS_OTLP_H
#define PT_FORMAT_METRICS_OTLP_H

#include "base/buf.h"
#include "format/metrics/point.h"

enum pt_otlp_kind {
    PT_OTLP_GAUGE,
    PT_OTLP_COUNTER,         /* a monotonic cumulative sum */
    PT_OTLP_UP_DOWN_COUNTER, /* a cumulative sum that may decrease */
    PT_OTLP_HISTOGRAM,       /* exponential, cumulative */
    PT_OTLP_SUMMED_HISTOGRAM /* cumulative, with only count and sum known */
};

/* Attributes are KeyValue messages, each after its length: these functions append one. */
void pt_otlp_attribute(struct pt_buf *into, struct pt_str key, struct pt_str value);
void pt_otlp_attribute_i64(struct pt_buf *into, struct pt_str key, int64_t value);

struct pt_otlp_series {
    struct pt_str attributes;
    const struct pt_point *points;
    size_t point_count;
};

struct pt_otlp_metric {
    struct pt_str name, unit, help;
    enum pt_otlp_kind kind;
    const struct pt_otlp_series *series;
    size_t series_count;
};

struct pt_otlp_request {
    struct pt_str resource; /* attributes */
    struct pt_str schema_url, scope_name, scope_version;
    const struct pt_otlp_metric *metrics;
    size_t metric_count;
};

/* Appends the request to `into`. */
void pt_otlp_write(const struct pt_otlp_request *request, struct pt_buf *into);

/* From an ExportMetricsServiceResponse; {0} if all points were accepted. `message` borrows the
 * response. */
struct pt_otlp_answer {
    int64_t rejected_point_count;
    struct pt_str message;
};

/* 0 or -EBADMSG. */
int pt_otlp_read_answer(struct pt_str bytes, struct pt_otlp_answer *answer) PT_MUST_CHECK;

#endif
