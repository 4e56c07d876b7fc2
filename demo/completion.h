/* demo/completion.h -- POST /v1/completions, in the format of OpenAI.
 *
 *     {"prompt": "Hello", "max_tokens": 16, "temperature": 0.8, "stream": true}
 *
 *     data: {"id":"cmpl-1",...,"choices":[{"index":0,"text":"th","finish_reason":null,...}]}
 *     data: {"id":"cmpl-1",...,"choices":[{"index":0,"text":"","finish_reason":"length",...}],
 *            "usage":{"prompt_tokens":6,"completion_tokens":16,"total_tokens":22}}
 *     data: [DONE]
 *
 * One event per token, then one with the finish reason and the usage. */
#ifndef PT_DEMO_COMPLETION_H
#define PT_DEMO_COMPLETION_H

#include "demo/engine.h"
#include "http/server.h"

#include <pthread.h>

/* The completions of an engine. Finished ones wait here for the server's thread, because the
 * engine's thread must not free them. */
struct pt_completions {
    struct pt_engine *engine;
    size_t context; /* longest sequence, in tokens */
    uint64_t started_count;
    pthread_mutex_t lock;
    struct completion *ended; /* guarded by the lock */
};

void pt_completions_init(struct pt_completions *all, struct pt_engine *engine, size_t context);
/* Call after the server has closed and the engine has stopped. */
void pt_completions_release(struct pt_completions *all);

/* Answers a request, on the server's thread. */
void pt_completions_handle(struct pt_completions *all, struct pt_http_exchange *x);

#endif
