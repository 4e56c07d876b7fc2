#include "analyze/watch.h"

#include "analyze/window.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/scan.h"

#include <errno.h>
#include <math.h>

/* Longer than a sample: a GPU that waits for a moment is not idle. */
#define DEFAULT_FOR_S 10.0

static const struct pt_watch_rule defaults[] = {
    { "gpu-underused", "gpu", "gUtilizationGpu", .limit = { false, 10, DEFAULT_FOR_S, 5 } },
    { "gpu-saturated", "gpu", "gUtilizationGpu", .limit = { true, 90, DEFAULT_FOR_S, 5 } },
    { "gpu-memory", "gpu", "gMemoryUsedMb", .of = "gMemoryTotalMb",
      .limit = { true, 80, DEFAULT_FOR_S, 5 } },
    { "gpu-hot", "gpu", "gTemperatureC", .limit = { true, 85, DEFAULT_FOR_S, 3 } },
};

void pt_watch_add_defaults(struct pt_watch *w) {
    for (size_t i = 0; i < PT_COUNT(defaults) && w->rule_count < PT_WATCH_RULES; i++)
        w->rules[w->rule_count++] = defaults[i];
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

static int set_key(struct pt_watch_rule *rule, struct pt_str key, struct pt_str value,
                   struct pt_err *err) {
    if (pt_str_eq(key, PT_STR("metric"))) {
        const char *dot = memchr(value.at, '.', value.len);
        if (!dot)
            return pt_fail(err, -EINVAL, "a metric is TABLE.COLUMN (example: gpu.gTemperatureC)");
        struct pt_str table = { value.at, (size_t)(dot - value.at) };
        pt_str_copy(rule->table, sizeof rule->table, table);
        pt_str_copy(rule->column, sizeof rule->column, pt_str_skip(value, table.len + 1));
        rule->has_metric = true;
        return 0;
    }
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
        return pt_str_copy(rule->of, sizeof rule->of, value), 0;
    if (pt_str_eq(key, PT_STR("entity")))
        return pt_str_copy(rule->entity, sizeof rule->entity, value), 0;
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
        if (table < 0 || !is_number(schema->tables[table], rule->column) ||
            (*rule->of && !is_number(schema->tables[table], rule->of)))
            return pt_fail(
                err, -EINVAL,
                "alert rule %s: no numeric column %s.%s%s%s ('pitot schema' lists all columns)",
                rule->name, rule->table, rule->column, *rule->of ? " of " : "", rule->of);
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

/* Growth per second; a repeated reading keeps the last value. */
static double rate_of(struct pt_watch_state *s, double value, int64_t time_ns) {
    double rate = NAN;
    if (s->has_last && time_ns <= s->last_time_ns)
        return s->alert.value;
    if (s->has_last && value >= s->last_value)
        rate = (value - s->last_value) / ((double)(time_ns - s->last_time_ns) / 1e9);
    s->has_last = !isnan(value);
    s->last_value = value;
    s->last_time_ns = time_ns;
    return rate;
}

static double value_of(const struct pt_watch_rule *rule, struct pt_watch_state *state,
                       const struct pt_batch *b, uint32_t row) {
    int column = pt_table_find(b->table, rule->column);
    double value = cell_of(b, row, column);
    if (*rule->of)
        return value / cell_of(b, row, pt_table_find(b->table, rule->of)) * 100;
    if (b->table->columns[column].kind != PT_COUNTER || isnan(value))
        return value;
    return rate_of(state, value, pt_get_time(b, row, b->table->columns[column].source));
}

static void step(struct pt_watch *w, struct pt_watch_state *state, double value, double now,
                 pt_watch_function *changed, void *arg) {
    const struct pt_watch_rule *rule = &w->rules[state->rule];
    enum pt_alert_change change = pt_alert_step(&rule->limit, &state->alert, value, now);
    if (change != PT_ALERT_SAME)
        changed(arg, rule, state, change == PT_ALERT_WENT_ON);
}

static void see_rule(struct pt_watch *w, size_t index, const struct pt_sample *sample,
                     pt_watch_function *changed, void *arg) {
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
        step(w, state, value_of(rule, state, b, row), now, changed, arg);
    }
    for (size_t i = 0; i < w->state_count; i++)
        if (w->states[i].rule == index && !w->states[i].is_seen)
            step(w, &w->states[i], NAN, now, changed, arg); /* the row is gone */
}

void pt_watch_see(struct pt_watch *w, const struct pt_sample *sample, pt_watch_function *changed,
                  void *arg) {
    for (size_t i = 0; i < w->rule_count; i++)
        see_rule(w, i, sample, changed, arg);
}

void pt_watch_release(struct pt_watch *w) {
    pt_free(w->states);
    *w = (struct pt_watch){ 0 };
}
