#include "serve/metrics_route.h"

#include "base/clock.h"
#include "serve/service.h"
#include "format/metrics/label.h"

#include <stdio.h>

void pt_metrics_route_init(struct pt_metrics_route *m, const struct pt_schema *schema) {
    *m = (struct pt_metrics_route){ .start_wall_ns = pt_wall_ns() };
    struct pt_families_options options = { 0 };
    pt_families_init(&m->families, schema, &options);
    pt_bounds_set_default(&m->bounds);
    pthread_mutex_init(&m->lock, NULL);
}

void pt_metrics_route_release(struct pt_metrics_route *m, const struct pt_http_server *http) {
    for (size_t i = 0; i < PT_METRICS_FORMATS; i++)
        if (m->contents[i])
            pt_http_content_free(http, m->contents[i]);
    pt_families_release(&m->families);
    pt_buf_release(&m->labels);
    pthread_mutex_destroy(&m->lock);
}

/* Call with the lock held. There are few routes, and their paths are never freed. */
static struct pt_path_counts *counts_of(struct pt_metrics_route *m, const char *path) {
    for (size_t i = 0; i < m->path_count; i++)
        if (strcmp(m->paths[i].path, path) == 0)
            return &m->paths[i];
    if (m->path_count == PT_METRICS_PATHS)
        return NULL;
    m->paths[m->path_count].path = path;
    return &m->paths[m->path_count++];
}

static void add_time(struct pt_metrics_route *m, double seconds) {
    uint32_t bucket = pt_bucket_of(seconds);
    m->buckets[bucket]++;
    if (m->request_count == 0 || bucket < m->used.first)
        m->used.first = bucket;
    if (bucket >= m->used.end)
        m->used.end = bucket + 1;
    m->request_seconds += seconds;
    m->request_count++;
}

void pt_metrics_route_count(struct pt_metrics_route *m, const char *path, unsigned status,
                            int64_t took_ns) {
    double seconds = (double)took_ns / (double)PT_NS_PER_SECOND;
    pthread_mutex_lock(&m->lock);
    struct pt_path_counts *c = counts_of(m, *path ? path : "other");
    if (c)
        c->codes[status / 100 < PT_METRICS_CODES ? status / 100 : 0]++;
    if (strcmp(path, "/api/stream") != 0) /* the duration of a stream is not a latency */
        add_time(m, seconds);
    pthread_mutex_unlock(&m->lock);
}

static void put_one(struct pt_exposition *e, const char *name, const char *help, const char *unit,
                    enum pt_family_kind kind, struct pt_str labels, double value) {
    struct pt_series series = { .labels = labels, .value = value };
    struct pt_family family = { .name = pt_str_from(name),
                                .help = pt_str_from(help),
                                .unit = pt_str_from(unit),
                                .kind = kind,
                                .series = &series,
                                .series_count = 1 };
    pt_exposition_family(e, &family);
}

#define SERIES_MAX (PT_METRICS_PATHS * PT_METRICS_CODES)

/* Labels of all series of a family; the series borrow them once the family is complete. */
struct labelled {
    struct pt_buf *text;
    size_t starts[SERIES_MAX], ends[SERIES_MAX];
    struct pt_series series[SERIES_MAX];
    size_t count;
};

static void begin_labels(struct labelled *l) {
    l->starts[l->count] = l->text->len;
}

static void put_label(struct labelled *l, const char *name, struct pt_str value) {
    if (l->text->len > l->starts[l->count])
        pt_buf_u8(l->text, ',');
    pt_buf_str(l->text, pt_str_from(name));
    pt_buf_str(l->text, PT_STR("=\""));
    for (size_t i = 0; i < value.len; i++) {
        if (value.at[i] == '"' || value.at[i] == '\\')
            pt_buf_u8(l->text, '\\');
        pt_buf_u8(l->text, value.at[i] == '\n' ? ' ' : (uint8_t)value.at[i]);
    }
    pt_buf_u8(l->text, '"');
}

static void end_labels(struct labelled *l, struct pt_series series) {
    l->ends[l->count] = l->text->len;
    l->series[l->count++] = series;
}

static void put_labelled(struct pt_exposition *e, struct labelled *l, const char *name,
                         const char *help, const char *unit, enum pt_family_kind kind) {
    for (size_t i = 0; i < l->count; i++)
        l->series[i].labels =
            (struct pt_str){ (const char *)l->text->at + l->starts[i], l->ends[i] - l->starts[i] };
    struct pt_family family = { .name = pt_str_from(name),
                                .help = pt_str_from(help),
                                .unit = pt_str_from(unit),
                                .kind = kind,
                                .series = l->series,
                                .series_count = l->count };
    if (l->count > 0)
        pt_exposition_family(e, &family);
    l->count = 0;
    pt_buf_clear(l->text);
}

static void put_request_counts(struct pt_metrics_route *m, struct pt_exposition *e,
                               struct labelled *l) {
    static const char *const classes[] = { "none", "1xx", "2xx", "3xx", "4xx", "5xx" };
    for (size_t i = 0; i < m->path_count; i++)
        for (size_t k = 0; k < PT_METRICS_CODES; k++) {
            if (m->paths[i].codes[k] == 0)
                continue;
            begin_labels(l);
            put_label(l, "path", pt_str_from(m->paths[i].path));
            put_label(l, "code", pt_str_from(classes[k]));
            end_labels(l,
                       (struct pt_series){ .integer = m->paths[i].codes[k], .is_integer = true });
        }
    put_labelled(e, l, "pitot_http_requests", "Finished requests", "", PT_FAMILY_COUNTER);
}

static void put_request_times(struct pt_metrics_route *m, struct pt_exposition *e) {
    struct pt_distribution all = { .count = m->request_count,
                                   .sum = m->request_seconds,
                                   .buckets = m->buckets,
                                   .used = m->used,
                                   .bounds = &m->bounds };
    struct pt_series series = { .labels = PT_STR(""), .distribution = &all };
    struct pt_family family = {
        .name = PT_STR("pitot_http_request_duration_seconds"),
        .help = PT_STR("Time from the head of a request to the end of its answer, without streams"),
        .unit = PT_STR("s"),
        .kind = PT_FAMILY_HISTOGRAM,
        .series = &series,
        .series_count = 1,
    };
    pt_exposition_family(e, &family);
}

static void add_alerts(const struct pt_watch *w, bool are_on, struct labelled *l) {
    for (size_t i = 0; i < w->state_count && l->count < SERIES_MAX; i++) {
        if (w->states[i].alert.is_on != are_on)
            continue;
        begin_labels(l);
        put_label(l, "rule", pt_str_from(w->rules[w->states[i].rule].name));
        put_label(l, "entity", pt_str_from(w->states[i].key));
        end_labels(l, (struct pt_series){ .value = are_on });
    }
}

static void put_family(void *user, const struct pt_family *family) {
    pt_exposition_family(user, family);
}

static void render(struct pt_metrics_route *m, struct pt_service *s, struct pt_exposition *e) {
    struct labelled l;
    l.text = &m->labels;
    l.count = 0; /* the arrays are large: do not clear them */
    pt_families_each(&m->families, &s->latest.now, put_family, e);
    put_one(e, "pitot_build_info", "Version of Pitot", "", PT_FAMILY_GAUGE,
            PT_STR("version=\"" PITOT_VERSION "\""), 1);
    put_one(e, "process_cpu_seconds", "CPU time used by Pitot", "s", PT_FAMILY_COUNTER, PT_STR(""),
            (double)pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9);
    put_one(e, "process_start_time_seconds", "Unix time when Pitot started", "s", PT_FAMILY_GAUGE,
            PT_STR(""), (double)m->start_wall_ns / 1e9);
    add_alerts(&s->alerts.watch, true, &l); /* if there are too many, those that are on */
    add_alerts(&s->alerts.watch, false, &l);
    put_labelled(e, &l, "pitot_alert", "1 if the alert rule is on for this entity, else 0", "",
                 PT_FAMILY_GAUGE);
    uint64_t shed_count;
    put_one(e, "pitot_stream_readers", "Readers of /api/stream", "", PT_FAMILY_GAUGE, PT_STR(""),
            (double)pt_stream_count(&s->stream, &shed_count));
    put_one(e, "pitot_stream_shed", "Readers that were too slow, or the oldest of too many", "",
            PT_FAMILY_COUNTER, PT_STR(""), (double)shed_count);
    pthread_mutex_lock(&m->lock);
    put_request_counts(m, e, &l);
    put_request_times(m, e);
    pthread_mutex_unlock(&m->lock);
}

/* Reserves a little more than the last one needed, so that the body grows at most once; one that
 * fits into the buffer of `out` needs no reserve. */
static struct pt_http_content *make(struct pt_metrics_route *m, struct pt_service *s,
                                    enum pt_exposition_format format) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    struct pt_exposition e;
    size_t expected = m->rendered_bytes[format] + m->rendered_bytes[format] / 16;
    if (expected > PT_OUT_BUFFER)
        pt_buf_reserve(&body, expected);
    pt_out_memory(&out, &body);
    pt_exposition_begin(&e, &out, format);
    render(m, s, &e);
    pt_exposition_end(&e);
    int rc = pt_out_close(&out);
    m->rendered_bytes[format] = body.len;
    struct pt_http_content *content =
        rc ? NULL : pt_http_content_new(&s->http, 200, pt_exposition_type(format), &body, NULL, 0);
    pt_buf_release(&body);
    return content;
}

struct pt_http_content *pt_metrics_route_content(struct pt_metrics_route *m, struct pt_service *s,
                                                 enum pt_exposition_format format) {
    uint64_t number = s->latest.sample_count;
    if (number == 0)
        return NULL;
    if (m->contents[format] && m->rendered_sample[format] == number)
        return m->contents[format];
    pt_http_content_free(&s->http, m->contents[format]);
    m->contents[format] = make(m, s, format);
    m->rendered_sample[format] = number;
    return m->contents[format];
}
