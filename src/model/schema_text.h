/* model/schema_text.h -- a schema for people (text, Markdown) and for programs (JSON). */
#ifndef PT_MODEL_SCHEMA_TEXT_H
#define PT_MODEL_SCHEMA_TEXT_H

#include "base/out.h"
#include "model/sample.h"

void pt_schema_print(const struct pt_schema *schema, struct pt_out *out);
/* Of columns that can be drawn, "base_unit" and "is_rate" say in what. */
void pt_schema_print_json(const struct pt_schema *schema, struct pt_out *out);
void pt_schema_print_markdown(const struct pt_schema *schema, struct pt_out *out);

#endif
