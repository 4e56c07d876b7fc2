/* libpitot/requests.h -- figures of the requests, for the health check. */
#ifndef PT_LIBPITOT_REQUESTS_H
#define PT_LIBPITOT_REQUESTS_H

#include "analyze/latency.h"

/* Those of the last five to ten minutes. */
void pt_requests_window(struct pt_latency_counts *window);

#endif
