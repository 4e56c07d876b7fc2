#include "agent/sampler.h"
#include "base/json.h"
#include "cmd/command.h"
#include "timeline/tables.h"

#include <stdio.h>
#include <unistd.h>

static const char *file_of(const struct pt_table *t) {
    return *t->file ? t->file : "main";
}

static void print_text(const struct pt_schema *schema, struct pt_out *out) {
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

static void print_column_json(struct pt_json *j, const struct pt_table *t,
                              const struct pt_column *column) {
    pt_json_object(j, NULL);
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "short", column->short_name);
    pt_json_text(j, "kind", pt_kind_name(column->kind));
    pt_json_text(j, "type", pt_type_name(column->type));
    pt_json_text(j, "unit", pt_units[column->unit].name);
    pt_json_bool(j, "timed", pt_column_is_timed(t, column));
    pt_json_text(j, "source", t->sources[column->source]);
    pt_json_text(j, "help", column->help);
    pt_json_end(j);
}

static void print_json(const struct pt_schema *schema, struct pt_out *out) {
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
        pt_json_text(&j, "help", t->help);
        pt_json_array(&j, "columns");
        for (int c = 0; c < t->column_count; c++)
            print_column_json(&j, t, &t->columns[c]);
        pt_json_end(&j);
        pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_json_end(&j);
}

static void print_markdown(const struct pt_schema *schema, struct pt_out *out) {
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
        pt_out_text(out, ".\n\n| column | kind | type | unit | source | what it is |\n"
                         "|---|---|---|---|---|---|\n");
        for (int c = 0; c < t->column_count; c++) {
            const struct pt_column *column = &t->columns[c];
            pt_out_printf(out, "| `%s` | %s | %s | %s | %s | %s |\n", column->name,
                          pt_kind_name(column->kind), pt_type_name(column->type),
                          pt_units[column->unit].name, t->sources[column->source], column->help);
        }
    }
}

#define TABLES_MAX (PT_SAMPLER_TABLES + PT_TIMELINE_TABLES)

/* Of a recording, then those that `pitot gpu` adds. */
static struct pt_schema run_schema(const struct pt_table *tables[TABLES_MAX]) {
    uint32_t count = pt_sampler_tables(tables);
    for (size_t i = 0; i < PT_TIMELINE_TABLES; i++)
        tables[count++] = pt_timeline_tables[i];
    return (struct pt_schema){ tables, count };
}

void pt_schema_markdown(struct pt_out *out) {
    const struct pt_table *tables[TABLES_MAX];
    struct pt_schema schema = run_schema(tables);
    print_markdown(&schema, out);
}

int pt_cmd_schema(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_SCHEMA, "unexpected argument '%s'", *operands);
    const struct pt_table *tables[TABLES_MAX];
    struct pt_schema schema = run_schema(tables);
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    if (o->as_json)
        print_json(&schema, &out);
    else if (o->as_markdown)
        print_markdown(&schema, &out);
    else
        print_text(&schema, &out);
    return pt_command_close(&out, 0);
}
