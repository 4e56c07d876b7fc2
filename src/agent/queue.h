/* agent/queue.h -- samples on their way from the sampler to the main thread.
 *
 * A fixed number of samples goes round: free, being filled, queued, being
 * written, free again. The sampler never waits: with none free it drops the
 * tick and counts it. Free samples are handed out last-in first-out, so a
 * consumer that keeps up touches the memory of one or two only. */
#ifndef PT_AGENT_QUEUE_H
#define PT_AGENT_QUEUE_H

#include "model/sample.h"

#include <pthread.h>

#define PT_QUEUE_SAMPLES 64

struct pt_queue {
    pthread_mutex_t lock;
    struct pt_sample samples[PT_QUEUE_SAMPLES];
    struct pt_sample *free[PT_QUEUE_SAMPLES];
    struct pt_sample *queued[PT_QUEUE_SAMPLES];
    unsigned free_count, first_queued, queued_count, deepest;
    int event_fd; /* readable while samples are queued */
};

int pt_queue_init(struct pt_queue *q, const struct pt_schema *schema) PT_MUST_CHECK;
void pt_queue_release(struct pt_queue *q);

/* Producer: an empty sample to fill, or NULL if the consumer is that far behind. */
struct pt_sample *pt_queue_take_free(struct pt_queue *q);
void pt_queue_put(struct pt_queue *q, struct pt_sample *s);

/* Consumer: the oldest queued sample, or NULL; give it back when done. */
struct pt_sample *pt_queue_take(struct pt_queue *q);
void pt_queue_give_back(struct pt_queue *q, struct pt_sample *s);

#endif
