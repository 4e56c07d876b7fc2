/* report/overview.h -- the main metrics of a fleet as PromQL expressions, for the first row of the
 * dashboard and the recording rules. model/metric.h defines metric names. */
#ifndef PT_REPORT_OVERVIEW_H
#define PT_REPORT_OVERVIEW_H

#include <stddef.h>

struct pt_overview {
    const char *rule;       /* instance:pitot_cpu_busy:ratio */
    const char *title;      /* for people */
    const char *unit;       /* Grafana's name */
    const char *expression; /* one series per instance */
};

extern const struct pt_overview pt_overviews[];
extern const size_t pt_overview_count;

#endif
