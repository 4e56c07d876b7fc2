/* OTLP over HTTP, as protobuf. */
#include "push/otel_names.h"
#include "push/protocol.h"
#include "base/clock.h"
#include "base/scan.h"
#include "format/metrics/label.h"
#include "format/metrics/remote_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define SCHEMA_URL "https://opentelemetry.io/schemas/" PT_OTEL_VERSION

/* A sum that waits for its count: both are columns, one after the other. */
struct sums {
    struct pt_series *series;
    size_t count, capacity;
    struct pt_buf labels;
};

struct state {
    const struct pt_push_settings *settings;

    /* Used by the thread that takes samples. */
    struct pt_otel_index index;
    struct pt_buf resource;
    struct sums sums;
    struct pt_distribution *distributions; /* of the family being added */
    size_t distribution_capacity;
    struct pt_series *histograms;
    size_t histogram_capacity;
    struct pt_otlp_metric *metrics;
    size_t metric_capacity;
    struct pt_otlp_series *series;
    size_t series_capacity;
    struct pt_intern metric_index;
    uint32_t *metric_of; /* a family */
    size_t metric_of_capacity;

    /* Used by the sending thread. */
    char **headers;
};

static int open_state(void **state, const struct pt_push_settings *settings,
                      const struct pt_schema *schema, struct pt_err *err) {
    struct state *s = pt_calloc(1, sizeof *s);
    (void)err;
    s->settings = settings;
    pt_otel_index_init(&s->index, schema);
    for (size_t i = 0; i < settings->attribute_count; i++)
        pt_otlp_attribute(&s->resource, pt_str_from(settings->attributes[i].name),
                          pt_str_from(settings->attributes[i].value));
    s->headers = pt_calloc(settings->header_count + 1, sizeof *s->headers);
    for (size_t i = 0; i < settings->header_count; i++)
        s->headers[i] =
            pt_asprintf("%s: %s", settings->headers[i].name, settings->headers[i].value);
    *state = s;
    return 0;
}

static void close_state(void *state) {
    struct state *s = state;
    pt_otel_index_release(&s->index);
    pt_buf_release(&s->resource);
    pt_buf_release(&s->sums.labels);
    pt_free(s->sums.series);
    pt_free(s->distributions);
    pt_free(s->histograms);
    pt_free(s->metrics);
    pt_free(s->series);
    pt_intern_release(&s->metric_index);
    pt_free(s->metric_of);
    for (size_t i = 0; i < s->settings->header_count; i++)
        pt_free(s->headers[i]);
    pt_free(s->headers);
    pt_free(s);
}

static const char *url_of(const struct pt_push_settings *settings) {
    return settings->otlp;
}

static int64_t timeout_ns(const struct pt_push_settings *settings) {
    return settings->otlp_timeout_ns;
}

/* "cpu.mode=user,hw.type=gpu" */
static void add_fixed(struct pt_buf *into, const char *attributes) {
    for (const char *at = attributes; at && *at; at += *at == ',') {
        size_t name = strcspn(at, "="), length = strcspn(at, ",");
        pt_otlp_attribute(into, (struct pt_str){ at, name },
                          (struct pt_str){ at + name + 1, length - name - 1 });
        at += length;
    }
}

static void add_label(struct pt_buf *into, const struct pt_otel_metric *m, struct pt_str name,
                      struct pt_str value) {
    struct pt_otel_key key;
    if (!m || !pt_otel_key_of(m->table, name, &key))
        key = (struct pt_otel_key){ name, false };
    struct pt_scan scan = pt_scan_of(value);
    int64_t number = key.is_integer ? pt_scan_i64(&scan) : 0;
    if (key.is_integer && !scan.failed)
        pt_otlp_attribute_i64(into, key.attribute, number);
    else
        pt_otlp_attribute(into, key.attribute, value);
}

static void identify(const void *user, const struct pt_family *family, struct pt_str suffix,
                     struct pt_str labels, struct pt_str bound, struct pt_buf *into) {
    const struct state *s = user;
    const struct pt_otel_metric *m = pt_otel_find(&s->index, family->name);
    struct pt_str name, value;
    char text[PT_RW_LABEL_MAX];
    (void)suffix;
    (void)bound;
    if (m && m->is_known)
        add_fixed(into, m->otel.attributes);
    while (pt_labels_next(&labels, &name, &value))
        if (value.len > 0 && value.len <= sizeof text)
            add_label(into, m, name, pt_label_unescape(value, text));
}

static struct pt_push_naming naming(void *state) {
    return (struct pt_push_naming){ .has_native = true,
                                    .has_start = true,
                                    .resolution_ns = 1,
                                    .identify = identify,
                                    .user = state };
}

static void keep_sums(struct sums *sums, const struct pt_family *family) {
    pt_grow(&sums->series, &sums->capacity, family->series_count, sizeof *sums->series);
    memcpy(sums->series, family->series, family->series_count * sizeof *sums->series);
    sums->count = family->series_count;
    pt_buf_clear(&sums->labels);
    size_t bytes = 0;
    for (size_t i = 0; i < sums->count; i++)
        bytes += family->series[i].labels.len;
    char *at = (char *)pt_buf_reserve(&sums->labels, bytes + 1);
    for (size_t i = 0; i < sums->count; i++) {
        struct pt_str labels = family->series[i].labels;
        memcpy(at, labels.at, labels.len);
        sums->series[i].labels.at = at;
        at += labels.len;
    }
}

static const struct pt_series *find_sum(const struct sums *sums, struct pt_str labels) {
    for (size_t i = 0; i < sums->count; i++)
        if (pt_str_eq(sums->series[i].labels, labels))
            return &sums->series[i];
    return NULL;
}

/* The counts of a family with their sums, as histograms without buckets. */
static void add_counts(struct state *s, struct pt_push_batch *b, const struct pt_family *family) {
    struct pt_family whole = *family;
    pt_grow(&s->distributions, &s->distribution_capacity, family->series_count,
            sizeof *s->distributions);
    pt_grow(&s->histograms, &s->histogram_capacity, family->series_count, sizeof *s->histograms);
    whole.kind = PT_FAMILY_HISTOGRAM;
    whole.series = s->histograms;
    whole.series_count = 0;
    for (size_t i = 0; i < family->series_count; i++) {
        const struct pt_series *count = &family->series[i];
        const struct pt_series *sum = find_sum(&s->sums, count->labels);
        if (!sum)
            continue;
        struct pt_distribution *d = &s->distributions[whole.series_count];
        *d = (struct pt_distribution){
            .count = count->is_integer ? count->integer : (uint64_t)count->value,
            .sum = sum->is_integer ? (double)sum->integer : sum->value,
        };
        s->histograms[whole.series_count] = *count;
        s->histograms[whole.series_count++].distribution = d;
    }
    s->sums.count = 0;
    if (whole.series_count > 0)
        pt_push_batch_add(b, &whole);
}

static void add(void *state, struct pt_push_batch *b, const struct pt_family *family) {
    struct state *s = state;
    const struct pt_otel_metric *m = pt_otel_find(&s->index, family->name);
    enum pt_otel_part part = m && m->is_known ? m->otel.part : PT_OTEL_WHOLE;
    if (part == PT_OTEL_SUM)
        keep_sums(&s->sums, family);
    else if (part == PT_OTEL_COUNT)
        add_counts(s, b, family);
    else
        pt_push_batch_add(b, family);
}

static struct pt_otlp_metric describe(const struct state *s, const struct pt_push_family *family) {
    static const enum pt_otlp_kind kinds[] = {
        [PT_FAMILY_COUNTER] = PT_OTLP_COUNTER,
        [PT_FAMILY_GAUGE] = PT_OTLP_GAUGE,
        [PT_FAMILY_HISTOGRAM] = PT_OTLP_HISTOGRAM,
    };
    const struct pt_otel_metric *m = pt_otel_find(&s->index, family->name);
    struct pt_otlp_metric metric = { .name = m ? pt_str_from(m->otel.name) : family->name,
                                     .unit = pt_otel_unit(family->unit),
                                     .help = family->help,
                                     .kind = kinds[family->kind] };
    if (m && m->is_known) {
        metric.unit = m->otel.unit;
        metric.kind = m->otel.kind;
    }
    return metric;
}

static bool is_metric(const void *owner, uint32_t number, const void *key) {
    const struct state *s = owner;
    return pt_str_eq(s->metrics[number].name, *(const struct pt_str *)key);
}

/* Families that are one metric with different attributes are merged. */
static size_t find_metrics(struct state *s, const struct pt_push_batch *b) {
    uint32_t count = 0;
    pt_grow(&s->metrics, &s->metric_capacity, b->family_count, sizeof *s->metrics);
    pt_grow(&s->metric_of, &s->metric_of_capacity, b->family_count, sizeof *s->metric_of);
    pt_intern_clear(&s->metric_index);
    for (size_t i = 0; i < b->family_count; i++) {
        struct pt_otlp_metric metric = describe(s, &b->families[i]);
        uint32_t hash = pt_intern_hash(metric.name.at, metric.name.len);
        s->metric_of[i] = pt_intern_find(&s->metric_index, hash, is_metric, s, &metric.name, count);
        if (s->metric_of[i] == count)
            s->metrics[count++] = metric;
    }
    return count;
}

static void count_series(struct state *s, const struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++)
        if (b->series[i].point_count > 0)
            s->metrics[s->metric_of[b->series[i].family]].series_count++;
}

static void fill_series(struct state *s, const struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++) {
        const struct pt_push_series *from = &b->series[i];
        struct pt_otlp_metric *metric = &s->metrics[s->metric_of[from->family]];
        if (from->point_count == 0)
            continue;
        size_t at = (size_t)(metric->series - s->series) + metric->series_count++;
        s->series[at] = (struct pt_otlp_series){ .attributes = from->identity,
                                                 .points = from->points,
                                                 .point_count = from->point_count };
    }
}

static void encode(void *state, const struct pt_push_batch *b, struct pt_buf *into) {
    struct state *s = state;
    size_t metric_count = find_metrics(s, b);
    pt_grow(&s->series, &s->series_capacity, b->series_count, sizeof *s->series);
    count_series(s, b);
    /* Gives each metric its part of s->series, as counted by `count_series`. */
    size_t first = 0;
    for (size_t i = 0; i < metric_count; i++) {
        s->metrics[i].series = s->series + first;
        first += s->metrics[i].series_count;
        s->metrics[i].series_count = 0;
    }
    fill_series(s, b);
    size_t kept = 0; /* metrics without points are omitted */
    for (size_t i = 0; i < metric_count; i++)
        if (s->metrics[i].series_count > 0)
            s->metrics[kept++] = s->metrics[i];
    struct pt_otlp_request request = {
        .resource = pt_buf_as_str(&s->resource),
        .schema_url = PT_STR(SCHEMA_URL),
        .scope_name = PT_STR("pitot"),
        .scope_version = PT_STR(PITOT_VERSION),
        .metrics = s->metrics,
        .metric_count = kept,
    };
    pt_otlp_write(&request, into);
}

/* gzip; uncompressed if that fails. */
static void pack(void *state, struct pt_str request, struct pt_buf *into) {
    struct state *s = state;
    z_stream z = { .next_in = (Bytef *)(uintptr_t)request.at, .avail_in = (uInt)request.len };
    if (s->settings->is_otlp_plain ||
        deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        pt_buf_str(into, request);
        return;
    }
    size_t most = deflateBound(&z, (uLong)request.len);
    z.next_out = pt_buf_reserve(into, most);
    z.avail_out = (uInt)most;
    deflate(&z, Z_FINISH);
    into->len += most - z.avail_out;
    deflateEnd(&z);
}

static int prepare(void *state, struct pt_str packed, int64_t time_ns, struct pt_push_post *post) {
    const struct state *s = state;
    (void)time_ns;
    post->body = packed;
    post->type = "application/x-protobuf";
    /* Queued requests may have been packed by a run with other settings. */
    if (pt_str_starts(packed, PT_STR("\x1f\x8b")))
        post->headers[post->header_count++] = "Content-Encoding: gzip";
    for (size_t i = 0; i < s->settings->header_count; i++)
        if (post->header_count < PT_PUSH_HEADERS_MAX - 1)
            post->headers[post->header_count++] = s->headers[i];
    return 0;
}

static enum pt_push_verdict verdict_of(const struct pt_http_request *answer) {
    switch (answer->status) {
    case 429:
    case 502:
    case 503:
    case 504:
        return PT_PUSH_RETRY;
    default:
        if (!answer->error)
            return PT_PUSH_ACCEPTED;
        return answer->status >= 300 ? PT_PUSH_REJECTED : PT_PUSH_RETRY;
    }
}

static struct pt_push_judgement judge(void *state, const struct pt_http_request *answer) {
    struct pt_push_judgement j = { .verdict = verdict_of(answer),
                                   .words = pt_buf_as_str(&answer->body) };
    struct pt_otlp_answer partial;
    (void)state;
    bool is_message = strncmp(answer->content_type, "application/x-protobuf", 22) == 0;
    if (j.verdict != PT_PUSH_ACCEPTED)
        return j;
    j.words = PT_STR("");
    if (is_message && !pt_otlp_read_answer(pt_buf_as_str(&answer->body), &partial)) {
        j.rejected_points =
            partial.rejected_point_count > 0 ? (uint64_t)partial.rejected_point_count : 0;
        j.words = partial.message;
    }
    return j;
}

const struct pt_push_protocol pt_push_otlp = {
    "otlp", open_state, close_state, url_of, timeout_ns, naming, add, encode, pack, prepare, judge,
};
