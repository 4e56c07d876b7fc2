/* serve/health_route.h -- /health: health of the engine on this machine, and of Pitot. */
#ifndef PT_SERVE_HEALTH_ROUTE_H
#define PT_SERVE_HEALTH_ROUTE_H

#include "analyze/health.h"
#include "http/server.h"
#include "serve/latest.h"
#include "serve/engine_probe.h"

/* The current health. Without a `probe` (NULL), latencies are those that the engine reports, and
 * the error rate is unknown. */
void pt_health_of(pt_health *health, const struct pt_latest *latest,
                  const struct pt_probe_result *probe);

/* Handlers: 200 or 503. */
void pt_health_get(void *service, struct pt_http_exchange *x);
void pt_health_get_live(void *service, struct pt_http_exchange *x);
/* Ready if there is a recent sample. */
void pt_health_get_ready(void *service, struct pt_http_exchange *x);

#endif
