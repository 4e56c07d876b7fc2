#include "derive/field.h"

#include <math.h>
#include <string.h>

const struct pt_field pt_fields[PT_FIELD_COUNT] = {
#define FIELD(constant, table, column) { table, column },
    PT_FIELDS(FIELD)
};

int pt_field_table(const struct pt_schema *schema, enum pt_field_id id) {
    return pt_schema_find(schema, pt_fields[id].table);
}

int pt_field_column(const struct pt_table *table, enum pt_field_id id) {
    return pt_table_find(table, pt_fields[id].column);
}

const struct pt_batch *pt_field_rows(const struct pt_sample *sample, enum pt_field_id id) {
    int table = pt_field_table(sample->schema, id);
    return table < 0 ? NULL : &sample->batches[table];
}

/* -1: null, or not of that kind. */
static int cell(const struct pt_batch *rows, uint32_t row, enum pt_field_id id, bool is_text) {
    int column = pt_field_column(rows->table, id);
    bool is_there = column >= 0 && (rows->table->columns[column].type == PT_STRING) == is_text;
    return is_there && !pt_is_null(rows, row, column) ? column : -1;
}

struct pt_str pt_field_text(const struct pt_batch *rows, uint32_t row, enum pt_field_id id) {
    int column = cell(rows, row, id, true);
    return column < 0 ? PT_STR("") : pt_get_str(rows, row, column);
}

double pt_field_number(const struct pt_batch *rows, uint32_t row, enum pt_field_id id) {
    int column = cell(rows, row, id, false);
    return column < 0 ? (double)NAN : pt_get_number(rows, row, column);
}

bool pt_field_is(enum pt_field_id id, const struct pt_table *table,
                 const struct pt_column *column) {
    return strcmp(pt_fields[id].table, table->name) == 0 &&
           strcmp(pt_fields[id].column, column->name) == 0;
}

struct pt_metric_columns pt_metric_columns_of(const struct pt_table *table) {
    return (struct pt_metric_columns){
        .process = pt_table_find_role(table, PT_ROLE_PROCESS),
        .name = pt_table_find_role(table, PT_ROLE_NAME),
        .labels = pt_field_column(table, PT_FIELD_METRIC_LABELS),
        .kind = pt_field_column(table, PT_FIELD_METRIC_KIND),
        .unit = pt_field_column(table, PT_FIELD_METRIC_UNIT),
        .value = pt_field_column(table, PT_FIELD_METRIC_VALUE),
        .count = pt_field_column(table, PT_FIELD_METRIC_COUNT),
        .sum = pt_field_column(table, PT_FIELD_METRIC_SUM),
        .buckets = pt_field_column(table, PT_FIELD_METRIC_BUCKETS),
    };
}
