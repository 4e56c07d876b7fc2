#include "analyze/watch.h"

#include "base/mem.h"
#include "base/options.h"
#include "base/scan.h"
#include "derive/field.h"

#include <errno.h>
#include <math.h>

/* Longer than a sample: a GPU that waits for a moment is not idle. */
#define DEFAULT_FOR_S 10.0

/* Of each GPU, in the units of the columns; `of`: PT_FIELD_COUNT is none. */
static const struct {
    const char *name;
    enum pt_field_id field, of;
    struct pt_alert_limit limit;
} defaults[] = {
    { "gpu-underused", PT_FIELD_GPU_BUSY, PT_FIELD_COUNT, { false, 10, DEFAULT_FOR_S, 5 } },
    { "gpu-saturated", PT_FIELD_GPU_BUSY, PT_FIELD_COUNT, { true, 90, DEFAULT_FOR_S, 5 } },
    { "gpu-memory",
      PT_FIELD_GPU_MEMORY,
      PT_FIELD_GPU_MEMORY_TOTAL,
      { true, 80, DEFAULT_FOR_S, 5 } },
    { "gpu-hot", PT_FIELD_GPU_TEMPERATURE, PT_FIELD_COUNT, { true, 85, DEFAULT_FOR_S, 3 } },
};

#define SET_TEXT(into, text) pt_str_copy(into, sizeof(into), text)

void pt_watch_add_defaults(struct pt_watch *w) {
    for (size_t i = 0; i < PT_COUNT(defaults) && w->rule_count < PT_WATCH_RULES; i++) {
        struct pt_watch_rule *rule = &w->rules[w->rule_count++];
        *rule = (struct pt_watch_rule){ .limit = defaults[i].limit };
        SET_TEXT(rule->name, pt_str_from(defaults[i].name));
        SET_TEXT(rule->table, pt_str_from(pt_fields[defaults[i].field].table));
        SET_TEXT(rule->column, pt_str_from(pt_fields[defaults[i].field].column));
        if (defaults[i].of != PT_FIELD_COUNT)
            SET_TEXT(rule->of, pt_str_from(pt_fields[defaults[i].of].column));
    }
}

static struct pt_str trim(struct pt_str s) {
    while (s.len > 0 && strchr(" \t\r", s.at[0]))
        s = pt_str_skip(s, 1);
    while (s.len > 0 && strchr(" \t\r", s.at[s.len - 1]))
        s.len--;
    return s;
}

static int set_number(double *number, struct pt_str value, struct pt_err *err) {
    struct pt_scan scan = pt_scan_of(value);
    *number = pt_scan_f64(&scan);
    pt_scan_blanks(&scan);
    if (scan.failed || scan.at != scan.end)
        return pt_fail(err, -EINVAL, "'%.*s' is not a number", (int)value.len, value.at);
    return 0;
}

/* "engine.kv_cache", or "gpu.COLUMN". */
static int set_metric(struct pt_watch_rule *rule, struct pt_str value, struct pt_err *err) {
    char name[sizeof rule->table + sizeof rule->column];
    const char *dot = memchr(value.at, '.', value.len);
    if (!dot)
        return pt_fail(err, -EINVAL,
                       "a metric is a figure or TABLE.COLUMN ('pitot schema' lists both)");
    struct pt_str table = { value.at, (size_t)(dot - value.at) };
    SET_TEXT(rule->table, table);
    SET_TEXT(rule->column, pt_str_skip(value, table.len + 1));
    int figure = pt_figure_find(SET_TEXT(name, value));
    rule->is_figure = figure >= 0;
    rule->figure = figure >= 0 ? (enum pt_figure_id)figure : 0;
    rule->has_metric = true;
    return 0;
}

static int set_key(struct pt_watch_rule *rule, struct pt_str key, struct pt_str value,
                   struct pt_err *err) {
    if (pt_str_eq(key, PT_STR("metric")))
        return set_metric(rule, value, err);
    if (pt_str_eq(key, PT_STR("above")) || pt_str_eq(key, PT_STR("below"))) {
        if (rule->has_limit)
            return pt_fail(err, -EINVAL, "a rule has only one limit: above or below");
        rule->has_limit = true;
        rule->limit.is_above = pt_str_eq(key, PT_STR("above"));
        return set_number(&rule->limit.threshold, value, err);
    }
    if (pt_str_eq(key, PT_STR("for"))) {
        char text[64];
        int64_t ns;
        int rc =
            pt_duration_parse(pt_str_copy(text, sizeof text, value), INT64_C(1000000000), &ns, err);
        rule->limit.for_seconds = rc ? 0 : (double)ns / 1e9;
        return rc;
    }
    if (pt_str_eq(key, PT_STR("hysteresis")))
        return set_number(&rule->limit.hysteresis, value, err);
    if (pt_str_eq(key, PT_STR("of")))
        return SET_TEXT(rule->of, value), 0;
    if (pt_str_eq(key, PT_STR("entity")))
        return SET_TEXT(rule->entity, value), 0;
    return pt_fail(
        err, -EINVAL,
        "unknown key '%.*s' (use one of: metric, above, below, for, hysteresis, of, entity)",
        (int)key.len, key.at);
}

static int parse_line(struct pt_watch *w, size_t first, struct pt_str line, struct pt_err *err) {
    if (line.at[0] == '[') {
        if (line.at[line.len - 1] != ']' || line.len < 3)
            return pt_fail(err, -EINVAL, "not a [name]");
        if (w->rule_count == PT_WATCH_RULES)
            return pt_fail(err, -EINVAL, "at most %d rules", PT_WATCH_RULES);
        struct pt_watch_rule *rule = &w->rules[w->rule_count++];
        *rule = (struct pt_watch_rule){ 0 };
        pt_str_copy(rule->name, sizeof rule->name, (struct pt_str){ line.at + 1, line.len - 2 });
        return 0;
    }
    const char *equals = memchr(line.at, '=', line.len);
    if (!equals || w->rule_count == first)
        return pt_fail(err, -EINVAL, "not a 'key = value' line of a [rule]");
    size_t key_len = (size_t)(equals - line.at);
    return set_key(&w->rules[w->rule_count - 1], trim((struct pt_str){ line.at, key_len }),
                   trim(pt_str_skip(line, key_len + 1)), err);
}

int pt_watch_parse(struct pt_watch *w, struct pt_str text, const char *path, struct pt_err *err) {
    struct pt_scan scan = pt_scan_of(text), line;
    size_t first = w->rule_count;
    int rc = 0;
    for (int number = 1; !rc && pt_scan_line(&scan, &line); number++) {
        struct pt_str content = trim(pt_scan_rest(&line));
        struct pt_err reason = { "" };
        if (content.len == 0 || content.at[0] == '#' || content.at[0] == ';')
            continue;
        rc = parse_line(w, first, content, &reason);
        if (rc)
            pt_fail(err, rc, "%s:%d: %s", path, number, reason.text);
    }
    for (size_t i = first; !rc && i < w->rule_count; i++) {
        const struct pt_watch_rule *rule = &w->rules[i];
        if (!rule->has_metric || !rule->has_limit)
            rc = pt_fail(err, -EINVAL, "%s: rule %s needs 'metric', and 'above' or 'below'", path,
                         rule->name);
        else if (!pt_alert_limit_is_valid(&rule->limit))
            rc = pt_fail(err, -EINVAL, "%s: rule %s: hysteresis must not be negative", path,
                         rule->name);
        else if (rule->is_figure && (*rule->of || *rule->entity))
            rc = pt_fail(err, -EINVAL, "%s: rule %s: 'of' and 'entity' are for TABLE.COLUMN only",
                         path, rule->name);
    }
    return rc;
}

static bool is_number(const struct pt_table *table, const char *column) {
    int index = pt_table_find(table, column);
    return index >= 0 && table->columns[index].type != PT_STRING;
}

int pt_watch_check(const struct pt_watch *w, const struct pt_schema *schema, struct pt_err *err) {
    for (size_t i = 0; i < w->rule_count; i++) {
        const struct pt_watch_rule *rule = &w->rules[i];
        int table = pt_schema_find(schema, rule->table);
        if (rule->is_figure)
            continue;
        if (table < 0 || !is_number(schema->tables[table], rule->column) ||
            (*rule->of && !is_number(schema->tables[table], rule->of)))
            return pt_fail(err, -EINVAL,
                           "alert rule %s: no figure and no numeric column %s.%s%s%s ('pitot "
                           "schema' lists both)",
                           rule->name, rule->table, rule->column, *rule->of ? " of " : "",
                           rule->of);
    }
    return 0;
}

static struct pt_watch_state *get_state(struct pt_watch *w, size_t rule, const char *key) {
    for (size_t i = 0; i < w->state_count; i++)
        if (w->states[i].rule == rule && strcmp(w->states[i].key, key) == 0)
            return &w->states[i];
    if (w->state_count == PT_WATCH_ENTITIES)
        return NULL;
    pt_grow(&w->states, &w->state_capacity, w->state_count + 1, sizeof *w->states);
    struct pt_watch_state *state = &w->states[w->state_count++];
    *state = (struct pt_watch_state){ .rule = rule };
    pt_str_copy(state->key, sizeof state->key, pt_str_from(key));
    return state;
}

static double cell_of(const struct pt_batch *b, uint32_t row, int column) {
    return column < 0 || pt_is_null(b, row, column) ? NAN : pt_get_number(b, row, column);
}

/* The time of a sample. */
struct moment {
    int64_t mono_ns, interval_ns;
};

/* In the unit of the column; of a counter per second. */
static double value_of(const struct pt_watch_rule *rule, struct pt_watch_state *state,
                       const struct pt_batch *b, uint32_t row, const struct moment *at) {
    int column = pt_table_find(b->table, rule->column);
    const struct pt_column *c = &b->table->columns[column];
    if (*rule->of)
        return cell_of(b, row, column) / cell_of(b, row, pt_table_find(b->table, rule->of)) * 100;
    pt_rate_next(&state->rate, b, row, column, at->mono_ns, at->interval_ns);
    if (c->kind == PT_COUNTER)
        return state->rate.value / pt_units[c->unit].prometheus_factor;
    return isnan(state->rate.value) ? NAN : cell_of(b, row, column);
}

static void step(struct pt_watch *w, struct pt_watch_state *state, double value, double now,
                 pt_watch_function *changed, void *arg) {
    const struct pt_watch_rule *rule = &w->rules[state->rule];
    enum pt_alert_change change = pt_alert_step(&rule->limit, &state->alert, value, now);
    if (change != PT_ALERT_SAME)
        changed(arg, rule, state, change == PT_ALERT_WENT_ON);
}

static void see_rule(struct pt_watch *w, size_t index, const struct pt_sample *sample,
                     const struct moment *at, pt_watch_function *changed, void *arg) {
    const struct pt_watch_rule *rule = &w->rules[index];
    int table = pt_schema_find(sample->schema, rule->table);
    const struct pt_batch *b = table < 0 ? NULL : &sample->batches[table];
    double now = (double)sample->mono_ns / 1e9;
    if (!b || b->row_count == 0)
        return; /* not sampled this time */
    for (size_t i = 0; i < w->state_count; i++)
        w->states[i].is_seen &= w->states[i].rule != index;
    for (uint32_t row = 0; row < b->row_count; row++) {
        char key[128];
        pt_row_key(b, row, key, sizeof key);
        struct pt_watch_state *state =
            *rule->entity && strcmp(rule->entity, key) != 0 ? NULL : get_state(w, index, key);
        if (!state)
            continue;
        state->is_seen = true;
        step(w, state, value_of(rule, state, b, row, at), now, changed, arg);
    }
    for (size_t i = 0; i < w->state_count; i++)
        if (w->states[i].rule == index && !w->states[i].is_seen)
            step(w, &w->states[i], NAN, now, changed, arg); /* the row is gone */
}

/* A figure has one state, and one value in the base unit of its form. */
static void see_figures(struct pt_watch *w, const struct pt_sample *sample,
                        pt_watch_function *changed, void *arg) {
    bool has_figures = false;
    for (size_t i = 0; i < w->rule_count; i++)
        has_figures |= w->rules[i].is_figure;
    if (!has_figures)
        return;
    if (!w->figures) {
        w->figures = pt_calloc(1, sizeof *w->figures);
        pt_figure_stream_init(w->figures, sample->schema);
    }
    if (!pt_figure_stream_add(w->figures, sample))
        return; /* only events */
    for (size_t i = 0; i < w->rule_count; i++) {
        struct pt_watch_state *state = w->rules[i].is_figure ? get_state(w, i, "") : NULL;
        if (state)
            step(w, state, w->figures->now[w->rules[i].figure].value, (double)sample->mono_ns / 1e9,
                 changed, arg);
    }
}

void pt_watch_see(struct pt_watch *w, const struct pt_sample *sample, pt_watch_function *changed,
                  void *arg) {
    struct moment at = { sample->mono_ns, w->gaps.last_ns ? sample->mono_ns - w->gaps.last_ns : 0 };
    if (pt_gaps_next(&w->gaps, sample->mono_ns)) {
        at.interval_ns = 0;
        for (size_t i = 0; i < w->state_count; i++) /* no rate across the gap */
            w->states[i].rate = (struct pt_rate){ 0 };
    }
    see_figures(w, sample, changed, arg);
    for (size_t i = 0; i < w->rule_count; i++)
        if (!w->rules[i].is_figure)
            see_rule(w, i, sample, &at, changed, arg);
}

void pt_watch_release(struct pt_watch *w) {
    if (w->figures)
        pt_figure_stream_release(w->figures);
    pt_free(w->figures);
    pt_free(w->states);
    *w = (struct pt_watch){ 0 };
}
