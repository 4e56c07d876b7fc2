#include "serve/history_route.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/scan.h"
#include "report/entities.h"
#include "serve/number.h"
#include "store/segments.h"

#include <errno.h>
#include <math.h>

#define DEFAULT_SPAN_NS (600 * PT_NS_PER_SECOND)
#define DEFAULT_STEPS   600
#define DEFAULT_THINGS  16
#define MIN_STEP_NS     PT_NS_PER_MS
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

int pt_history_parse(struct pt_history_query *q, const struct pt_history_texts *texts,
                     const struct pt_schema *schema, int64_t now_ns, struct pt_err *err) {
    *q = (struct pt_history_query){ 0 };
    if (!texts->table)
        return pt_fail(err, -EINVAL, "table: missing parameter");
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
    double sum;
    uint32_t count;
};

struct history {
    const struct pt_history_query *q;
    const struct pt_table *table;
    struct pt_report_entities things;
    uint16_t *columns; /* columns to draw */
    uint16_t column_count;
    int64_t start_ns, step_ns;
    uint32_t step_count;
    struct point *points; /* by entity, column and step */
    bool is_whole;        /* no step has two samples */
};

/* Another version of Pitot may have written the segment. */
static bool is_same_table(const struct pt_table *a, const struct pt_table *b) {
    if (a->column_count != b->column_count || a->source_count != b->source_count)
        return false;
    for (int i = 0; i < a->column_count; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0 ||
            a->columns[i].type != b->columns[i].type || a->columns[i].kind != b->columns[i].kind)
            return false;
    return true;
}

static const struct pt_batch *rows_of(const struct history *h, const struct pt_sample *sample) {
    int table = pt_schema_find(sample->schema, h->table->name);
    if (table < 0 || !is_same_table(h->table, sample->schema->tables[table]))
        return NULL;
    return &sample->batches[table];
}

static bool survey(void *arg, const struct pt_sample *sample) {
    struct history *h = arg;
    const struct pt_batch *rows = rows_of(h, sample);
    if (rows)
        pt_report_entities_survey(&h->things, rows, sample->mono_ns);
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

/* Steps begin at multiples of their length, so that later requests get the same ones. */
static void choose_steps(struct history *h, int64_t interval_ns) {
    const struct pt_history_query *q = h->q;
    int64_t span_ns = q->to_ns - q->from_ns;
    uint64_t series = (uint64_t)h->column_count * h->things.chosen_count;
    int64_t max_steps = series > 0 ? (int64_t)(PT_HISTORY_POINTS / series) : PT_HISTORY_STEPS;
    max_steps = max_steps > PT_HISTORY_STEPS ? PT_HISTORY_STEPS : max_steps < 2 ? 2 : max_steps;
    int64_t step_ns = q->step_ns ? q->step_ns : span_ns / DEFAULT_STEPS;
    if (!q->step_ns && step_ns < interval_ns)
        step_ns = interval_ns;
    if (step_ns < span_ns / (max_steps - 1))
        step_ns = span_ns / (max_steps - 1);
    h->step_ns = (step_ns + PT_NS_PER_MS - 1) / PT_NS_PER_MS * PT_NS_PER_MS;
    if (h->step_ns < MIN_STEP_NS)
        h->step_ns = MIN_STEP_NS;
    h->start_ns = q->from_ns - q->from_ns % h->step_ns;
    h->step_count = (uint32_t)((q->to_ns - h->start_ns) / h->step_ns + 1);
}

static struct point *points_of(const struct history *h, uint32_t thing, uint16_t column) {
    size_t series = (size_t)thing * h->column_count + column;
    return h->points + series * h->step_count;
}

static void add_value(struct history *h, struct point *p, double value) {
    if (p->count++ == 0) {
        p->low = p->high = (float)value;
    } else {
        h->is_whole = false;
        p->low = fminf(p->low, (float)value);
        p->high = fmaxf(p->high, (float)value);
    }
    p->sum += value;
}

static bool add_sample(void *arg, const struct pt_sample *sample) {
    struct history *h = arg;
    const struct pt_batch *rows = rows_of(h, sample);
    uint32_t step = (uint32_t)((sample->wall_ns - h->start_ns) / h->step_ns);
    if (step >= h->step_count)
        return true;
    for (uint32_t row = 0; rows && row < rows->row_count; row++) {
        struct pt_report_entity *thing = pt_report_entities_find(&h->things, rows, row);
        for (uint16_t i = 0; thing && i < h->column_count; i++) {
            double value;
            if (pt_report_entity_value(thing, rows, row, h->columns[i], sample->mono_ns, &value))
                add_value(h, &points_of(h, (uint32_t)thing->index, i)[step], value);
        }
    }
    return true;
}

enum statistic { MEAN, LOWEST, HIGHEST };

static void put_statistic(const struct history *h, const struct point *points, enum statistic which,
                          struct pt_json *j) {
    static const char *const names[] = { "mean", "min", "max" };
    pt_json_array(j, names[which]);
    for (uint32_t i = 0; i < h->step_count; i++) {
        const struct point *p = &points[i];
        double value = which == MEAN     ? p->sum / p->count
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
        pt_json_object(j, h->table->columns[h->columns[i]].name);
        put_statistic(h, points, MEAN, j);
        if (!h->is_whole) {
            put_statistic(h, points, LOWEST, j);
            put_statistic(h, points, HIGHEST, j);
        }
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
}

static void put_history(const struct history *h, struct pt_json *j) {
    pt_json_object(j, NULL);
    pt_json_text(j, "table", h->table->name);
    pt_json_i64(j, "from", h->start_ns / PT_NS_PER_MS);
    pt_json_i64(j, "to", h->q->to_ns / PT_NS_PER_MS);
    pt_json_i64(j, "step", h->step_ns / PT_NS_PER_MS);
    pt_json_i64(j, "count", h->step_count);
    pt_json_i64(j, "thing_count", (int64_t)(h->things.keys.count + h->things.dropped_count));
    pt_json_array(j, "things");
    for (uint32_t i = 0; i < h->things.chosen_count; i++)
        put_thing(h, i, j);
    pt_json_end(j);
    pt_json_end(j);
}

int pt_history_write(const struct pt_history_query *q, const struct pt_schema *schema,
                     const char *directory, int64_t interval_ns, struct pt_buf *json) {
    struct history h = { .q = q, .table = schema->tables[q->table], .is_whole = true };
    pt_report_entities_init(&h.things, h.table);
    int rc = pt_segments_read(directory, q->from_ns, q->to_ns, survey, &h);
    if (!rc) {
        pt_report_entities_choose(&h.things, q->limit);
        choose_columns(&h);
        choose_steps(&h, interval_ns);
        size_t count = (size_t)h.things.chosen_count * h.column_count * h.step_count;
        h.points = pt_calloc(count + 1, sizeof *h.points);
        rc = pt_segments_read(directory, q->from_ns, q->to_ns, add_sample, &h);
    }
    if (!rc) {
        struct pt_out out;
        pt_out_memory(&out, json);
        struct pt_json j = { .out = &out };
        put_history(&h, &j);
        rc = pt_out_close(&out);
    }
    pt_free(h.points);
    pt_free(h.columns);
    pt_report_entities_release(&h.things);
    return rc;
}
