#include "format/metrics/families.h"

#include "derive/field.h"
#include "model/metric.h"
#include "inside/region/bucket_text.h"
#include "format/metrics/label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A column that is a metric. Used once a second, when it is out of every cache: the data of an
 * exposition is close together. */
struct column_metric {
    int column;
    bool is_integer; /* raw value of the cell */
    double factor;
    struct pt_family family; /* without series; its name is ours, other texts are the table's */
    struct pt_family_heads heads;
};

/* Position of a piece of text: buffers move while they grow. */
struct text_range {
    uint32_t offset, length;
};

/* A row of a table with metrics as rows; texts are in `text`, clean. */
struct own_metric {
    struct text_range name, labels, unit;
    enum pt_family_kind kind;
    int64_t pid;
    uint32_t row;
};

struct histogram {
    struct pt_distribution distribution;
    uint64_t buckets[PT_BUCKET_COUNT];
};

struct pt_families_state {
    struct column_metric *metrics; /* in the order of the schema */
    size_t metric_count;
    size_t *first_metrics; /* first of each table, and after the last */
    struct pt_bounds bounds;

    /* Of the current family. */
    struct pt_series *series;
    size_t series_count, series_capacity;
    struct text_range *labels; /* of the rows of a table, in `text` */
    size_t label_capacity;
    struct pt_buf text;
    struct own_metric *own;
    size_t own_count, own_capacity;
    struct histogram **histograms;
    size_t histogram_count, histogram_capacity;
};

/* ---- the columns ---- */

static void make_metric(struct column_metric *m, const struct pt_column *column,
                        const struct pt_metric *metric) {
    m->is_integer = column->type == PT_I64 && metric->factor == 1;
    m->factor = metric->factor;
    m->family = (struct pt_family){
        .name = pt_str_from(pt_strdup(metric->name)),
        .help = pt_str_from(column->help),
        .unit = pt_str_from(metric->unit),
        .kind = metric->is_counter ? PT_FAMILY_COUNTER : PT_FAMILY_GAUGE,
        .heads = &m->heads,
    };
}

static void find_metrics_of(struct pt_families_state *s, const struct pt_table *table) {
    struct pt_metric metric;
    for (int c = 0; c < table->column_count; c++) {
        struct column_metric *m = &s->metrics[s->metric_count];
        if (!pt_metric_of(table, c, &metric))
            continue;
        m->column = c;
        make_metric(m, &table->columns[c], &metric);
        s->metric_count++;
    }
}

void pt_families_init(struct pt_families *f, const struct pt_schema *schema,
                      const struct pt_families_options *options) {
    *f = (struct pt_families){ .schema = schema, .options = *options };
    struct pt_families_state *s = f->state = pt_calloc(1, sizeof *s);
    pt_bounds_set_default(&s->bounds);
    size_t column_count = 0;
    for (uint32_t t = 0; t < schema->table_count; t++)
        column_count += schema->tables[t]->column_count;
    s->metrics = pt_calloc(column_count + 1, sizeof *s->metrics);
    s->first_metrics = pt_calloc(schema->table_count + 1, sizeof *s->first_metrics);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        find_metrics_of(s, schema->tables[t]);
        s->first_metrics[t + 1] = s->metric_count;
    }
}

void pt_families_release(struct pt_families *f) {
    struct pt_families_state *s = f->state;
    if (!s)
        return;
    for (size_t i = 0; i < s->histogram_capacity; i++)
        pt_free(s->histograms[i]);
    pt_free(s->histograms);
    for (size_t i = 0; i < s->metric_count; i++) {
        struct column_metric *m = &s->metrics[i];
        pt_free((void *)(uintptr_t)m->family.name.at);
        pt_buf_release(&m->heads.prometheus);
        pt_buf_release(&m->heads.openmetrics);
    }
    pt_free(s->metrics);
    pt_free(s->first_metrics);
    pt_free(s->series);
    pt_free(s->labels);
    pt_free(s->own);
    pt_buf_release(&s->text);
    pt_free(s);
    f->state = NULL;
}

static struct pt_str text_at(const struct pt_families_state *s, struct text_range range) {
    if (range.length == 0)
        return PT_STR("");
    return (struct pt_str){ (const char *)s->text.at + range.offset, range.length };
}

static struct pt_series *add_series(struct pt_families_state *s, struct pt_str labels) {
    pt_grow(&s->series, &s->series_capacity, s->series_count + 1, sizeof *s->series);
    struct pt_series *series = &s->series[s->series_count++];
    *series = (struct pt_series){ .labels = labels };
    return series;
}

static void set_value(struct pt_series *series, const struct pt_batch *b, uint32_t row,
                      const struct column_metric *m) {
    int64_t integer = pt_get_i64(b, row, m->column);
    if (m->is_integer && integer >= 0) {
        series->integer = (uint64_t)integer;
        series->is_integer = true;
        return;
    }
    /* 1 / 0.01 is exact where 0.01 is not: 12345 cs are 123.45 s and not 123.45000000000002. */
    double value = pt_get_number(b, row, m->column);
    series->value = m->factor < 1 ? value / nearbyint(1 / m->factor) : value * m->factor;
}

static int64_t read_time(const struct pt_sample *sample, const struct pt_batch *b, uint32_t row,
                         int column) {
    int64_t mono_ns = pt_get_time(b, row, b->table->columns[column].source);
    return mono_ns > 0 ? pt_sample_wall_of(sample, mono_ns) : sample->wall_ns;
}

/* ---- tables with entities as rows ---- */

static void find_labels(struct pt_families_state *s, const struct pt_batch *b, unsigned kinds) {
    pt_grow(&s->labels, &s->label_capacity, b->row_count, sizeof *s->labels);
    pt_buf_clear(&s->text);
    for (uint32_t row = 0; row < b->row_count; row++) {
        uint32_t offset = (uint32_t)s->text.len;
        pt_metric_labels(b, row, kinds, &s->text);
        s->labels[row] = (struct text_range){ offset, (uint32_t)s->text.len - offset };
    }
}

static void give(struct pt_families_state *s, struct pt_family family, pt_family_fn *each,
                 void *user) {
    family.series = s->series;
    family.series_count = s->series_count;
    if (s->series_count > 0)
        each(user, &family);
}

static void give_column(struct pt_families_state *s, const struct pt_sample *sample,
                        const struct pt_batch *b, const struct column_metric *m, pt_family_fn *each,
                        void *user) {
    s->series_count = 0;
    for (uint32_t row = 0; row < b->row_count; row++) {
        if (pt_is_null(b, row, m->column))
            continue;
        struct pt_series *series = add_series(s, text_at(s, s->labels[row]));
        set_value(series, b, row, m);
        series->time_ns = read_time(sample, b, row, m->column);
    }
    give(s, m->family, each, user);
}

/* pitot_container_info{id="...",name="..."} 1 */
static void give_info(struct pt_families_state *s, const struct pt_sample *sample,
                      const struct pt_batch *b, pt_family_fn *each, void *user) {
    if (!pt_table_has_info(b->table))
        return;
    char name[PT_METRIC_NAME_BYTES];
    snprintf(name, sizeof name, "pitot_%s_info", b->table->name);
    find_labels(s, b, 1u << PT_KEY | 1u << PT_INFO);
    s->series_count = 0;
    for (uint32_t row = 0; row < b->row_count; row++) {
        struct pt_series *series = add_series(s, text_at(s, s->labels[row]));
        series->integer = 1;
        series->is_integer = true;
        series->time_ns = sample->wall_ns;
    }
    struct pt_family family = { .name = pt_str_from(name),
                                .help = pt_str_from(b->table->help),
                                .unit = PT_STR(""),
                                .kind = PT_FAMILY_GAUGE };
    give(s, family, each, user);
}

static void give_entities(struct pt_families_state *s, const struct pt_sample *sample,
                          uint32_t table, pt_family_fn *each, void *user) {
    const struct pt_batch *b = &sample->batches[table];
    find_labels(s, b, 1u << PT_KEY);
    for (size_t i = s->first_metrics[table]; i < s->first_metrics[table + 1]; i++)
        give_column(s, sample, b, &s->metrics[i], each, user);
    give_info(s, sample, b, each, user);
}

/* ---- tables with metrics as rows ---- */

static struct text_range keep_text(struct pt_buf *text, size_t length) {
    struct text_range range = { (uint32_t)text->len, (uint32_t)length };
    text->len += length;
    return range;
}

static struct text_range keep_name(struct pt_families_state *s, struct pt_str raw,
                                   enum pt_family_kind kind) {
    char *at = (char *)pt_buf_reserve(&s->text, raw.len + 1);
    struct pt_str name = { at, pt_metric_name_clean(at, raw) };
    return keep_text(&s->text, kind == PT_FAMILY_COUNTER ? pt_counter_family(name).len : name.len);
}

static struct text_range keep_labels(struct pt_families_state *s, struct pt_str raw,
                                     enum pt_family_kind kind) {
    char *at = (char *)pt_buf_reserve(&s->text, raw.len);
    const char *reserved = kind == PT_FAMILY_HISTOGRAM ? "le" : NULL;
    return keep_text(&s->text, raw.len > 0 ? pt_labels_clean(at, raw, reserved) : 0);
}

static void find_own(struct pt_families_state *s, const struct pt_batch *b,
                     const struct pt_metric_columns *c) {
    pt_buf_clear(&s->text);
    s->own_count = 0;
    for (uint32_t row = 0; row < b->row_count; row++) {
        if (pt_is_null(b, row, c->name) || pt_is_null(b, row, c->kind))
            continue;
        pt_grow(&s->own, &s->own_capacity, s->own_count + 1, sizeof *s->own);
        struct own_metric *own = &s->own[s->own_count++];
        own->row = row;
        own->pid = pt_get_i64(b, row, c->process);
        struct pt_str kind = pt_get_str(b, row, c->kind), unit = pt_get_str(b, row, c->unit);
        own->kind = pt_str_eq(kind, PT_STR("counter"))     ? PT_FAMILY_COUNTER
                    : pt_str_eq(kind, PT_STR("histogram")) ? PT_FAMILY_HISTOGRAM
                                                           : PT_FAMILY_GAUGE;
        own->name = keep_name(s, pt_get_str(b, row, c->name), own->kind);
        own->labels = keep_labels(s, pt_get_str(b, row, c->labels), own->kind);
        memcpy(pt_buf_reserve(&s->text, unit.len + 1), unit.at, unit.len);
        own->unit = keep_text(&s->text, unit.len);
    }
}

static int compare_text(const struct pt_families_state *s, struct text_range a,
                        struct text_range b) {
    struct pt_str x = text_at(s, a), y = text_at(s, b);
    int order = memcmp(x.at, y.at, x.len < y.len ? x.len : y.len);
    return order != 0 ? order : (x.len > y.len) - (x.len < y.len);
}

static int compare_own(const void *left, const void *right, void *state) {
    const struct own_metric *a = left, *b = right;
    int order = compare_text(state, a->name, b->name);
    if (order == 0)
        order = (a->kind > b->kind) - (a->kind < b->kind);
    if (order == 0)
        order = compare_text(state, a->labels, b->labels);
    return order != 0 ? order : (a->pid > b->pid) - (a->pid < b->pid);
}

static bool is_same_series(const struct pt_families_state *s, const struct own_metric *a,
                           const struct own_metric *b) {
    return compare_text(s, a->labels, b->labels) == 0;
}

static struct histogram *take_histogram(struct pt_families_state *s) {
    size_t had = s->histogram_capacity;
    pt_grow(&s->histograms, &s->histogram_capacity, s->histogram_count + 1, sizeof *s->histograms);
    for (size_t i = had; i < s->histogram_capacity; i++)
        s->histograms[i] = NULL;
    struct histogram **h = &s->histograms[s->histogram_count++];
    if (!*h)
        *h = pt_calloc(1, sizeof **h);
    struct pt_bucket_range used = (*h)->distribution.used;
    memset((*h)->buckets + used.first, 0, (used.end - used.first) * sizeof *(*h)->buckets);
    (*h)->distribution = (struct pt_distribution){ .buckets = (*h)->buckets, .bounds = &s->bounds };
    return *h;
}

static void add_counts(struct histogram *h, const struct pt_batch *b, uint32_t row,
                       const struct pt_metric_columns *c) {
    struct pt_distribution *d = &h->distribution;
    if (c->buckets < 0 || pt_is_null(b, row, c->buckets) || pt_is_null(b, row, c->count))
        return;
    if (!pt_bucket_text_add(pt_get_str(b, row, c->buckets), h->buckets, &d->used))
        return;
    d->count += (uint64_t)pt_get_i64(b, row, c->count);
    d->sum += pt_is_null(b, row, c->sum) ? 0 : pt_get_f64(b, row, c->sum);
}

/* Combines the series that `count` processes report into one. */
static void add_sum(struct pt_families_state *s, const struct pt_sample *sample,
                    const struct pt_batch *b, const struct pt_metric_columns *c,
                    const struct own_metric *own, size_t count) {
    struct pt_series *series = add_series(s, text_at(s, own->labels));
    struct histogram *h = own->kind == PT_FAMILY_HISTOGRAM ? take_histogram(s) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (h)
            add_counts(h, b, own[i].row, c);
        else if (!pt_is_null(b, own[i].row, c->value))
            series->value += pt_get_f64(b, own[i].row, c->value);
    }
    series->distribution = h ? &h->distribution : NULL;
    series->time_ns = read_time(sample, b, own->row, c->value);
}

static struct text_range keep_pid(struct pt_families_state *s, const struct own_metric *own) {
    struct pt_str labels = text_at(s, own->labels);
    char *at = (char *)pt_buf_reserve(&s->text, labels.len + 32);
    labels = text_at(s, own->labels); /* it may have moved */
    int length = snprintf(at, labels.len + 32, "%.*s%spid=\"%lld\"", (int)labels.len, labels.at,
                          labels.len > 0 ? "," : "", (long long)own->pid);
    return keep_text(&s->text, (size_t)length);
}

/* A gauge of several processes is not summed (it may be a temperature). Each keeps its own. */
static void name_pids(struct pt_families_state *s) {
    for (size_t i = 0; i < s->own_count;) {
        size_t end = i + 1;
        while (end < s->own_count && s->own[i].kind == PT_FAMILY_GAUGE &&
               s->own[end].kind == PT_FAMILY_GAUGE &&
               compare_text(s, s->own[i].name, s->own[end].name) == 0 &&
               is_same_series(s, &s->own[i], &s->own[end]))
            end++;
        for (size_t j = i; end - i > 1 && j < end; j++)
            s->own[j].labels = keep_pid(s, &s->own[j]);
        i = end;
    }
}

/* The rows of one name; those of another kind than the first are omitted. */
static void give_own_family(struct pt_families_state *s, const struct pt_sample *sample,
                            const struct pt_batch *b, const struct pt_metric_columns *c,
                            const struct own_metric *own, size_t count, pt_family_fn *each,
                            void *user) {
    s->series_count = 0;
    s->histogram_count = 0;
    for (size_t i = 0; i < count && own[i].kind == own->kind;) {
        size_t end = i + 1;
        while (end < count && own[end].kind == own->kind && is_same_series(s, &own[i], &own[end]))
            end++;
        if (own->kind == PT_FAMILY_HISTOGRAM || !pt_is_null(b, own[i].row, c->value))
            add_sum(s, sample, b, c, &own[i], end - i);
        i = end;
    }
    struct pt_family family = { .name = text_at(s, own->name),
                                .help = PT_STR(""),
                                .unit = text_at(s, own->unit),
                                .kind = own->kind };
    give(s, family, each, user);
}

static void give_own(struct pt_families_state *s, const struct pt_sample *sample,
                     const struct pt_batch *b, pt_family_fn *each, void *user) {
    struct pt_metric_columns c = pt_metric_columns_of(b->table);
    find_own(s, b, &c);
    qsort_r(s->own, s->own_count, sizeof *s->own, compare_own, s);
    name_pids(s);
    for (size_t i = 0; i < s->own_count;) {
        size_t end = i + 1;
        while (end < s->own_count && compare_text(s, s->own[i].name, s->own[end].name) == 0)
            end++;
        give_own_family(s, sample, b, &c, &s->own[i], end - i, each, user);
        i = end;
    }
}

void pt_families_each(struct pt_families *f, const struct pt_sample *sample, pt_family_fn *each,
                      void *user) {
    struct pt_families_state *s = f->state;
    for (uint32_t t = 0; t < f->schema->table_count; t++) {
        const struct pt_batch *b = &sample->batches[t];
        if (b->row_count == 0)
            continue;
        if (b->table->rows == PT_ROWS_METRICS)
            give_own(s, sample, b, each, user);
        else if (b->table->rows == PT_ROWS_THINGS ||
                 (b->table->rows == PT_ROWS_PROCESSES && f->options.has_processes))
            give_entities(s, sample, t, each, user);
    }
}
