/* push/push_batch.h -- the series sent to a receiver, and their points since the last request.
 *
 * A series missing from a sample gets one more point that marks its end, and is forgotten after the
 * next request. A missing family may only have been skipped by the governor: its series end if it
 * does not come back within a minute. Points that are not newer than the last one of their series
 * are omitted: a receiver rejects them, and a file that was not read again has no new value. */
#ifndef PT_PUSH_PUSH_BATCH_H
#define PT_PUSH_PUSH_BATCH_H

#include "base/buf.h"
#include "base/intern.h"
#include "format/metrics/point.h"

#define PT_PUSH_SERIES_MAX 200000

/* What all series of a name share. */
struct pt_push_family {
    struct pt_str name, help, unit; /* owned */
    enum pt_family_kind kind;
    uint64_t seen; /* the last sample that had it */
};

struct pt_push_series {
    struct pt_str key;      /* name, labels and bound; owned */
    struct pt_str identity; /* the protocol's name for it; owned */
    uint32_t family;
    struct pt_point *points;
    size_t point_count, point_capacity;
    int64_t last_ns, start_ns;
    double last_value;
    uint64_t seen;
    bool has_ended, is_native;
};

/* How a protocol represents series. */
struct pt_push_naming {
    bool has_native;       /* a histogram is one native series, not one per bucket */
    bool has_start;        /* counters start at their first point, not at an unknown time */
    int64_t resolution_ns; /* of times */
    /* Appends the name of the series. `suffix` belongs to the name (_total, _bucket, ...); `bound`
     * is that of a bucket, or empty. */
    void (*identify)(const void *user, const struct pt_family *family, struct pt_str suffix,
                     struct pt_str labels, struct pt_str bound, struct pt_buf *into);
    const void *user;
};

struct pt_push_batch {
    struct pt_push_naming naming;
    struct pt_push_family *families;
    size_t family_count, family_capacity;
    struct pt_push_series *series;
    size_t series_count, series_capacity;
    struct pt_intern family_index, series_index;
    size_t guess;                /* the series likely to come next: samples have the same order */
    struct pt_buf key, identity; /* scratch */
    uint64_t sample_count;
    size_t point_count;        /* since the last request */
    int64_t first_ns, last_ns; /* of the samples since then; of the newest */
    int64_t step_ns;           /* between the last two samples; 0: fewer than two */
    uint64_t refused_points;   /* of series beyond PT_PUSH_SERIES_MAX */
};

void pt_push_batch_init(struct pt_push_batch *b, const struct pt_push_naming *naming);
void pt_push_batch_release(struct pt_push_batch *b);

/* One sample: begin, all its families, end. */
void pt_push_batch_begin(struct pt_push_batch *b, int64_t wall_ns);
void pt_push_batch_add(struct pt_push_batch *b, const struct pt_family *family);
void pt_push_batch_end(struct pt_push_batch *b);

/* All series end. */
void pt_push_batch_end_all(struct pt_push_batch *b);

/* Call after a request was made: forgets the points and the series that have ended. */
void pt_push_batch_clear(struct pt_push_batch *b);

#endif
