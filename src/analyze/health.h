/* analyze/health.h -- the health of a service, as the library and `pitot serve` both tell it. */
#ifndef PT_ANALYZE_HEALTH_H
#define PT_ANALYZE_HEALTH_H

#include "analyze/latency.h"
#include "base/json.h"

#include <pitot/monitor.h>

/* Latencies and the part that failed, of recent requests; 0 and NAN without any. */
void pt_health_of_requests(pt_health *health, const struct pt_latency_counts *recent);

/* The members of an object that the caller opened. */
void pt_health_put(const pt_health *health, struct pt_json *j);

#endif
