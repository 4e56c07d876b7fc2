/* serve/history_route.h -- /api/history: one table over a stretch of time, in steps.
 *
 *     /api/history?table=disk&from=-10m&to=1763268392000&step=5s&columns=dReadBytes&limit=8
 *
 * Times are Unix milliseconds, or -DURATION before now. Of each step there is the mean, and where
 * several samples are in it, the lowest and the highest: no peak is lost. Counters are growth a
 * second; all is in base units. With more things than `limit`, those that did most are shown. */
#ifndef PT_SERVE_HISTORY_ROUTE_H
#define PT_SERVE_HISTORY_ROUTE_H

#include "base/buf.h"
#include "base/err.h"
#include "model/sample.h"

#define PT_HISTORY_STEPS  2000
#define PT_HISTORY_THINGS 64
#define PT_HISTORY_POINTS 65536 /* of all series; with more the steps become longer */

struct pt_history_query {
    int table;                       /* of the schema */
    int64_t from_ns, to_ns, step_ns; /* step 0: some hundreds of them, none without a sample */
    uint32_t limit;
    uint64_t columns[16]; /* a bit each; those that are wanted */
};

/* The texts of the query; NULL: not given. */
struct pt_history_texts {
    const char *table, *from, *to, *step, *columns, *limit;
};

/* 0 or -EINVAL with words for the one who asked. */
int pt_history_parse(struct pt_history_query *q, const struct pt_history_texts *texts,
                     const struct pt_schema *schema, int64_t now_ns,
                     struct pt_err *err) PT_MUST_CHECK;

/* Reads the segments (store/segments.h) and writes JSON. Samples are `interval_ns` apart. 0 or
 * -errno. */
int pt_history_write(const struct pt_history_query *q, const struct pt_schema *schema,
                     const char *directory, int64_t interval_ns, struct pt_buf *json) PT_MUST_CHECK;

#endif
