/* report/overview.h -- what a fleet is asked first, as expressions of PromQL: the first row of the
 * dashboard and the recording rules. Metrics are named as model/metric.h does. */
#ifndef PT_REPORT_OVERVIEW_H
#define PT_REPORT_OVERVIEW_H

#include <stddef.h>

struct pt_overview {
    const char *rule;       /* instance:pitot_cpu_busy:ratio */
    const char *title;      /* for people */
    const char *unit;       /* as Grafana calls it */
    const char *expression; /* one series an instance */
};

extern const struct pt_overview pt_overviews[];
extern const size_t pt_overview_count;

#endif
