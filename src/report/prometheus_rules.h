/* report/prometheus_rules.h -- rules for a Prometheus server: the overview as recording rules, and
 * the alert rules of `pitot record --alerts`. */
#ifndef PT_REPORT_PROMETHEUS_RULES_H
#define PT_REPORT_PROMETHEUS_RULES_H

#include "analyze/watch.h"
#include "base/out.h"

/* Skips rules on columns that are not metrics of the schema. */
void pt_prometheus_rules_print(const struct pt_schema *schema, const struct pt_watch *watch,
                               struct pt_out *out);

#endif
