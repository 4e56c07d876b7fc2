#include "sampler/alerts.h"

#include "base/fs.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* clang-format off */
#define ALERT_COLUMNS(X, t) \
    X(t, rule, "aRule", KEY, STRING, NONE, 0, "Name of the rule") \
    X(t, entity, "aEntity", KEY, STRING, NONE, 0, \
      "Key of the row; empty for tables of one row") \
    X(t, metric, "aMetric", INFO, STRING, NONE, 0, "Watched TABLE.COLUMN") \
    X(t, state, "aState", INFO, STRING, NONE, 0, "New state: on or off") \
    X(t, threshold, "aThreshold", INFO, F64, NONE, 0, "Limit of the rule") \
    X(t, value, "aValue", GAUGE, F64, NONE, 0, "Value at that time; null if it is gone")
/* clang-format on */
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
    pt_log(is_on ? PT_LOG_WARNING : PT_LOG_INFO, "alert %s %s%s%s: %s is %.9g, the limit is %.9g",
           rule->name, is_on ? "on" : "off", *state->key ? " for " : "", state->key, metric,
           state->alert.value, rule->limit.threshold);
}

bool pt_alerts_check(struct pt_alerts *a, const struct pt_sample *sample) {
    pt_sample_clear(&a->changes);
    a->changes.wall_ns = sample->wall_ns;
    a->changes.mono_ns = sample->mono_ns;
    pt_watch_see(&a->watch, sample, add_change, a);
    return a->changes.batches[a->table].row_count > 0;
}
