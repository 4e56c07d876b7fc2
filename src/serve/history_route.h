/* serve/history_route.h -- /api/history: one table or some figures over a time range, in steps.
 *
 *     /api/history?table=disk&from=-10m&to=1763268392000&step=5s&columns=dReadBytes&limit=8
 *     /api/history?figure=cpu.busy,mem.used&from=-1h
 *
 * Times are Unix milliseconds, or -DURATION before now. Each step has the mean and, if it covers
 * several samples, the minimum and the maximum: no peak is lost. Instead of the mean, a percentile
 * has that of the histogram of the step (derive/percentiles.h). The numbers of a sample are those
 * of the stream (derive/rates.h): counters are rates per second, all are in base units. With more
 * rows than `limit`, the most active are returned. */
#ifndef PT_SERVE_HISTORY_ROUTE_H
#define PT_SERVE_HISTORY_ROUTE_H

#include "base/buf.h"
#include "base/err.h"
#include "derive/figure.h"

#define PT_HISTORY_STEPS  2000
#define PT_HISTORY_THINGS 64
#define PT_HISTORY_POINTS 65536 /* of all series; beyond that, steps become longer */

struct pt_history_query {
    int table; /* index in the schema; -1: figures */
    int64_t from_ns, to_ns,
        step_ns; /* step 0: chosen to give some hundreds of steps, each with a sample */
    uint32_t limit;
    uint64_t columns[16]; /* one bit per wanted column */
    uint16_t figures[PT_FIGURE_COUNT];
    uint16_t figure_count;
};

/* Query parameters; NULL: not given. */
struct pt_history_texts {
    const char *table, *from, *to, *step, *columns, *limit, *figure;
};

/* 0 or -EINVAL with a message for the client. */
int pt_history_parse(struct pt_history_query *q, const struct pt_history_texts *texts,
                     const struct pt_schema *schema, int64_t now_ns,
                     struct pt_err *err) PT_MUST_CHECK;

/* Steps begin at multiples of their length, so that later requests get the same ones. */
struct pt_history_steps {
    int64_t start_ns, step_ns;
    uint32_t count;
};

struct pt_history_steps pt_history_choose_steps(const struct pt_history_query *q, uint64_t series,
                                                int64_t interval_ns);
/* Where to begin reading: the first growth of a counter needs two reads. */
int64_t pt_history_lead_ns(const struct pt_history_steps *steps);
/* The rows of a table, with its meaning, which a segment does not have. Empty if another version of
 * Pitot wrote other columns. */
struct pt_batch pt_history_rows(const struct pt_table *table, const struct pt_sample *sample);

/* Reads the segments (store/segments.h) and writes JSON. Samples are `interval_ns` apart. 0 or
 * -errno. */
int pt_history_write(const struct pt_history_query *q, const struct pt_schema *schema,
                     const char *directory, int64_t interval_ns, struct pt_buf *json) PT_MUST_CHECK;

#endif
