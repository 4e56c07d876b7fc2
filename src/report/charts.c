#include "report/charts.h"

#include "store/rank.h"

#include <ctype.h>

#define LINES_MAX     8  /* per chart */
#define CHARTS_BY_KEY 24 /* charts of a table with metric names as keys */
#define LONG_ID       32 /* hex digits of an id that is too long to show */
#define SHORT_ID      12 /* digits shown: enough to distinguish containers */

/* Tables in which each row is a metric: one chart per row, not per column. */
static const char *const by_key_tables[] = { "app_metric", "series" };

/* Columns that are limits of others, drawn as lines in their charts. */
static const struct {
    const char *table, *column, *limit;
} limits[] = {
    { "container", "cCpuTime", "cCpuTightestLimit" },
    { "container", "cMemoryUsed", "cMemoryTightestLimit" },
    { "container", "cWorkingSet", "cMemoryTightestLimit" },
    { "container", "cPidsCurrent", "cPidsLimit" },
    { "mem", "vMemoryUsed", "vMemoryTotal" },
    { "gpu", "gMemoryUsedMb", "gMemoryTotalMb" },
    { "gpu", "gPowerDrawW", "gPowerLimitW" },
};

static bool is_by_key(const struct pt_table *table) {
    for (size_t i = 0; i < PT_COUNT(by_key_tables); i++)
        if (strcmp(by_key_tables[i], table->name) == 0)
            return true;
    return false;
}

void pt_charts_init(struct pt_charts *c, const struct pt_table *table) {
    *c = (struct pt_charts){ 0 };
    pt_report_entities_init(&c->entities, table);
}

static size_t curve_count(const struct pt_charts *c) {
    return (size_t)c->entities.table->column_count * c->entities.chosen_count;
}

void pt_charts_release(struct pt_charts *c) {
    for (size_t i = 0; c->curves && i < curve_count(c); i++)
        pt_curve_release(&c->curves[i]);
    pt_free(c->curves);
    pt_report_entities_release(&c->entities);
}

void pt_charts_survey(struct pt_charts *c, const struct pt_batch *rows, int64_t mono_ns) {
    c->row_count += rows->row_count;
    pt_report_entities_survey(&c->entities, rows, mono_ns);
}

uint64_t pt_charts_choose(struct pt_charts *c) {
    uint64_t curves = 0;
    pt_report_entities_choose(&c->entities,
                              is_by_key(c->entities.table) ? CHARTS_BY_KEY : LINES_MAX);
    for (uint32_t k = 0; k < c->entities.chosen_count; k++)
        for (int i = 0; i < c->entities.table->column_count; i++)
            curves += c->entities.list[c->entities.chosen[k]].columns[i].count > 0;
    return curves;
}

void pt_charts_begin(struct pt_charts *c, const struct pt_curve_axis *axis) {
    c->axis = axis;
    c->curves = pt_calloc(curve_count(c) + 1, sizeof *c->curves);
}

static struct pt_curve *curve_of(const struct pt_charts *c, int column, int index) {
    return &c->curves[(size_t)column * c->entities.chosen_count + (size_t)index];
}

void pt_charts_add(struct pt_charts *c, const struct pt_batch *rows, int64_t mono_ns,
                   uint32_t bucket) {
    for (uint32_t row = 0; row < rows->row_count; row++) {
        struct pt_report_entity *entity = pt_report_entities_find(&c->entities, rows, row);
        double value;
        for (int i = 0; entity && i < rows->table->column_count; i++) {
            if (!pt_column_is_drawn(&rows->table->columns[i]) ||
                !pt_report_entity_value(entity, rows, row, i, mono_ns, &value))
                continue;
            struct pt_curve *curve = curve_of(c, i, entity->index);
            if (!curve->values)
                pt_curve_init(curve, c->axis->count);
            pt_curve_add(curve, bucket, value);
        }
    }
}

static bool is_long_id(const char *text) {
    size_t n = 0;
    while (isxdigit((unsigned char)text[n]))
        n++;
    return n >= LONG_ID && !text[n];
}

/* The keys on one line, without start times. */
static void write_label(const struct pt_report_entities *t, const struct pt_report_entity *entity,
                        struct pt_json *j) {
    struct pt_buf label = { 0 };
    for (int i = 0; i < t->table->column_count; i++) {
        const struct pt_column *column = &t->table->columns[i];
        const char *text = entity->texts[i];
        bool is_name = column->kind == PT_INFO && strcmp(column->short_name, "name") == 0;
        if (!text || !*text || !(column->kind == PT_KEY || is_name) ||
            column->unit == PT_MILLISECONDS)
            continue;
        if (label.len > 0)
            pt_buf_u8(&label, ' ');
        if (strcmp(column->name, PT_RANK_COLUMN) == 0 && isdigit((unsigned char)*text))
            pt_buf_str(&label, PT_STR(PT_RANK_COLUMN " "));
        pt_buf_bytes(&label, text, is_long_id(text) ? SHORT_ID : strlen(text));
    }
    pt_json_str(j, "label", pt_buf_as_str(&label));
    pt_buf_release(&label);
}

static void write_entity(const struct pt_charts *c, const struct pt_report_entity *entity,
                         struct pt_json *j) {
    const struct pt_table *table = c->entities.table;
    pt_json_object(j, NULL);
    write_label(&c->entities, entity, j);
    pt_json_object(j, "texts");
    for (int i = 0; i < table->column_count; i++)
        if (entity->texts[i] && !pt_column_is_drawn(&table->columns[i]))
            pt_json_text(j, table->columns[i].name, entity->texts[i]);
    pt_json_end(j);
    pt_json_end(j);
}

static bool has_values(const struct pt_charts *c, int column) {
    for (uint32_t k = 0; k < c->entities.chosen_count; k++)
        if (curve_of(c, column, (int)k)->values)
            return true;
    return false;
}

static void write_column(const struct pt_charts *c, int index, struct pt_json *j,
                         struct pt_blob *blob) {
    const struct pt_table *table = c->entities.table;
    const struct pt_column *column = &table->columns[index];
    struct pt_unit_text unit = pt_unit_text_of(column);
    pt_json_object(j, NULL);
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "help", column->help);
    pt_json_text(j, "unit", unit.base);
    pt_json_bool(j, "is_rate", unit.is_rate);
    pt_json_text(j, "source",
                 column->source < table->source_count ? table->sources[column->source] : NULL);
    for (size_t i = 0; i < PT_COUNT(limits); i++)
        if (strcmp(limits[i].table, table->name) == 0 &&
            strcmp(limits[i].column, column->name) == 0 &&
            pt_table_find(table, limits[i].limit) >= 0)
            pt_json_text(j, "limit", limits[i].limit);
    pt_json_array(j, "series");
    for (uint32_t k = 0; k < c->entities.chosen_count; k++) {
        const struct pt_curve *curve = curve_of(c, index, (int)k);
        if (!curve->values)
            continue;
        pt_json_object(j, NULL);
        pt_json_i64(j, "key", k);
        pt_curve_write(curve, c->axis, j, blob);
        pt_json_end(j);
    }
    pt_json_end(j);
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
    pt_json_array(j, "absent");
    for (int i = 0; c->row_count > 0 && i < table->column_count; i++)
        if (pt_column_is_drawn(&table->columns[i]) && !has_values(c, i))
            pt_json_text(j, NULL, table->columns[i].name);
    pt_json_end(j);
    pt_json_end(j);
}
