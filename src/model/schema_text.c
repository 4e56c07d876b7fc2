#include "model/schema_text.h"

#include "base/json.h"
#include "model/metric.h"

#include <stdio.h>

static const char *file_of(const struct pt_table *t) {
    return *t->file ? t->file : "main";
}

void pt_schema_print(const struct pt_schema *schema, struct pt_out *out) {
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_out_printf(out, "%s%s (file: %s): %s\n", i ? "\n" : "", t->name, file_of(t), t->help);
        for (int c = 0; c < t->column_count; c++) {
            const struct pt_column *column = &t->columns[c];
            pt_out_printf(out, "  %-28s %-8s %-8s %-6s %s\n", column->name,
                          pt_kind_name(column->kind), pt_type_name(column->type),
                          pt_units[column->unit].name, column->help);
        }
    }
}

#define METRIC_NAME_BYTES (PT_METRIC_NAME_BYTES + sizeof "_total")

/* As a scraper sees it; NULL: the column is no metric. */
static const char *metric_name(const struct pt_table *t, int column, char into[METRIC_NAME_BYTES]) {
    struct pt_metric metric;
    if (!pt_metric_of(t, column, &metric))
        return NULL;
    snprintf(into, METRIC_NAME_BYTES, "%s%s", metric.name, metric.is_counter ? "_total" : "");
    return into;
}

static void print_column_json(struct pt_json *j, const struct pt_table *t, int index) {
    const struct pt_column *column = &t->columns[index];
    char metric[METRIC_NAME_BYTES];
    pt_json_object(j, NULL);
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "short", column->short_name);
    pt_json_text(j, "kind", pt_kind_name(column->kind));
    pt_json_text(j, "type", pt_type_name(column->type));
    pt_json_text(j, "unit", pt_units[column->unit].name);
    if (pt_column_is_drawn(column)) {
        pt_json_text(j, "base_unit", pt_unit_base(column->unit));
        pt_json_bool(j, "is_rate", column->kind == PT_COUNTER);
    }
    pt_json_bool(j, "timed", pt_column_is_timed(t, column));
    pt_json_text(j, "source", t->sources[column->source]);
    pt_json_text(j, "prometheus", metric_name(t, index, metric));
    pt_json_text(j, "help", column->help);
    pt_json_end(j);
}

void pt_schema_print_json(const struct pt_schema *schema, struct pt_out *out) {
    struct pt_json j = { .out = out, .indent = 2 };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "version", PITOT_VERSION);
    pt_json_array(&j, "tables");
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_json_object(&j, NULL);
        pt_json_text(&j, "name", t->name);
        pt_json_text(&j, "file", file_of(t));
        pt_json_text(&j, "section", t->section);
        pt_json_text(&j, "rows", pt_rows_name(t->rows));
        pt_json_text(&j, "help", t->help);
        pt_json_array(&j, "columns");
        for (int c = 0; c < t->column_count; c++)
            print_column_json(&j, t, c);
        pt_json_end(&j);
        pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_json_end(&j);
}

void pt_schema_print_markdown(const struct pt_schema *schema, struct pt_out *out) {
    pt_out_text(out,
                "# Metrics\n\n"
                "Every table and column that Pitot records. Made by `pitot schema --markdown`; do "
                "not edit.\n\n"
                "Each file starts with `timestamp` and `monotonic_ns`. Gauges and counters are "
                "followed by the time of their own read, `<name>T`. An unknown value is null. MB "
                "is 2^20 bytes, cs is a hundredth of a second.\n");
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_out_printf(out, "\n## %s\n\n%s. File: `%s%s%s.<ext>`", t->name, t->help, "<uuid>",
                      *t->file ? "." : "", t->file);
        if (t->section)
            pt_out_printf(out, "; key in JSON snapshots: `%s`", t->section);
        pt_out_text(out, ".\n\n| column | kind | type | unit | source | Prometheus | what it is |\n"
                         "|---|---|---|---|---|---|---|\n");
        for (int c = 0; c < t->column_count; c++) {
            const struct pt_column *column = &t->columns[c];
            char text[METRIC_NAME_BYTES];
            const char *metric = metric_name(t, c, text);
            pt_out_printf(out, "| `%s` | %s | %s | %s | %s | %s | %s |\n", column->name,
                          pt_kind_name(column->kind), pt_type_name(column->type),
                          pt_units[column->unit].name, t->sources[column->source],
                          metric ? metric : "", column->help);
        }
    }
}
