/* report/grafana.h -- a Grafana dashboard generated from the schema: the overview, then one row of
 * charts per table. New columns appear without a change here. */
#ifndef PT_REPORT_GRAFANA_H
#define PT_REPORT_GRAFANA_H

#include "base/out.h"
#include "model/sample.h"

void pt_grafana_print(const struct pt_schema *schema, struct pt_out *out);

#endif
