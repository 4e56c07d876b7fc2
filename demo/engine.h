/* demo/engine.h -- serves many requests from one model with continuous batching.
 *
 *     pt_engine_submit(engine, &(struct pt_request_options){ .tokens = prompt, ... }, &request);
 *     const struct pt_result *result = pt_request_wait(request);
 *     pt_request_free(request);
 *
 * A thread of the engine plans steps; in each, every running request advances by
 * a chunk of its prompt or by one token. Requests wait while the batch or the KV
 * cache is full; when a running request needs a block and none is free, the
 * newest is preempted: it gives up its blocks and computes them again later. The
 * same request gives the same tokens whatever else the engine does. */
#ifndef PT_DEMO_ENGINE_H
#define PT_DEMO_ENGINE_H

#include "demo/latency.h"
#include "demo/model.h"

struct pt_demo_engine_options {
    const struct pt_model *model; /* borrowed for the life of the engine */
    size_t worker_count;
    size_t running_max; /* requests in a step */
    size_t block_count; /* of the KV cache, 16 tokens each */
    size_t prefill_max; /* prompt tokens in a step */
    size_t chunk_max;   /* prompt tokens of one request in a step */
};

enum pt_finish { PT_FINISH_STOP, PT_FINISH_LENGTH, PT_FINISH_ABORT, PT_FINISH_COUNT };

/* All times are CLOCK_MONOTONIC. */
struct pt_result {
    enum pt_finish finish;
    size_t prompt_count, token_count;
    const uint32_t *tokens;  /* generated */
    const int64_t *token_ns; /* time of each token */
    int64_t arrival_ns;      /* submitted */
    int64_t scheduled_ns;    /* when it first left the queue; 0: never */
    int64_t end_ns;
    uint64_t preemption_count;
};

/* The callbacks run on the engine's thread: they must not block, and must not
 * wait for or free a request. Both may be NULL. */
struct pt_request_options {
    const uint32_t *tokens; /* the prompt, at least one; copied */
    size_t token_count;
    size_t new_token_max; /* at least 1 */
    float temperature;    /* 0: always the most likely token */
    uint64_t seed;        /* of the sampling */
    bool stops_at_end;    /* PT_TOKEN_END finishes the request; it is not part of the result */
    void (*on_token)(void *user, uint32_t token);
    void (*on_end)(void *user, const struct pt_result *result);
    void *user;
};

/* Named after vLLM's metrics: vllm:num_requests_running and so on. */
struct pt_engine_stats {
    size_t running, waiting;
    double kv_usage;        /* 0 to 1 */
    uint64_t prompt_tokens; /* counted when their request has its first token, or stops at it */
    uint64_t generation_tokens;
    uint64_t preemptions;
    uint64_t steps;
    uint64_t finished[PT_FINISH_COUNT];
    struct pt_latency_histogram first_token, inter_token; /* while they happen */
    struct pt_latency_histogram e2e, queue, prefill, decode,
        inference; /* of requests with a token, at end */
};

struct pt_engine;
struct pt_request;

int pt_engine_new(struct pt_engine **engine, const struct pt_demo_engine_options *options,
                  struct pt_err *err) PT_MUST_CHECK;
/* Aborts unfinished requests, calling on_end, and joins all threads. Then submitting fails. */
void pt_engine_stop(struct pt_engine *e);
/* Stops first. Free the requests before. */
void pt_engine_free(struct pt_engine *e);

/* 0 and a request to be freed; -EINVAL for an empty prompt, no tokens to generate or a token
 * outside the vocabulary; -E2BIG if it can never fit into context or cache; -ESHUTDOWN after
 * stop. */
int pt_engine_submit(struct pt_engine *e, const struct pt_request_options *options,
                     struct pt_request **request) PT_MUST_CHECK;
/* The result of submitting, except -ESHUTDOWN. */
int pt_engine_check(const struct pt_engine *e,
                    const struct pt_request_options *options) PT_MUST_CHECK;
void pt_engine_stats(struct pt_engine *e, struct pt_engine_stats *stats);

/* Aborts a request; it ends at the next step, with PT_FINISH_ABORT. */
void pt_request_cancel(struct pt_request *r);
/* Blocks until the end; the result lives as long as the request. */
const struct pt_result *pt_request_wait(struct pt_request *r);
/* Cancels and waits if it has not ended. */
void pt_request_free(struct pt_request *r);

#endif
