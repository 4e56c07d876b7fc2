#include "report/diff_text.h"

#include "model/form.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>

#define SETTINGS_SHOWN 20

static const char *const kind_names[] = {
    [PT_CHANGE_SAME] = "same",
    [PT_CHANGE_WORSE] = "worse",
    [PT_CHANGE_BETTER] = "better",
    [PT_CHANGE_OTHER] = "changed",
};

static const char *const gate_names[] = {
    [PT_GATE_PASS] = "pass",
    [PT_GATE_FAIL] = "FAIL",
    [PT_GATE_UNSURE] = "unsure: too noisy",
};

static const char *const status_names[] = {
    [PT_DIFF_PASS] = "pass",
    [PT_DIFF_REGRESSION] = "regression",
    [PT_DIFF_INCONCLUSIVE] = "inconclusive",
};

static const struct pt_comparison *gated(const struct pt_diff *d, size_t gate) {
    return pt_comparisons_find(&d->comparisons, d->gates[gate].metric);
}

/* The result in words, with the reason if it is unsure. */
static const char *gate_word(const struct pt_diff *d, size_t gate) {
    const struct pt_comparison *m = gated(d, gate);
    enum pt_gate_result result = pt_gate_check(&d->gates[gate], m);
    if (result != PT_GATE_MISSING)
        return gate_names[result];
    if (!m)
        return "unsure: no run has this metric";
    for (int side = 0; side < 2; side++)
        if (m->sides[side].run_count == 0)
            return side == 0 ? "unsure: not in A, or A is too short"
                             : "unsure: not in B, or B is too short";
    return m->is_known ? "unsure: the value in A is 0" : "unsure: too few values in A or B";
}

static size_t count_kind(const struct pt_diff *d, enum pt_change_kind kind) {
    size_t count = 0;
    for (size_t i = 0; i < d->comparisons.metric_count; i++)
        count += d->comparisons.metrics[i].is_known && d->comparisons.metrics[i].kind == kind;
    return count;
}

static size_t count_known(const struct pt_diff *d) {
    size_t count = 0;
    for (size_t i = 0; i < d->comparisons.metric_count; i++)
        count += d->comparisons.metrics[i].is_known;
    return count;
}

enum pt_diff_status pt_diff_status(const struct pt_diff *d) {
    enum pt_diff_status status = PT_DIFF_PASS;
    for (size_t i = 0; i < d->gate_count; i++) {
        enum pt_gate_result result = pt_gate_check(&d->gates[i], gated(d, i));
        if (result == PT_GATE_FAIL)
            return PT_DIFF_REGRESSION;
        if (result != PT_GATE_PASS)
            status = PT_DIFF_INCONCLUSIVE;
    }
    if (d->gate_count > 0)
        return status;
    if (count_known(d) == 0)
        return PT_DIFF_INCONCLUSIVE;
    return count_kind(d, PT_CHANGE_WORSE) > 0 ? PT_DIFF_REGRESSION : PT_DIFF_PASS;
}

/* Calls `take` for each setting that differs: those of A, then those only in B. */
typedef void setting_function(void *arg, const char *path, const char *a, const char *b);

static void each_setting(const struct pt_diff *d, setting_function *take, void *arg) {
    const struct pt_settings *a = &d->settings[0], *b = &d->settings[1];
    for (size_t i = 0; i < a->count; i++) {
        const char *other = pt_settings_find(b, a->at[i].path);
        if (!other || strcmp(other, a->at[i].value) != 0)
            take(arg, a->at[i].path, a->at[i].value, other);
    }
    for (size_t i = 0; i < b->count; i++)
        if (!pt_settings_find(a, b->at[i].path))
            take(arg, b->at[i].path, NULL, b->at[i].value);
}

static void count_setting(void *arg, const char *path, const char *a, const char *b) {
    (void)path;
    (void)a;
    (void)b;
    ++*(size_t *)arg;
}

/* "+5.2 %", "+1.0 to +9.4 %" */
static void print_percent(double change, char *into, size_t capacity) {
    if (isnan(change))
        snprintf(into, capacity, "from 0");
    else
        snprintf(into, capacity, "%+.1f %%", change * 100);
}

static void print_interval(const struct pt_comparison *m, char *into, size_t capacity) {
    if (isnan(m->ci_low))
        into[0] = 0;
    else
        snprintf(into, capacity, "%+.1f to %+.1f %%", m->ci_low * 100, m->ci_high * 100);
}

/* Formatted for people: 12.5% for time per time, 1.2G for bytes. */
static void print_mean(const struct pt_comparison *m, int side, char *into, size_t capacity) {
    const struct pt_column column = { .kind = m->is_rate ? PT_COUNTER : PT_GAUGE,
                                      .unit = m->unit,
                                      .form = m->form };
    pt_column_print_with_unit(&column, m->means[side] * pt_units[m->unit].prometheus_factor, into,
                              capacity);
}

struct listing {
    struct pt_out *out;
    size_t shown;
};

static void print_setting(void *arg, const char *path, const char *a, const char *b) {
    struct listing *l = arg;
    if (l->shown++ < SETTINGS_SHOWN)
        pt_out_printf(l->out, "  %-28s %.60s -> %.60s\n", path, a ? a : "(none)", b ? b : "(none)");
}

static void print_settings(const struct pt_diff *d, struct pt_out *out) {
    size_t count = 0;
    each_setting(d, count_setting, &count);
    if (count == 0) {
        pt_out_text(out, "Configuration: no difference.\n");
        return;
    }
    struct listing l = { .out = out };
    pt_out_text(out, "Configuration:\n");
    each_setting(d, print_setting, &l);
    if (count > SETTINGS_SHOWN)
        pt_out_printf(out, "  and %zu more\n", count - SETTINGS_SHOWN);
}

enum layout { TEXT, MARKDOWN };

/* The metrics that became worse, then better, then others that changed. */
static void print_metrics(const struct pt_diff *d, enum layout layout, struct pt_out *out) {
    static const enum pt_change_kind kinds[] = { PT_CHANGE_WORSE, PT_CHANGE_BETTER,
                                                 PT_CHANGE_OTHER };
    size_t count = d->comparisons.metric_count;
    if (count_known(d) > count_kind(d, PT_CHANGE_SAME))
        pt_out_printf(out,
                      layout == TEXT ? "  %-8s %-40s %10s %10s %10s  %s\n"
                                     : "\n| %s| metric%s | %s | %s | %s | %s |\n"
                                       "|---|---|---:|---:|---:|---|\n",
                      "", "", "A", "B", "change", "95 % interval");
    for (size_t i = 0; i < PT_COUNT(kinds) * count; i++) {
        const struct pt_comparison *m = &d->comparisons.metrics[i % count];
        char change[32], interval[64], a[32], b[32];
        if (m->kind != kinds[i / count])
            continue;
        print_percent(m->change, change, sizeof change);
        print_interval(m, interval, sizeof interval);
        print_mean(m, 0, a, sizeof a);
        print_mean(m, 1, b, sizeof b);
        pt_out_printf(out,
                      layout == TEXT ? "  %-8s %-40s %10s %10s %10s  %s\n"
                                     : "| %s | `%s` | %s | %s | %s | %s |\n",
                      kind_names[m->kind], m->name, a, b, change, interval);
    }
}

/* A headline that a side has: its values, and the change if both have one. */
struct figure_row {
    const struct pt_figure *figure;
    char title[PT_SUBJECT_TEXT];
    double values[2], change;
    char texts[2][32], change_text[32];
};

/* False: it is not shown. */
static bool make_figure_row(const struct pt_diff *d, enum pt_figure_id id, struct figure_row *row) {
    *row = (struct figure_row){ .figure = &pt_figures[id], .change = NAN };
    pt_subject_say(&d->subject, row->figure->title, row->title, sizeof row->title);
    for (int side = 0; side < 2; side++) {
        row->values[side] = pt_comparisons_figure(&d->comparisons, side, id);
        pt_figure_print(id, row->values[side], row->texts[side], sizeof row->texts[side]);
    }
    const double *v = row->values;
    if (v[0] != 0)
        row->change = (v[1] - v[0]) / fabs(v[0]);
    if (!isnan(row->change))
        print_percent(row->change, row->change_text, sizeof row->change_text);
    return row->figure->importance == PT_HEADLINE && !(isnan(v[0]) && isnan(v[1]));
}

static void print_figures(const struct pt_diff *d, enum layout layout, struct pt_out *out) {
    struct figure_row row;
    bool has_heading = false;
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        if (!make_figure_row(d, (enum pt_figure_id)id, &row))
            continue;
        if (!has_heading)
            pt_out_printf(out,
                          layout == TEXT ? "\n%-49s %10s %10s %10s\n"
                                         : "\n| %s | %s | %s | %s |\n|---|---:|---:|---:|\n",
                          layout == TEXT ? "Figures of the whole runs:"
                                         : "figure of the whole runs",
                          "A", "B", "change");
        has_heading = true;
        bool is_padded = layout == TEXT && *row.change_text;
        pt_out_printf(out,
                      layout == TEXT ? "  %-47s %10s %10s%s%*s\n" : "| %s | %s | %s | %s%*s |\n",
                      row.title, row.texts[0], row.texts[1], is_padded ? " " : "",
                      is_padded ? 10 : 0, row.change_text);
    }
}

/* engine.tokens<-3%  FAIL  Tokens generated: 1203.1/s to 1133.0/s, -5.8 % (-7.2 to -4.5 %) */
static void print_gate(const struct pt_diff *d, size_t i, struct pt_out *out) {
    const struct pt_comparison *m = gated(d, i);
    pt_out_printf(out, "  %s%c%+g%%  %s", d->gates[i].metric, d->gates[i].direction,
                  d->gates[i].limit * 100, gate_word(d, i));
    if (m && m->is_known) {
        char change[32], interval[64], a[32], b[32], title[PT_SUBJECT_TEXT];
        pt_subject_say(&d->subject, m->title ? m->title : "", title, sizeof title);
        print_percent(m->change, change, sizeof change);
        print_interval(m, interval, sizeof interval);
        print_mean(m, 0, a, sizeof a);
        print_mean(m, 1, b, sizeof b);
        pt_out_printf(out, "  %s%s%s to %s, %s%s%s%s", title, *title ? ": " : "", a, b, change,
                      *interval ? " (" : "", interval, *interval ? ")" : "");
    }
    pt_out_char(out, '\n');
}

static void print_caution(const struct pt_diff *d, struct pt_out *out) {
    if (d->comparisons.run_counts[0] < 2 || d->comparisons.run_counts[1] < 2)
        pt_out_text(out, "A side has only one run: the variation between runs is unknown "
                         "(--baseline DIR reads several runs).\n");
}

void pt_diff_print(const struct pt_diff *d, struct pt_out *out) {
    pt_out_printf(out, "A: %s, %zu run%s\nB: %s, %zu run%s\n\n", d->names[0],
                  d->comparisons.run_counts[0], d->comparisons.run_counts[0] == 1 ? "" : "s",
                  d->names[1], d->comparisons.run_counts[1],
                  d->comparisons.run_counts[1] == 1 ? "" : "s");
    print_settings(d, out);
    print_figures(d, TEXT, out);
    pt_out_printf(out, "\nMetrics: %zu compared, %zu worse, %zu better, %zu changed\n",
                  count_known(d), count_kind(d, PT_CHANGE_WORSE), count_kind(d, PT_CHANGE_BETTER),
                  count_kind(d, PT_CHANGE_OTHER));
    print_metrics(d, TEXT, out);
    if (d->gate_count > 0)
        pt_out_text(out, "\nGates:\n");
    for (size_t i = 0; i < d->gate_count; i++)
        print_gate(d, i, out);
    print_caution(d, out);
    pt_out_printf(out, "Result: %s\n", status_names[pt_diff_status(d)]);
}

static void put_cell(struct pt_out *out, const char *text) {
    for (; text && *text; text++)
        pt_out_text(out, *text == '|' ? "\\|" : (char[]){ *text, 0 });
}

static void print_setting_row(void *arg, const char *path, const char *a, const char *b) {
    struct listing *l = arg;
    pt_out_printf(l->out, "| `%s` | ", path);
    put_cell(l->out, a);
    pt_out_text(l->out, " | ");
    put_cell(l->out, b);
    pt_out_text(l->out, " |\n");
}

void pt_diff_print_markdown(const struct pt_diff *d, struct pt_out *out) {
    size_t setting_count = 0;
    pt_out_printf(out, "### Pitot: %s\n\n", status_names[pt_diff_status(d)]);
    if (d->gate_count > 0)
        pt_out_text(out, "| gate | result | change |\n|---|---|---|\n");
    for (size_t i = 0; i < d->gate_count; i++) {
        const struct pt_comparison *m = gated(d, i);
        char change[32] = "";
        if (m && m->is_known)
            print_percent(m->change, change, sizeof change);
        pt_out_printf(out, "| `%s%c%+g%%` | %s | %s |\n", d->gates[i].metric, d->gates[i].direction,
                      d->gates[i].limit * 100, gate_word(d, i), change);
    }
    each_setting(d, count_setting, &setting_count);
    if (setting_count > 0) {
        struct listing l = { .out = out };
        pt_out_text(out, "\n| configuration | A | B |\n|---|---|---|\n");
        each_setting(d, print_setting_row, &l);
    }
    print_figures(d, MARKDOWN, out);
    print_metrics(d, MARKDOWN, out);
    pt_out_printf(out, "\n%zu metrics compared, %zu without a change beyond noise. ",
                  count_known(d), count_kind(d, PT_CHANGE_SAME));
    print_caution(d, out);
    pt_out_char(out, '\n');
}

static void put_setting(void *arg, const char *path, const char *a, const char *b) {
    struct pt_json *j = arg;
    pt_json_object(j, NULL);
    pt_json_text(j, "key", path);
    pt_json_text(j, "a", a);
    pt_json_text(j, "b", b);
    pt_json_end(j);
}

static void put_metric(struct pt_json *j, const struct pt_comparison *m) {
    char unit[32];
    snprintf(unit, sizeof unit, "%s%s", pt_units[m->unit].name, m->is_rate ? "/s" : "");
    pt_json_object(j, NULL);
    pt_json_text(j, "name", m->name);
    pt_json_text(j, "unit", unit);
    pt_json_f64(j, "a", m->means[0]);
    pt_json_f64(j, "b", m->means[1]);
    pt_json_f64(j, "change", m->change);
    pt_json_f64(j, "low", m->ci_low);
    pt_json_f64(j, "high", m->ci_high);
    pt_json_f64(j, "p", m->p);
    pt_json_f64(j, "adjusted_p", m->adjusted_p);
    pt_json_text(j, "direction",
                 m->direction == PT_NO_DIRECTION       ? NULL
                 : m->direction == PT_HIGHER_IS_BETTER ? "higher is better"
                                                       : "lower is better");
    pt_json_text(j, "result", m->is_known ? kind_names[m->kind] : NULL);
    pt_json_end(j);
}

static void put_figure(struct pt_json *j, const struct figure_row *row) {
    pt_json_object(j, NULL);
    pt_json_text(j, "name", row->figure->name);
    pt_json_text(j, "title", row->title);
    pt_json_f64(j, "a", row->values[0]);
    pt_json_f64(j, "b", row->values[1]);
    pt_json_f64(j, "change", row->change);
    pt_json_end(j);
}

static void put_gate(struct pt_json *j, const struct pt_diff *d, size_t i) {
    static const char *const results[] = { "pass", "fail", "unsure", "unsure" };
    const struct pt_comparison *m = gated(d, i);
    char condition[192], title[PT_SUBJECT_TEXT];
    snprintf(condition, sizeof condition, "%s%c%+g%%", d->gates[i].metric, d->gates[i].direction,
             d->gates[i].limit * 100);
    pt_json_object(j, NULL);
    pt_json_text(j, "condition", condition);
    pt_json_text(j, "title",
                 m && m->title ? pt_subject_say(&d->subject, m->title, title, sizeof title) : NULL);
    pt_json_text(j, "result", results[pt_gate_check(&d->gates[i], m)]);
    pt_json_f64(j, "a", m ? m->means[0] : NAN);
    pt_json_f64(j, "b", m ? m->means[1] : NAN);
    pt_json_f64(j, "change", m ? m->change : NAN);
    pt_json_f64(j, "low", m ? m->ci_low : NAN);
    pt_json_f64(j, "high", m ? m->ci_high : NAN);
    pt_json_end(j);
}

void pt_diff_print_json(const struct pt_diff *d, struct pt_out *out) {
    struct pt_json j = { .out = out, .indent = 2 };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "status", status_names[pt_diff_status(d)]);
    pt_json_i64(&j, "runs_a", (int64_t)d->comparisons.run_counts[0]);
    pt_json_i64(&j, "runs_b", (int64_t)d->comparisons.run_counts[1]);
    pt_json_array(&j, "config");
    each_setting(d, put_setting, &j);
    pt_json_end(&j);
    pt_json_array(&j, "gates");
    for (size_t i = 0; i < d->gate_count; i++)
        put_gate(&j, d, i);
    pt_json_end(&j);
    pt_json_array(&j, "figures");
    struct figure_row row;
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        if (make_figure_row(d, (enum pt_figure_id)id, &row))
            put_figure(&j, &row);
    pt_json_end(&j);
    pt_json_array(&j, "metrics");
    for (size_t i = 0; i < d->comparisons.metric_count; i++)
        put_metric(&j, &d->comparisons.metrics[i]);
    pt_json_end(&j);
    pt_json_end(&j);
    pt_out_char(out, '\n');
}
