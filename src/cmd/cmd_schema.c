#include "sampler/sampler.h"
#include "cmd/command.h"
#include "derive/schema_text.h"
#include "gputrace/gpu_tables.h"

#include <unistd.h>

#define TABLES_MAX (PT_SAMPLER_TABLES + PT_TIMELINE_TABLES)

/* The tables of a recording, then those that `pitot gpu` adds. */
const struct pt_schema *pt_known_schema(void) {
    static const struct pt_table *tables[TABLES_MAX];
    static struct pt_schema schema = { tables, 0 };
    if (schema.table_count == 0) {
        schema.table_count = pt_sampler_tables(tables);
        for (size_t i = 0; i < PT_TIMELINE_TABLES; i++)
            tables[schema.table_count++] = pt_timeline_tables[i];
    }
    return &schema;
}

void pt_schema_markdown(struct pt_out *out) {
    pt_schema_print_markdown(pt_known_schema(), out);
}

int pt_cmd_schema(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_SCHEMA, "unexpected argument '%s'", *operands);
    const struct pt_schema *schema = pt_known_schema();
    struct pt_out out;
    pt_out_show(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_schema_print_json(schema, &out);
    else if (o->as_markdown)
        pt_schema_print_markdown(schema, &out);
    else
        pt_schema_print(schema, &out);
    return pt_command_close(&out, 0);
}
