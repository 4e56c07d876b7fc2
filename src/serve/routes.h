/* serve/routes.h -- the routes of `pitot serve`. docs/SERVE.md has the same table. */
#ifndef PT_SERVE_ROUTES_H
#define PT_SERVE_ROUTES_H

#include "http/server.h"

/* The user of the handlers is a struct pt_service; guards are those of serve/access.h. */
extern const struct pt_http_route pt_routes[];
extern const size_t pt_route_count;

#endif
