#include "analyze/compare.h"

#include "base/mem.h"
#include "base/scan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Other names of figures, for gates. */
static const struct {
    const char *alias;
    enum pt_figure_id figure;
} aliases[] = {
    { "tokens_per_second", PT_FIGURE_ENGINE_TOKENS },
    { "prompt_tokens_per_second", PT_FIGURE_ENGINE_PROMPT_TOKENS },
    { "requests_per_second", PT_FIGURE_ENGINE_FINISHED },
    { "ttft", PT_FIGURE_ENGINE_TTFT_P50 },
    { "inter_token", PT_FIGURE_ENGINE_INTER_TOKEN_P50 },
    { "memory_used", PT_FIGURE_MEM_USED },
};

static bool is_main(const struct pt_table *table) {
    return *table->file == 0;
}

/* Rows that have their totals in another table are not compared, and neither is Pitot itself.
 * Percentiles are compared as figures: a mean of them says nothing. */
bool pt_comparison_wants(const struct pt_table *table, const struct pt_column *column) {
    bool has_values = table->rows == PT_ROWS_THINGS && !table->whole && !table->is_own;
    bool is_keyed = pt_column_combine(column) == PT_COMBINE_NONE;
    return has_values && pt_column_is_drawn(column) && column->importance != PT_RAW &&
           !column->percentile && (!is_keyed || table->has_fixed_rows || is_main(table));
}

void pt_comparisons_init(struct pt_comparisons *c, double minimum_change) {
    *c = (struct pt_comparisons){ .minimum_change = minimum_change };
}

static void release_sides(struct pt_comparison *m) {
    pt_free(m->sides[0].runs);
    pt_free(m->sides[1].runs);
}

void pt_comparisons_release(struct pt_comparisons *c) {
    for (size_t i = 0; i < c->metric_count; i++) {
        pt_free(c->metrics[i].name);
        release_sides(&c->metrics[i]);
    }
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        release_sides(&c->figures[id].settled);
    pt_free(c->metrics);
    *c = (struct pt_comparisons){ 0 };
}

static struct pt_comparison *get_metric(struct pt_comparisons *c, const char *name) {
    for (size_t i = 0; i < c->metric_count; i++)
        if (strcmp(c->metrics[i].name, name) == 0)
            return &c->metrics[i];
    pt_grow(&c->metrics, &c->metric_capacity, c->metric_count + 1, sizeof *c->metrics);
    struct pt_comparison *m = &c->metrics[c->metric_count++];
    *m = (struct pt_comparison){ .name = pt_strdup(name) };
    return m;
}

/* Rows of a column put together. */
struct fold {
    double sum, most, least, rows;
};

static void fold_row(struct fold *f, double value) {
    f->most = f->rows > 0 ? fmax(f->most, value) : value;
    f->least = f->rows > 0 ? fmin(f->least, value) : value;
    f->sum += value;
    f->rows++;
}

static double folded(const struct fold *f, const struct pt_column *column) {
    switch (pt_column_combine(column)) {
    case PT_COMBINE_SUM:
        return f->sum;
    case PT_COMBINE_MAX:
        return f->most;
    case PT_COMBINE_WORST:
        return column->better == PT_HIGHER_IS_BETTER ? f->least : f->most;
    case PT_COMBINE_DEFAULT:
    case PT_COMBINE_MEAN:
    case PT_COMBINE_NONE:
        break;
    }
    return f->sum / f->rows;
}

/* Values of a column in each window, over all rows or over those of one key. */
static size_t collect(const struct pt_windows *w, int table, int column, const char *key,
                      double *values) {
    const struct pt_column *c = &w->schema->tables[table]->columns[column];
    size_t count = 0;
    for (size_t i = 0; i < w->count; i++) {
        const struct pt_entity *e;
        struct fold fold = { 0 };
        for (size_t place = 0; (e = pt_windows_next(w, table, &place));) {
            double value = pt_series_at(pt_windows_series(w, e, c->name), i);
            if (!isnan(value) && (!key || strcmp(key, e->key) == 0))
                fold_row(&fold, value);
        }
        if (fold.rows > 0)
            values[count++] = folded(&fold, c);
    }
    return count;
}

static void print_name(const struct pt_table *table, const struct pt_column *column,
                       const char *key, char *into, size_t capacity) {
    if (is_main(table) && strcmp(column->name, column->short_name) == 0)
        snprintf(into, capacity, "%s", column->name); /* unique without its table */
    else if (is_main(table))
        snprintf(into, capacity, "%s_%s", table->name, column->short_name);
    else if (key)
        snprintf(into, capacity, "%s.%s{%s}", table->file, column->short_name, key);
    else
        snprintf(into, capacity, "%s.%s", table->file, column->short_name);
}

/* A run of a side, from its values in each window. */
static void add_run(struct pt_comparison *m, int side, const double *values, size_t count) {
    struct pt_side_value *v = &m->sides[side];
    struct pt_steady steady;
    if (!pt_steady_find(values, count, &steady))
        return;
    pt_grow(&v->runs, &v->run_capacity, v->run_count + 1, sizeof *v->runs);
    v->runs[v->run_count++] = steady;
}

static void add_column(struct pt_comparisons *c, int side, const struct pt_windows *w, int table,
                       int column, const char *key) {
    const struct pt_table *t = w->schema->tables[table];
    double *values = pt_calloc(w->count + 1, sizeof *values);
    char name[256];
    print_name(t, &t->columns[column], key, name, sizeof name);
    size_t count = collect(w, table, column, key, values);
    if (count > 0) {
        struct pt_comparison *m = get_metric(c, name);
        m->unit = t->columns[column].unit;
        m->is_rate = t->columns[column].kind == PT_COUNTER;
        m->form = pt_column_form(&t->columns[column]);
        m->direction = t->columns[column].better;
        m->title = t->columns[column].title;
        add_run(m, side, values, count);
    }
    pt_free(values);
}

static void add_figure(struct pt_comparisons *c, int side, const struct pt_windows *w,
                       enum pt_figure_id id, double *values) {
    struct pt_side_figure *whole = &c->figures[id].whole[side];
    double value = pt_windows_figure(w, id, 0, w->count);
    size_t count = 0;
    if (isnan(value))
        return;
    whole->sum += value;
    whole->run_count++;
    for (size_t i = 0; i < w->count; i++) {
        value = pt_windows_figure(w, id, i, i + 1);
        if (!isnan(value))
            values[count++] = value;
    }
    struct pt_comparison *m = &c->figures[id].settled;
    m->title = pt_figures[id].title;
    m->form = pt_figures[id].form;
    m->direction = pt_figures[id].better;
    add_run(m, side, values, count);
}

static void add_figures(struct pt_comparisons *c, int side, const struct pt_windows *w) {
    double *values = pt_calloc(w->count + 1, sizeof *values);
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        add_figure(c, side, w, (enum pt_figure_id)id, values);
    pt_free(values);
}

double pt_comparisons_figure(const struct pt_comparisons *c, int side, enum pt_figure_id id) {
    const struct pt_side_figure *f = &c->figures[id].whole[side];
    return f->run_count > 0 ? f->sum / (double)f->run_count : NAN;
}

void pt_comparisons_add(struct pt_comparisons *c, int side, const struct pt_windows *w) {
    c->run_counts[side]++;
    add_figures(c, side, w);
    for (uint32_t t = 0; t < w->schema->table_count; t++)
        for (int s = 0; s < w->series_counts[t]; s++) {
            int column = w->wanted[t][s];
            const struct pt_entity *e;
            const struct pt_column *wanted = &w->schema->tables[t]->columns[column];
            if (wanted->kind == PT_INFO)
                continue;
            if (pt_column_combine(wanted) != PT_COMBINE_NONE) {
                add_column(c, side, w, (int)t, column, NULL);
                continue;
            }
            for (size_t place = 0; (e = pt_windows_next(w, (int)t, &place));)
                add_column(c, side, w, (int)t, column, e->key);
        }
}

/* Mean of a side, its squared standard error and its degrees of freedom. With several runs the
 * variance between them is used, unless the variance within them is larger. */
struct side_mean {
    double mean, variance, degrees_of_freedom;
};

static bool find_side_mean(const struct pt_side_value *v, struct side_mean *m) {
    double n = (double)v->run_count, within = 0, squares = 0, degrees_of_freedom = 0;
    if (v->run_count == 0)
        return false;
    m->mean = 0;
    for (size_t i = 0; i < v->run_count; i++) {
        m->mean += v->runs[i].mean / n;
        within += v->runs[i].standard_error * v->runs[i].standard_error / (n * n);
        degrees_of_freedom += v->runs[i].degrees_of_freedom;
    }
    for (size_t i = 0; i < v->run_count; i++)
        squares += (v->runs[i].mean - m->mean) * (v->runs[i].mean - m->mean);
    double between = v->run_count > 1 ? squares / (n - 1) / n : 0;
    m->variance = fmax(within, between);
    m->degrees_of_freedom = between > within ? n - 1 : degrees_of_freedom;
    return true;
}

/* Welch's t-test of the two means. */
static void compare(struct pt_comparison *m) {
    struct side_mean a, b;
    m->means[0] = m->means[1] = m->change = m->ci_low = m->ci_high = NAN;
    m->p = 1;
    bool has_a = find_side_mean(&m->sides[0], &a), has_b = find_side_mean(&m->sides[1], &b);
    if (has_a)
        m->means[0] = a.mean;
    if (has_b)
        m->means[1] = b.mean;
    m->is_known = has_a && has_b;
    if (!m->is_known)
        return;
    double difference = b.mean - a.mean, variance = a.variance + b.variance;
    double error = sqrt(variance), degrees_of_freedom = 1;
    if (variance > 0) {
        degrees_of_freedom = variance * variance /
                             (a.variance * a.variance / a.degrees_of_freedom +
                              b.variance * b.variance / b.degrees_of_freedom);
        m->p = pt_student_p_value(difference / error, degrees_of_freedom);
    } else {
        m->p = difference == 0 ? 1 : 0; /* constants that differ */
    }
    if (a.mean == 0)
        return;
    double scale = fabs(a.mean), margin = pt_student_critical_95(degrees_of_freedom) * error;
    m->change = difference / scale;
    m->ci_low = (difference - margin) / scale;
    m->ci_high = (difference + margin) / scale;
}

static int by_p(const void *a, const void *b) {
    const struct pt_comparison *x = *(struct pt_comparison *const *)a,
                               *y = *(struct pt_comparison *const *)b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct pt_comparison *)a)->name, ((const struct pt_comparison *)b)->name);
}

/* Benjamini and Hochberg: the p-value of rank r of m becomes p * m / r, and never less than
 * that of a smaller rank. Metrics equal on both sides are not hypotheses. */
static void adjust_p_values(struct pt_comparisons *c) {
    struct pt_comparison **sorted = pt_calloc(c->metric_count + 1, sizeof *sorted);
    size_t count = 0;
    for (size_t i = 0; i < c->metric_count; i++) {
        struct pt_comparison *m = &c->metrics[i];
        m->adjusted_p = 1;
        if (m->is_known && m->means[0] != m->means[1])
            sorted[count++] = m;
    }
    qsort(sorted, count, sizeof *sorted, by_p);
    double least = 1;
    for (size_t r = count; r-- > 0;) {
        least = fmin(least, sorted[r]->p * (double)count / (double)(r + 1));
        sorted[r]->adjusted_p = least;
    }
    pt_free(sorted);
}

static enum pt_change_kind judge(const struct pt_comparison *m, double minimum_change) {
    if (!m->is_known || m->adjusted_p > PT_COMPARE_FALSE_DISCOVERY_RATE ||
        fabs(m->change) < minimum_change)
        return PT_CHANGE_SAME;
    if (m->direction == PT_NO_DIRECTION)
        return PT_CHANGE_OTHER;
    bool is_more = m->means[1] > m->means[0];
    return is_more == (m->direction == PT_HIGHER_IS_BETTER) ? PT_CHANGE_BETTER : PT_CHANGE_WORSE;
}

void pt_comparisons_finish(struct pt_comparisons *c) {
    for (size_t i = 0; i < c->metric_count; i++)
        compare(&c->metrics[i]);
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        compare(&c->figures[id].settled);
    adjust_p_values(c);
    for (int id = 0; id < PT_FIGURE_COUNT; id++) { /* a gate names it in advance: one hypothesis */
        struct pt_comparison *m = &c->figures[id].settled;
        m->adjusted_p = m->p;
        m->kind = judge(m, c->minimum_change);
    }
    for (size_t i = 0; i < c->metric_count; i++)
        c->metrics[i].kind = judge(&c->metrics[i], c->minimum_change);
    if (c->metric_count > 0)
        qsort(c->metrics, c->metric_count, sizeof *c->metrics, by_name);
}

const struct pt_comparison *pt_comparisons_find(const struct pt_comparisons *c, const char *name) {
    for (size_t i = 0; i < c->metric_count; i++)
        if (strcmp(c->metrics[i].name, name) == 0)
            return &c->metrics[i];
    int id = pt_figure_find(name);
    for (size_t i = 0; i < PT_COUNT(aliases); i++)
        if (strcmp(aliases[i].alias, name) == 0)
            id = (int)aliases[i].figure;
    bool is_known =
        id >= 0 && c->figures[id].whole[0].run_count + c->figures[id].whole[1].run_count;
    return is_known ? &c->figures[id].settled : NULL;
}

int pt_gate_parse(struct pt_gate *gate, const char *text, struct pt_err *err) {
    size_t name_len = strcspn(text, "<>");
    struct pt_str name = { text, name_len };
    while (name.len > 0 && name.at[name.len - 1] == ' ')
        name.len--;
    if (name.len == 0 || name.len >= sizeof gate->metric || !text[name_len])
        return pt_fail(err, -EINVAL, "'%s' is not a gate (examples: 'metric<-3%%', 'metric>+10%%')",
                       text);
    pt_str_copy(gate->metric, sizeof gate->metric, name);
    gate->direction = text[name_len];
    struct pt_scan scan = pt_scan_of(pt_str_from(text + name_len + 1));
    pt_scan_blanks(&scan);
    pt_scan_take(&scan, PT_STR("+"));
    struct pt_scan number = pt_scan_of(pt_scan_until(&scan, '%'));
    gate->limit = pt_scan_f64(&number) / 100;
    if (scan.failed || number.failed || scan.at != scan.end)
        return pt_fail(err, -EINVAL,
                       "'%s': the change must be a percentage (example: 'metric<-3%%')", text);
    return 0;
}

enum pt_gate_result pt_gate_check(const struct pt_gate *gate, const struct pt_comparison *m) {
    if (!m || !m->is_known || isnan(m->change))
        return PT_GATE_MISSING;
    bool is_beyond = gate->direction == '<' ? m->change < gate->limit : m->change > gate->limit;
    bool is_demand = gate->direction == '<' ? gate->limit > 0 : gate->limit < 0;
    bool is_sure = !is_demand               ? m->ci_low > 0 || m->ci_high < 0
                   : gate->direction == '<' ? m->ci_high < gate->limit
                                            : m->ci_low > gate->limit;
    if (is_beyond)
        return is_sure ? PT_GATE_FAIL : PT_GATE_UNSURE;
    bool may_be_beyond =
        gate->direction == '<' ? m->ci_low < gate->limit : m->ci_high > gate->limit;
    return may_be_beyond && (m->ci_high - m->ci_low) / 2 > fabs(gate->limit) ? PT_GATE_UNSURE
                                                                             : PT_GATE_PASS;
}
