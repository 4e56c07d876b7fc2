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

static void begin_panel(struct page *p, const char *title, const char *help, const char *unit,
                        bool is_stacked) {
    struct pt_json *j = &p->json;
    pt_json_object(j, NULL);
    pt_json_text(j, "type", "timeseries");
    pt_json_text(j, "title", title);
    if (help)
        pt_json_text(j, "description", help);
    put_place(p);
    put_source(j);
    pt_json_object(j, "fieldConfig");
    pt_json_object(j, "defaults");
    pt_json_text(j, "unit", unit);
    if (is_stacked) {
        pt_json_object(j, "custom");
        pt_json_i64(j, "fillOpacity", 30);
        pt_json_object(j, "stacking");
        pt_json_text(j, "mode", "normal");
        pt_json_text(j, "group", "A");
        pt_json_end(j);
        pt_json_end(j);
    }
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

/* Grafana's names of units. */
static const char *const units[PT_FORM_COUNT] = {
    [PT_FORM_DEFAULT] = "short",     [PT_FORM_NUMBER] = "short",        [PT_FORM_PER_S] = "cps",
    [PT_FORM_SHARE] = "percentunit", [PT_FORM_CORES] = "suffix: cores", [PT_FORM_BYTES] = "bytes",
    [PT_FORM_BYTES_PER_S] = "Bps",   [PT_FORM_SECONDS] = "s",           [PT_FORM_HERTZ] = "hertz",
    [PT_FORM_CELSIUS] = "celsius",   [PT_FORM_WATTS] = "watt",          [PT_FORM_JOULES] = "joule",
    [PT_FORM_GRAMS] = "massg",       [PT_FORM_MONEY] = "short",
};

/* ---- a table ---- */

/* The column as a line of a chart; one line per instance and row. */
static void put_column(struct page *p, const struct pt_table *t, int column, int index,
                       const char *label) {
    char expression[256], legend[256];
    struct pt_metric m;
    if (!pt_metric_of(t, column, &m))
        return;
    snprintf(expression, sizeof expression,
             m.is_counter ? "rate(%s_total{instance=~\"$instance\"}[$__rate_interval])"
                          : "%s{instance=~\"$instance\"}",
             m.name);
    int used = snprintf(legend, sizeof legend, "%s {{instance}}", label);
    for (int k = 0; k < t->column_count && (size_t)used < sizeof legend; k++)
        if (t->columns[k].kind == PT_KEY && t->columns[k].role != PT_ROLE_START)
            used += snprintf(legend + used, sizeof legend - (size_t)used, " {{%s}}",
                             t->columns[k].short_name);
    put_target(p, index, expression, legend);
}

static bool is_shown(const struct pt_table *t, int column) {
    struct pt_metric m;
    return t->columns[column].importance != PT_RAW && pt_metric_of(t, column, &m);
}

/* A chart of one column, with its limit. */
static void put_single(struct page *p, const struct pt_table *t, int column) {
    const struct pt_column *c = &t->columns[column];
    char buffer[PT_TITLE_BYTES];
    const char *title = pt_column_title(c, buffer);
    begin_panel(p, title, c->help, units[pt_column_form(c)], false);
    put_column(p, t, column, 0, title);
    if (c->limit)
        put_column(p, t, pt_table_find(t, c->limit), 1, "limit");
    end_panel(p);
}

/* A chart of all columns of a family; several, if there are too many lines. */
static void put_family(struct page *p, const struct pt_table *t, int first) {
    const struct pt_column *leader = &t->columns[first];
    int count = 0;
    for (int c = first; c < t->column_count; c++) {
        char title[PT_TITLE_BYTES];
        if (!is_shown(t, c) || !t->columns[c].family ||
            strcmp(t->columns[c].family, leader->family) != 0)
            continue;
        if (count % TARGETS_MAX == 0) {
            if (count > 0)
                end_panel(p);
            begin_panel(p, leader->family, NULL, units[pt_column_form(leader)], leader->is_stacked);
        }
        put_column(p, t, c, count++ % TARGETS_MAX, pt_column_title(&t->columns[c], title));
    }
    end_panel(p);
}

/* The first column that is drawn in the chart of this one, and whether a headline is among them. */
static int leader_of(const struct pt_table *t, int column, bool *has_headline) {
    const char *family = t->columns[column].family;
    int first = -1;
    *has_headline = false;
    for (int c = 0; c < t->column_count; c++) {
        bool is_member = family ? t->columns[c].family && strcmp(t->columns[c].family, family) == 0
                                : c == column;
        if (!is_member || !is_shown(t, c))
            continue;
        first = first < 0 ? c : first;
        *has_headline |= t->columns[c].importance == PT_HEADLINE;
    }
    return first;
}

static void put_charts(struct page *p, const struct pt_table *t, bool wants_headlines) {
    for (int c = 0; c < t->column_count; c++) {
        bool has_headline;
        if (leader_of(t, c, &has_headline) != c || has_headline != wants_headlines)
            continue;
        if (t->columns[c].family)
            put_family(p, t, c);
        else
            put_single(p, t, c);
    }
}

static void put_table(struct page *p, const struct pt_table *t) {
    bool has_metrics = false;
    for (int c = 0; c < t->column_count; c++)
        has_metrics |= is_shown(t, c);
    if (!has_metrics)
        return;
    begin_row(p, t->help);
    put_charts(p, t, true);
    put_charts(p, t, false);
    pt_json_end(&p->json);
    pt_json_end(&p->json);
}

/* ---- the page ---- */

static void put_overview(struct page *p) {
    char expression[512];
    for (size_t i = 0; i < pt_overview_count; i++) {
        begin_panel(p, pt_overviews[i].title, NULL, pt_overviews[i].unit, false);
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
