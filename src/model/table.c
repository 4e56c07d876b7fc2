#include "model/table.h"

#include <math.h>
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

#define FORM_INFO(constant, name, base, is_rate) { name, base, is_rate },
const struct pt_form_info pt_forms[PT_FORM_COUNT] = { PT_FORMS(FORM_INFO) };

enum pt_form pt_form_amount(enum pt_form form) {
    return form == PT_FORM_PER_S         ? PT_FORM_NUMBER
           : form == PT_FORM_BYTES_PER_S ? PT_FORM_BYTES
           : form == PT_FORM_WATTS       ? PT_FORM_JOULES
           : form == PT_FORM_CORES       ? PT_FORM_SECONDS
                                         : form;
}

const char *pt_direction_name(enum pt_direction better) {
    static const char *const names[] = { "neither", "lower", "higher" };
    return names[better];
}

const char *pt_importance_name(enum pt_importance importance) {
    static const char *const names[] = { "detail", "headline", "raw" };
    return names[importance];
}

const char *pt_combine_name(enum pt_combine combine) {
    static const char *const names[] = { "default", "sum", "mean", "max", "worst", "none" };
    return names[combine];
}

const char *pt_role_name(enum pt_role role) {
    static const char *const names[PT_ROLE_COUNT] = { NULL,     "recorded", "name",     "command",
                                                      "parent", "start",    "duration", "process",
                                                      "gpu",    "thread" };
    return names[role];
}

/* Without a title the words of the short name: "Major faults". */
const char *pt_column_title(const struct pt_column *c, char into[PT_TITLE_BYTES]) {
    if (c->title)
        return c->title;
    size_t n = 0;
    for (; c->short_name[n] && n + 1 < PT_TITLE_BYTES; n++)
        into[n] = c->short_name[n] == '_' ? ' ' : c->short_name[n];
    into[n] = 0;
    if (into[0] >= 'a' && into[0] <= 'z')
        into[0] = (char)(into[0] - 'a' + 'A');
    return into;
}

/* Seconds per second can be CPU time or the time of a single resource: only the column knows. */
enum pt_form pt_column_form(const struct pt_column *c) {
    static const struct {
        const char *base;
        enum pt_form gauge, rate;
    } defaults[] = {
        { "bytes", PT_FORM_BYTES, PT_FORM_BYTES_PER_S },
        { "seconds", PT_FORM_SECONDS, PT_FORM_NUMBER },
        { "ratio", PT_FORM_SHARE, PT_FORM_PER_S },
        { "hertz", PT_FORM_HERTZ, PT_FORM_PER_S },
        { "celsius", PT_FORM_CELSIUS, PT_FORM_PER_S },
        { "watts", PT_FORM_WATTS, PT_FORM_PER_S },
        { "joules", PT_FORM_JOULES, PT_FORM_WATTS },
        { "", PT_FORM_NUMBER, PT_FORM_PER_S },
    };
    size_t i = 0;
    if (c->form != PT_FORM_DEFAULT)
        return c->form;
    while (strcmp(defaults[i].base, pt_unit_base(c->unit)) != 0)
        i++;
    return c->kind == PT_COUNTER ? defaults[i].rate : defaults[i].gauge;
}

/* Amounts are added, states and shares are averaged. */
enum pt_combine pt_column_combine(const struct pt_column *c) {
    if (c->combine != PT_COMBINE_DEFAULT)
        return c->combine;
    if (c->type == PT_STRING || (c->kind != PT_GAUGE && c->kind != PT_COUNTER))
        return PT_COMBINE_NONE;
    if (pt_column_form(c) == PT_FORM_SHARE)
        return PT_COMBINE_MEAN;
    const char *base = pt_unit_base(c->unit);
    bool is_amount = c->kind == PT_COUNTER || c->unit == PT_COUNT || strcmp(base, "bytes") == 0 ||
                     strcmp(base, "watts") == 0 || strcmp(base, "joules") == 0;
    return is_amount ? PT_COMBINE_SUM : PT_COMBINE_MEAN;
}

double pt_column_full(const struct pt_column *c) {
    if (c->full > 0)
        return c->full;
    bool is_share = c->type != PT_STRING && pt_column_form(c) == PT_FORM_SHARE;
    return is_share && !c->limit ? 1 : NAN;
}

int64_t pt_column_lasts_ns(const struct pt_column *c, int64_t interval_ns) {
    const int64_t second_ns = INT64_C(1000000000);
    int64_t lasts_ns = (c->lasts_s > 0 ? c->lasts_s : 3) * second_ns;
    return lasts_ns > 3 * interval_ns ? lasts_ns : 3 * interval_ns;
}

int pt_table_find_role(const struct pt_table *t, enum pt_role role) {
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].role == role)
            return i;
    return -1;
}

int pt_table_find(const struct pt_table *t, const char *column) {
    for (int i = 0; i < t->column_count; i++)
        if (strcmp(t->columns[i].name, column) == 0)
            return i;
    return -1;
}

bool pt_table_is_same(const struct pt_table *a, const struct pt_table *b) {
    if (a->column_count != b->column_count || a->source_count != b->source_count)
        return false;
    for (int i = 0; i < a->column_count; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0 ||
            a->columns[i].type != b->columns[i].type || a->columns[i].kind != b->columns[i].kind)
            return false;
    return true;
}
