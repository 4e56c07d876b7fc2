#include "derive/schema_text.h"

#include "base/json.h"
#include "derive/figure.h"
#include "model/metric.h"

#include <stdio.h>

static const char *file_of(const struct pt_table *t) {
    return *t->file ? t->file : "main";
}

/* "lower", "higher", or "" where neither is better. */
static const char *better_of(enum pt_direction better) {
    return better == PT_NO_DIRECTION ? "" : pt_direction_name(better);
}

static void print_better(enum pt_direction better, struct pt_out *out) {
    if (better != PT_NO_DIRECTION)
        pt_out_printf(out, "; %s is better", pt_direction_name(better));
}

static void print_column(const struct pt_column *c, struct pt_out *out) {
    char title[PT_TITLE_BYTES];
    pt_out_printf(out, "  %-28s %-8s %-8s %-6s %-32s %s", c->name, pt_kind_name(c->kind),
                  pt_type_name(c->type), pt_units[c->unit].name, pt_column_title(c, title),
                  c->help);
    print_better(c->better, out);
    if (c->limit)
        pt_out_printf(out, "; limit: %s", c->limit);
    pt_out_char(out, '\n');
}

void pt_schema_print(const struct pt_schema *schema, struct pt_out *out) {
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_out_printf(out, "%s%s (file: %s): %s\n", i ? "\n" : "", t->name, file_of(t), t->help);
        for (int c = 0; c < t->column_count; c++)
            print_column(&t->columns[c], out);
    }
    pt_out_text(out, "\nfigures: numbers that are derived from the columns\n");
    for (int i = 0; i < PT_FIGURE_COUNT; i++) {
        const struct pt_figure *f = &pt_figures[i];
        pt_out_printf(out, "  %-28s %-8s %-17s %-32s %s", f->name,
                      pt_importance_name(f->importance), pt_forms[f->form].name, f->title, f->help);
        print_better(f->better, out);
        pt_out_char(out, '\n');
    }
}

#define METRIC_NAME_BYTES (PT_METRIC_NAME_BYTES + sizeof "_total")

/* The name that a scraper sees; NULL: the column is not a metric. */
static const char *metric_name(const struct pt_table *t, int column, char into[METRIC_NAME_BYTES]) {
    struct pt_metric metric;
    if (!pt_metric_of(t, column, &metric))
        return NULL;
    snprintf(into, METRIC_NAME_BYTES, "%s%s", metric.name, metric.is_counter ? "_total" : "");
    return into;
}

/* What the column means, with its defaults. Only what can be drawn has a base unit. */
static void print_meaning_json(struct pt_json *j, const struct pt_column *c) {
    bool is_number = c->type != PT_STRING, is_drawn = pt_column_is_drawn(c);
    const struct pt_form_info *form = is_number ? &pt_forms[pt_column_form(c)] : NULL;
    char title[PT_TITLE_BYTES];
    pt_json_text(j, "title", pt_column_title(c, title));
    pt_json_text(j, "heading", c->heading);
    pt_json_text(j, "family", c->family);
    pt_json_bool(j, "is_stacked", c->is_stacked);
    pt_json_text(j, "form", form ? form->name : NULL);
    if (is_drawn) {
        pt_json_text(j, "base_unit", form->base);
        pt_json_bool(j, "is_rate", form->is_rate);
    }
    pt_json_text(j, "better", pt_direction_name(c->better));
    pt_json_text(j, "parts", c->parts);
    pt_json_text(j, "limit", c->limit);
    pt_json_f64(j, "full", pt_column_full(c));
    pt_json_text(j, "importance", pt_importance_name(c->importance));
    pt_json_text(j, "combine", pt_combine_name(pt_column_combine(c)));
    if (is_drawn)
        pt_json_i64(j, "lasts_s", pt_column_lasts_ns(c, 0) / INT64_C(1000000000));
    else
        pt_json_null(j, "lasts_s");
    pt_json_text(j, "words", c->words);
    if (c->percentile) {
        pt_json_i64(j, "percentile", c->percentile);
        pt_json_text(j, "histogram", c->histogram);
    }
    pt_json_text(j, "role", pt_role_name(c->role));
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
    pt_json_bool(j, "timed", pt_column_is_timed(t, column));
    pt_json_text(j, "source", t->sources[column->source]);
    pt_json_text(j, "prometheus", metric_name(t, index, metric));
    pt_json_text(j, "help", column->help);
    print_meaning_json(j, column);
    pt_json_end(j);
}

/* Before the dot of its name: cpu, own, engine, ... */
static struct pt_str whose(const struct pt_figure *f) {
    return (struct pt_str){ f->name, strcspn(f->name, ".") };
}

static void print_figure_json(struct pt_json *j, enum pt_figure_id id) {
    const struct pt_figure *f = &pt_figures[id];
    int limit = pt_figure_limit(id);
    pt_json_object(j, NULL);
    pt_json_text(j, "name", f->name);
    pt_json_str(j, "whose", whose(f));
    pt_json_text(j, "title", f->title);
    pt_json_text(j, "form", pt_forms[f->form].name);
    pt_json_text(j, "base_unit", pt_forms[f->form].base);
    pt_json_bool(j, "is_rate", pt_forms[f->form].is_rate);
    pt_json_bool(j, "is_peak", pt_figure_is_peak(id));
    pt_json_text(j, "better", pt_direction_name(f->better));
    pt_json_text(j, "importance", pt_importance_name(f->importance));
    pt_json_text(j, "together", pt_figure_together_name(f->together));
    pt_json_text(j, "limit", limit < 0 ? NULL : pt_figures[limit].name);
    pt_json_text(j, "help", f->help);
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
        pt_json_text(&j, "whole", t->whole);
        pt_json_bool(&j, "has_fixed_rows", t->has_fixed_rows);
        pt_json_bool(&j, "is_own", t->is_own);
        pt_json_text(&j, "help", t->help);
        pt_json_array(&j, "columns");
        for (int c = 0; c < t->column_count; c++)
            print_column_json(&j, t, c);
        pt_json_end(&j);
        pt_json_end(&j);
    }
    pt_json_end(&j);
    pt_json_array(&j, "figures");
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        print_figure_json(&j, (enum pt_figure_id)i);
    pt_json_end(&j);
    pt_json_end(&j);
}

static void print_figures_markdown(struct pt_out *out) {
    pt_out_text(out,
                "\n## Figures\n\n"
                "Numbers that Pitot derives from the columns. Summary, report, dashboard, `pitot "
                "top`, `pitot explain` and `pitot diff` show these. The part before the dot is the "
                "subject: `own` is the recorded command, `others` the rest of the machine. "
                "Over any time a figure is a sum over a weight: growth over seconds, busy time "
                "over all time, a level times seconds over seconds; of a peak it is the highest. "
                "`together` says how a merged "
                "run combines the values of its ranks or machines.\n\n"
                "| figure | title | form | better | together | importance | description |\n"
                "|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < PT_FIGURE_COUNT; i++) {
        const struct pt_figure *f = &pt_figures[i];
        pt_out_printf(out, "| `%s` | %s | %s | %s | %s | %s | %s |\n", f->name, f->title,
                      pt_forms[f->form].name, better_of(f->better),
                      pt_figure_together_name(f->together), pt_importance_name(f->importance),
                      f->help);
    }
}

void pt_schema_print_markdown(const struct pt_schema *schema, struct pt_out *out) {
    pt_out_text(
        out,
        "# Metrics\n\n"
        "Every table and column that Pitot records, then the figures. Generated by `pitot schema "
        "--markdown`; do "
        "not edit.\n\n"
        "Each file starts with `timestamp` and `monotonic_ns`. Each gauge and counter is "
        "followed by the time at which it was read, `<name>T`. An unknown value is null. "
        "MB is 2^20 bytes, cs is 1/100 s. Better says which direction is an improvement, limit "
        "which column of the same row is 100 %.\n");
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_out_printf(out, "\n## %s\n\n%s. File: `%s%s%s.<ext>`", t->name, t->help, "<uuid>",
                      *t->file ? "." : "", t->file);
        if (t->section)
            pt_out_printf(out, "; key in JSON snapshots: `%s`", t->section);
        pt_out_text(
            out,
            ".\n\n| column | title | kind | type | unit | better | limit | source | Prometheus "
            "| description |\n|---|---|---|---|---|---|---|---|---|---|\n");
        for (int c = 0; c < t->column_count; c++) {
            const struct pt_column *column = &t->columns[c];
            char text[METRIC_NAME_BYTES], title[PT_TITLE_BYTES];
            const char *metric = metric_name(t, c, text), *quote = column->limit ? "`" : "";
            pt_out_printf(out, "| `%s` | %s | %s | %s | %s | %s | %s%s%s | %s | %s | %s |\n",
                          column->name, pt_column_title(column, title), pt_kind_name(column->kind),
                          pt_type_name(column->type), pt_units[column->unit].name,
                          better_of(column->better), quote, column->limit ? column->limit : "",
                          quote, t->sources[column->source], metric ? metric : "", column->help);
        }
    }
    print_figures_markdown(out);
}
