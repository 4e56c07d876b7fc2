/* demo/pool.h -- threads that share out the jobs of a step; they sleep in between. */
#ifndef PT_DEMO_POOL_H
#define PT_DEMO_POOL_H

#include "base/attr.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct pt_pool {
    struct pt_pool_worker *workers;
    size_t worker_count;
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_idle;
    /* Below: guarded by the lock. */
    void (*job)(void *context, size_t index, size_t worker);
    void *context;
    size_t next, job_count, unfinished;
    bool is_stopping;
};

/* 0 or -errno, then without threads. The pool must not move afterwards. */
int pt_pool_init(struct pt_pool *p, size_t worker_count) PT_MUST_CHECK;
/* Joins the threads. */
void pt_pool_release(struct pt_pool *p);

/* Calls job(context, 0 .. job_count - 1, worker) once each and returns when all have returned.
 * `worker` is the number of the calling thread, for data that threads must not share. */
void pt_pool_run(struct pt_pool *p, size_t job_count,
                 void (*job)(void *context, size_t index, size_t worker), void *context);

#endif
