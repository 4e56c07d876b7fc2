#include "report/grafana.h"

#include "base/json.h"
#include "model/metric.h"
#include "report/overview.h"

#include <stdio.h>

#define COLUMNS         24 /* of Grafana's grid */
#define PANEL_HEIGHT    8
#define PANELS_PER_LINE 3
#define TARGETS_MAX     12 /* lines per chart */

struct page {
    struct pt_json json;
    int next_id, line, place; /* of the next panel; place: within its line */
};

static void put_source(struct pt_json *j) {
    pt_json_object(j, "datasource");
    pt_json_text(j, "type", "prometheus");
    pt_json_text(j, "uid", "${datasource}");
    pt_json_end(j);
}

static void put_place(struct page *p) {
    struct pt_json *j = &p->json;
    pt_json_i64(j, "id", p->next_id++);
    pt_json_object(j, "gridPos");
    pt_json_i64(j, "x", p->place * (COLUMNS / PANELS_PER_LINE));
    pt_json_i64(j, "y", p->line);
    pt_json_i64(j, "w", COLUMNS / PANELS_PER_LINE);
    pt_json_i64(j, "h", PANEL_HEIGHT);
    pt_json_end(j);
    p->place = (p->place + 1) % PANELS_PER_LINE;
    p->line += p->place == 0 ? PANEL_HEIGHT : 0;
}

static void begin_panel(struct page *p, const char *title, const char *unit) {
    struct pt_json *j = &p->json;
    pt_json_object(j, NULL);
    pt_json_text(j, "type", "timeseries");
    pt_json_text(j, "title", title);
    put_place(p);
    put_source(j);
    pt_json_object(j, "fieldConfig");
    pt_json_object(j, "defaults");
    pt_json_text(j, "unit", unit);
    pt_json_end(j);
    pt_json_array(j, "overrides");
    pt_json_end(j);
    pt_json_end(j);
    pt_json_array(j, "targets");
}

static void end_panel(struct page *p) {
    pt_json_end(&p->json);
    pt_json_end(&p->json);
}

static void put_target(struct page *p, int index, const char *expression, const char *legend) {
    struct pt_json *j = &p->json;
    pt_json_object(j, NULL);
    pt_json_text(j, "refId", (char[]){ (char)('A' + index), 0 });
    pt_json_text(j, "expr", expression);
    pt_json_text(j, "legendFormat", legend);
    put_source(j);
    pt_json_end(j);
}

/* A collapsed row contains its charts. */
static void begin_row(struct page *p, const char *title) {
    struct pt_json *j = &p->json;
    p->line += p->place > 0 ? PANEL_HEIGHT : 0;
    p->place = 0;
    pt_json_object(j, NULL);
    pt_json_text(j, "type", "row");
    pt_json_text(j, "title", title);
    pt_json_bool(j, "collapsed", true);
    pt_json_i64(j, "id", p->next_id++);
    pt_json_object(j, "gridPos");
    pt_json_i64(j, "x", 0);
    pt_json_i64(j, "y", p->line++);
    pt_json_i64(j, "w", COLUMNS);
    pt_json_i64(j, "h", 1);
    pt_json_end(j);
    pt_json_array(j, "panels");
}

/* ---- units ---- */

static const struct {
    const char *unit, *gauge, *rate; /* Grafana's names */
    const char *gauge_words, *rate_words;
} units[] = {
    { "bytes", "bytes", "Bps", "bytes", "bytes per second" },
    { "seconds", "s", "percentunit", "seconds", "share of time" },
    { "ratio", "percentunit", "percentunit", "share", "share" },
    { "hertz", "hertz", "hertz", "frequency", "frequency" },
    { "celsius", "celsius", "celsius", "temperature", "temperature" },
    { "watts", "watt", "watt", "power", "power" },
    { "joules", "joule", "watt", "energy", "power" },
    { "", "short", "cps", "numbers", "per second" },
};

static size_t unit_of(const struct pt_metric *m) {
    size_t i = 0;
    while (i + 1 < PT_COUNT(units) && strcmp(units[i].unit, m->unit) != 0)
        i++;
    return i;
}

/* ---- a table ---- */

/* All columns of one unit in one chart, or in several charts if there are many. */
static void put_unit(struct page *p, const struct pt_table *t, size_t unit, bool is_counter) {
    char title[128];
    int count = 0;
    struct pt_metric m;
    snprintf(title, sizeof title, "%s: %s", t->name,
             is_counter ? units[unit].rate_words : units[unit].gauge_words);
    for (int c = 0; c < t->column_count; c++) {
        if (!pt_metric_of(t, c, &m) || m.is_counter != is_counter || unit_of(&m) != unit)
            continue;
        if (count % TARGETS_MAX == 0) {
            if (count > 0)
                end_panel(p);
            begin_panel(p, title, is_counter ? units[unit].rate : units[unit].gauge);
        }
        char expression[256], legend[256];
        snprintf(expression, sizeof expression,
                 m.is_counter ? "rate(%s_total{instance=~\"$instance\"}[$__rate_interval])"
                              : "%s{instance=~\"$instance\"}",
                 m.name);
        int used = snprintf(legend, sizeof legend, "%s {{instance}}", t->columns[c].short_name);
        for (int k = 0; k < t->column_count && (size_t)used < sizeof legend; k++)
            if (t->columns[k].kind == PT_KEY)
                used += snprintf(legend + used, sizeof legend - (size_t)used, " {{%s}}",
                                 t->columns[k].short_name);
        put_target(p, count++ % TARGETS_MAX, expression, legend);
    }
    if (count > 0)
        end_panel(p);
}

static void put_table(struct page *p, const struct pt_table *t) {
    struct pt_metric m;
    bool has_metrics = false;
    for (int c = 0; c < t->column_count; c++)
        has_metrics |= pt_metric_of(t, c, &m);
    if (!has_metrics)
        return;
    begin_row(p, t->help);
    for (size_t unit = 0; unit < PT_COUNT(units); unit++) {
        put_unit(p, t, unit, false);
        put_unit(p, t, unit, true);
    }
    pt_json_end(&p->json);
    pt_json_end(&p->json);
}

/* ---- the page ---- */

static void put_overview(struct page *p) {
    char expression[512];
    for (size_t i = 0; i < pt_overview_count; i++) {
        begin_panel(p, pt_overviews[i].title, pt_overviews[i].unit);
        snprintf(expression, sizeof expression,
                 "(%s) and on (instance) pitot_build_info{instance=~\"$instance\"}",
                 pt_overviews[i].expression);
        put_target(p, 0, expression, "{{instance}}");
        end_panel(p);
    }
}

static void put_variable(struct pt_json *j, const char *name, const char *label, const char *type,
                         const char *query) {
    pt_json_object(j, NULL);
    pt_json_text(j, "name", name);
    pt_json_text(j, "label", label);
    pt_json_text(j, "type", type);
    pt_json_text(j, "query", query);
    pt_json_i64(j, "refresh", 2);
    if (strcmp(type, "query") == 0) {
        put_source(j);
        pt_json_bool(j, "multi", true);
        pt_json_bool(j, "includeAll", true);
        pt_json_text(j, "allValue", ".*");
    }
    pt_json_end(j);
}

void pt_grafana_print(const struct pt_schema *schema, struct pt_out *out) {
    struct page page = { .json = { .out = out, .indent = 1 }, .next_id = 1 };
    struct pt_json *j = &page.json;
    pt_json_object(j, NULL);
    pt_json_text(j, "uid", "pitot");
    pt_json_text(j, "title", "Pitot");
    pt_json_array(j, "tags");
    pt_json_text(j, NULL, "pitot");
    pt_json_end(j);
    pt_json_i64(j, "schemaVersion", 38);
    pt_json_text(j, "refresh", "10s");
    pt_json_object(j, "time");
    pt_json_text(j, "from", "now-30m");
    pt_json_text(j, "to", "now");
    pt_json_end(j);
    pt_json_object(j, "templating");
    pt_json_array(j, "list");
    put_variable(j, "datasource", "Data source", "datasource", "prometheus");
    put_variable(j, "instance", "Instance", "query", "label_values(pitot_build_info, instance)");
    pt_json_end(j);
    pt_json_end(j);
    pt_json_array(j, "panels");
    put_overview(&page);
    for (uint32_t t = 0; t < schema->table_count; t++)
        put_table(&page, schema->tables[t]);
    pt_json_end(j);
    pt_json_end(j);
}
