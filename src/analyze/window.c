#include "analyze/window.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

/* An interval longer than both, the first relative to the mean interval, is a gap. */
#define GAP_FACTOR 5
#define GAP_NS     INT64_C(2000000000)

void pt_windows_init(struct pt_windows *w, const struct pt_schema *schema,
                     pt_window_wants_function *wants) {
    *w = (struct pt_windows){ .schema = schema, .width_ns = PT_WINDOW_SHORTEST_NS };
    w->wanted = pt_calloc(schema->table_count, sizeof *w->wanted);
    w->series_counts = pt_calloc(schema->table_count, sizeof *w->series_counts);
    w->names = pt_calloc(schema->table_count, sizeof *w->names);
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

static void add_point(struct pt_window_series *s, size_t window, double sum, double weight) {
    if (s->point_count <= window) {
        pt_grow(&s->points, &s->point_capacity, window + 1, sizeof *s->points);
        memset(s->points + s->point_count, 0, (window + 1 - s->point_count) * sizeof *s->points);
        s->point_count = window + 1;
    }
    s->points[window].sum += sum;
    s->points[window].weight += weight;
}

/* A counter read less often than once per window grew in all windows since the last read. */
static void spread_growth(const struct pt_windows *w, struct pt_window_series *s, double growth,
                          int64_t from_ns, int64_t to_ns) {
    double rate = growth / (double)(to_ns - from_ns);
    for (size_t i = w->count; i-- > 0;) {
        int64_t end_ns = i + 1 == w->count ? to_ns : w->windows[i].end_ns;
        int64_t start_ns = w->windows[i].start_ns > from_ns ? w->windows[i].start_ns : from_ns;
        if (end_ns <= from_ns)
            return;
        if (end_ns > start_ns)
            add_point(s, i, rate * (double)(end_ns - start_ns), (double)(end_ns - start_ns) / 1e9);
    }
}

/* A counter that fell was reset: its growth is unknown. */
static void add_counter(const struct pt_windows *w, struct pt_window_series *s, double value,
                        int64_t time_ns) {
    if (s->has_last && time_ns <= s->last_time_ns)
        return;
    if (s->has_last && value >= s->last_value)
        spread_growth(w, s, value - s->last_value, s->last_time_ns, time_ns);
    s->last_value = value;
    s->last_time_ns = time_ns;
    s->has_last = true;
}

static void add_row(struct pt_windows *w, struct pt_entity *e, const struct pt_sample *sample,
                    const struct pt_batch *b, uint32_t row) {
    int name = w->names[e->table];
    if (name >= 0 && !pt_is_null(b, row, name)) /* the latest: it changes at exec */
        pt_str_copy(e->name, sizeof e->name, pt_get_str(b, row, name));
    for (int i = 0; i < w->series_counts[e->table]; i++) {
        struct pt_window_series *s = &e->series[i];
        const struct pt_column *column = &b->table->columns[s->column];
        if (pt_is_null(b, row, s->column))
            continue;
        double value = pt_get_number(b, row, s->column);
        int64_t time_ns = pt_get_time(b, row, column->source);
        if (column->kind == PT_COUNTER)
            add_counter(w, s, value, time_ns > 0 ? time_ns : sample->mono_ns);
        else
            add_point(s, w->count - 1, value, 1);
    }
}

static void add_table(struct pt_windows *w, int table, const struct pt_sample *sample) {
    const struct pt_batch *b = &sample->batches[table];
    int recorded = pt_table_find(b->table, "cIsRecorded");
    if (recorded < 0)
        recorded = pt_table_find(b->table, "pIsRecorded");
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

static void merge_points(struct pt_window_series *s) {
    size_t count = (s->point_count + 1) / 2;
    for (size_t i = 0; i < count; i++) {
        struct pt_window_point merged = s->points[2 * i];
        if (2 * i + 1 < s->point_count) {
            merged.sum += s->points[2 * i + 1].sum;
            merged.weight += s->points[2 * i + 1].weight;
        }
        s->points[i] = merged;
    }
    s->point_count = count;
}

static void merge_windows(struct pt_windows *w) {
    for (size_t i = 0; i < w->count / 2; i++)
        w->windows[i] =
            (struct pt_window){ w->windows[2 * i].start_ns, w->windows[2 * i + 1].end_ns };
    w->count /= 2;
    w->width_ns *= 2;
    for (size_t i = 0; i < w->entity_count; i++)
        for (int s = 0; s < w->series_counts[w->entities[i].table]; s++)
            merge_points(&w->entities[i].series[s]);
}

static void open_window(struct pt_windows *w, int64_t start_ns, int64_t end_ns) {
    if (w->count == PT_WINDOW_MAX)
        merge_windows(w);
    w->windows[w->count++] = (struct pt_window){ start_ns, end_ns };
}

static void advance(struct pt_windows *w, int64_t now_ns) {
    struct pt_window *last = &w->windows[w->count - 1];
    int64_t elapsed_ns = now_ns - last->end_ns;
    if (elapsed_ns <= 0)
        return;
    if (w->mean_interval_ns > 0 && elapsed_ns > GAP_NS &&
        elapsed_ns > GAP_FACTOR * w->mean_interval_ns) {
        w->gap_count++;
        w->gap_seconds += (double)elapsed_ns / 1e9;
        for (size_t i = 0; i < w->entity_count; i++) /* no rate across the gap */
            for (int s = 0; s < w->series_counts[w->entities[i].table]; s++)
                w->entities[i].series[s].has_last = false;
        open_window(w, now_ns, now_ns);
        return;
    }
    w->mean_interval_ns =
        w->mean_interval_ns == 0 ? elapsed_ns : (7 * w->mean_interval_ns + elapsed_ns) / 8;
    /* a tick slightly early still ends its window */
    if (last->end_ns - last->start_ns >= w->width_ns - w->width_ns / 8)
        open_window(w, last->end_ns, now_ns);
    else
        last->end_ns = now_ns;
}

void pt_windows_add(struct pt_windows *w, const struct pt_sample *sample) {
    bool has_rows = false;
    for (uint32_t t = 0; t < w->schema->table_count; t++)
        has_rows |= w->series_counts[t] > 0 && sample->batches[t].row_count > 0;
    if (!has_rows)
        return;
    if (!w->has_first) {
        w->has_first = true;
        w->first_mono_ns = sample->mono_ns;
        w->first_wall_ns = sample->wall_ns;
        open_window(w, sample->mono_ns, sample->mono_ns);
    } else {
        advance(w, sample->mono_ns);
    }
    w->last_mono_ns = sample->mono_ns;
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

double pt_series_at(const struct pt_window_series *s, size_t window) {
    if (!s || window >= s->point_count || s->points[window].weight <= 0)
        return NAN;
    return s->points[window].sum / s->points[window].weight;
}
