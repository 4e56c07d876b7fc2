/* http/client.h -- HTTP requests, many at a time, on the calling thread. libcurl does the work, in
 * a module that is loaded when a client opens.
 *
 *     struct pt_http_request r = { .url = "http://127.0.0.1:8000/metrics" };
 *     pt_http_client_run(&client, &r, 1);
 *     if (!r.error)
 *         use(pt_buf_as_str(&r.body));
 *     pt_http_request_release(&r);
 *
 * http and https only, no redirects, no proxy, gzip undone; connections are kept between runs.
 * Certificates are checked against those of the system, or of the file that SSL_CERT_FILE names. */
#ifndef PT_HTTP_CLIENT_H
#define PT_HTTP_CLIENT_H

#include "base/buf.h"
#include "base/module.h"

#define PT_HTTP_TIMEOUT_NS     INT64_C(500000000)
#define PT_HTTP_BODY_MAX_BYTES ((size_t)16 << 20)

struct pt_http_request {
    /* Set by the caller; the strings must stay valid while the request runs. */
    const char *url;
    const char *unix_path;      /* connect to this socket instead of the host, or NULL */
    const char *accept;         /* the Accept header, or NULL */
    struct pt_str post;         /* to be posted; empty: GET */
    const char *post_type;      /* its Content-Type; NULL: application/json */
    const char *const *headers; /* "Name: value", besides those above */
    size_t header_count;
    const char *answer_header; /* of the answer: to be kept in answer_value, or NULL */
    int64_t timeout_ns;        /* for everything, connecting too; 0: PT_HTTP_TIMEOUT_NS */
    size_t body_max_bytes;     /* after decompression; 0: PT_HTTP_BODY_MAX_BYTES */
    /* Receives the body of a 2xx answer in pieces, instead of `body`; false ends the request. */
    bool (*on_data)(struct pt_http_request *r, struct pt_str piece);
    /* Called at the end; may change the request; true sends it again. */
    bool (*on_end)(struct pt_http_request *r);
    /* Called about ten times per second while waiting for the answer; false cancels the request. */
    bool (*on_wait)(struct pt_http_request *r);
    void *user;

    /* Set by the run. */
    int error;      /* 0: a whole 2xx answer. -ETIMEDOUT, -ECONNREFUSED, -EFBIG, -EREMOTEIO (another
                       status), -EBADMSG (no HTTP), -EPIPE (ended early), -ECANCELED (by on_data or
                       on_wait) */
    char words[96]; /* what `error` means, or "" */
    int status;     /* of HTTP; 0 if there was none */
    char content_type[96];
    char answer_value[64];    /* of answer_header; "" if there is none */
    int64_t retry_after_ns;   /* what the answer asks for; 0 if nothing */
    struct pt_buf body;       /* kept and reused from run to run; never beyond body_max_bytes */
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
};

void pt_http_request_release(struct pt_http_request *r);

struct pt_http_client {
    const struct pt_http_client_interface *module;
    void *state;
};

/* Loads the module, which stays. 0 or -errno with words. */
int pt_http_client_open(struct pt_http_client *c, struct pt_err *err) PT_MUST_CHECK;
void pt_http_client_close(struct pt_http_client *c);

/* Returns when all have ended. */
void pt_http_client_run(struct pt_http_client *c, struct pt_http_request *requests, size_t count);

/* What the module "http-client" exports. */
#define PT_HTTP_CLIENT_VERSION 2

struct pt_http_client_interface {
    void *(*open)(void); /* NULL without memory */
    void (*run)(void *state, struct pt_http_request *requests, size_t count);
    void (*close)(void *state);
};

#endif
