/* source/engine/bucket_growth.h -- growth of histogram buckets on its way from the scraper to the
 * sampler: everything since the last take, nothing twice. */
#ifndef PT_SOURCE_ENGINE_BUCKET_GROWTH_H
#define PT_SOURCE_ENGINE_BUCKET_GROWTH_H

#include "source/engine/delta.h"

struct pt_bucket_growth {
    uint32_t engine; /* index */
    enum pt_engine_latency latency;
    double above, le; /* infinite: unknown, none */
    int64_t count;
    double seconds;  /* length of the interval */
    int64_t mono_ns; /* its end */
};

struct pt_bucket_growths {
    struct pt_bucket_growth *list; /* by time */
    size_t count, capacity;
};

void pt_bucket_growths_release(struct pt_bucket_growths *g);
void pt_bucket_growths_clear(struct pt_bucket_growths *g);

/* Appends what grew in the interval that ended at `mono_ns`. From `limit` elements on, growth is
 * added to that of the same bucket, whose interval becomes longer: nobody has taken it for long. */
void pt_bucket_growths_add(struct pt_bucket_growths *g, uint32_t engine,
                           const struct pt_engine_delta *delta, int64_t mono_ns, size_t limit);

#endif
