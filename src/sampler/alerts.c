#include "sampler/alerts.h"

#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define ALERT_COLUMNS(X, t)                                                                      \
    X(t, rule, "aRule", KEY, STRING, NONE, 0, "Name of the rule", .title = "Rule",               \
      .heading = "RULE", .role = PT_ROLE_NAME)                                                   \
    X(t, entity, "aEntity", KEY, STRING, NONE, 0, "Key of the row; empty for tables of one row", \
      .title = "Entity", .heading = "ENTITY")                                                    \
    X(t, metric, "aMetric", INFO, STRING, NONE, 0, "Watched figure or TABLE.COLUMN",             \
      .title = "Metric", .heading = "METRIC")                                                    \
    X(t, state, "aState", INFO, STRING, NONE, 0, "New state: on or off", .title = "State",       \
      .heading = "STATE")                                                                        \
    X(t, threshold, "aThreshold", INFO, F64, NONE, 0, "Limit of the rule", .title = "Threshold", \
      .words = "limit")                                                                          \
    X(t, value, "aValue", GAUGE, F64, NONE, 0, "Value at that time; null if it is gone",         \
      .title = "Value", .heading = "VALUE", .combine = PT_COMBINE_NONE)
PT_TABLE(alert, PT_TABLE_ROWS(EVENTS, "alerts", NULL),
         "Alerts that fired or cleared, by --alerts or the GPU defaults", ALERT_COLUMNS,
         "alert rules");

const struct pt_table *const pt_alert_table = &alert_table;

int pt_alerts_open(struct pt_alerts *a, const char *path, const struct pt_schema *schema,
                   struct pt_err *err) {
    *a = (struct pt_alerts){ .table = (uint32_t)pt_schema_find(schema, alert_table.name) };
    pt_sample_init(&a->changes, schema);
    if (!path) { /* no check: without the GPU collector the defaults watch nothing */
        pt_watch_add_defaults(&a->watch);
        return 0;
    }
    struct pt_text text = { 0 };
    struct pt_scan scan;
    int rc = pt_fs_read(AT_FDCWD, path, &text, &scan);
    if (rc)
        pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    else
        rc = pt_watch_parse(&a->watch, pt_scan_rest(&scan), path, err);
    pt_text_release(&text);
    return rc ? rc : pt_watch_check(&a->watch, schema, err);
}

void pt_alerts_close(struct pt_alerts *a) {
    if (a->changes.batches)
        pt_sample_release(&a->changes);
    pt_watch_release(&a->watch);
    *a = (struct pt_alerts){ 0 };
}

/* "97.3 %", "2.10 s"; of a column in its own unit: "91 celsius", "12 bytes/s", "3 /s". */
static void print_value(const struct pt_watch_rule *rule, const struct pt_column *column,
                        double value, char *into, size_t capacity) {
    if (rule->is_figure) {
        pt_figure_print(rule->figure, value, into, capacity);
        return;
    }
    bool is_rate = column->kind == PT_COUNTER && !*rule->of;
    const char *unit = *rule->of                  ? pt_units[PT_PERCENT].name
                       : column->unit == PT_COUNT ? ""
                                                  : pt_units[column->unit].name;
    snprintf(into, capacity, "%.9g%s%s%s", value, *unit || is_rate ? " " : "", unit,
             is_rate ? "/s" : "");
}

/* "alert gpu-hot on for 0: GPU temperature (gpu.COLUMN) is 91 celsius, the limit is 85 celsius" */
static void log_change(const struct pt_alerts *a, const struct pt_watch_rule *rule,
                       const struct pt_watch_state *state, bool is_on, const char *metric) {
    const struct pt_schema *schema = a->changes.schema;
    int table = rule->is_figure ? -1 : pt_schema_find(schema, rule->table);
    int index = table < 0 ? -1 : pt_table_find(schema->tables[table], rule->column);
    const struct pt_column *column = index < 0 ? NULL : &schema->tables[table]->columns[index];
    char title[PT_TITLE_BYTES], value[48], limit[48];
    if (!rule->is_figure && !column)
        return; /* nothing that is not recorded can change */
    print_value(rule, column, state->alert.value, value, sizeof value);
    print_value(rule, column, rule->limit.threshold, limit, sizeof limit);
    pt_log(is_on ? PT_LOG_WARNING : PT_LOG_INFO, "alert %s %s%s%s: %s (%s) is %s, the limit is %s",
           rule->name, is_on ? "on" : "off", *state->key ? " for " : "", state->key,
           rule->is_figure ? pt_figures[rule->figure].title : pt_column_title(column, title),
           metric, value, limit);
}

static void add_change(void *arg, const struct pt_watch_rule *rule,
                       const struct pt_watch_state *state, bool is_on) {
    struct pt_alerts *a = arg;
    struct pt_batch *b = &a->changes.batches[a->table];
    char metric[sizeof rule->table + sizeof rule->column];
    snprintf(metric, sizeof metric, "%s.%s", rule->table, rule->column);
    pt_batch_add_row(b);
    pt_set_time(b, 0, a->changes.mono_ns);
    pt_set_str(b, alert_rule, pt_str_from(rule->name));
    pt_set_str(b, alert_entity, pt_str_from(state->key));
    pt_set_str(b, alert_metric, pt_str_from(metric));
    pt_set_str(b, alert_state, is_on ? PT_STR("on") : PT_STR("off"));
    pt_set_f64(b, alert_threshold, rule->limit.threshold);
    pt_set_f64(b, alert_value, state->alert.value);
    log_change(a, rule, state, is_on, metric);
}

bool pt_alerts_check(struct pt_alerts *a, const struct pt_sample *sample) {
    pt_sample_clear(&a->changes);
    a->changes.wall_ns = sample->wall_ns;
    a->changes.mono_ns = sample->mono_ns;
    pt_watch_see(&a->watch, sample, add_change, a);
    return a->changes.batches[a->table].row_count > 0;
}
