/* push/sender.h -- the thread that sends the requests of one receiver.
 *
 * Requests are handed over through a short list in memory; the thread writes them to the queue on
 * disk, and sends from there, one at a time and the oldest first, so that each series stays in the
 * order of time. What fails for now is tried again, after a while that grows to half a minute or
 * that the receiver asks for; what the receiver will never take is dropped and counted. */
#ifndef PT_PUSH_SENDER_H
#define PT_PUSH_SENDER_H

#include "push/protocol.h"

#include <pthread.h>

#define PT_PUSH_HANDOVER_MAX 64

struct pt_push_counts {
    uint64_t taken_requests, taken_points;
    uint64_t failed_tries;    /* of which there will be another */
    uint64_t rejected_points; /* by the receiver, for good */
    uint64_t dropped_points;  /* beyond the bounds of the queue, or with no room for it */
    uint64_t waiting_requests, waiting_points, queue_bytes;
    int64_t oldest_ns; /* Unix time of the oldest request that waits; 0: there is none */
    int last_status;   /* of HTTP; 0: there was none */
};

struct pt_push_sender_options {
    const struct pt_push_protocol *protocol;
    void *protocol_state;
    const struct pt_push_settings *settings; /* borrowed, like all of these */
    const char *directory;                   /* of the queue */
};

struct pt_push_sender {
    struct pt_push_sender_options options;
    char url[256]; /* for people */
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
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: go on */

    /* Of the thread. */
    struct pt_push_queue queue;
    struct pt_http_client client;
    struct pt_http_request http;
    struct pt_buf packed, body;
    char token[4096];
    uint64_t lost_points; /* the disk did not take them */
    int queue_error;
    int64_t retry_ns, wait_ns; /* when to try again, and how long that was */
    bool is_failing;
    uint64_t seed;
};

/* 0 or -errno with words. */
int pt_push_sender_open(struct pt_push_sender *s, const struct pt_push_sender_options *options,
                        struct pt_err *err) PT_MUST_CHECK;
/* Sends what it can until then; the rest stays on disk. */
void pt_push_sender_close(struct pt_push_sender *s, int64_t deadline_ns);

/* Never waits. Copies; a request for which there is no room is counted. */
void pt_push_sender_put(struct pt_push_sender *s, const struct pt_push_request *request);
void pt_push_sender_counts(struct pt_push_sender *s, struct pt_push_counts *counts);

#endif
