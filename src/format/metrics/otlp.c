#include "format/metrics/otlp.h"

#include "base/proto_field.h"
#include "base/utf8.h"

#include <errno.h>

/* Index i of OTLP begins at 2^(i/32), as our buckets do. */
#define INDEX_OF_BUCKET (PT_MIN_EXPONENT * PT_BUCKETS_PER_OCTAVE)
#define CUMULATIVE      2
#define NO_VALUE        1 /* flag of a point: the series has ended */

/* Field numbers of the public schema. */
enum { REQUEST_RESOURCE_METRICS = 1 };
enum { RESOURCE_METRICS_RESOURCE = 1, RESOURCE_METRICS_SCOPE = 2, RESOURCE_METRICS_SCHEMA = 3 };
enum { RESOURCE_ATTRIBUTE = 1 };
enum { SCOPE_METRICS_SCOPE = 1, SCOPE_METRICS_METRIC = 2, SCOPE_METRICS_SCHEMA = 3 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
    METRIC_NAME = 1,
    METRIC_HELP = 2,
    METRIC_UNIT = 3,
    METRIC_GAUGE = 5,
    METRIC_SUM = 7,
    METRIC_SUMMED_HISTOGRAM = 9,
    METRIC_HISTOGRAM = 10
};
enum { DATA_POINT = 1, DATA_TEMPORALITY = 2, DATA_IS_MONOTONIC = 3 };
enum { NUMBER_START = 2, NUMBER_TIME = 3, NUMBER_VALUE = 4, NUMBER_ATTRIBUTE = 7, NUMBER_FLAGS };
enum {
    HISTOGRAM_ATTRIBUTE = 1,
    HISTOGRAM_START = 2,
    HISTOGRAM_TIME = 3,
    HISTOGRAM_COUNT = 4,
    HISTOGRAM_SUM = 5,
    HISTOGRAM_SCALE = 6,
    HISTOGRAM_ZERO_COUNT = 7,
    HISTOGRAM_POSITIVE = 8,
    HISTOGRAM_FLAGS = 10,
    HISTOGRAM_ZERO_THRESHOLD = 14
};
enum { SUMMED_ATTRIBUTE = 9 }; /* start, time, count, sum and flags as above */
enum { BUCKETS_OFFSET = 1, BUCKETS_COUNTS = 2 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { ANY_TEXT = 1, ANY_INTEGER = 3 };
enum { ANSWER_PARTIAL_SUCCESS = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };

struct attribute {
    struct pt_str key, text;
    int64_t integer;
    bool is_integer;
};

static void put_any(struct pt_proto *p, const void *arg) {
    const struct attribute *a = arg;
    if (a->is_integer)
        pt_proto_u64(p, ANY_INTEGER, (uint64_t)a->integer);
    else
        pt_proto_str(p, ANY_TEXT, a->text);
}

static void put_attribute(struct pt_proto *p, const void *arg) {
    const struct attribute *a = arg;
    pt_proto_str(p, KEY_VALUE_KEY, a->key);
    pt_proto_message(p, KEY_VALUE_VALUE, put_any, a);
}

static void append_attribute(struct pt_buf *into, const struct attribute *a) {
    struct pt_out out;
    pt_buf_varint(into, pt_proto_size(put_attribute, a));
    pt_out_memory(&out, into);
    struct pt_proto p = { .out = &out };
    put_attribute(&p, a);
    (void)pt_out_close(&out); /* writing to memory cannot fail */
}

void pt_otlp_attribute(struct pt_buf *into, struct pt_str key, struct pt_str value) {
    struct pt_str valid = { value.at, pt_utf8_valid_length(value) };
    append_attribute(into, &(struct attribute){ .key = key, .text = valid });
}

void pt_otlp_attribute_i64(struct pt_buf *into, struct pt_str key, int64_t value) {
    append_attribute(into, &(struct attribute){ .key = key, .integer = value, .is_integer = true });
}

static void put_attributes(struct pt_proto *p, uint32_t field, struct pt_str attributes) {
    struct pt_bytes rest = pt_bytes_of(attributes);
    while (rest.at < rest.end && !rest.failed)
        pt_proto_str(p, field, pt_bytes_lstr(&rest));
}

/* A point being written. */
struct point {
    const struct pt_otlp_series *series;
    const struct pt_point *point;
    enum pt_otlp_kind kind;
};

static void put_number(struct pt_proto *p, const void *arg) {
    const struct point *x = arg;
    if (x->kind != PT_OTLP_GAUGE && x->point->start_ns > 0)
        pt_proto_fixed64(p, NUMBER_START, (uint64_t)x->point->start_ns);
    pt_proto_fixed64(p, NUMBER_TIME, (uint64_t)x->point->time_ns);
    if (x->point->is_stale)
        pt_proto_u64(p, NUMBER_FLAGS, NO_VALUE);
    else
        pt_proto_f64(p, NUMBER_VALUE, x->point->value);
    put_attributes(p, NUMBER_ATTRIBUTE, x->series->attributes);
}

static void put_counts(struct pt_proto *p, const void *arg) {
    const struct pt_native *n = arg;
    for (uint32_t i = n->first; i < n->end; i++)
        pt_proto_varint(p, n->counts[i - n->first]);
}

static void put_buckets(struct pt_proto *p, const void *arg) {
    const struct pt_native *n = arg;
    pt_proto_sint(p, BUCKETS_OFFSET, (int64_t)n->first + INDEX_OF_BUCKET);
    pt_proto_message(p, BUCKETS_COUNTS, put_counts, n);
}

static void put_distribution(struct pt_proto *p, const struct pt_native *n) {
    pt_proto_fixed64(p, HISTOGRAM_COUNT, n->count);
    pt_proto_f64(p, HISTOGRAM_SUM, n->sum);
    pt_proto_sint(p, HISTOGRAM_SCALE, PT_NATIVE_SCHEMA);
    pt_proto_fixed64(p, HISTOGRAM_ZERO_COUNT, n->zero_count);
    if (n->first < n->end)
        pt_proto_message(p, HISTOGRAM_POSITIVE, put_buckets, n);
    pt_proto_f64(p, HISTOGRAM_ZERO_THRESHOLD, pt_native_zero_threshold());
}

static void put_histogram(struct pt_proto *p, const void *arg) {
    const struct point *x = arg;
    put_attributes(p, HISTOGRAM_ATTRIBUTE, x->series->attributes);
    if (x->point->start_ns > 0)
        pt_proto_fixed64(p, HISTOGRAM_START, (uint64_t)x->point->start_ns);
    pt_proto_fixed64(p, HISTOGRAM_TIME, (uint64_t)x->point->time_ns);
    if (x->point->is_stale)
        pt_proto_u64(p, HISTOGRAM_FLAGS, NO_VALUE);
    else
        put_distribution(p, x->point->histogram);
}

static void put_summed_histogram(struct pt_proto *p, const void *arg) {
    const struct point *x = arg;
    if (x->point->start_ns > 0)
        pt_proto_fixed64(p, HISTOGRAM_START, (uint64_t)x->point->start_ns);
    pt_proto_fixed64(p, HISTOGRAM_TIME, (uint64_t)x->point->time_ns);
    if (x->point->is_stale) {
        pt_proto_u64(p, HISTOGRAM_FLAGS, NO_VALUE);
    } else {
        pt_proto_fixed64(p, HISTOGRAM_COUNT, x->point->histogram->count);
        pt_proto_f64(p, HISTOGRAM_SUM, x->point->histogram->sum);
    }
    put_attributes(p, SUMMED_ATTRIBUTE, x->series->attributes);
}

/* By the kind of metric: the field with its points, and how each is written. */
static const struct {
    uint32_t field;
    pt_proto_function *put_point;
} kinds[] = {
    [PT_OTLP_GAUGE] = { METRIC_GAUGE, put_number },
    [PT_OTLP_COUNTER] = { METRIC_SUM, put_number },
    [PT_OTLP_UP_DOWN_COUNTER] = { METRIC_SUM, put_number },
    [PT_OTLP_HISTOGRAM] = { METRIC_HISTOGRAM, put_histogram },
    [PT_OTLP_SUMMED_HISTOGRAM] = { METRIC_SUMMED_HISTOGRAM, put_summed_histogram },
};

static void put_data(struct pt_proto *p, const void *arg) {
    const struct pt_otlp_metric *m = arg;
    for (size_t i = 0; i < m->series_count; i++) {
        const struct pt_otlp_series *s = &m->series[i];
        for (size_t k = 0; k < s->point_count; k++) {
            struct point x = { s, &s->points[k], m->kind };
            pt_proto_message(p, DATA_POINT, kinds[m->kind].put_point, &x);
        }
    }
    if (m->kind != PT_OTLP_GAUGE)
        pt_proto_u64(p, DATA_TEMPORALITY, CUMULATIVE);
    if (m->kind == PT_OTLP_COUNTER)
        pt_proto_u64(p, DATA_IS_MONOTONIC, true);
}

static void put_metric(struct pt_proto *p, const void *arg) {
    const struct pt_otlp_metric *m = arg;
    pt_proto_str(p, METRIC_NAME, m->name);
    pt_proto_str(p, METRIC_HELP, (struct pt_str){ m->help.at, pt_utf8_valid_length(m->help) });
    pt_proto_str(p, METRIC_UNIT, m->unit);
    pt_proto_message(p, kinds[m->kind].field, put_data, m);
}

static void put_scope(struct pt_proto *p, const void *arg) {
    const struct pt_otlp_request *r = arg;
    pt_proto_str(p, SCOPE_NAME, r->scope_name);
    pt_proto_str(p, SCOPE_VERSION, r->scope_version);
}

/* A request and its metrics, which are written before their container: their length is then known
 * without another pass. */
struct whole {
    const struct pt_otlp_request *request;
    struct pt_str metrics;
};

static void put_scope_metrics(struct pt_proto *p, const void *arg) {
    const struct whole *w = arg;
    pt_proto_message(p, SCOPE_METRICS_SCOPE, put_scope, w->request);
    if (w->metrics.len > 0)
        pt_proto_raw(p, w->metrics.at, w->metrics.len);
    pt_proto_str(p, SCOPE_METRICS_SCHEMA, w->request->schema_url);
}

static void put_resource(struct pt_proto *p, const void *arg) {
    const struct pt_otlp_request *r = arg;
    put_attributes(p, RESOURCE_ATTRIBUTE, r->resource);
}

static void put_resource_metrics(struct pt_proto *p, const void *arg) {
    const struct whole *w = arg;
    pt_proto_message(p, RESOURCE_METRICS_RESOURCE, put_resource, w->request);
    pt_proto_message(p, RESOURCE_METRICS_SCOPE, put_scope_metrics, w);
    pt_proto_str(p, RESOURCE_METRICS_SCHEMA, w->request->schema_url);
}

void pt_otlp_write(const struct pt_otlp_request *request, struct pt_buf *into) {
    struct pt_buf metrics = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &metrics);
    struct pt_proto p = { .out = &out };
    for (size_t i = 0; i < request->metric_count; i++)
        pt_proto_message(&p, SCOPE_METRICS_METRIC, put_metric, &request->metrics[i]);
    (void)pt_out_close(&out); /* writing to memory cannot fail */
    struct whole whole = { request, pt_buf_as_str(&metrics) };
    pt_out_memory(&out, into);
    p = (struct pt_proto){ .out = &out };
    pt_proto_message(&p, REQUEST_RESOURCE_METRICS, put_resource_metrics, &whole);
    (void)pt_out_close(&out);
    pt_buf_release(&metrics);
}

int pt_otlp_read_answer(struct pt_str bytes, struct pt_otlp_answer *answer) {
    struct pt_bytes message = pt_bytes_of(bytes), partial;
    struct pt_proto_field f;
    *answer = (struct pt_otlp_answer){ .message = PT_STR("") };
    while (pt_proto_next(&message, &f)) {
        if (f.number != ANSWER_PARTIAL_SUCCESS || f.type != PT_PROTO_BYTES)
            continue;
        partial = pt_bytes_of(f.bytes);
        while (pt_proto_next(&partial, &f)) {
            if (f.number == PARTIAL_REJECTED && f.type == PT_PROTO_VARINT)
                answer->rejected_point_count = (int64_t)f.value;
            else if (f.number == PARTIAL_MESSAGE && f.type == PT_PROTO_BYTES)
                answer->message = f.bytes;
        }
        message.failed |= partial.failed;
    }
    return message.failed ? -EBADMSG : 0;
}
