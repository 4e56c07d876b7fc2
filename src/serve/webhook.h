/* serve/webhook.h -- posts alerts to a URL, as JSON, on its own thread.
 *
 * Alerts wait in a bounded queue, in order. A failed one is sent again after 1, 2, 4, ... 60
 * seconds; after the last attempt, or if the queue is full, it is dropped and counted. Redirects
 * are not followed. If private targets are not allowed, the host's addresses are looked up before
 * each attempt. */
#ifndef PT_SERVE_WEBHOOK_H
#define PT_SERVE_WEBHOOK_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_WEBHOOK_QUEUE    256
#define PT_WEBHOOK_ATTEMPTS 10

struct pt_webhook {
    char url[512];
    bool allows_private;
    pthread_t thread;
    bool is_running;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Below: guarded by the lock. */
    char *queue[PT_WEBHOOK_QUEUE]; /* a ring */
    size_t first, count;
    bool must_stop;
    uint64_t sent_count, failed_count, dropped_count;
};

/* -EINVAL with a message: not a URL. */
int pt_webhook_start(struct pt_webhook *w, const char *url, bool allows_private,
                     struct pt_err *err) PT_MUST_CHECK;
/* Drops alerts that were not sent yet. */
void pt_webhook_stop(struct pt_webhook *w);
/* Copies; does nothing if there is no webhook. */
void pt_webhook_send(struct pt_webhook *w, const char *json);

#endif
