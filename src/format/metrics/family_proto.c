/* format/metrics/family_proto.c -- a family as a message io.prometheus.client.MetricFamily, after
 * its length.
 *
 * A histogram has both its classic and its native buckets. */
#include "format/metrics/family_writers.h"

#include "base/utf8.h"
#include "format/metrics/label.h"
#include "format/metrics/native.h"

#define LABEL_VALUE_MAX 1024

/* Field numbers of the public schema. */
enum { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC };
enum { METRIC_LABEL = 1, METRIC_GAUGE = 2, METRIC_COUNTER = 3, METRIC_HISTOGRAM = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE };
enum { NUMBER_VALUE = 1 }; /* of gauges and counters */
enum {
    HISTOGRAM_COUNT = 1,
    HISTOGRAM_SUM = 2,
    HISTOGRAM_BUCKET = 3,
    HISTOGRAM_SCHEMA = 5,
    HISTOGRAM_ZERO_THRESHOLD = 6,
    HISTOGRAM_ZERO_COUNT = 7,
    HISTOGRAM_POSITIVE_SPAN = 12,
    HISTOGRAM_POSITIVE_DELTA = 13
};
enum { BUCKET_COUNT = 1, BUCKET_UPPER = 2 };

struct label {
    struct pt_str name, value;
};

static void put_label(struct pt_proto *p, const void *arg) {
    const struct label *label = arg;
    pt_proto_str(p, LABEL_NAME, label->name);
    pt_proto_str(p, LABEL_VALUE, label->value);
}

static void put_labels(struct pt_proto *p, struct pt_str labels) {
    struct label label;
    char text[LABEL_VALUE_MAX];
    while (pt_labels_next(&labels, &label.name, &label.value)) {
        if (label.value.len > sizeof text)
            continue;
        label.value = pt_label_unescape(label.value, text);
        pt_proto_message(p, METRIC_LABEL, put_label, &label);
    }
}

static void put_number(struct pt_proto *p, const void *arg) {
    const struct pt_series *series = arg;
    pt_proto_f64(p, NUMBER_VALUE, series->is_integer ? (double)series->integer : series->value);
}

struct classic_bucket {
    uint64_t count;
    double upper;
};

static void put_classic_bucket(struct pt_proto *p, const void *arg) {
    const struct classic_bucket *bucket = arg;
    pt_proto_u64(p, BUCKET_COUNT, bucket->count);
    pt_proto_f64(p, BUCKET_UPPER, bucket->upper);
}

static void put_classic(struct pt_proto *p, const struct pt_distribution *d) {
    uint64_t at_or_below[PT_BOUNDS_MAX];
    pt_bounds_count(d->bounds, d->buckets, d->used, at_or_below);
    for (size_t i = 0; i < d->bounds->count; i++) {
        struct classic_bucket bucket = { at_or_below[i], d->bounds->upper[i] };
        pt_proto_message(p, HISTOGRAM_BUCKET, put_classic_bucket, &bucket);
    }
    struct classic_bucket last = { d->count, (double)INFINITY };
    pt_proto_message(p, HISTOGRAM_BUCKET, put_classic_bucket, &last);
}

struct histogram {
    const struct pt_distribution *distribution;
    struct pt_native native; /* found once: the other buckets are not searched again */
};

static void put_histogram(struct pt_proto *p, const void *arg) {
    const struct histogram *h = arg;
    pt_proto_u64(p, HISTOGRAM_COUNT, h->native.count);
    pt_proto_f64(p, HISTOGRAM_SUM, h->native.sum);
    put_classic(p, h->distribution);
    pt_proto_sint(p, HISTOGRAM_SCHEMA, PT_NATIVE_SCHEMA);
    pt_proto_f64(p, HISTOGRAM_ZERO_THRESHOLD, pt_native_zero_threshold());
    pt_proto_u64(p, HISTOGRAM_ZERO_COUNT, h->native.zero_count);
    pt_native_spans(p, HISTOGRAM_POSITIVE_SPAN, &h->native);
    pt_native_deltas(p, HISTOGRAM_POSITIVE_DELTA, &h->native);
}

struct metric {
    enum pt_family_kind kind;
    const struct pt_series *series;
};

static void put_metric(struct pt_proto *p, const void *arg) {
    const struct metric *metric = arg;
    put_labels(p, metric->series->labels);
    switch (metric->kind) {
    case PT_FAMILY_COUNTER:
        pt_proto_message(p, METRIC_COUNTER, put_number, metric->series);
        break;
    case PT_FAMILY_GAUGE:
        pt_proto_message(p, METRIC_GAUGE, put_number, metric->series);
        break;
    case PT_FAMILY_HISTOGRAM: {
        const struct pt_distribution *d = metric->series->distribution;
        struct histogram h = { d, pt_native_of(d) };
        pt_proto_message(p, METRIC_HISTOGRAM, put_histogram, &h);
        break;
    }
    }
}

static void put_name(struct pt_proto *p, const struct pt_family *family) {
    char name[256];
    if (family->kind != PT_FAMILY_COUNTER || family->name.len + 6 > sizeof name) {
        pt_proto_str(p, FAMILY_NAME, family->name);
        return;
    }
    memcpy(name, family->name.at, family->name.len);
    memcpy(name + family->name.len, "_total", 6);
    pt_proto_str(p, FAMILY_NAME, (struct pt_str){ name, family->name.len + 6 });
}

static void put_family(struct pt_proto *p, const void *arg) {
    static const uint64_t types[] = {
        [PT_FAMILY_COUNTER] = 0,
        [PT_FAMILY_GAUGE] = 1,
        [PT_FAMILY_HISTOGRAM] = 4,
    };
    const struct pt_family *family = arg;
    put_name(p, family);
    pt_proto_str(p, FAMILY_HELP,
                 (struct pt_str){ family->help.at, pt_utf8_valid_length(family->help) });
    pt_proto_u64(p, FAMILY_TYPE, types[family->kind]);
    for (size_t i = 0; i < family->series_count; i++) {
        struct metric metric = { family->kind, &family->series[i] };
        pt_proto_message(p, FAMILY_METRIC, put_metric, &metric);
    }
}

void pt_family_proto(struct pt_out *out, const struct pt_family *family) {
    struct pt_proto p = { .out = out };
    pt_proto_varint(&p, pt_proto_size(put_family, family));
    put_family(&p, family);
}
