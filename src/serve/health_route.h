/* serve/health_route.h -- /health: is the service well that this machine runs, and is Pitot. */
#ifndef PT_SERVE_HEALTH_ROUTE_H
#define PT_SERVE_HEALTH_ROUTE_H

#include "analyze/health.h"
#include "http/server.h"
#include "serve/latest.h"
#include "serve/engine_probe.h"

/* What is known now. `probe` is NULL if there is none: then latencies are those of the engine, and
 * what failed is not known. */
void pt_health_of(pt_health *health, const struct pt_latest *latest,
                  const struct pt_probe_result *probe);

/* Handlers: 200 or 503. */
void pt_health_tell(void *service, struct pt_http_exchange *x);
void pt_health_tell_live(void *service, struct pt_http_exchange *x);
/* Ready when there is a sample, and not an old one. */
void pt_health_tell_ready(void *service, struct pt_http_exchange *x);

#endif
