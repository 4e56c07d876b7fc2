#include "report/prometheus_rules.h"

#include "base/json.h"
#include "model/metric.h"
#include "report/overview.h"

#include <stdio.h>

/* Every JSON string is also a YAML string. */
static void put_text(struct pt_out *out, const char *key, const char *text) {
    pt_out_printf(out, "%s: ", key);
    pt_json_quote(out, pt_str_from(text));
    pt_out_char(out, '\n');
}

static bool find_metric(const struct pt_schema *schema, const char *table, const char *column,
                        struct pt_metric *metric) {
    int t = pt_schema_find(schema, table);
    int c = t >= 0 ? pt_table_find(schema->tables[t], column) : -1;
    return c >= 0 && pt_metric_of(schema->tables[t], c, metric);
}

/* The limit is in the unit of the column; for a counter per second, with `of` a percentage. */
static bool print_condition(const struct pt_schema *schema, const struct pt_watch_rule *rule,
                            char *into, size_t capacity) {
    struct pt_metric metric, whole;
    char value[PT_METRIC_NAME_BYTES + 32], part[2 * sizeof value] = "";
    if (!find_metric(schema, rule->table, rule->column, &metric))
        return false;
    snprintf(value, sizeof value, metric.is_counter ? "rate(%s_total[1m])" : "%s", metric.name);
    double threshold = rule->limit.threshold * metric.factor;
    if (*rule->of) {
        if (!find_metric(schema, rule->table, rule->of, &whole))
            return false;
        snprintf(part, sizeof part, " / %s", whole.name);
        threshold = rule->limit.threshold / 100;
    }
    snprintf(into, capacity, "%s%s %c %.10g", value, part, rule->limit.is_above ? '>' : '<',
             threshold);
    return true;
}

void pt_prometheus_rules_print(const struct pt_schema *schema, const struct pt_watch *watch,
                               struct pt_out *out) {
    pt_out_text(out, "# Made by `pitot docs rules`; do not edit.\n"
                     "groups:\n  - name: pitot\n    rules:\n");
    for (size_t i = 0; i < pt_overview_count; i++) {
        put_text(out, "      - record", pt_overviews[i].rule);
        put_text(out, "        expr", pt_overviews[i].expression);
    }
    for (size_t i = 0; i < watch->rule_count; i++) {
        const struct pt_watch_rule *rule = &watch->rules[i];
        char condition[512], summary[256];
        if (!print_condition(schema, rule, condition, sizeof condition))
            continue;
        snprintf(summary, sizeof summary, "%s: %s.%s is {{ $value }} at {{ $labels.instance }}",
                 rule->name, rule->table, rule->column);
        put_text(out, "      - alert", rule->name);
        put_text(out, "        expr", condition);
        pt_out_printf(out, "        for: %.0fs\n", rule->limit.for_seconds);
        pt_out_text(out, "        labels:\n          severity: warning\n        annotations:\n");
        put_text(out, "          summary", summary);
    }
}
