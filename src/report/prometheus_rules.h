/* report/prometheus_rules.h -- rules for a Prometheus server: the overview as recording rules, the
 * alert rules of `pitot record --alerts` as alerts. */
#ifndef PT_REPORT_PROMETHEUS_RULES_H
#define PT_REPORT_PROMETHEUS_RULES_H

#include "analyze/watch.h"
#include "base/out.h"

/* Rules whose column is no metric of the schema are left out. */
void pt_prometheus_rules_print(const struct pt_schema *schema, const struct pt_watch *watch,
                               struct pt_out *out);

#endif
