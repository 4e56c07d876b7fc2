#include "serve/alert_log.h"

#include "base/mask.h"
#include "base/clock.h"
#include "serve/service.h"

#include <unistd.h>

void pt_alert_log_init(struct pt_alert_log *l) {
    *l = (struct pt_alert_log){ 0 };
    if (gethostname(l->host, sizeof l->host - 1))
        l->host[0] = 0;
}

void pt_alert_log_release(struct pt_alert_log *l) {
    for (size_t i = 0; i < PT_ALERT_LOG_LENGTH; i++)
        pt_free(l->lines[i]);
}

const char *pt_alert_log_add(struct pt_alert_log *l, const struct pt_batch *rows, uint32_t row,
                             int64_t wall_ns) {
    struct pt_buf line = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &line);
    struct pt_json j = { .out = &out, .mask = pt_mask_value };
    pt_json_object(&j, NULL);
    pt_json_i64(&j, "time", wall_ns / PT_NS_PER_MS);
    pt_json_text(&j, "host", l->host);
    for (int i = 0; i < rows->table->column_count; i++) {
        const struct pt_column *c = &rows->table->columns[i];
        if (pt_is_null(rows, row, i))
            pt_json_null(&j, c->short_name);
        else if (c->type == PT_STRING)
            pt_json_str(&j, c->short_name, pt_get_str(rows, row, i));
        else
            pt_json_f64(&j, c->short_name, pt_get_number(rows, row, i));
    }
    pt_json_end(&j);
    (void)pt_out_close(&out);
    char **place = &l->lines[l->next];
    l->next = (l->next + 1) % PT_ALERT_LOG_LENGTH;
    pt_free(*place);
    *place = pt_strndup(pt_buf_as_str(&line));
    pt_buf_release(&line);
    return *place;
}

static void put_rule(struct pt_json *j, const struct pt_watch_rule *rule) {
    pt_json_object(j, NULL);
    pt_json_text(j, "name", rule->name);
    pt_json_text(j, "table", rule->table);
    pt_json_text(j, "column", rule->column);
    pt_json_text(j, "figure", rule->is_figure ? pt_figures[rule->figure].name : NULL);
    pt_json_text(j, "of", *rule->of ? rule->of : NULL);
    pt_json_text(j, "entity", *rule->entity ? rule->entity : NULL);
    pt_json_f64(j, rule->limit.is_above ? "above" : "below", rule->limit.threshold);
    pt_json_f64(j, "for_seconds", rule->limit.for_seconds);
    pt_json_f64(j, "hysteresis", rule->limit.hysteresis);
    pt_json_end(j);
}

static void put_state(struct pt_json *j, const struct pt_service *s,
                      const struct pt_watch_state *state) {
    double now_s = (double)s->latest.now.mono_ns / 1e9;
    double on_ms = (double)s->latest.now.wall_ns / 1e6 - (now_s - state->alert.on_since) * 1e3;
    pt_json_object(j, NULL);
    pt_json_text(j, "rule", s->alerts.watch.rules[state->rule].name);
    pt_json_text(j, "entity", state->key);
    pt_json_bool(j, "is_on", state->alert.is_on);
    pt_json_f64(j, "value", state->alert.value);
    if (state->alert.is_on)
        pt_json_i64(j, "since", (int64_t)on_ms);
    pt_json_end(j);
}

void pt_alert_log_put(void *service, struct pt_json *j) {
    const struct pt_service *s = service;
    const struct pt_watch *w = &s->alerts.watch;
    const struct pt_alert_log *l = &s->alert_log;
    pt_json_object(j, NULL);
    pt_json_array(j, "rules");
    for (size_t i = 0; i < w->rule_count; i++)
        put_rule(j, &w->rules[i]);
    pt_json_end(j);
    pt_json_array(j, "states");
    for (size_t i = 0; i < w->state_count; i++)
        put_state(j, s, &w->states[i]);
    pt_json_end(j);
    pt_json_array(j, "changes"); /* newest first */
    for (size_t i = 1; i <= PT_ALERT_LOG_LENGTH; i++) {
        size_t at = (l->next + PT_ALERT_LOG_LENGTH - i) % PT_ALERT_LOG_LENGTH;
        if (l->lines[at])
            pt_json_raw(j, NULL, pt_str_from(l->lines[at]));
    }
    pt_json_end(j);
    pt_json_end(j);
}
