/* serve/worker.h -- a thread for answers that read files: history, runs, reports.
 *
 * The server's thread must not wait. It hands such requests to the worker, up to a limit; beyond it
 * they are refused with 503. */
#ifndef PT_SERVE_WORKER_H
#define PT_SERVE_WORKER_H

#include "http/server.h"

#include <pthread.h>

#define PT_WORKER_JOBS 32

struct pt_job {
    void (*run)(void *user, struct pt_job *job); /* answers the exchange */
    void *user;
    struct pt_http_exchange *exchange;
    void *query; /* its type depends on the job; freed afterwards */
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
/* Waits for the running job; refuses those in the queue. */
void pt_worker_stop(struct pt_worker *w);
/* Takes the query. If the queue is full, refuses the exchange with 503. */
void pt_worker_add(struct pt_worker *w, struct pt_job job);

#endif
