#include "model/sample.h"

#include <string.h>

void pt_sample_init(struct pt_sample *s, const struct pt_schema *schema) {
    *s = (struct pt_sample){ .schema = schema };
    s->batches = pt_calloc(schema->table_count, sizeof *s->batches);
    for (uint32_t i = 0; i < schema->table_count; i++)
        pt_batch_init(&s->batches[i], schema->tables[i]);
}

void pt_sample_clear(struct pt_sample *s) {
    for (uint32_t i = 0; i < s->schema->table_count; i++)
        pt_batch_clear(&s->batches[i]);
}

void pt_sample_release(struct pt_sample *s) {
    for (uint32_t i = 0; s->batches && i < s->schema->table_count; i++)
        pt_batch_release(&s->batches[i]);
    pt_free(s->batches);
    *s = (struct pt_sample){ 0 };
}

static const struct pt_schema *installed;

void pt_schema_install(const struct pt_schema *schema) {
    installed = schema;
}

const struct pt_schema *pt_schema_installed(void) {
    return installed;
}

/* The names, kind, type, unit and help stay those of the file. */
static void describe(struct pt_column *c, const struct pt_column *known) {
    struct pt_column read = *c;
    *c = *known;
    c->name = read.name;
    c->short_name = read.short_name;
    c->kind = read.kind;
    c->type = read.type;
    c->unit = read.unit;
    c->source = read.source;
    c->help = read.help;
}

void pt_table_describe(struct pt_table *t, struct pt_column *columns) {
    int index = installed ? pt_schema_find(installed, t->name) : -1;
    const struct pt_table *known = index < 0 ? NULL : installed->tables[index];
    if (!known)
        return;
    t->rows = known->rows;
    t->whole = known->whole;
    t->has_fixed_rows = known->has_fixed_rows;
    t->is_own = known->is_own;
    for (int i = 0; i < t->column_count; i++) {
        int column = pt_table_find(known, columns[i].name);
        if (column >= 0)
            describe(&columns[i], &known->columns[column]);
    }
}

int pt_schema_find(const struct pt_schema *schema, const char *table) {
    for (uint32_t i = 0; i < schema->table_count; i++)
        if (strcmp(schema->tables[i]->name, table) == 0)
            return (int)i;
    return -1;
}
