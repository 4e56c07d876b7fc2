#include "model/table.h"

#include <string.h>

#define UNIT_INFO(constant, name, suffix, factor) { name, suffix, factor },
const struct pt_unit_info pt_units[PT_UNIT_COUNT] = { PT_UNITS(UNIT_INFO) };

const char *pt_type_name(enum pt_type type) {
    static const char *const names[] = { "int64", "float64", "string" };
    return names[type];
}

const char *pt_kind_name(enum pt_kind kind) {
    static const char *const names[] = { "key", "info", "gauge", "counter" };
    return names[kind];
}

const char *pt_rows_name(enum pt_rows rows) {
    static const char *const names[] = { "things", "processes", "metrics", "series", "events" };
    return names[rows];
}

int pt_table_find(const struct pt_table *t, const char *column) {
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, column) == 0)
            return i;
    return -1;
}
