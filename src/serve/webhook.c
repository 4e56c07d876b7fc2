#include "serve/webhook.h"

#include "base/clock.h"
#include "base/log.h"
#include "http/client.h"
#include "http/reach.h"

#include <errno.h>

#define TIMEOUT_NS     (10 * PT_NS_PER_SECOND)
#define FIRST_PAUSE_NS PT_NS_PER_SECOND
#define LAST_PAUSE_NS  (60 * PT_NS_PER_SECOND)
#define ANSWER_BYTES   65536

/* Call with the lock held. True if the thread must stop. */
static bool wait_until(struct pt_webhook *w, int64_t until_ns) {
    struct timespec until = { until_ns / PT_NS_PER_SECOND, until_ns % PT_NS_PER_SECOND };
    while (!w->must_stop &&
           pthread_cond_clockwait(&w->changed, &w->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        continue;
    return w->must_stop;
}

/* NULL, or why it failed. */
static const char *post(const struct pt_webhook *w, struct pt_http_client *client,
                        struct pt_http_request *r, const char *json) {
    int rc = w->allows_private ? 0 : pt_http_url_is_public(pt_str_from(w->url));
    if (rc)
        return rc == -EACCES ? "the address is private (to allow it: --allow-private-webhook)"
                             : "no such host";
    r->url = w->url;
    r->post = pt_str_from(json);
    r->timeout_ns = TIMEOUT_NS;
    r->body_max_bytes = ANSWER_BYTES;
    pt_http_client_run(client, r, 1);
    return r->error ? r->words : NULL;
}

/* Call with the lock held; releases it while sending. */
static void deliver(struct pt_webhook *w, struct pt_http_client *client) {
    char *json = w->queue[w->first];
    struct pt_http_request r = { 0 };
    int64_t pause_ns = FIRST_PAUSE_NS;
    const char *problem = NULL;
    w->first = (w->first + 1) % PT_WEBHOOK_QUEUE;
    w->count--;
    for (int attempt = 0; attempt < PT_WEBHOOK_ATTEMPTS; attempt++) {
        pthread_mutex_unlock(&w->lock);
        problem = post(w, client, &r, json);
        if (problem && attempt == 0)
            pt_log(PT_LOG_WARNING, "alert webhook %s: %s", w->url, problem);
        pthread_mutex_lock(&w->lock);
        /* the receiver would reject the message again */
        bool is_final = r.status >= 400 && r.status < 500 && r.status != 408 && r.status != 429;
        if (!problem || is_final || wait_until(w, pt_mono_ns() + pause_ns))
            break;
        w->failed_count++;
        pause_ns = pause_ns * 2 < LAST_PAUSE_NS ? pause_ns * 2 : LAST_PAUSE_NS;
    }
    w->sent_count += !problem;
    w->dropped_count += problem != NULL;
    pt_http_request_release(&r);
    pt_free(json);
}

static void *run(void *user) {
    struct pt_webhook *w = user;
    struct pt_http_client client;
    struct pt_err err;
    pthread_setname_np(pthread_self(), "pitot-webhook");
    if (pt_http_client_open(&client, &err)) {
        pt_log(PT_LOG_ERROR, "the alert webhook cannot run: %s", err.text);
        return NULL;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->must_stop) {
        if (w->count > 0)
            deliver(w, &client);
        else
            pthread_cond_wait(&w->changed, &w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    pt_http_client_close(&client);
    return NULL;
}

int pt_webhook_start(struct pt_webhook *w, const char *url, bool allows_private,
                     struct pt_err *err) {
    *w = (struct pt_webhook){ .allows_private = allows_private };
    if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
        strlen(url) >= sizeof w->url)
        return pt_fail(err, -EINVAL, "--alert-webhook: '%s' is not an http:// or https:// URL",
                       url);
    pt_str_copy(w->url, sizeof w->url, pt_str_from(url));
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    int rc = pthread_create(&w->thread, NULL, run, w);
    w->is_running = !rc;
    return rc ? pt_fail(err, -rc, "cannot start a thread: %s", strerror(rc)) : 0;
}

void pt_webhook_stop(struct pt_webhook *w) {
    if (!w->is_running)
        return;
    pthread_mutex_lock(&w->lock);
    w->must_stop = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    for (; w->count > 0; w->count--, w->first = (w->first + 1) % PT_WEBHOOK_QUEUE)
        pt_free(w->queue[w->first]);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    w->is_running = false;
}

void pt_webhook_send(struct pt_webhook *w, const char *json) {
    if (!w->is_running)
        return;
    pthread_mutex_lock(&w->lock);
    if (w->count < PT_WEBHOOK_QUEUE) {
        w->queue[(w->first + w->count++) % PT_WEBHOOK_QUEUE] = pt_strdup(json);
        pthread_cond_signal(&w->changed);
    } else {
        w->dropped_count++;
    }
    pthread_mutex_unlock(&w->lock);
}
