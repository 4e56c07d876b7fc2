#include "serve/history_route.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/scan.h"
#include "derive/percentiles.h"
#include "report/entities.h"
#include "serve/history_figures.h"
#include "serve/number.h"
#include "store/segments.h"

#include <errno.h>
#include <math.h>

#define DEFAULT_SPAN_NS (600 * PT_NS_PER_SECOND)
#define DEFAULT_STEPS   600
#define DEFAULT_THINGS  16
#define MIN_STEP_NS     PT_NS_PER_MS
#define LEAD_NS         (10 * PT_NS_PER_SECOND)
#define LATEST_NS       (INT64_C(4102444800) * PT_NS_PER_SECOND) /* 2100 */

static int parse_time(const char *text, int64_t now_ns, int64_t *time_ns) {
    int64_t ago_ns;
    if (*text == '-') {
        if (pt_duration_parse(text + 1, PT_NS_PER_MS, &ago_ns, NULL))
            return -EINVAL;
        *time_ns = ago_ns < now_ns ? now_ns - ago_ns : 0;
        return 0;
    }
    struct pt_scan s = pt_scan_of(pt_str_from(text));
    uint64_t ms = pt_scan_u64(&s);
    if (s.failed || s.at != s.end || ms > (uint64_t)(LATEST_NS / PT_NS_PER_MS))
        return -EINVAL;
    *time_ns = (int64_t)ms * PT_NS_PER_MS;
    return 0;
}

static int parse_span(struct pt_history_query *q, const struct pt_history_texts *t, int64_t now_ns,
                      struct pt_err *err) {
    q->to_ns = now_ns;
    if (t->to && parse_time(t->to, now_ns, &q->to_ns))
        return pt_fail(err, -EINVAL, "to: must be a Unix time in milliseconds, or -10m");
    q->from_ns = q->to_ns > DEFAULT_SPAN_NS ? q->to_ns - DEFAULT_SPAN_NS : 0;
    if (t->from && parse_time(t->from, now_ns, &q->from_ns))
        return pt_fail(err, -EINVAL, "from: must be a Unix time in milliseconds, or -10m");
    if (q->from_ns >= q->to_ns)
        return pt_fail(err, -EINVAL, "from: must be before to");
    if (t->step &&
        (pt_duration_parse(t->step, PT_NS_PER_MS, &q->step_ns, NULL) || q->step_ns < MIN_STEP_NS))
        return pt_fail(err, -EINVAL, "step: must be a time of at least 1 ms (5000, 5s)");
    return 0;
}

static int parse_columns(struct pt_history_query *q, const char *text, const struct pt_table *t,
                         struct pt_err *err) {
    for (int i = 0; i < t->column_count && !text; i++)
        q->columns[i / 64] |= UINT64_C(1) << i % 64;
    for (const char *at = text; at; at += *at == ',') {
        struct pt_str name = { at, strcspn(at, ",") };
        int i = 0;
        while (i < t->column_count && !pt_str_eq(pt_str_from(t->columns[i].name), name))
            i++;
        if (i == t->column_count)
            return pt_fail(err, -EINVAL, "columns: '%.*s' is not a column of %s", (int)name.len,
                           name.at, t->name);
        q->columns[i / 64] |= UINT64_C(1) << i % 64;
        at += name.len;
        if (!*at)
            break;
    }
    return 0;
}

static int parse_figures(struct pt_history_query *q, const char *text, struct pt_err *err) {
    bool is_taken[PT_FIGURE_COUNT] = { false };
    for (const char *at = text;; at++) {
        struct pt_str name = { at, strcspn(at, ",") };
        int i = 0;
        while (i < PT_FIGURE_COUNT && !pt_str_eq(pt_str_from(pt_figures[i].name), name))
            i++;
        if (i == PT_FIGURE_COUNT)
            return pt_fail(err, -EINVAL, "figure: '%.*s' is not a figure (see /api/schema)",
                           (int)name.len, name.at);
        if (!is_taken[i])
            q->figures[q->figure_count++] = (uint16_t)i;
        is_taken[i] = true;
        at += name.len;
        if (!*at)
            return 0;
    }
}

int pt_history_parse(struct pt_history_query *q, const struct pt_history_texts *texts,
                     const struct pt_schema *schema, int64_t now_ns, struct pt_err *err) {
    *q = (struct pt_history_query){ 0 };
    if (!texts->table == !texts->figure)
        return pt_fail(err, -EINVAL, "table or figure: exactly one is required");
    if (texts->figure) {
        q->table = -1;
        int rc = parse_span(q, texts, now_ns, err);
        return rc ? rc : parse_figures(q, texts->figure, err);
    }
    q->table = pt_schema_find(schema, texts->table);
    if (q->table < 0)
        return pt_fail(err, -EINVAL, "table: unknown table (see /api/schema)");
    if (schema->tables[q->table]->column_count > 64 * PT_COUNT(q->columns))
        return pt_fail(err, -EINVAL, "table: too many columns");
    int rc = parse_span(q, texts, now_ns, err);
    if (!rc)
        rc = parse_columns(q, texts->columns, schema->tables[q->table], err);
    if (rc)
        return rc;
    struct pt_scan s = pt_scan_of(pt_str_from(texts->limit ? texts->limit : ""));
    uint64_t limit = texts->limit ? pt_scan_u64(&s) : DEFAULT_THINGS;
    if (s.failed || s.at != s.end || limit < 1 || limit > PT_HISTORY_THINGS)
        return pt_fail(err, -EINVAL, "limit: must be from 1 to %d", PT_HISTORY_THINGS);
    q->limit = (uint32_t)limit;
    return 0;
}

/* The values of one step. */
struct point {
    float low, high;
    double sum, seconds;
    uint32_t count;
};

struct history {
    const struct pt_history_query *q;
    const struct pt_schema *schema;
    const struct pt_table *table;
    struct pt_percentiles percentiles;
    struct pt_classic_histogram grown;       /* what a cell has grown by in a sample */
    struct pt_classic_histogram *histograms; /* of percentiles, as `points` */
    struct pt_report_entities things;
    uint16_t *columns; /* columns to draw */
    uint16_t column_count;
    struct pt_history_steps steps;
    struct point *points; /* by entity, column and step */
    bool is_whole;        /* no step has two samples */
};

struct pt_batch pt_history_rows(const struct pt_table *table, const struct pt_sample *sample) {
    int found = pt_schema_find(sample->schema, table->name);
    struct pt_batch rows = { .table = table };
    if (found >= 0 && pt_table_is_same(table, sample->schema->tables[found])) {
        rows = sample->batches[found];
        rows.table = table;
    }
    return rows;
}

static bool survey(void *arg, const struct pt_sample *sample) {
    struct history *h = arg;
    struct pt_batch rows = pt_history_rows(h->table, sample);
    pt_report_entities_advance(&h->things, sample);
    pt_report_entities_survey(&h->things, &rows);
    return true;
}

static void choose_columns(struct history *h) {
    h->columns = pt_calloc(h->table->column_count + 1u, sizeof *h->columns);
    for (uint16_t i = 0; i < h->table->column_count; i++) {
        bool is_wanted = h->q->columns[i / 64] >> (i % 64) & 1, has_values = false;
        for (uint32_t k = 0; k < h->things.chosen_count; k++)
            has_values |= h->things.list[h->things.chosen[k]].columns[i].count > 0;
        if (has_values && is_wanted && pt_column_is_drawn(&h->table->columns[i]))
            h->columns[h->column_count++] = i;
    }
}

struct pt_history_steps pt_history_choose_steps(const struct pt_history_query *q, uint64_t series,
                                                int64_t interval_ns) {
    int64_t span_ns = q->to_ns - q->from_ns;
    int64_t max_steps = series > 0 ? (int64_t)(PT_HISTORY_POINTS / series) : PT_HISTORY_STEPS;
    max_steps = max_steps > PT_HISTORY_STEPS ? PT_HISTORY_STEPS : max_steps < 2 ? 2 : max_steps;
    int64_t step_ns = q->step_ns ? q->step_ns : span_ns / DEFAULT_STEPS;
    if (!q->step_ns && step_ns < interval_ns)
        step_ns = interval_ns;
    if (step_ns < span_ns / (max_steps - 1))
        step_ns = span_ns / (max_steps - 1);
    step_ns = (step_ns + PT_NS_PER_MS - 1) / PT_NS_PER_MS * PT_NS_PER_MS;
    if (step_ns < MIN_STEP_NS)
        step_ns = MIN_STEP_NS;
    int64_t start_ns = q->from_ns - q->from_ns % step_ns;
    return (struct pt_history_steps){ start_ns, step_ns,
                                      (uint32_t)((q->to_ns - start_ns) / step_ns + 1) };
}

int64_t pt_history_lead_ns(const struct pt_history_steps *steps) {
    return steps->start_ns > LEAD_NS ? steps->start_ns - LEAD_NS : 0;
}

static struct point *points_of(const struct history *h, uint32_t thing, uint16_t column) {
    size_t series = (size_t)thing * h->column_count + column;
    return h->points + series * h->steps.count;
}

static void add_value(struct history *h, struct point *p, double value, double seconds) {
    if (p->count++ == 0) {
        p->low = p->high = (float)value;
    } else {
        h->is_whole = false;
        p->low = fminf(p->low, (float)value);
        p->high = fmaxf(p->high, (float)value);
    }
    p->sum += value * seconds;
    p->seconds += seconds;
}

/* A segment without histograms has percentiles of each scrape: then the worst of a step counts. */
static bool add_percentile(struct history *h, const struct pt_batch *rows, uint32_t row, int column,
                           const struct pt_batch *buckets, struct point *p) {
    const struct pt_column *c = &h->table->columns[column];
    struct pt_percentiles_growth growth = { .histogram = &h->grown };
    if (!pt_percentiles_has(&h->percentiles, c) || !buckets)
        return false;
    pt_classic_histogram_clear(&h->grown);
    if (p && pt_percentiles_add(&h->percentiles, rows, row, column, buckets, &growth)) {
        add_value(h, p, pt_classic_histogram_quantile(&h->grown, pt_percentile_level(c)).value, 1);
        pt_classic_histogram_merge(&h->histograms[p - h->points], &h->grown);
    }
    return true;
}

static bool add_sample(void *arg, const struct pt_sample *sample) {
    struct history *h = arg;
    struct pt_batch rows = pt_history_rows(h->table, sample), buckets = { 0 };
    int histograms = h->percentiles.table;
    bool has_histograms =
        histograms >= 0 && pt_schema_find(sample->schema, h->schema->tables[histograms]->name) >= 0;
    if (has_histograms)
        buckets = pt_history_rows(h->schema->tables[histograms], sample);
    bool is_before = sample->wall_ns < h->steps.start_ns;
    uint32_t step = (uint32_t)((sample->wall_ns - h->steps.start_ns) / h->steps.step_ns);
    pt_report_entities_advance(&h->things, sample);
    for (uint32_t row = 0; row < rows.row_count; row++) {
        struct pt_report_entity *thing = pt_report_entities_next(&h->things, &rows, row);
        for (uint16_t i = 0; thing && i < h->column_count; i++) {
            struct point *p = !is_before && step < h->steps.count
                                  ? &points_of(h, (uint32_t)thing->index, i)[step]
                                  : NULL;
            if (add_percentile(h, &rows, row, h->columns[i], has_histograms ? &buckets : NULL, p))
                continue;
            const struct pt_rate *rate =
                pt_report_entity_value(&h->things, thing, &rows, row, h->columns[i]);
            if (rate && p) /* the first covers no time, but counts if there is no other */
                add_value(h, p, rate->value, fmax(pt_rate_seconds(rate), 1e-9));
        }
    }
    return true;
}

enum statistic { MEAN, LOWEST, HIGHEST };

/* The value of a step. */
static double typical(const struct history *h, const struct point *p, const struct pt_column *c) {
    const struct pt_classic_histogram *grown = h->histograms ? &h->histograms[p - h->points] : NULL;
    if (c->percentile)
        return grown && grown->count > 0
                   ? pt_classic_histogram_quantile(grown, pt_percentile_level(c)).value
                   : (double)p->high;
    return p->sum / p->seconds;
}

static void put_statistic(const struct history *h, const struct point *points,
                          const struct pt_column *c, enum statistic which, struct pt_json *j) {
    static const char *const names[] = { "mean", "min", "max" };
    pt_json_array(j, names[which]);
    for (uint32_t i = 0; i < h->steps.count; i++) {
        const struct point *p = &points[i];
        double value = which == MEAN     ? typical(h, p, c)
                       : which == LOWEST ? (double)p->low
                                         : (double)p->high;
        pt_json_number(j, NULL, p->count > 0 ? value : (double)NAN);
    }
    pt_json_end(j);
}

/* The same text as that of pt_row_key(). */
static void put_key(const struct history *h, const struct pt_report_entity *thing,
                    struct pt_json *j) {
    struct pt_buf key = { 0 };
    for (int i = 0; i < h->table->column_count; i++) {
        if (h->table->columns[i].kind != PT_KEY || !thing->texts[i])
            continue;
        if (key.len > 0)
            pt_buf_u8(&key, '/');
        pt_buf_str(&key, pt_str_from(thing->texts[i]));
    }
    pt_json_str(j, "key", pt_buf_as_str(&key));
    pt_buf_release(&key);
}

static void put_thing(const struct history *h, uint32_t place, struct pt_json *j) {
    const struct pt_report_entity *thing = &h->things.list[h->things.chosen[place]];
    pt_json_object(j, NULL);
    put_key(h, thing, j);
    pt_json_object(j, "texts");
    for (int i = 0; i < h->table->column_count; i++)
        if (thing->texts[i] && !pt_column_is_drawn(&h->table->columns[i]))
            pt_json_text(j, h->table->columns[i].name, thing->texts[i]);
    pt_json_end(j);
    pt_json_object(j, "columns");
    for (uint16_t i = 0; i < h->column_count; i++) {
        const struct point *points = points_of(h, place, i);
        const struct pt_column *column = &h->table->columns[h->columns[i]];
        pt_json_object(j, column->name);
        put_statistic(h, points, column, MEAN, j);
        if (!h->is_whole) {
            put_statistic(h, points, column, LOWEST, j);
            put_statistic(h, points, column, HIGHEST, j);
        }
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
}

static void put_history(const struct history *h, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "table", h->table->name);
    pt_json_i64(j, "from", h->steps.start_ns / PT_NS_PER_MS);
    pt_json_i64(j, "to", h->q->to_ns / PT_NS_PER_MS);
    pt_json_i64(j, "step", h->steps.step_ns / PT_NS_PER_MS);
    pt_json_i64(j, "count", h->steps.count);
    pt_json_i64(j, "thing_count", (int64_t)(h->things.keys.count + h->things.dropped_count));
    pt_json_array(j, "things");
    for (uint32_t i = 0; i < h->things.chosen_count; i++)
        put_thing(h, i, j);
    pt_json_end(j);
    pt_json_end(j);
}

int pt_history_write(const struct pt_history_query *q, const struct pt_schema *schema,
                     const char *directory, int64_t interval_ns, struct pt_buf *json) {
    if (q->table < 0)
        return pt_history_write_figures(q, schema, directory, interval_ns, json);
    struct history h = {
        .q = q, .schema = schema, .table = schema->tables[q->table], .is_whole = true
    };
    size_t count = 0;
    pt_percentiles_init(&h.percentiles, schema, h.table);
    pt_report_entities_init(&h.things, h.table);
    int rc = pt_segments_read(directory, q->from_ns, q->to_ns, survey, &h);
    if (!rc) {
        pt_report_entities_choose(&h.things, q->limit);
        choose_columns(&h);
        h.steps = pt_history_choose_steps(q, (uint64_t)h.column_count * h.things.chosen_count,
                                          interval_ns);
        count = (size_t)h.things.chosen_count * h.column_count * h.steps.count;
        h.points = pt_calloc(count + 1, sizeof *h.points);
        if (h.percentiles.table >= 0)
            h.histograms = pt_calloc(count + 1, sizeof *h.histograms);
        rc = pt_segments_read(directory, pt_history_lead_ns(&h.steps), q->to_ns, add_sample, &h);
    }
    if (!rc) {
        struct pt_out out;
        pt_out_memory(&out, json);
        struct pt_json j = { .out = &out };
        put_history(&h, &j);
        rc = pt_out_close(&out);
    }
    for (size_t i = 0; h.histograms && i < count; i++)
        pt_classic_histogram_release(&h.histograms[i]);
    pt_free(h.histograms);
    pt_classic_histogram_release(&h.grown);
    pt_free(h.points);
    pt_free(h.columns);
    pt_report_entities_release(&h.things);
    return rc;
}
