/* serve/runs.h -- the recorded runs of a directory, and their reports.
 *
 * A run is identified by its uuid, which is looked up in the listing: no part of a request becomes
 * a path. */
#ifndef PT_SERVE_RUNS_H
#define PT_SERVE_RUNS_H

#include "http/server.h"

#define PT_RUNS_SHOWN 200 /* the newest */

/* Handlers; the user is a struct pt_service. */
void pt_runs_get(void *service, struct pt_http_exchange *x);
void pt_runs_report(void *service, struct pt_http_exchange *x);

#endif
