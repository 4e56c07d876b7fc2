/* serve/history_figures.h -- the figures of /api/history, from the same rule as the live ones:
 *
 *     {"from":1763268390000,"to":1763268990000,"step":5000,"count":121,
 *      "figures":{"cpu.busy":{"mean":[0.4,null],"min":[0.1,null],"max":[0.9,null]}}}
 */
#ifndef PT_SERVE_HISTORY_FIGURES_H
#define PT_SERVE_HISTORY_FIGURES_H

#include "serve/history_route.h"

/* As pt_history_write(). */
int pt_history_write_figures(const struct pt_history_query *q, const struct pt_schema *schema,
                             const char *directory, int64_t interval_ns,
                             struct pt_buf *json) PT_MUST_CHECK;

#endif
