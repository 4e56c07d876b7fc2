/* analyze/health.h -- the health of a service, for libpitot and `pitot serve`. */
#ifndef PT_ANALYZE_HEALTH_H
#define PT_ANALYZE_HEALTH_H

#include "analyze/latency.h"
#include "base/json.h"

#include <pitot/monitor.h>

/* Latencies and error rate of recent requests; NAN and 0 without requests. */
void pt_health_of_requests(pt_health *health, const struct pt_latency_counts *recent);

/* Writes the members of an object that the caller opened. */
void pt_health_put(const pt_health *health, struct pt_json *j);

#endif
