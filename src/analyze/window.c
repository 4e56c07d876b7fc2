#include "analyze/window.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

void pt_windows_init(struct pt_windows *w, const struct pt_schema *schema,
                     pt_wants_function *wants) {
    *w = (struct pt_windows){ .schema = schema, .width_ns = PT_WINDOW_SHORTEST_NS };
    w->wanted = pt_calloc(schema->table_count, sizeof *w->wanted);
    w->series_counts = pt_calloc(schema->table_count, sizeof *w->series_counts);
    w->names = pt_calloc(schema->table_count, sizeof *w->names);
    pt_figure_stream_init(&w->figures, schema);
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct pt_table *table = schema->tables[t];
        w->wanted[t] = pt_calloc(table->column_count, sizeof **w->wanted);
        w->names[t] = -1;
        for (int c = table->column_count; c-- > 0;)
            if (table->columns[c].kind == PT_INFO && table->columns[c].type == PT_STRING)
                w->names[t] = c;
        for (int c = 0; c < table->column_count; c++)
            if (table->columns[c].type != PT_STRING && table->columns[c].kind != PT_KEY &&
                wants(table, &table->columns[c]))
                w->wanted[t][w->series_counts[t]++] = c;
    }
}

void pt_windows_release(struct pt_windows *w) {
    for (size_t i = 0; i < w->entity_count; i++) {
        for (int s = 0; s < w->series_counts[w->entities[i].table]; s++)
            pt_free(w->entities[i].series[s].points);
        pt_free(w->entities[i].series);
        pt_free(w->entities[i].key);
    }
    for (uint32_t t = 0; t < w->schema->table_count; t++)
        pt_free(w->wanted[t]);
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        pt_free(w->figure_points[f].points);
    for (int l = 0; l < PT_LATENCY_COUNT; l++)
        for (size_t i = 0; i < PT_WINDOW_MAX; i++)
            pt_classic_histogram_release(&w->latencies[l][i]);
    pt_figure_stream_release(&w->figures);
    pt_free(w->wanted);
    pt_free(w->series_counts);
    pt_free(w->names);
    pt_free(w->entities);
    *w = (struct pt_windows){ .schema = w->schema };
}

/* Rows keep their order between samples: try the entity after the last match first. */
static struct pt_entity *find_entity(struct pt_windows *w, int table, const char *key,
                                     size_t *hint) {
    for (size_t i = 0; i < w->entity_count; i++) {
        size_t at = (*hint + i) % w->entity_count;
        if (w->entities[at].table == table && strcmp(w->entities[at].key, key) == 0) {
            *hint = at + 1;
            return &w->entities[at];
        }
    }
    return NULL;
}

static struct pt_entity *add_entity(struct pt_windows *w, int table, const char *key) {
    size_t series_count = (size_t)w->series_counts[table];
    if (w->entity_count == PT_WINDOW_ENTITIES_MAX ||
        w->series_count + series_count > PT_WINDOW_SERIES_MAX) {
        w->dropped_count++;
        return NULL;
    }
    pt_grow(&w->entities, &w->entity_capacity, w->entity_count + 1, sizeof *w->entities);
    struct pt_entity *e = &w->entities[w->entity_count++];
    *e = (struct pt_entity){ .table = table, .key = pt_strdup(key) };
    e->series = pt_calloc(series_count, sizeof *e->series);
    for (size_t s = 0; s < series_count; s++)
        e->series[s].column = w->wanted[table][s];
    w->series_count += series_count;
    return e;
}

static struct pt_window_point *point_at(struct pt_window_series *s, size_t window) {
    if (s->point_count <= window) {
        pt_grow(&s->points, &s->point_capacity, window + 1, sizeof *s->points);
        memset(s->points + s->point_count, 0, (window + 1 - s->point_count) * sizeof *s->points);
        s->point_count = window + 1;
    }
    return &s->points[window];
}

/* The first window that has a part of what happened since then. */
static size_t first_window(const struct pt_windows *w, int64_t from_ns) {
    size_t first = w->count - 1;
    while (first > 0 && w->windows[first].start_ns > from_ns)
        first--;
    return first;
}

/* What happened between two instants happened evenly: the share of it in a window. What happened at
 * one instant is in the last window. */
static double share_in(const struct pt_windows *w, size_t window, int64_t from_ns, int64_t to_ns) {
    int64_t start_ns = w->windows[window].start_ns, end_ns = w->windows[window].end_ns;
    if (to_ns <= from_ns)
        return window + 1 == w->count;
    if (window + 1 == w->count) /* it still grows */
        end_ns = to_ns;
    if (window == 0) /* what a source counted before the first sample is part of the run */
        start_ns = from_ns;
    start_ns = start_ns > from_ns ? start_ns : from_ns;
    return end_ns > start_ns ? (double)(end_ns - start_ns) / (double)(to_ns - from_ns) : 0;
}

/* In the unit of the column. The first value of a gauge covers no time. It weighs a nanosecond, so
 * that it counts if it is alone. */
static void add_rate(const struct pt_windows *w, struct pt_window_series *s,
                     const struct pt_column *column) {
    const struct pt_rate *r = &s->rate;
    bool is_new = r->to_ns > r->from_ns;
    if (isnan(r->value) || (column->kind == PT_COUNTER && !is_new))
        return;
    double factor = column->kind == PT_INFO ? 1 : pt_units[column->unit].prometheus_factor;
    double weight = is_new ? pt_rate_seconds(r) : 1e-9;
    for (size_t i = is_new ? first_window(w, r->from_ns) : w->count - 1; i < w->count; i++) {
        double share = share_in(w, i, r->from_ns, r->to_ns);
        struct pt_window_point *point = point_at(s, i);
        point->sum += r->value / factor * weight * share;
        point->weight += weight * share;
    }
}

static void add_row(struct pt_windows *w, struct pt_entity *e, const struct pt_sample *sample,
                    const struct pt_batch *b, uint32_t row) {
    int name = w->names[e->table];
    if (name >= 0 && !pt_is_null(b, row, name)) /* the latest: it changes at exec */
        pt_str_copy(e->name, sizeof e->name, pt_get_str(b, row, name));
    for (int i = 0; i < w->series_counts[e->table]; i++) {
        struct pt_window_series *s = &e->series[i];
        pt_rate_next(&s->rate, b, row, s->column, sample->mono_ns, w->interval_ns);
        add_rate(w, s, &b->table->columns[s->column]);
    }
}

static void add_table(struct pt_windows *w, int table, const struct pt_sample *sample) {
    const struct pt_batch *b = &sample->batches[table];
    int recorded = pt_table_find_role(b->table, PT_ROLE_RECORDED);
    size_t hint = 0;
    char key[512];
    for (uint32_t row = 0; row < b->row_count; row++) {
        /* a machine can have thousands of processes and cgroups: keep only those of the command */
        if (recorded >= 0 && !pt_is_null(b, row, recorded) && pt_get_number(b, row, recorded) < 0.5)
            continue;
        pt_row_key(b, row, key, sizeof key);
        struct pt_entity *e = find_entity(w, table, key, &hint);
        if (!e)
            e = add_entity(w, table, key);
        if (e)
            add_row(w, e, sample, b, row);
    }
}

/* `figure` -1: of a column. */
static void merge_points(struct pt_window_series *s, int figure) {
    size_t count = (s->point_count + 1) / 2;
    for (size_t i = 0; i < count; i++) {
        struct pt_window_point merged = s->points[2 * i], none = { 0 };
        const struct pt_window_point *next =
            2 * i + 1 < s->point_count ? &s->points[2 * i + 1] : &none;
        if (figure >= 0) {
            pt_figure_accumulate((enum pt_figure_id)figure, &merged.sum, &merged.weight, next->sum,
                                 next->weight);
        } else {
            merged.sum += next->sum;
            merged.weight += next->weight;
        }
        s->points[i] = merged;
    }
    s->point_count = count;
}

/* All windows are in use. */
static void merge_latencies(struct pt_classic_histogram list[PT_WINDOW_MAX]) {
    for (size_t i = 0; i < PT_WINDOW_MAX / 2; i++) {
        pt_classic_histogram_merge(&list[2 * i], &list[2 * i + 1]);
        pt_classic_histogram_release(&list[2 * i + 1]);
        struct pt_classic_histogram merged = list[2 * i];
        list[2 * i] = (struct pt_classic_histogram){ 0 };
        list[i] = merged;
    }
}

static void merge_windows(struct pt_windows *w) {
    for (size_t i = 0; i < w->count / 2; i++)
        w->windows[i] =
            (struct pt_window){ w->windows[2 * i].start_ns, w->windows[2 * i + 1].end_ns };
    w->count /= 2;
    w->width_ns *= 2;
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        merge_points(&w->figure_points[f], f);
    for (int l = 0; l < PT_LATENCY_COUNT; l++)
        merge_latencies(w->latencies[l]);
    for (size_t i = 0; i < w->entity_count; i++)
        for (int s = 0; s < w->series_counts[w->entities[i].table]; s++)
            merge_points(&w->entities[i].series[s], -1);
}

static void open_window(struct pt_windows *w, int64_t start_ns, int64_t end_ns) {
    if (w->count == PT_WINDOW_MAX)
        merge_windows(w);
    w->windows[w->count++] = (struct pt_window){ start_ns, end_ns };
}

static void advance(struct pt_windows *w, int64_t now_ns) {
    struct pt_window *last = &w->windows[w->count - 1];
    int64_t elapsed_ns = now_ns - last->end_ns;
    bool is_gap = pt_gaps_next(&w->gaps, now_ns);
    w->interval_ns = is_gap || elapsed_ns < 0 ? 0 : elapsed_ns;
    if (elapsed_ns <= 0)
        return;
    if (is_gap) {
        w->gap_count++;
        w->gap_seconds += (double)elapsed_ns / 1e9;
        for (size_t i = 0; i < w->entity_count; i++) /* no rate across the gap */
            for (int s = 0; s < w->series_counts[w->entities[i].table]; s++)
                w->entities[i].series[s].rate = (struct pt_rate){ 0 };
        open_window(w, now_ns, now_ns);
        return;
    }
    /* a tick slightly early still ends its window */
    if (last->end_ns - last->start_ns >= w->width_ns - w->width_ns / 8)
        open_window(w, last->end_ns, now_ns);
    else
        last->end_ns = now_ns;
}

static void add_figure(struct pt_windows *w, enum pt_figure_id id) {
    const struct pt_figure_value *v = &w->figures.now[id];
    bool is_instant = v->to_ns <= v->from_ns;
    for (size_t i = is_instant ? w->count - 1 : first_window(w, v->from_ns); i < w->count; i++) {
        double share = share_in(w, i, v->from_ns, v->to_ns);
        struct pt_window_point *point = point_at(&w->figure_points[id], i);
        pt_figure_accumulate(id, &point->sum, &point->weight, v->sum * share, v->weight * share);
    }
}

static void add_figures(struct pt_windows *w, const struct pt_sample *sample) {
    pt_figure_stream_add(&w->figures, sample);
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        if (w->figures.now[f].weight > 0)
            add_figure(w, (enum pt_figure_id)f);
    for (int l = 0; l < PT_LATENCY_COUNT; l++) {
        const struct pt_latency_growth *growth = &w->figures.latencies[l];
        for (size_t i = growth->to_ns > 0 ? first_window(w, growth->from_ns) : w->count;
             i < w->count; i++) {
            double share = share_in(w, i, growth->from_ns, growth->to_ns);
            if (share > 0)
                pt_classic_histogram_merge_share(&w->latencies[l][i], &growth->histogram, share);
        }
    }
}

void pt_windows_add(struct pt_windows *w, const struct pt_sample *sample) {
    if (!pt_sample_has_state(sample))
        return;
    if (!w->has_first) {
        w->has_first = true;
        w->first_mono_ns = sample->mono_ns;
        w->first_wall_ns = sample->wall_ns;
        open_window(w, sample->mono_ns, sample->mono_ns);
        pt_gaps_next(&w->gaps, sample->mono_ns);
    } else {
        advance(w, sample->mono_ns);
    }
    w->last_mono_ns = sample->mono_ns;
    add_figures(w, sample);
    for (uint32_t t = 0; t < w->schema->table_count; t++)
        if (w->series_counts[t] > 0)
            add_table(w, (int)t, sample);
}

int pt_windows_read(struct pt_windows *w, struct pt_journal_reader *reader) {
    struct pt_sample sample;
    int next;
    pt_sample_init(&sample, &reader->schema);
    while ((next = pt_journal_next(reader, &sample)) > 0)
        pt_windows_add(w, &sample);
    pt_sample_release(&sample);
    return next;
}

const struct pt_entity *pt_windows_next(const struct pt_windows *w, int table, size_t *place) {
    while (*place < w->entity_count) {
        const struct pt_entity *e = &w->entities[(*place)++];
        if (e->table == table)
            return e;
    }
    return NULL;
}

const struct pt_window_series *pt_windows_series(const struct pt_windows *w,
                                                 const struct pt_entity *e, const char *column) {
    int index = pt_table_find(w->schema->tables[e->table], column);
    for (int s = 0; index >= 0 && s < w->series_counts[e->table]; s++)
        if (e->series[s].column == index)
            return &e->series[s];
    return NULL;
}

double pt_windows_figure(const struct pt_windows *w, enum pt_figure_id id, size_t from, size_t to) {
    const struct pt_window_series *s = &w->figure_points[id];
    double sum = 0, weight = 0, level;
    enum pt_latency_id latency;
    if (w->figures.histograms >= 0 && pt_figure_is_quantile(id, &latency, &level)) {
        struct pt_classic_histogram all = { 0 };
        for (size_t i = from; i < to; i++)
            pt_classic_histogram_merge(&all, &w->latencies[latency][i]);
        double value = pt_classic_histogram_quantile(&all, level).value;
        pt_classic_histogram_release(&all);
        return value;
    }
    for (size_t i = from; i < to && i < s->point_count; i++)
        pt_figure_accumulate(id, &sum, &weight, s->points[i].sum, s->points[i].weight);
    return weight > 0 ? sum / weight : NAN;
}

double pt_series_at(const struct pt_window_series *s, size_t window) {
    if (!s || window >= s->point_count || s->points[window].weight <= 0)
        return NAN;
    return s->points[window].sum / s->points[window].weight;
}
