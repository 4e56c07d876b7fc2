#include "sampler/sampler.h"
#include "cmd/command.h"
#include "model/schema_text.h"
#include "gputrace/gpu_tables.h"

#include <unistd.h>

#define TABLES_MAX (PT_SAMPLER_TABLES + PT_TIMELINE_TABLES)

/* The tables of a recording, then those that `pitot gpu` adds. */
static struct pt_schema run_schema(const struct pt_table *tables[TABLES_MAX]) {
    uint32_t count = pt_sampler_tables(tables);
    for (size_t i = 0; i < PT_TIMELINE_TABLES; i++)
        tables[count++] = pt_timeline_tables[i];
    return (struct pt_schema){ tables, count };
}

void pt_schema_markdown(struct pt_out *out) {
    const struct pt_table *tables[TABLES_MAX];
    struct pt_schema schema = run_schema(tables);
    pt_schema_print_markdown(&schema, out);
}

int pt_cmd_schema(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_SCHEMA, "unexpected argument '%s'", *operands);
    const struct pt_table *tables[TABLES_MAX];
    struct pt_schema schema = run_schema(tables);
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    if (o->as_json)
        pt_schema_print_json(&schema, &out);
    else if (o->as_markdown)
        pt_schema_print_markdown(&schema, &out);
    else
        pt_schema_print(&schema, &out);
    return pt_command_close(&out, 0);
}
