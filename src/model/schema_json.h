/* model/schema_json.h -- all tables and columns as JSON: `pitot schema --json`, /api/schema. */
#ifndef PT_MODEL_SCHEMA_JSON_H
#define PT_MODEL_SCHEMA_JSON_H

#include "base/json.h"
#include "model/sample.h"

/* The member "tables". Of a column that can be drawn, "base_unit" and "is_rate" say in what. */
void pt_schema_json(const struct pt_schema *schema, struct pt_json *j);

#endif
