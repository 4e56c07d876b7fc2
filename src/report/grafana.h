/* report/grafana.h -- a dashboard for Grafana, made from the schema: the overview first, then a row
 * of charts for each table. A new column is on it without a line of code. */
#ifndef PT_REPORT_GRAFANA_H
#define PT_REPORT_GRAFANA_H

#include "base/out.h"
#include "model/sample.h"

void pt_grafana_print(const struct pt_schema *schema, struct pt_out *out);

#endif
