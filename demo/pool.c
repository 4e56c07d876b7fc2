#include "demo/pool.h"

#include "base/mem.h"

#include <stdio.h>

struct pt_pool_worker {
    struct pt_pool *pool;
    size_t number;
    pthread_t thread;
};

/* Called and returns with the lock held. */
static void do_next_job(struct pt_pool *p, size_t worker) {
    size_t index = p->next++;
    pthread_mutex_unlock(&p->lock);
    p->job(p->context, index, worker);
    pthread_mutex_lock(&p->lock);
    if (--p->unfinished == 0)
        pthread_cond_signal(&p->is_idle);
}

static void *work(void *argument) {
    struct pt_pool_worker *w = argument;
    struct pt_pool *p = w->pool;
    char name[16];
    snprintf(name, sizeof name, "pitot-worker-%u", (unsigned)(w->number % 100));
    pthread_setname_np(pthread_self(), name);

    pthread_mutex_lock(&p->lock);
    while (!p->is_stopping) {
        if (p->next < p->job_count)
            do_next_job(p, w->number);
        else
            pthread_cond_wait(&p->has_work, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

int pt_pool_init(struct pt_pool *p, size_t worker_count) {
    *p = (struct pt_pool){ .workers = pt_calloc(worker_count, sizeof *p->workers) };
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->has_work, NULL);
    pthread_cond_init(&p->is_idle, NULL);
    for (; p->worker_count < worker_count; p->worker_count++) {
        struct pt_pool_worker *w = &p->workers[p->worker_count];
        w->pool = p;
        w->number = p->worker_count;
        int rc = pthread_create(&w->thread, NULL, work, w);
        if (rc) {
            pt_pool_release(p);
            return -rc;
        }
    }
    return 0;
}

void pt_pool_release(struct pt_pool *p) {
    if (!p->workers)
        return;
    pthread_mutex_lock(&p->lock);
    p->is_stopping = true;
    pthread_cond_broadcast(&p->has_work);
    pthread_mutex_unlock(&p->lock);
    for (size_t i = 0; i < p->worker_count; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->is_idle);
    pthread_cond_destroy(&p->has_work);
    pthread_mutex_destroy(&p->lock);
    pt_free(p->workers);
    *p = (struct pt_pool){ 0 };
}

void pt_pool_run(struct pt_pool *p, size_t job_count,
                 void (*job)(void *context, size_t index, size_t worker), void *context) {
    pthread_mutex_lock(&p->lock);
    p->job = job;
    p->context = context;
    p->next = 0;
    p->job_count = p->unfinished = job_count;
    pthread_cond_broadcast(&p->has_work);
    while (p->unfinished > 0)
        pthread_cond_wait(&p->is_idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
