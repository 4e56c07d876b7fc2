/* http/server.h -- a small HTTP server on a thread of its own. libmicrohttpd does the work, in a
 * module that is loaded when a server opens.
 *
 * A handler runs on the server's thread when the whole request is there, and must not block. It
 * answers at once, or hands the exchange to another thread that answers later: with one text
 * (pt_http_reply), with a content that many requests share (pt_http_reply_content) or with a stream
 * (pt_http_begin, pt_http_push..., pt_http_end). */
#ifndef PT_HTTP_SERVER_H
#define PT_HTTP_SERVER_H

#include "base/buf.h"
#include "base/fd.h"
#include "base/module.h"
#include "http/address.h"

struct pt_http_exchange;

struct pt_http_route {
    const char *method, *path; /* GET answers HEAD too */
    void (*handle)(void *user, struct pt_http_exchange *x);
    int guard; /* for `admits` */
};

/* A header of one answer, in addition to the default headers. */
struct pt_http_header {
    const char *name, *value;
};

/* An answer that was sent, or could not be. */
struct pt_http_done {
    const char *method, *path; /* of the route; "" for none */
    unsigned status;
    int64_t took_ns;
    const char *from, *note; /* who asked; what the handler noted */
};

/* 0 is the default of each number. */
struct pt_http_server_options {
    const char *listen; /* http/address.h; NULL: 127.0.0.1:0 */
    const struct pt_http_route *routes;
    size_t route_count;
    void *user;              /* for handlers and the functions below */
    struct pt_fd listen_fd;  /* a socket that listens already, which is taken; not open: `listen` */
    bool allows_others;      /* listens on addresses others can reach, for any Host */
    const char *certificate; /* texts in PEM, with the key: speaks TLS; or NULL */
    const char *key;
    size_t body_max_bytes;    /* 1 MiB: of a request */
    size_t unread_max_bytes;  /* 1 MiB: pending bytes of a stream; above this it is closed */
    unsigned connection_max;  /* 64; above 48 a new one closes the one that waits longest */
    unsigned timeout_seconds; /* 30 without a byte, and for a whole request: pt_http_server_tend */
    void (*on_problem)(void *user, const char *text); /* from any thread; may be NULL */
    /* Asked when the head of a request is there, with the address of the client and its
     * Authorization or NULL: 0, or the status to refuse it with: 401, 403 or 429. May be NULL. */
    unsigned (*admits)(void *user, const struct pt_http_route *route, const char *from,
                       const char *authorization);
    /* May be NULL; on the server's thread. */
    void (*on_done)(void *user, const struct pt_http_done *done);
};

/* What a handler sees of a request. */
struct pt_http_exchange {
    const struct pt_http_server_interface *module;
    const char *path;
    struct pt_str body;
    char note[64]; /* of the handler, for on_done: what was asked, without secrets */
};

struct pt_http_server {
    const struct pt_http_server_interface *module;
    void *state;
    struct pt_http_address address;
    char url[128];       /* http://127.0.0.1:41234, https://... or unix:PATH */
    bool is_handed_over; /* the socket was inherited */
};

/* Listens when it returns. */
int pt_http_server_open(struct pt_http_server *s, const struct pt_http_server_options *options,
                        struct pt_err *err) PT_MUST_CHECK;
/* Closes open connections. Exchanges handed to other threads stay valid until they are ended. */
void pt_http_server_close(struct pt_http_server *s);
/* Closes connections that take longer than the timeout to send a request or read an answer, except
 * streams. For servers that other machines can reach: call it every few seconds. */
void pt_http_server_tend(struct pt_http_server *s);

/* A body that any number of requests can share. Takes the memory of `body`; copies type and
 * headers. NULL: out of memory. */
struct pt_http_content;
struct pt_http_content *pt_http_content_new(const struct pt_http_server *s, unsigned status,
                                            const char *type, struct pt_buf *body,
                                            const struct pt_http_header *headers, size_t count);
/* Releases it; pending answers keep their reference. NULL is allowed. */
void pt_http_content_free(const struct pt_http_server *s, struct pt_http_content *content);

/* A field of a JSON object, by name; the value goes to `offset` of a struct. */
enum pt_http_field_kind {
    PT_HTTP_TEXT, /* char *, to be freed by pt_free */
    PT_HTTP_I64,
    PT_HTTP_F64,
    PT_HTTP_BOOL,
};

struct pt_http_field {
    const char *name;
    enum pt_http_field_kind kind;
    size_t offset;
};

/* What the module "http-server" exports. */
#define PT_HTTP_SERVER_VERSION 3

struct pt_http_server_interface {
    /* Takes the descriptor if it succeeds. */
    int (*open)(void **state, const struct pt_http_server_options *options, int listen_fd,
                struct pt_err *err);
    void (*close)(void *state);
    void (*tend)(void *state);
    struct pt_http_content *(*content_new)(unsigned status, const char *type, struct pt_buf *body,
                                           const struct pt_http_header *headers, size_t count);
    void (*content_free)(struct pt_http_content *content);
    const char *(*parameter)(const struct pt_http_exchange *x, const char *name);
    const char *(*header)(const struct pt_http_exchange *x, const char *name);
    void (*reply_content)(struct pt_http_exchange *x, struct pt_http_content *content);
    void (*reply)(struct pt_http_exchange *x, unsigned status, const char *type,
                  struct pt_str body);
    void (*begin)(struct pt_http_exchange *x, const char *type, void (*on_gone)(void *user),
                  void *user);
    int (*push)(struct pt_http_exchange *x, struct pt_str piece);
    void (*end)(struct pt_http_exchange *x);
    void (*cut)(struct pt_http_exchange *x);
    int (*read_json)(struct pt_str text, const struct pt_http_field *fields, size_t count,
                     void *into, struct pt_err *err);
};

/* The functions on an exchange may be called by any thread, one at a time. */

/* Answers; the exchange is gone afterwards. Copies the body. */
static inline void pt_http_reply(struct pt_http_exchange *x, unsigned status, const char *type,
                                 struct pt_str body) {
    x->module->reply(x, status, type, body);
}

/* The same with a content, of which nothing is copied. */
static inline void pt_http_reply_content(struct pt_http_exchange *x,
                                         struct pt_http_content *content) {
    x->module->reply_content(x, content);
}

/* Of the query, ?name=value, unescaped: "" without a value, NULL if it is not there. For the
 * handler: valid until it returns. */
static inline const char *pt_http_parameter(const struct pt_http_exchange *x, const char *name) {
    return x->module->parameter(x, name);
}

/* The same for a header of the request. */
static inline const char *pt_http_request_header(const struct pt_http_exchange *x,
                                                 const char *name) {
    return x->module->header(x, name);
}

/* Begins a streamed answer with status 200. `on_gone` is called once, on the server's thread, if
 * the reader has disconnected: it must not use the exchange. It is not called after pt_http_end. */
static inline void pt_http_begin(struct pt_http_exchange *x, const char *type,
                                 void (*on_gone)(void *user), void *user) {
    x->module->begin(x, type, on_gone, user);
}

/* Copies the piece. 0, or -EPIPE if the reader has disconnected. */
static inline int pt_http_push(struct pt_http_exchange *x, struct pt_str piece) {
    return x->module->push(x, piece);
}

/* Ends the answer; the exchange is gone afterwards. */
static inline void pt_http_end(struct pt_http_exchange *x) {
    x->module->end(x);
}

/* The same without waiting for the reader: what it has not read is dropped, and the connection
 * closed. */
static inline void pt_http_cut(struct pt_http_exchange *x) {
    x->module->cut(x);
}

/* Reads the fields that are there from the body, a JSON object; others are left alone, as are null
 * and unknown ones. -EINVAL with a message if it is not an object or a field has the wrong type;
 * strings may already be set then. */
static inline int pt_http_read_json(const struct pt_http_exchange *x,
                                    const struct pt_http_field *fields, size_t count, void *into,
                                    struct pt_err *err) {
    return x->module->read_json(x->body, fields, count, into, err);
}

#endif
