/* push/push_batch.h -- the series that are sent to a receiver, and their points since the last
 * request.
 *
 * A series that a sample no longer has gets one more point which says so, and is forgotten after
 * the next request. A whole family that is missing may only be skipped, because its collector was
 * thinned: its series end when it does not come back within a minute. Points that are not newer
 * than the last one of their series are left out: a receiver refuses them, and a file that was not
 * read again has nothing new to say. */
#ifndef PT_PUSH_PUSH_BATCH_H
#define PT_PUSH_PUSH_BATCH_H

#include "base/buf.h"
#include "base/intern.h"
#include "format/metrics/point.h"

#define PT_PUSH_SERIES_MAX 200000

/* What all series of a name have in common. */
struct pt_push_family {
    struct pt_str name, help, unit; /* owned */
    enum pt_family_kind kind;
    uint64_t seen; /* the last sample that had it */
};

struct pt_push_series {
    struct pt_str key;      /* name, labels and bound; owned */
    struct pt_str identity; /* what the protocol calls it; owned */
    uint32_t family;
    struct pt_point *points;
    size_t point_count, point_capacity;
    int64_t last_ns, start_ns;
    double last_value;
    uint64_t seen;
    bool has_ended, is_native;
};

/* How a protocol has its series. */
struct pt_push_naming {
    bool has_native;       /* histograms are one series of native ones, not one of each bucket */
    bool has_start;        /* counters start at their first point, not at a time that is unknown */
    int64_t resolution_ns; /* of times */
    /* Appends what the series is called. `suffix` belongs to the name (_total, _bucket, ...);
     * `bound` is that of a bucket, or empty. */
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
    size_t guess; /* the series that is likely to come next: samples have the same order */
    struct pt_buf key, identity; /* scratch */
    uint64_t sample_count;
    size_t point_count;        /* since the last request */
    int64_t first_ns, last_ns; /* of the samples since then; of the newest */
    int64_t step_ns;           /* between the last two samples; 0: there were none */
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

/* A request was made of it: forgets the points, and the series that have ended. */
void pt_push_batch_clear(struct pt_push_batch *b);

#endif
