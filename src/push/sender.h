/* push/sender.h -- the thread that sends the requests of one receiver.
 *
 * Requests are handed over through a short list in memory. The thread writes them to the queue on
 * disk and sends from there, one at a time and the oldest first, so that each series stays in time
 * order. Temporary failures are retried with a delay that grows to 30 s, or that the receiver asks
 * for; requests that the receiver rejects for good are dropped and counted. */
#ifndef PT_PUSH_SENDER_H
#define PT_PUSH_SENDER_H

#include "push/protocol.h"

#include <pthread.h>

#define PT_PUSH_HANDOVER_MAX 64

struct pt_push_counts {
    uint64_t accepted_requests, accepted_points;
    uint64_t failed_tries;    /* failed tries that are retried */
    uint64_t rejected_points; /* rejected by the receiver, for good */
    uint64_t dropped_points;  /* beyond the limits of the queue, or not enough space */
    uint64_t waiting_requests, waiting_points, queue_bytes;
    int64_t oldest_ns; /* Unix time of the oldest queued request; 0: none */
    int last_status;   /* HTTP status; 0: no answer yet */
};

struct pt_push_sender_options {
    const struct pt_push_protocol *protocol;
    void *protocol_state;
    const struct pt_push_settings *settings; /* borrowed, like all of these */
    const char *directory;                   /* of the queue */
};

struct pt_push_sender {
    struct pt_push_sender_options options;
    char url[256]; /* for messages */
    pthread_t thread;
    bool has_thread;

    pthread_mutex_t lock;
    pthread_cond_t is_changed;
    struct {
        struct pt_push_request request;
        struct pt_buf bytes;
    } handover[PT_PUSH_HANDOVER_MAX];
    size_t handover_first, handover_count;
    uint64_t refused_points; /* the list was full */
    struct pt_push_counts counts;
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: keep running */

    /* Used by the thread only. */
    struct pt_push_queue queue;
    struct pt_http_client client;
    struct pt_http_request http;
    struct pt_buf packed, body;
    char token[4096];
    uint64_t lost_points; /* could not be written to disk */
    int queue_error;
    int64_t retry_ns, wait_ns; /* time of the next try, and the last delay */
    bool is_failing;
    uint64_t seed;
};

/* 0 or -errno with a message. */
int pt_push_sender_open(struct pt_push_sender *s, const struct pt_push_sender_options *options,
                        struct pt_err *err) PT_MUST_CHECK;
/* Sends until the deadline; the rest stays on disk. */
void pt_push_sender_close(struct pt_push_sender *s, int64_t deadline_ns);

/* Never waits. Copies; counts a request that does not fit. */
void pt_push_sender_put(struct pt_push_sender *s, const struct pt_push_request *request);
void pt_push_sender_counts(struct pt_push_sender *s, struct pt_push_counts *counts);

#endif
