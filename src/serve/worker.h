/* serve/worker.h -- a thread for answers that read files: history, runs, reports.
 *
 * The thread of the server must not wait. It hands such requests on, a few at most; more are told
 * to come back later. */
#ifndef PT_SERVE_WORKER_H
#define PT_SERVE_WORKER_H

#include "http/server.h"

#include <pthread.h>

#define PT_WORKER_JOBS 32

struct pt_job {
    void (*run)(void *user, struct pt_job *job); /* answers the exchange */
    void *user;
    struct pt_http_exchange *exchange;
    void *query; /* of the job's own kind; freed after it */
};

struct pt_worker {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_running;
    /* Below: guarded by the lock. */
    struct pt_job jobs[PT_WORKER_JOBS]; /* a ring */
    size_t first, count;
    bool must_stop;
};

int pt_worker_start(struct pt_worker *w, struct pt_err *err) PT_MUST_CHECK;
/* Waits for the job in hand; those that wait are refused. */
void pt_worker_stop(struct pt_worker *w);
/* Takes the query. With no room the exchange is refused with 503. */
void pt_worker_add(struct pt_worker *w, struct pt_job job);

#endif
