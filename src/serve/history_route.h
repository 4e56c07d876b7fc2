/* serve/history_route.h -- /api/history: one table over a time range, in steps.
 *
 *     /api/history?table=disk&from=-10m&to=1763268392000&step=5s&columns=dReadBytes&limit=8
 *
 * Times are Unix milliseconds, or -DURATION before now. Each step has the mean and, if it covers
 * several samples, the minimum and the maximum: no peak is lost. Counters are rates per second; all
 * values are in base units. With more rows than `limit`, the most active are returned. */
#ifndef PT_SERVE_HISTORY_ROUTE_H
#define PT_SERVE_HISTORY_ROUTE_H

#include "base/buf.h"
#include "base/err.h"
#include "model/sample.h"

#define PT_HISTORY_STEPS  2000
#define PT_HISTORY_THINGS 64
#define PT_HISTORY_POINTS 65536 /* of all series; beyond that, steps become longer */

struct pt_history_query {
    int table; /* index in the schema */
    int64_t from_ns, to_ns,
        step_ns; /* step 0: chosen to give some hundreds of steps, each with a sample */
    uint32_t limit;
    uint64_t columns[16]; /* one bit per wanted column */
};

/* Query parameters; NULL: not given. */
struct pt_history_texts {
    const char *table, *from, *to, *step, *columns, *limit;
};

/* 0 or -EINVAL with a message for the client. */
int pt_history_parse(struct pt_history_query *q, const struct pt_history_texts *texts,
                     const struct pt_schema *schema, int64_t now_ns,
                     struct pt_err *err) PT_MUST_CHECK;

/* Reads the segments (store/segments.h) and writes JSON. Samples are `interval_ns` apart. 0 or
 * -errno. */
int pt_history_write(const struct pt_history_query *q, const struct pt_schema *schema,
                     const char *directory, int64_t interval_ns, struct pt_buf *json) PT_MUST_CHECK;

#endif
