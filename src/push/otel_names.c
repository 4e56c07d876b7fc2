#include "push/otel_names.h"

#include <stdio.h>
#include <stdlib.h>

/* Takes the next word of the text; false: there is none. */
static bool next_word(struct pt_str *text, struct pt_str *word) {
    while (text->len > 0 && text->at[0] == ' ')
        *text = pt_str_skip(*text, 1);
    *word = (struct pt_str){ text->at, 0 };
    while (word->len < text->len && text->at[word->len] != ' ')
        word->len++;
    *text = pt_str_skip(*text, word->len);
    return word->len > 0;
}

/* Amounts that are there at a time add up over their rows, unlike temperatures. */
static enum pt_otlp_kind kind_of(const struct pt_column *c, enum pt_otel_part part) {
    const char *base = pt_unit_base(c->unit);
    bool is_amount =
        pt_column_combine(c) == PT_COMBINE_SUM && (strcmp(base, "bytes") == 0 || *base == 0);
    if (part != PT_OTEL_WHOLE)
        return PT_OTLP_SUMMED_HISTOGRAM;
    if (c->kind == PT_COUNTER)
        return PT_OTLP_COUNTER;
    return is_amount ? PT_OTLP_UP_DOWN_COUNTER : PT_OTLP_GAUGE;
}

bool pt_otel_name_of(const struct pt_table *table, int column, struct pt_otel_name *name) {
    const struct pt_column *c = &table->columns[column];
    if (!c->otel || c->otel[0] == ' ' || !pt_column_is_drawn(c))
        return false;
    struct pt_str text = pt_str_from(c->otel), word;
    *name = (struct pt_otel_name){ .unit = pt_otel_unit(pt_str_from(pt_unit_base(c->unit))),
                                   .attributes = "" };
    next_word(&text, &word);
    pt_str_copy(name->name, sizeof name->name, word);
    while (next_word(&text, &word)) {
        if (word.at[0] == '{')
            name->unit = word;
        else if (pt_str_eq(word, PT_STR("sum")))
            name->part = PT_OTEL_SUM;
        else if (pt_str_eq(word, PT_STR("count")))
            name->part = PT_OTEL_COUNT;
        else
            name->attributes = word.at; /* the last word */
    }
    if (name->part != PT_OTEL_WHOLE)
        name->unit = PT_STR("s");
    name->kind = kind_of(c, name->part);
    return true;
}

static struct pt_otel_metric *add(struct pt_otel_index *x, const struct pt_table *table, int column,
                                  const char *short_name) {
    pt_grow(&x->metrics, &x->capacity, x->count + 1, sizeof *x->metrics);
    struct pt_otel_metric *m = &x->metrics[x->count++];
    *m = (struct pt_otel_metric){ .table = table, .column = column };
    m->is_known = column >= 0 && pt_otel_name_of(table, column, &m->otel);
    if (!m->is_known)
        snprintf(m->otel.name, sizeof m->otel.name, "pitot.%s.%s", table->name, short_name);
    return m;
}

static int by_family(const void *a, const void *b) {
    const struct pt_otel_metric *x = a, *y = b;
    return strcmp(x->family, y->family);
}

void pt_otel_index_init(struct pt_otel_index *x, const struct pt_schema *schema) {
    *x = (struct pt_otel_index){ 0 };
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct pt_table *table = schema->tables[t];
        for (int c = 0; c < table->column_count; c++) {
            struct pt_metric metric;
            if (pt_metric_of(table, c, &metric))
                memcpy(add(x, table, c, table->columns[c].short_name)->family, metric.name,
                       sizeof metric.name);
        }
        if (pt_table_has_info(table))
            snprintf(add(x, table, -1, "info")->family, PT_METRIC_NAME_BYTES, "pitot_%s_info",
                     table->name);
    }
    if (x->count > 0)
        qsort(x->metrics, x->count, sizeof *x->metrics, by_family);
}

void pt_otel_index_release(struct pt_otel_index *x) {
    pt_free(x->metrics);
    *x = (struct pt_otel_index){ 0 };
}

const struct pt_otel_metric *pt_otel_find(const struct pt_otel_index *x, struct pt_str family) {
    struct pt_otel_metric key;
    if (family.len >= sizeof key.family || x->count == 0)
        return NULL;
    pt_str_copy(key.family, sizeof key.family, family);
    return bsearch(&key, x->metrics, x->count, sizeof *x->metrics, by_family);
}

bool pt_otel_key_of(const struct pt_table *table, struct pt_str label, struct pt_otel_key *key) {
    for (int i = 0; i < table->column_count; i++) {
        const struct pt_column *c = &table->columns[i];
        if (c->kind != PT_KEY || !c->otel || !pt_str_eq(pt_str_from(c->short_name), label))
            continue;
        struct pt_str text = pt_str_from(c->otel), word;
        next_word(&text, &key->attribute);
        key->is_integer = c->type == PT_I64 && !next_word(&text, &word);
        return true;
    }
    return false;
}

struct pt_str pt_otel_unit(struct pt_str unit) {
    static const struct {
        const char *prometheus, *ucum;
    } units[] = {
        { "", "1" },          { "bytes", "By" }, { "seconds", "s" }, { "ratio", "1" },
        { "celsius", "Cel" }, { "hertz", "Hz" }, { "joules", "J" },  { "watts", "W" },
    };
    for (size_t i = 0; i < PT_COUNT(units); i++)
        if (pt_str_eq(unit, pt_str_from(units[i].prometheus)))
            return pt_str_from(units[i].ucum);
    return unit;
}
