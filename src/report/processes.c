#include "report/processes.h"

#include "base/mem.h"
#include "derive/field.h"
#include "store/rank.h"

#include <stdio.h>

#define PROCESSES_MAX 400

/* Numbers that a list has a heading for: of a counter its growth, of a gauge its peak. */
static bool is_shown(const struct pt_column *c) {
    return pt_column_is_drawn(c) && c->heading;
}

static const char *text_of(const struct pt_report_entity *entity, int column) {
    return column < 0 ? NULL : entity->texts[column];
}

/* The process id: the number in the key that is not its start. */
static int find_id(const struct pt_table *table) {
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].kind == PT_KEY && table->columns[i].type == PT_I64 &&
            table->columns[i].role != PT_ROLE_START)
            return i;
    return -1;
}

/* Processes of several hosts can have the same pid: add the rank. */
static void write_id(const struct pt_table *table, const struct pt_report_entity *entity,
                     const char *key, int column, struct pt_json *j) {
    const char *rank = text_of(entity, pt_table_find(table, PT_RANK_COLUMN));
    const char *id = text_of(entity, column);
    char *whole = rank && id ? pt_asprintf("%s/%s", rank, id) : NULL;
    pt_json_text(j, key, whole ? whole : id);
    pt_free(whole);
}

static void write_process(const struct pt_table *table, const struct pt_report_entity *entity,
                          int64_t start_ns, struct pt_json *j) {
    pt_json_object(j, NULL);
    write_id(table, entity, "id", find_id(table), j);
    write_id(table, entity, "parent", pt_table_find_role(table, PT_ROLE_PARENT), j);
    pt_json_text(j, "name", text_of(entity, pt_table_find_role(table, PT_ROLE_NAME)));
    pt_json_text(j, "command", text_of(entity, pt_field_column(table, PT_FIELD_PROCESS_COMMAND)));
    pt_json_bool(j, "is_recorded", entity->is_recorded);
    pt_json_f64(j, "from", (double)(entity->first_ns - start_ns) / 1e9);
    pt_json_f64(j, "to", (double)(entity->last_ns - start_ns) / 1e9);
    pt_json_array(j, "values");
    for (int i = 0; i < table->column_count; i++) {
        const struct pt_report_entity_column *c = &entity->columns[i];
        if (!is_shown(&table->columns[i]))
            continue;
        if (c->count == 0)
            pt_json_null(j, NULL);
        else
            pt_json_f64(j, NULL, table->columns[i].kind == PT_COUNTER ? c->sum : c->peak);
    }
    pt_json_end(j);
    pt_json_end(j);
}

/* "CPU used, total" of "CPU used, cores": the total of a rate has another unit. */
static void write_label(const struct pt_column *c, struct pt_json *j) {
    char title[PT_TITLE_BYTES], label[PT_TITLE_BYTES + 16];
    const char *what = c->kind == PT_COUNTER                    ? ", total"
                       : pt_column_combine(c) == PT_COMBINE_MAX ? ""
                                                                : ", peak";
    const char *whole = pt_column_title(c, title);
    snprintf(label, sizeof label, "%.*s%s",
             (int)(c->kind == PT_COUNTER ? strcspn(whole, ",") : strlen(whole)), whole, what);
    pt_json_text(j, "label", label);
}

static void write_columns(const struct pt_table *table, struct pt_json *j) {
    pt_json_array(j, "columns");
    for (int i = 0; i < table->column_count; i++) {
        if (!is_shown(&table->columns[i]))
            continue;
        pt_json_object(j, NULL);
        write_label(&table->columns[i], j);
        pt_json_text(j, "unit", pt_unit_base(table->columns[i].unit));
        pt_json_end(j);
    }
    pt_json_end(j);
}

void pt_report_processes_write(const struct pt_report_entities *entities, int64_t start_ns,
                               struct pt_json *j) {
    if (!entities || entities->keys.count == 0) {
        pt_json_null(j, "processes");
        return;
    }
    size_t count = entities->keys.count < PROCESSES_MAX ? entities->keys.count : PROCESSES_MAX;
    pt_json_object(j, "processes");
    pt_json_i64(j, "seen", (int64_t)(entities->keys.count + entities->dropped_count));
    write_columns(entities->table, j);
    pt_json_array(j, "rows");
    for (size_t i = 0; i < count; i++)
        write_process(entities->table, &entities->list[entities->chosen[i]], start_ns, j);
    pt_json_end(j);
    pt_json_end(j);
}
