#include "report/charts.h"

#include "store/rank.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#define LINES_MAX     8  /* per chart */
#define CHARTS_BY_KEY 24 /* charts of a table with metric names as keys */
#define LONG_ID       32 /* hex digits of an id that is too long to show */
#define SHORT_ID      12 /* digits shown: enough to distinguish containers */

/* Tables in which each row is a metric: one chart per row, not per column. */
static bool is_by_key(const struct pt_table *table) {
    return table->rows == PT_ROWS_METRICS || table->rows == PT_ROWS_SERIES;
}

void pt_charts_init(struct pt_charts *c, const struct pt_schema *schema,
                    const struct pt_table *table) {
    *c = (struct pt_charts){ 0 };
    pt_percentiles_init(&c->percentiles, schema, table);
    pt_report_entities_init(&c->entities, table);
}

static size_t curve_count(const struct pt_charts *c) {
    return (size_t)c->entities.table->column_count * c->entities.chosen_count;
}

void pt_charts_release(struct pt_charts *c) {
    for (size_t i = 0; c->curves && i < curve_count(c); i++)
        pt_curve_release(&c->curves[i]);
    for (size_t i = 0; c->latencies && i < curve_count(c); i++)
        pt_report_latency_release(&c->latencies[i]);
    pt_free(c->curves);
    pt_free(c->latencies);
    pt_classic_histogram_release(&c->grown);
    pt_report_entities_release(&c->entities);
}

void pt_charts_survey(struct pt_charts *c, const struct pt_sample *sample, uint32_t table) {
    const struct pt_batch *rows = &sample->batches[table];
    c->row_count += rows->row_count;
    if (c->percentiles.table >= 0) {
        uint32_t grown = sample->batches[c->percentiles.table].row_count;
        c->bucket_count += grown;
        c->growth_count += grown > 0;
    }
    pt_report_entities_advance(&c->entities, sample);
    pt_report_entities_survey(&c->entities, rows);
}

uint64_t pt_charts_choose(struct pt_charts *c) {
    uint64_t curves = c->growth_count > 0 ? 2 * c->bucket_count / c->growth_count : 0;
    pt_report_entities_choose(&c->entities,
                              is_by_key(c->entities.table) ? CHARTS_BY_KEY : LINES_MAX);
    for (uint32_t k = 0; k < c->entities.chosen_count; k++)
        for (int i = 0; i < c->entities.table->column_count; i++)
            if (c->entities.list[c->entities.chosen[k]].columns[i].count > 0)
                curves += c->entities.table->columns[i].is_stacked ? 2 : 1;
    return curves;
}

void pt_charts_begin(struct pt_charts *c, const struct pt_curve_axis *axis) {
    c->axis = axis;
    c->curves = pt_calloc(curve_count(c) + 1, sizeof *c->curves);
    if (c->percentiles.table >= 0)
        c->latencies = pt_calloc(curve_count(c) + 1, sizeof *c->latencies);
}

static struct pt_curve *curve_of(const struct pt_charts *c, int column, int index) {
    return &c->curves[(size_t)column * c->entities.chosen_count + (size_t)index];
}

/* The first column of the same histogram. */
static int first_of_histogram(const struct pt_table *table, int column) {
    for (int i = 0; i < column; i++)
        if (table->columns[i].percentile &&
            strcmp(table->columns[i].histogram, table->columns[column].histogram) == 0)
            return i;
    return column;
}

static struct pt_report_latency *latency_of(const struct pt_charts *c, int column, int index) {
    int first = first_of_histogram(c->entities.table, column);
    return &c->latencies[(size_t)first * c->entities.chosen_count + (size_t)index];
}

static void add_latency(struct pt_charts *c, const struct pt_sample *sample,
                        const struct pt_batch *rows, uint32_t row, int column, int index,
                        uint32_t bucket) {
    struct pt_percentiles_growth growth = { .histogram = &c->grown };
    if (first_of_histogram(rows->table, column) != column)
        return;
    pt_classic_histogram_clear(&c->grown);
    if (pt_percentiles_add(&c->percentiles, rows, row, column,
                           &sample->batches[c->percentiles.table], &growth))
        pt_report_latency_add(latency_of(c, column, index), c->axis, bucket, &c->grown);
}

void pt_charts_add(struct pt_charts *c, const struct pt_sample *sample, uint32_t table,
                   uint32_t bucket) {
    const struct pt_batch *rows = &sample->batches[table];
    pt_report_entities_advance(&c->entities, sample);
    for (uint32_t row = 0; row < rows->row_count; row++) {
        struct pt_report_entity *entity = pt_report_entities_next(&c->entities, rows, row);
        for (int i = 0; entity && i < rows->table->column_count; i++) {
            if (pt_percentiles_has(&c->percentiles, &rows->table->columns[i])) {
                add_latency(c, sample, rows, row, i, entity->index, bucket);
                continue;
            }
            const struct pt_rate *rate =
                pt_column_is_drawn(&rows->table->columns[i])
                    ? pt_report_entity_value(&c->entities, entity, rows, row, i)
                    : NULL;
            if (!rate)
                continue;
            struct pt_curve *curve = curve_of(c, i, entity->index);
            if (!curve->values)
                pt_curve_init(curve, c->axis->count);
            if (rows->table->columns[i].is_stacked && !c->axis->is_whole)
                pt_curve_add_part(curve, bucket, rate->value, fmax(pt_rate_seconds(rate), 1e-9));
            else
                pt_curve_add(curve, bucket, rate->value);
        }
    }
}

void pt_charts_end(struct pt_charts *c) {
    const struct pt_table *table = c->entities.table;
    for (int i = 0; i < table->column_count; i++)
        for (uint32_t k = 0; k < c->entities.chosen_count; k++)
            if (pt_percentiles_has(&c->percentiles, &table->columns[i]) &&
                latency_of(c, i, (int)k)->count > 0)
                pt_report_latency_draw(latency_of(c, i, (int)k), c->axis,
                                       pt_percentile_level(&table->columns[i]),
                                       curve_of(c, i, (int)k));
}

static bool is_long_id(const char *text) {
    size_t n = 0;
    while (isxdigit((unsigned char)text[n]))
        n++;
    return n >= LONG_ID && !text[n];
}

/* A number alone says too little: "CPU 3". */
static void put_label(const struct pt_table *table, struct pt_str label, struct pt_json *j) {
    char title[PT_TITLE_BYTES];
    size_t digits = 0;
    int key = 0;
    while (digits < label.len && isdigit((unsigned char)label.at[digits]))
        digits++;
    while (key < table->column_count && table->columns[key].kind != PT_KEY)
        key++;
    if (label.len == 0 || digits < label.len || key == table->column_count) {
        pt_json_str(j, "label", label);
        return;
    }
    char *named = pt_asprintf("%s %.*s", pt_column_title(&table->columns[key], title),
                              (int)label.len, label.at);
    pt_json_text(j, "label", named);
    pt_free(named);
}

/* A name that all have, such as the model of the GPUs, tells none of them apart. */
static bool is_common_name(const struct pt_report_entities *t, int column) {
    const char *first = t->list[t->chosen[0]].texts[column];
    if (t->table->columns[column].kind == PT_KEY || t->chosen_count < 2 || !first)
        return false;
    for (uint32_t k = 1; k < t->chosen_count; k++) {
        const char *text = t->list[t->chosen[k]].texts[column];
        if (!text || strcmp(text, first) != 0)
            return false;
    }
    return true;
}

/* Keys and name on one line, without start times. */
static void write_label(const struct pt_report_entities *t, const struct pt_report_entity *entity,
                        struct pt_json *j) {
    struct pt_buf label = { 0 };
    for (int i = 0; i < t->table->column_count; i++) {
        const struct pt_column *column = &t->table->columns[i];
        const char *text = entity->texts[i];
        bool is_shown = column->kind == PT_KEY || column->role == PT_ROLE_NAME;
        if (!text || !*text || !is_shown || column->role == PT_ROLE_START || is_common_name(t, i))
            continue;
        if (label.len > 0)
            pt_buf_u8(&label, ' ');
        if (strcmp(column->name, PT_RANK_COLUMN) == 0 && isdigit((unsigned char)*text))
            pt_buf_str(&label, PT_STR(PT_RANK_COLUMN " "));
        pt_buf_bytes(&label, text, is_long_id(text) ? SHORT_ID : strlen(text));
    }
    put_label(t->table, pt_buf_as_str(&label), j);
    pt_buf_release(&label);
}

static void write_entity(const struct pt_charts *c, const struct pt_report_entity *entity,
                         struct pt_json *j) {
    const struct pt_table *table = c->entities.table;
    char title[PT_TITLE_BYTES];
    pt_json_object(j, NULL);
    write_label(&c->entities, entity, j);
    pt_json_object(j, "texts");
    for (int i = 0; i < table->column_count; i++)
        if (entity->texts[i] && !pt_column_is_drawn(&table->columns[i]))
            pt_json_text(j, pt_column_title(&table->columns[i], title), entity->texts[i]);
    pt_json_end(j);
    pt_json_end(j);
}

static bool has_values(const struct pt_charts *c, int column) {
    for (uint32_t k = 0; k < c->entities.chosen_count; k++)
        if (curve_of(c, column, (int)k)->values)
            return true;
    return false;
}

/* As in `pitot schema --json`; what is not said is left out. */
static void write_meaning(const struct pt_charts *c, const struct pt_column *column,
                          struct pt_json *j) {
    const struct pt_table *table = c->entities.table;
    const struct pt_form_info *form = &pt_forms[pt_column_form(column)];
    char title[PT_TITLE_BYTES], text[PT_SUBJECT_TEXT];
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "title",
                 pt_subject_say(&c->subject, pt_column_title(column, title), text, sizeof text));
    pt_json_text(j, "help", column->help);
    pt_json_text(j, "unit", form->base);
    pt_json_bool(j, "is_rate", form->is_rate);
    pt_json_text(j, "importance", pt_importance_name(column->importance));
    if (column->heading)
        pt_json_text(j, "heading", column->heading);
    if (column->family)
        pt_json_text(j, "family", column->family);
    if (column->is_stacked)
        pt_json_bool(j, "is_stacked", true);
    if (column->words)
        pt_json_text(j, "words", column->words);
    if (column->source < table->source_count)
        pt_json_text(j, "source", table->sources[column->source]);
    if (column->limit && pt_table_find(table, column->limit) >= 0)
        pt_json_text(j, "limit", column->limit);
    if (isfinite(pt_column_full(column)))
        pt_json_f64(j, "full", pt_column_full(column));
    if (column->percentile)
        pt_json_f64(j, "level", pt_percentile_level(column));
}

static void write_column(const struct pt_charts *c, int index, struct pt_json *j,
                         struct pt_blob *blob) {
    const struct pt_table *table = c->entities.table;
    const struct pt_column *column = &table->columns[index];
    pt_json_object(j, NULL);
    write_meaning(c, column, j);
    pt_json_array(j, "series");
    for (uint32_t k = 0; k < c->entities.chosen_count; k++) {
        const struct pt_curve *curve = curve_of(c, index, (int)k);
        if (!curve->values)
            continue;
        pt_json_object(j, NULL);
        pt_json_i64(j, "key", k);
        pt_curve_write(curve, c->axis, j, blob);
        if (pt_percentiles_has(&c->percentiles, column))
            pt_json_i64(j, "histogram", latency_of(c, index, (int)k) - c->latencies);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
}

static void write_absent(const struct pt_column *column, struct pt_json *j) {
    char title[PT_TITLE_BYTES];
    pt_json_object(j, NULL);
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "title", pt_column_title(column, title));
    pt_json_end(j);
}

/* By their number in the series of percentiles. */
static void write_histograms(const struct pt_charts *c, struct pt_json *j, struct pt_blob *blob) {
    char number[24];
    pt_json_object(j, "histograms");
    for (size_t i = 0; c->latencies && i < curve_count(c); i++) {
        if (c->latencies[i].count == 0)
            continue;
        snprintf(number, sizeof number, "%zu", i);
        pt_report_latency_write(&c->latencies[i], c->axis, number, j, blob);
    }
    pt_json_end(j);
}

void pt_charts_write(const struct pt_charts *c, struct pt_json *j, struct pt_blob *blob) {
    const struct pt_table *table = c->entities.table;
    pt_json_object(j, NULL);
    pt_json_text(j, "name", table->name);
    pt_json_text(j, "help", table->help);
    pt_json_bool(j, "is_by_key", is_by_key(table));
    pt_json_i64(j, "rows", (int64_t)c->row_count);
    pt_json_i64(j, "key_count", (int64_t)(c->entities.keys.count + c->entities.dropped_count));
    pt_json_array(j, "keys");
    for (uint32_t k = 0; k < c->entities.chosen_count; k++)
        write_entity(c, &c->entities.list[c->entities.chosen[k]], j);
    pt_json_end(j);
    pt_json_array(j, "columns");
    for (int i = 0; i < table->column_count; i++)
        if (has_values(c, i))
            write_column(c, i, j, blob);
    pt_json_end(j);
    write_histograms(c, j, blob);
    pt_json_array(j, "absent");
    for (int i = 0; c->row_count > 0 && i < table->column_count; i++)
        if (pt_column_is_drawn(&table->columns[i]) && !has_values(c, i))
            write_absent(&table->columns[i], j);
    pt_json_end(j);
    pt_json_end(j);
}
