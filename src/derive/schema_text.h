/* derive/schema_text.h -- tables, columns and figures for people (text, Markdown) and for programs
 * (JSON). */
#ifndef PT_DERIVE_SCHEMA_TEXT_H
#define PT_DERIVE_SCHEMA_TEXT_H

#include "base/out.h"
#include "model/sample.h"

void pt_schema_print(const struct pt_schema *schema, struct pt_out *out);
/* With the meaning of each column, defaults filled in. Only columns that can be drawn have
 * "base_unit" and "is_rate": the unit of a gauge's value or of a counter's rate. */
void pt_schema_print_json(const struct pt_schema *schema, struct pt_out *out);
void pt_schema_print_markdown(const struct pt_schema *schema, struct pt_out *out);

#endif
