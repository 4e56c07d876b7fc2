#include "model/schema_json.h"

static void put_column(struct pt_json *j, const struct pt_table *t,
                       const struct pt_column *column) {
    pt_json_object(j, NULL);
    pt_json_text(j, "name", column->name);
    pt_json_text(j, "short", column->short_name);
    pt_json_text(j, "kind", pt_kind_name(column->kind));
    pt_json_text(j, "type", pt_type_name(column->type));
    pt_json_text(j, "unit", pt_units[column->unit].name);
    if (pt_column_is_drawn(column)) {
        pt_json_text(j, "base_unit", pt_unit_base(column->unit));
        pt_json_bool(j, "is_rate", column->kind == PT_COUNTER);
    }
    pt_json_bool(j, "timed", pt_column_is_timed(t, column));
    pt_json_text(j, "source", t->sources[column->source]);
    pt_json_text(j, "help", column->help);
    pt_json_end(j);
}

void pt_schema_json(const struct pt_schema *schema, struct pt_json *j) {
    pt_json_array(j, "tables");
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        pt_json_object(j, NULL);
        pt_json_text(j, "name", t->name);
        pt_json_text(j, "file", *t->file ? t->file : "main");
        pt_json_text(j, "section", t->section);
        pt_json_text(j, "help", t->help);
        pt_json_array(j, "columns");
        for (int c = 0; c < t->column_count; c++)
            put_column(j, t, &t->columns[c]);
        pt_json_end(j);
        pt_json_end(j);
    }
    pt_json_end(j);
}
