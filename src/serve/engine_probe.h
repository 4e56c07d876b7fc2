/* serve/engine_probe.h -- sends a test generation to an engine at intervals and times it.
 *
 *     POST /v1/completions {"model": ..., "prompt": "test", "max_tokens": 1}
 *
 * The model is the first of /v1/models. The probe has its own thread: if the engine hangs, the
 * probe fails and nothing else waits. */
#ifndef PT_SERVE_ENGINE_PROBE_H
#define PT_SERVE_ENGINE_PROBE_H

#include "analyze/latency.h"
#include "base/err.h"
#include "base/str.h"

#include <pthread.h>

struct pt_probe_result {
    bool has_run, has_failed; /* of the last probe */
    double seconds;           /* duration; NAN: no probe yet */
    char words[128];          /* why it failed */
    struct pt_latency_counts recent;
};

struct pt_probe {
    char base[256]; /* http://127.0.0.1:8000 */
    int64_t interval_ns;
    pthread_t thread;
    bool is_running;
    struct pt_latency *latency;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Below: guarded by the lock. */
    bool must_stop;
    struct pt_probe_result last; /* except `recent` */
};

/* The model to ask for; "": none is known. */
struct pt_probe_model {
    char name[256];
};
/* From the answer of /v1/models. */
void pt_probe_read_model(struct pt_probe_model *model, struct pt_str answer);

/* `url` is http://HOST:PORT; anything else is -EINVAL with a message. */
int pt_probe_start(struct pt_probe *p, const char *url, int64_t interval_ns,
                   struct pt_err *err) PT_MUST_CHECK;
/* Waits for a running probe. */
void pt_probe_stop(struct pt_probe *p);
/* False if there is no probe. */
bool pt_probe_read(struct pt_probe *p, struct pt_probe_result *result);

#endif
