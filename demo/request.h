/* demo/request.h -- the internals of a request, and queues of requests. For the engine only. */
#ifndef PT_DEMO_REQUEST_H
#define PT_DEMO_REQUEST_H

#include "demo/engine.h"

/* Between submission and end it belongs to the engine's thread (during a step,
 * to its worker), except the members marked as guarded. */
struct pt_request {
    struct pt_engine *engine;
    struct pt_request_options options; /* .tokens is NULL: the prompt is in `tokens` */
    struct pt_result result;

    uint32_t *tokens; /* the prompt, then what was generated */
    size_t token_count, prompt_count;
    int64_t *token_ns;
    uint64_t random;

    float **blocks; /* of the KV cache */
    size_t block_count;
    size_t computed_count; /* tokens whose keys and values are in the blocks */

    size_t step_count; /* tokens this step computes */
    uint32_t sampled;
    bool has_sampled;

    struct pt_request *next;      /* in a queue; guarded by the engine's lock */
    bool is_cancelled, has_ended; /* guarded by the engine's lock */
};

/* Copies the prompt; `options` are known to be valid. */
struct pt_request *pt_request_new(struct pt_engine *engine,
                                  const struct pt_request_options *options);
void pt_request_destroy(struct pt_request *r);

/* Whether more than its newest generated token has to be computed. */
static inline bool pt_request_needs_prefill(const struct pt_request *r) {
    return r->computed_count < r->prompt_count || r->computed_count + 1 < r->token_count;
}

/* {0} is an empty queue. */
struct pt_queue {
    struct pt_request *first, *last;
    size_t count;
};

void pt_queue_append(struct pt_queue *q, struct pt_request *r);
void pt_queue_prepend(struct pt_queue *q, struct pt_request *r);
/* The first, or NULL. */
struct pt_request *pt_queue_take(struct pt_queue *q);
bool pt_queue_remove(struct pt_queue *q, struct pt_request *r);

#endif
