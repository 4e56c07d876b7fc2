/* serve/stream.h -- /api/stream: the readers of live samples, as server-sent events.
 *
 *     event: sample        the message of serve/changes.h
 *     event: alert         an alert that fired or cleared
 *     : still here         a comment, if nothing else came for a while
 *
 * A message is made once and pushed to all readers. The server disconnects readers that do not keep
 * up, so that the others and the sampler never wait; a reader that finds no place takes that of the
 * oldest one. */
#ifndef PT_SERVE_STREAM_H
#define PT_SERVE_STREAM_H

#include "http/server.h"
#include "serve/changes.h"

#include <pthread.h>

#define PT_STREAM_READERS    32
#define PT_STREAM_SILENCE_NS (INT64_C(10) * 1000000000) /* then a comment */

struct pt_stream {
    struct pt_changes changes; /* owned by the publishing thread */
    struct pt_buf message;
    char *out_buffer;
    int64_t pushed_ns;

    pthread_mutex_t lock;
    /* Below: guarded by the lock. */
    struct pt_stream_reader {
        struct pt_stream *stream;
        struct pt_http_exchange *exchange; /* NULL: free */
        uint64_t number;                   /* in order of arrival */
        bool is_new, is_gone;
    } readers[PT_STREAM_READERS];
    uint64_t arrived_count, shed_count;
};

void pt_stream_init(struct pt_stream *s, const struct pt_schema *schema); /* borrows */
/* Call after the server has been closed. */
void pt_stream_release(struct pt_stream *s);

/* A handler: takes the exchange. */
void pt_stream_handle(struct pt_stream *s, struct pt_http_exchange *x);

/* Sends the latest sample to all readers. */
void pt_stream_publish(struct pt_stream *s, const struct pt_latest *latest);
/* Sends another event; `event` is a word, `json` one line. */
void pt_stream_send(struct pt_stream *s, const char *event, struct pt_str json);
/* Call now and then: keeps idle streams open and drops readers that have gone. */
void pt_stream_tend(struct pt_stream *s, int64_t now_ns);
/* The number of readers, and of those that were disconnected since the start. */
size_t pt_stream_count(struct pt_stream *s, uint64_t *shed_count);

#endif
