/* push/protocol.h -- the differences between remote write and OTLP.
 *
 * A protocol names series and turns their points into requests, on the thread that takes samples;
 * the sending thread packs requests for the queue, turns them into HTTP posts and judges the
 * responses. The two threads use separate parts of its state. */
#ifndef PT_PUSH_PROTOCOL_H
#define PT_PUSH_PROTOCOL_H

#include "http/client.h"
#include "model/sample.h"
#include "push/push_batch.h"
#include "push/push_settings.h"

enum pt_push_verdict {
    PT_PUSH_ACCEPTED,
    PT_PUSH_RETRY,    /* retry later */
    PT_PUSH_AGAIN,    /* retry at once, in another form */
    PT_PUSH_REJECTED, /* drop: it would never be accepted */
};

#define PT_PUSH_HEADERS_MAX 24

/* A request to post. Texts belong to the protocol until the next one. */
struct pt_push_post {
    struct pt_str body;
    const char *type;
    const char *headers[PT_PUSH_HEADERS_MAX]; /* "Name: value" */
    size_t header_count;
    const char *answer_header; /* kept for judge(), or NULL */
};

struct pt_push_judgement {
    enum pt_push_verdict verdict;
    uint64_t rejected_points; /* of a partly accepted request */
    struct pt_str words;      /* the receiver's explanation; borrows the response */
};

struct pt_push_protocol {
    const char *name; /* remote-write */
    int (*open)(void **state, const struct pt_push_settings *settings,
                const struct pt_schema *schema, struct pt_err *err);
    void (*close)(void *state);
    const char *(*url)(const struct pt_push_settings *settings);
    int64_t (*timeout_ns)(const struct pt_push_settings *settings);

    struct pt_push_naming (*naming)(void *state);
    void (*add)(void *state, struct pt_push_batch *b, const struct pt_family *family);
    void (*encode)(void *state, const struct pt_push_batch *b, struct pt_buf *into);

    void (*pack)(void *state, struct pt_str request, struct pt_buf *into);
    /* 0 or -errno: the packed bytes are damaged. */
    int (*prepare)(void *state, struct pt_str packed, int64_t time_ns, struct pt_push_post *post);
    struct pt_push_judgement (*judge)(void *state, const struct pt_http_request *answer);
};

extern const struct pt_push_protocol pt_push_remote_write, pt_push_otlp;

#endif
