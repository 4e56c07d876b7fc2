#include "serve/worker.h"

#include "base/mem.h"

#include <malloc.h>
#include <string.h>

static void refuse(struct pt_job *job) {
    pt_http_reply(job->exchange, 503, "text/plain; charset=utf-8",
                  PT_STR("busy; try again later\n"));
    pt_free(job->query);
}

static bool take(struct pt_worker *w, struct pt_job *job) {
    pthread_mutex_lock(&w->lock);
    while (w->count == 0 && !w->must_stop)
        pthread_cond_wait(&w->changed, &w->lock);
    bool has_job = !w->must_stop;
    if (has_job) {
        *job = w->jobs[w->first];
        w->first = (w->first + 1) % PT_WORKER_JOBS;
        w->count--;
    }
    pthread_mutex_unlock(&w->lock);
    return has_job;
}

static void *run(void *user) {
    struct pt_worker *w = user;
    struct pt_job job;
    pthread_setname_np(pthread_self(), "pitot-worker");
    while (take(w, &job)) {
        job.run(job.user, &job);
        pt_free(job.query);
        malloc_trim(0); /* a large answer may come only once a day */
    }
    return NULL;
}

int pt_worker_start(struct pt_worker *w, struct pt_err *err) {
    *w = (struct pt_worker){ 0 };
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    int rc = pthread_create(&w->thread, NULL, run, w);
    if (rc)
        return pt_fail(err, -rc, "cannot start a thread: %s", strerror(rc));
    w->is_running = true;
    return 0;
}

void pt_worker_stop(struct pt_worker *w) {
    if (!w->is_running)
        return;
    pthread_mutex_lock(&w->lock);
    w->must_stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    for (; w->count > 0; w->count--, w->first = (w->first + 1) % PT_WORKER_JOBS)
        refuse(&w->jobs[w->first]);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    w->is_running = false;
}

void pt_worker_add(struct pt_worker *w, struct pt_job job) {
    pthread_mutex_lock(&w->lock);
    bool has_room = w->count < PT_WORKER_JOBS && !w->must_stop;
    if (has_room) {
        w->jobs[(w->first + w->count++) % PT_WORKER_JOBS] = job;
        pthread_cond_signal(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    if (!has_room)
        refuse(&job);
}
