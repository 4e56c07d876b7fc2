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

int pt_schema_find(const struct pt_schema *schema, const char *table) {
    for (uint32_t i = 0; i < schema->table_count; i++)
        if (strcmp(schema->tables[i]->name, table) == 0)
            return (int)i;
    return -1;
}
