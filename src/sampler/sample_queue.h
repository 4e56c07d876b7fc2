/* sampler/sample_queue.h -- samples on their way from the sampler to the main thread.
 *
 * A fixed number of samples circulates: free, being filled, queued, being
 * written, free again. The sampler never waits: if none is free, it drops the
 * tick and counts it. Free samples are handed out last-in first-out, so with a
 * consumer that keeps up only one or two are in use. */
#ifndef PT_SAMPLER_SAMPLE_QUEUE_H
#define PT_SAMPLER_SAMPLE_QUEUE_H

#include "model/sample.h"

#include <pthread.h>

#define PT_SAMPLE_QUEUE_LENGTH 64

struct pt_sample_queue {
    pthread_mutex_t lock;
    struct pt_sample samples[PT_SAMPLE_QUEUE_LENGTH];
    struct pt_sample *free[PT_SAMPLE_QUEUE_LENGTH];
    struct pt_sample *queued[PT_SAMPLE_QUEUE_LENGTH];
    unsigned free_count, first_queued, queued_count;
    int event_fd; /* readable while samples are queued */
};

/* Borrows the schema. 0 or -errno: there is no event_fd. */
int pt_sample_queue_init(struct pt_sample_queue *q, const struct pt_schema *schema) PT_MUST_CHECK;
void pt_sample_queue_release(struct pt_sample_queue *q);

/* Producer: an empty sample to fill, or NULL if the consumer is too far behind. */
struct pt_sample *pt_sample_queue_take_free(struct pt_sample_queue *q);
/* `must_wake`: wakes the consumer now; else it finds the sample at its next check. */
void pt_sample_queue_put(struct pt_sample_queue *q, struct pt_sample *s, bool must_wake);

/* Consumer: the oldest queued sample, or NULL; give it back when done. */
struct pt_sample *pt_sample_queue_take(struct pt_sample_queue *q);
void pt_sample_queue_give_back(struct pt_sample_queue *q, struct pt_sample *s);

#endif
