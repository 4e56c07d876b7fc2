/* Prometheus remote write.
 *
 * The first request is a 2.0 request. A receiver that supports only 1.0 answers 415, or accepts it,
 * finds no field it knows, and does not report how many samples it wrote: then the request and all
 * that follow are sent as 1.0. Requests on disk are always 2.0. */
#include "push/protocol.h"
#include "push/snappy.h"
#include "base/clock.h"
#include "model/metric.h"
#include "format/metrics/label.h"
#include "format/metrics/remote_write.h"

#include <stdlib.h>

#define TIMEOUT_NS   (30 * PT_NS_PER_SECOND)
#define METADATA_NS  (300 * PT_NS_PER_SECOND) /* how often 1.0 receivers get metadata */
#define LABELS_MAX   64
#define WRITTEN_NAME "X-Prometheus-Remote-Write-Samples-Written"

enum version { UNKNOWN, V1, V2 };

struct state {
    const struct pt_push_settings *settings;
    const struct pt_snappy_interface *snappy;

    /* Used by the thread that takes samples. */
    struct pt_rw_writer writer;
    struct pt_buf outer; /* the labels of all series, as text */
    struct pt_rw_series *series;
    size_t series_capacity;

    /* Used by the sending thread. */
    enum version version;
    int64_t metadata_ns; /* of the request that contained them last */
    struct pt_buf plain, downgraded, packed;
};

static int open_state(void **state, const struct pt_push_settings *settings,
                      const struct pt_schema *schema, struct pt_err *err) {
    const struct pt_snappy_interface *snappy;
    (void)schema;
    int rc = pt_snappy_open(&snappy, err);
    if (rc)
        return rc;
    struct state *s = pt_calloc(1, sizeof *s);
    s->settings = settings;
    s->snappy = snappy;
    for (size_t i = 0; i < settings->label_count; i++) {
        if (i > 0)
            pt_buf_u8(&s->outer, ',');
        pt_buf_str(&s->outer, pt_str_from(settings->labels[i].name));
        pt_buf_str(&s->outer, PT_STR("=\""));
        pt_metric_label_value(pt_str_from(settings->labels[i].value), &s->outer);
        pt_buf_u8(&s->outer, '"');
    }
    *state = s;
    return 0;
}

static void close_state(void *state) {
    struct state *s = state;
    pt_rw_writer_release(&s->writer);
    pt_buf_release(&s->outer);
    pt_buf_release(&s->plain);
    pt_buf_release(&s->downgraded);
    pt_buf_release(&s->packed);
    pt_free(s->series);
    pt_free(s);
}

static const char *url_of(const struct pt_push_settings *settings) {
    return settings->remote_write;
}

static int64_t timeout_ns(const struct pt_push_settings *settings) {
    (void)settings;
    return TIMEOUT_NS;
}

struct label {
    struct pt_str name, value; /* escaped */
};

struct labels {
    struct label at[LABELS_MAX];
    size_t count;
};

static int compare(struct pt_str a, struct pt_str b) {
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* Inserts by name. An existing label stays. */
static void insert(struct labels *l, struct pt_str name, struct pt_str value) {
    size_t i = l->count;
    while (i > 0 && compare(l->at[i - 1].name, name) > 0)
        i--;
    if (l->count == LABELS_MAX || (i > 0 && pt_str_eq(l->at[i - 1].name, name)))
        return;
    memmove(&l->at[i + 1], &l->at[i], (l->count - i) * sizeof *l->at);
    l->at[i] = (struct label){ name, value };
    l->count++;
}

static void insert_all(struct labels *l, struct pt_str text) {
    struct pt_str name, value;
    while (pt_labels_next(&text, &name, &value))
        if (value.len > 0)
            insert(l, name, value);
}

static void identify(const void *user, const struct pt_family *family, struct pt_str suffix,
                     struct pt_str labels, struct pt_str bound, struct pt_buf *into) {
    const struct state *s = user;
    struct labels l = { .count = 0 };
    char name[512];
    pt_str_copy(name, sizeof name, family->name);
    size_t length = strlen(name);
    pt_str_copy(name + length, sizeof name - length, suffix);
    insert(&l, PT_STR("__name__"), pt_str_from(name));
    if (bound.len > 0)
        insert(&l, PT_STR("le"), bound);
    insert_all(&l, labels);
    insert_all(&l, pt_buf_as_str(&s->outer));
    for (size_t i = 0; i < l.count; i++) {
        pt_buf_str(into, i > 0 ? PT_STR(",") : PT_STR(""));
        pt_buf_str(into, l.at[i].name);
        pt_buf_str(into, PT_STR("=\""));
        pt_buf_str(into, l.at[i].value);
        pt_buf_u8(into, '"');
    }
}

static struct pt_push_naming naming(void *state) {
    const struct state *s = state;
    return (struct pt_push_naming){ .has_native = s->settings->has_native,
                                    .resolution_ns = PT_NS_PER_MS,
                                    .identify = identify,
                                    .user = s };
}

static void add(void *state, struct pt_push_batch *b, const struct pt_family *family) {
    (void)state;
    pt_push_batch_add(b, family);
}

static void encode(void *state, const struct pt_push_batch *b, struct pt_buf *into) {
    struct state *s = state;
    size_t count = 0;
    pt_grow(&s->series, &s->series_capacity, b->series_count, sizeof *s->series);
    for (size_t i = 0; i < b->series_count; i++) {
        const struct pt_push_series *series = &b->series[i];
        const struct pt_push_family *family = &b->families[series->family];
        if (series->point_count == 0)
            continue;
        s->series[count++] = (struct pt_rw_series){ .labels = series->identity,
                                                    .kind = family->kind,
                                                    .help = family->help,
                                                    .unit = family->unit,
                                                    .points = series->points,
                                                    .point_count = series->point_count };
    }
    pt_rw_write(&s->writer, s->series, count, into);
}

static void pack(void *state, struct pt_str request, struct pt_buf *into) {
    struct state *s = state;
    s->snappy->compress(request, into);
}

static int downgrade(struct state *s, struct pt_str packed, int64_t time_ns) {
    bool has_metadata = s->metadata_ns == 0 || time_ns - s->metadata_ns >= METADATA_NS;
    pt_buf_clear(&s->plain);
    pt_buf_clear(&s->downgraded);
    pt_buf_clear(&s->packed);
    int rc = s->snappy->uncompress(packed, PT_PUSH_REQUEST_MAX, &s->plain);
    if (!rc)
        rc = pt_rw_downgrade(pt_buf_as_str(&s->plain), has_metadata, &s->downgraded);
    if (rc)
        return rc;
    if (has_metadata)
        s->metadata_ns = time_ns;
    s->snappy->compress(pt_buf_as_str(&s->downgraded), &s->packed);
    return 0;
}

static int prepare(void *state, struct pt_str packed, int64_t time_ns, struct pt_push_post *post) {
    struct state *s = state;
    bool is_v1 = s->version == V1;
    int rc = is_v1 ? downgrade(s, packed, time_ns) : 0;
    if (rc)
        return rc;
    post->body = is_v1 ? pt_buf_as_str(&s->packed) : packed;
    post->type = is_v1 ? "application/x-protobuf"
                       : "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    post->headers[post->header_count++] = "Content-Encoding: snappy";
    post->headers[post->header_count++] = is_v1 ? "X-Prometheus-Remote-Write-Version: 0.1.0"
                                                : "X-Prometheus-Remote-Write-Version: 2.0.0";
    post->answer_header = WRITTEN_NAME;
    return 0;
}

static enum pt_push_verdict verdict_of(struct state *s, const struct pt_http_request *answer) {
    bool is_final = answer->status >= 400 && answer->status < 500 && answer->status != 429;
    if (!answer->error && (s->version == V1 || *answer->answer_value)) {
        s->version = s->version == UNKNOWN ? V2 : s->version;
        return PT_PUSH_ACCEPTED;
    }
    if (s->version != V1 &&
        (!answer->error || answer->status == 415 || (is_final && s->version == UNKNOWN))) {
        s->version = V1;
        return PT_PUSH_AGAIN;
    }
    return is_final ? PT_PUSH_REJECTED : PT_PUSH_RETRY;
}

static struct pt_push_judgement judge(void *state, const struct pt_http_request *answer) {
    return (struct pt_push_judgement){ .verdict = verdict_of(state, answer),
                                       .words = pt_buf_as_str(&answer->body) };
}

const struct pt_push_protocol pt_push_remote_write = {
    "remote-write", open_state, close_state, url_of, timeout_ns, naming, add,
    encode,         pack,       prepare,     judge,
};
