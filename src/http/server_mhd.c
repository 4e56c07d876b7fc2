/* The module "http-server": http/server.h on libmicrohttpd, with one epoll thread.
 *
 * A connection that has nothing to send is suspended, so that the daemon never spins; pushing to it
 * resumes it. An exchange has two owners, the connection and the code that answers, and is freed
 * with the last one. Its lock is taken after the server's and before those of the daemon. */
#include "http/server.h"
#include "http/server_connection.h"
#include "http/server_head.h"
#include "http/server_json.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/scan.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define CONNECTION_MAX     64
#define TIMEOUT_SECONDS    30
#define BYTES_MAX          ((size_t)1 << 20)
#define CONNECTION_BYTES   16384
#define STREAM_BLOCK_BYTES 4096
#define STREAM_KEPT_BYTES  65536 /* of a stream that has nothing to send */
#define ANSWER_PATIENCE    4     /* times the timeout */
#define TLS_PRIORITIES     "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

enum stage { WAITING, REPLIED, STREAMING };

struct server {
    struct pt_http_server_options options;
    struct MHD_Daemon *daemon;
    bool is_loopback;   /* the Host of a request must be, too */
    bool reads_loosely; /* see refusal_of_head */
    struct pt_http_connections connections;
    pthread_mutex_t lock;
    /* Below: guarded by the lock. */
    struct exchange *exchanges;
    bool is_stopping;
};

struct pt_http_content {
    atomic_int owners;
    unsigned status;
    size_t bytes;
    struct MHD_Response *response;
};

struct exchange {
    struct pt_http_exchange public;
    struct MHD_Connection *connection;
    struct pt_http_connection *client;
    struct server *server;           /* known to its thread only, like the next three */
    struct exchange *next, **before; /* of the server's list */
    const struct pt_http_route *route;
    bool is_handled;
    int64_t start_ns;
    struct pt_buf body;
    size_t unread_max_bytes;

    pthread_mutex_t lock;
    /* Below: guarded by the lock. */
    int owners;
    enum stage stage;
    unsigned status;
    const char *type;
    struct pt_http_content *content; /* to be sent, one of these */
    struct pt_buf pending;
    size_t sent; /* of them */
    bool is_suspended;
    bool is_ended; /* nothing more will be pushed */
    bool is_gone;  /* nothing more can be sent */
    void (*on_gone)(void *user);
    void *user;
};

static const struct pt_http_server_interface interface;

static struct exchange *exchange_of(struct pt_http_exchange *x) {
    return (struct exchange *)x;
}

static const char *const security_headers[][2] = {
    { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
    { "X-Content-Type-Options", "nosniff" },
    { "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
    { "Cross-Origin-Resource-Policy", "same-origin" },
    { "Referrer-Policy", "no-referrer" },
};

static void content_free(struct pt_http_content *content) {
    /* release: what others did with it; acquire: the last one sees all of that */
    if (atomic_fetch_sub_explicit(&content->owners, 1, memory_order_acq_rel) > 1)
        return;
    MHD_destroy_response(content->response);
    pt_free(content);
}

/* Called with the lock held. */
static void wake(struct exchange *x) {
    if (!x->is_suspended)
        return;
    x->is_suspended = false;
    MHD_resume_connection(x->connection);
}

/* Unlocks, and frees with the last owner. */
static void disown(struct exchange *x) {
    int owners = --x->owners;
    pthread_mutex_unlock(&x->lock);
    if (owners > 0)
        return;
    pthread_mutex_destroy(&x->lock);
    pt_buf_release(&x->body);
    pt_buf_release(&x->pending);
    if (x->content)
        content_free(x->content);
    pt_free(x);
}

static void exchange_reply(struct pt_http_exchange *public, unsigned status, const char *type,
                           struct pt_str body) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    x->stage = REPLIED;
    x->status = status;
    x->type = type;
    x->is_ended = true;
    if (!x->is_gone)
        pt_buf_str(&x->pending, body);
    wake(x);
    disown(x);
}

static void exchange_reply_content(struct pt_http_exchange *public,
                                   struct pt_http_content *content) {
    struct exchange *x = exchange_of(public);
    atomic_fetch_add_explicit(&content->owners, 1, memory_order_relaxed);
    pthread_mutex_lock(&x->lock);
    x->stage = REPLIED;
    x->status = content->status;
    x->content = content;
    x->is_ended = true;
    wake(x);
    disown(x);
}

static void exchange_begin(struct pt_http_exchange *public, const char *type,
                           void (*on_gone)(void *user), void *user) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    x->stage = STREAMING;
    x->status = MHD_HTTP_OK;
    x->type = type;
    x->on_gone = on_gone;
    x->user = user;
    wake(x);
    pthread_mutex_unlock(&x->lock);
}

/* Called with the lock held. The client may never read what is pending. */
static void abandon(struct exchange *x) {
    if (!x->is_gone)
        pt_http_connection_cut(&x->server->connections, x->client);
    x->is_gone = true;
    pt_buf_release(&x->pending);
    x->sent = 0;
    wake(x);
}

static int exchange_push(struct pt_http_exchange *public, struct pt_str piece) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    if (x->sent > 0) {
        memmove(x->pending.at, x->pending.at + x->sent, x->pending.len - x->sent);
        x->pending.len -= x->sent;
        x->sent = 0;
        /* A slow reader has made the buffer large: release it. */
        if (x->pending.len == 0 && x->pending.capacity > STREAM_KEPT_BYTES)
            pt_buf_release(&x->pending);
    }
    if (piece.len > x->unread_max_bytes - x->pending.len)
        abandon(x);
    bool is_gone = x->is_gone;
    if (!is_gone)
        pt_buf_str(&x->pending, piece);
    wake(x);
    pthread_mutex_unlock(&x->lock);
    return is_gone ? -EPIPE : 0;
}

static void exchange_end(struct pt_http_exchange *public) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    x->is_ended = true;
    wake(x);
    disown(x);
}

static void exchange_cut(struct pt_http_exchange *public) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    x->is_ended = true;
    abandon(x);
    disown(x);
}

/* Gives the daemon the pending bytes of a stream; suspends the connection if there are none. */
static ssize_t read_stream(void *user, uint64_t position, char *into, size_t most) {
    (void)position;
    struct exchange *x = user;
    ssize_t result = 0;
    pthread_mutex_lock(&x->lock);
    size_t n = x->pending.len - x->sent;
    n = n < most ? n : most;
    if (x->is_gone) {
        result = MHD_CONTENT_READER_END_WITH_ERROR;
    } else if (n > 0) {
        memcpy(into, x->pending.at + x->sent, n);
        x->sent += n;
        result = (ssize_t)n;
    } else if (x->is_ended) {
        result = MHD_CONTENT_READER_END_OF_STREAM;
    } else {
        x->is_suspended = true;
        MHD_suspend_connection(x->connection);
    }
    pthread_mutex_unlock(&x->lock);
    return result;
}

/* Called with the lock held. A complete text is sent with its length and hands over the buffer. */
static struct MHD_Response *response_of(struct exchange *x) {
    if (x->stage == STREAMING)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream,
                                                 x, NULL);
    struct pt_buf body = x->pending;
    x->pending = (struct pt_buf){ 0 };
    return MHD_create_response_from_buffer_with_free_callback(body.len, body.at, pt_free);
}

/* Adds the default headers that the answer has not set itself. */
static void add_common_headers(struct MHD_Response *response, const char *type) {
    for (size_t i = 0; i < PT_COUNT(security_headers); i++)
        if (!MHD_get_response_header(response, security_headers[i][0]))
            MHD_add_response_header(response, security_headers[i][0], security_headers[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
}

static struct pt_http_content *content_new(unsigned status, const char *type, struct pt_buf *body,
                                           const struct pt_http_header *headers, size_t count) {
    size_t bytes = body->len;
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(bytes, body->at, pt_free);
    if (!response)
        return NULL;
    *body = (struct pt_buf){ 0 };
    for (size_t i = 0; i < count; i++)
        MHD_add_response_header(response, headers[i].name, headers[i].value);
    add_common_headers(response, type);
    struct pt_http_content *content = pt_calloc(1, sizeof *content);
    atomic_init(&content->owners, 1);
    content->status = status;
    content->bytes = bytes;
    content->response = response;
    return content;
}

static enum MHD_Result send_response(struct MHD_Connection *connection,
                                     struct MHD_Response *response, unsigned status,
                                     const char *type) {
    if (!response)
        return MHD_NO;
    add_common_headers(response, type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static int64_t patience_ns(const struct server *s) {
    return s->options.timeout_seconds * PT_NS_PER_SECOND;
}

static struct pt_http_connection *client_of(struct MHD_Connection *connection) {
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* Sends what the handler has answered, or waits for it. */
static enum MHD_Result answer(struct exchange *x) {
    struct MHD_Response *response = NULL;
    pthread_mutex_lock(&x->lock);
    bool has_answer = x->stage != WAITING, is_gone = x->is_gone;
    bool is_stream = x->stage == STREAMING;
    struct pt_http_content *content = x->content;
    size_t bytes = content ? content->bytes : x->pending.len;
    if (!has_answer && !is_gone) {
        x->is_suspended = true;
        MHD_suspend_connection(x->connection);
    } else if (!is_gone && !content) {
        response = response_of(x);
    }
    unsigned status = x->status;
    const char *type = x->type;
    pthread_mutex_unlock(&x->lock);
    if (is_gone)
        return MHD_NO;
    if (!has_answer)
        return MHD_YES;
    if (!is_stream)
        pt_http_connection_grant(&x->server->connections, x->client, PT_HTTP_CLIENT_READS, bytes,
                                 ANSWER_PATIENCE * patience_ns(x->server));
    return content ? MHD_queue_response(x->connection, status, content->response)
                   : send_response(x->connection, response, status, type);
}

static bool is_method(const struct pt_http_route *route, const char *method) {
    return strcmp(route->method, method) == 0 || (strcmp(method, MHD_HTTP_METHOD_HEAD) == 0 &&
                                                  strcmp(route->method, MHD_HTTP_METHOD_GET) == 0);
}

/* The route for the path with this method, else one with another method, else NULL. */
static const struct pt_http_route *find_route(const struct server *s, const char *method,
                                              const char *path) {
    const struct pt_http_route *found = NULL;
    for (size_t i = 0; i < s->options.route_count; i++) {
        const struct pt_http_route *route = &s->options.routes[i];
        if (strcmp(route->path, path) == 0 && (!found || is_method(route, method)))
            found = route;
    }
    return found;
}

static const char *header(struct MHD_Connection *connection, const char *name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result add_header(void *head, enum MHD_ValueKind kind, const char *name,
                                  size_t name_length, const char *value, size_t value_length) {
    (void)kind;
    pt_http_head_add(head, (struct pt_str){ name, name_length },
                     (struct pt_str){ value ? value : name + name_length, value_length });
    return MHD_YES;
}

/* Versions below 1.0 end a line at any line feed, fold lines and cut values at a zero, however
 * strict they are asked to be. They leave the head where it was read, though, so that the lines of
 * a good one follow each other exactly. (Before a bare line feed, a zero and a
 * lone colon then look like a CR; no proxy passes these on.) */
static unsigned refusal_of_head(const struct server *s, struct MHD_Connection *connection,
                                const char *path, const char *method, const char *version) {
    const struct pt_http_connection *client = client_of(connection);
    struct pt_http_head head = { .is_bad = client->is_target_bad };
    const char *end = NULL;
    if (s->reads_loosely) {
        head.is_bad |=
            path != method + strlen(method) + 1 || version != path + client->target_length + 1;
        head.next = version + strlen(version) + 2;
        end = method + MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
                           ->header_size;
    }
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, add_header, &head);
    if (strcmp(version, "HTTP/1.0") != 0)
        head.is_bad |=
            strcmp(version, "HTTP/1.1") != 0 || !header(connection, MHD_HTTP_HEADER_HOST);
    return pt_http_head_end(&head, end);
}

/* The scheme does not matter: a proxy may speak TLS for this server. */
static bool is_same_host(const char *origin, const char *host) {
    const char *after_scheme = strstr(origin, "://");
    return host && after_scheme && strcasecmp(after_scheme + 3, host) == 0;
}

/* Sent by a page of another server? Such a page may link here, no more. Browsers tell. */
static bool is_foreign(struct MHD_Connection *connection, const char *method) {
    const char *site = header(connection, "Sec-Fetch-Site");
    const char *mode = header(connection, "Sec-Fetch-Mode");
    const char *origin = header(connection, MHD_HTTP_HEADER_ORIGIN);
    if (!site)
        return origin && !is_same_host(origin, header(connection, MHD_HTTP_HEADER_HOST));
    bool is_link = mode && strcmp(mode, "navigate") == 0 && strcmp(method, "GET") == 0;
    return strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 && !is_link;
}

static bool body_is_allowed(const struct server *s, struct MHD_Connection *connection) {
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    struct pt_scan scan = pt_scan_of(pt_str_from(length ? length : "0"));
    uint64_t bytes = pt_scan_u64(&scan);
    return !scan.failed && bytes <= s->options.body_max_bytes;
}

/* Why a request is not handled. */
enum refusal {
    ALLOWED,
    MALFORMED,
    CHUNKED,
    NOT_THIS_HOST,
    FOREIGN,
    NO_ROUTE,
    NO_METHOD,
    NO_TOKEN,
    WRONG_TOKEN,
    TOO_MANY_WRONG,
    TOO_LARGE,
};

static const struct {
    unsigned status;
    const char *text;
} refusals[] = {
    [MALFORMED] = { MHD_HTTP_BAD_REQUEST, "malformed request\n" },
    [CHUNKED] = { MHD_HTTP_LENGTH_REQUIRED, "the request needs a Content-Length\n" },
    [NOT_THIS_HOST] = { MHD_HTTP_FORBIDDEN, "the Host header must be a name of this machine\n" },
    [FOREIGN] = { MHD_HTTP_FORBIDDEN, "a page of another server sent this request\n" },
    [NO_ROUTE] = { MHD_HTTP_NOT_FOUND, "not found\n" },
    [NO_METHOD] = { MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n" },
    [NO_TOKEN] = { MHD_HTTP_FORBIDDEN,
                   "this request needs a token, and the server was started without one\n" },
    [WRONG_TOKEN] = { MHD_HTTP_UNAUTHORIZED,
                      "missing or wrong token (send the header Authorization: Bearer TOKEN)\n" },
    [TOO_MANY_WRONG] = { MHD_HTTP_TOO_MANY_REQUESTS,
                         "too many wrong tokens from this address; try again in a minute\n" },
    [TOO_LARGE] = { MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n" },
};

static enum refusal refusal_by_token(const struct server *s, struct MHD_Connection *connection,
                                     const struct pt_http_route *route) {
    if (!s->options.admits)
        return ALLOWED;
    switch (s->options.admits(s->options.user, route, client_of(connection)->from,
                              header(connection, MHD_HTTP_HEADER_AUTHORIZATION))) {
    case 0:
        return ALLOWED;
    case MHD_HTTP_FORBIDDEN:
        return NO_TOKEN;
    case MHD_HTTP_TOO_MANY_REQUESTS:
        return TOO_MANY_WRONG;
    default:
        return WRONG_TOKEN;
    }
}

static enum refusal refusal_of(const struct server *s, struct MHD_Connection *connection,
                               const char *method, const struct pt_http_route *route) {
    const char *host = header(connection, MHD_HTTP_HEADER_HOST);
    /* Programs that use HTTP/1.0 send no Host header; browsers always do. */
    if (s->is_loopback && host && !pt_http_host_is_loopback(pt_str_from(host)))
        return NOT_THIS_HOST;
    if (is_foreign(connection, method))
        return FOREIGN;
    if (!route)
        return NO_ROUTE;
    if (!is_method(route, method))
        return NO_METHOD;
    enum refusal refusal = refusal_by_token(s, connection, route);
    return refusal || body_is_allowed(s, connection) ? refusal : TOO_LARGE;
}

/* libmicrohttpd closes the connection after an answer to the head of a request. */
static enum MHD_Result refuse(struct server *s, struct MHD_Connection *connection,
                              enum refusal refusal, const struct pt_http_route *route) {
    struct pt_http_connection *client = client_of(connection);
    const char *text = refusals[refusal].text;
    unsigned status = refusals[refusal].status;
    struct pt_http_done done = { .method = route ? route->method : "",
                                 .path = route ? route->path : "",
                                 .status = status,
                                 .from = client->from,
                                 .note = "" };
    if (s->options.on_done)
        s->options.on_done(s->options.user, &done);
    pt_http_connection_grant(&s->connections, client, PT_HTTP_CLIENT_READS, 0, patience_ns(s));
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (refusal == NO_METHOD)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, route->method);
    if (refusal == WRONG_TOKEN)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (refusal == TOO_MANY_WRONG)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "60");
    return send_response(connection, response, status, "text/plain; charset=utf-8");
}

/* False when the server is about to stop. */
static bool enlist(struct server *s, struct exchange *x) {
    pthread_mutex_lock(&s->lock);
    bool is_open = !s->is_stopping;
    if (is_open) {
        x->next = s->exchanges;
        x->before = &s->exchanges;
        if (x->next)
            x->next->before = &x->next;
        s->exchanges = x;
    }
    pthread_mutex_unlock(&s->lock);
    return is_open;
}

/* The head of a request has come. */
static enum MHD_Result open_exchange(struct server *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, const char *version,
                                     void **slot) {
    const struct pt_http_route *route = NULL;
    unsigned bad = refusal_of_head(s, connection, path, method, version);
    enum refusal refusal = bad == MHD_HTTP_LENGTH_REQUIRED ? CHUNKED : MALFORMED;
    if (!bad) {
        route = find_route(s, method, path);
        refusal = refusal_of(s, connection, method, route);
    }
    if (refusal)
        return refuse(s, connection, refusal, route);
    struct exchange *x = pt_calloc(1, sizeof *x);
    x->public.module = &interface;
    x->public.path = route->path;
    x->connection = connection;
    x->client = client_of(connection);
    x->server = s;
    x->route = route;
    x->start_ns = pt_mono_ns();
    x->unread_max_bytes = s->options.unread_max_bytes;
    x->owners = 1;
    pthread_mutex_init(&x->lock, NULL);
    if (!enlist(s, x)) {
        pthread_mutex_lock(&x->lock);
        disown(x);
        return MHD_NO;
    }
    *slot = x;
    return MHD_YES;
}

static enum MHD_Result take_body(struct exchange *x, const char *bytes, size_t *count) {
    if (*count > x->server->options.body_max_bytes - x->body.len)
        return MHD_NO; /* more than its Content-Length said */
    pt_buf_bytes(&x->body, bytes, *count);
    *count = 0;
    return MHD_YES;
}

static void handle(struct exchange *x) {
    x->is_handled = true;
    pt_http_connection_grant(&x->server->connections, x->client, PT_HTTP_SERVER_WORKS, 0, 0);
    x->owners = 2; /* no other thread has it yet */
    x->public.body = pt_buf_as_str(&x->body);
    x->route->handle(x->server->options.user, &x->public);
}

/* Called for the head of a request, each piece of its body, its end, and whenever it is resumed. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *count, void **slot) {
    struct exchange *x = *slot;
    if (!x)
        return open_exchange(user, connection, path, method, version, slot);
    if (*count > 0)
        return take_body(x, bytes, count);
    if (!x->is_handled)
        handle(x);
    return answer(x);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode how) {
    (void)how;
    struct exchange *x = *slot;
    struct server *s = user;
    pt_http_connection_grant(&s->connections, client_of(connection), PT_HTTP_CLIENT_SENDS, 0,
                             patience_ns(s)); /* the next request */
    if (!x)
        return;
    *slot = NULL;
    pthread_mutex_lock(&s->lock);
    *x->before = x->next;
    if (x->next)
        x->next->before = x->before;
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&x->lock);
    x->is_gone = true;
    if (x->on_gone && !x->is_ended)
        x->on_gone(x->user);
    struct pt_http_done done = { .method = x->route->method,
                                 .path = x->route->path,
                                 .status = x->status,
                                 .took_ns = pt_mono_ns() - x->start_ns,
                                 .from = x->client->from };
    char note[sizeof x->public.note];
    pt_str_copy(note, sizeof note, pt_str_from(x->public.note));
    done.note = note;
    disown(x);
    if (s->options.on_done)
        s->options.on_done(s->options.user, &done);
}

/* Called with the target of a request as it was sent, before libmicrohttpd splits it. */
static void *on_target(void *user, const char *target, struct MHD_Connection *connection) {
    (void)user;
    struct pt_http_connection *client = client_of(connection);
    struct pt_str text = pt_str_from(target ? target : "");
    client->target_length = text.len;
    client->is_target_bad = !pt_http_target_is_clean(text);
    return NULL;
}

static void on_connection(void *user, struct MHD_Connection *connection, void **slot,
                          enum MHD_ConnectionNotificationCode what) {
    struct server *s = user;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        pt_http_connection_free(&s->connections, *slot);
        return;
    }
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *slot = pt_http_connection_new(&s->connections, info->connect_fd, patience_ns(s));
}

static void on_log(void *user, const char *format, va_list arguments) {
    struct server *s = user;
    char text[256];
    if (!s->options.on_problem)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = 0;
    s->options.on_problem(s->options.user, text);
}

static struct pt_http_server_options with_defaults(const struct pt_http_server_options *given) {
    struct pt_http_server_options o = *given;
    if (!o.body_max_bytes)
        o.body_max_bytes = BYTES_MAX;
    if (!o.unread_max_bytes)
        o.unread_max_bytes = BYTES_MAX;
    if (!o.connection_max)
        o.connection_max = CONNECTION_MAX;
    if (!o.timeout_seconds)
        o.timeout_seconds = TIMEOUT_SECONDS;
    return o;
}

static bool is_internet_loopback(int fd) {
    struct pt_http_address a = { 0 };
    socklen_t length = sizeof a;
    return getsockname(fd, &a.any, &length) == 0 && a.any.sa_family != AF_UNIX &&
           pt_http_address_is_loopback(&a);
}

static void server_free(struct server *s) {
    pt_http_connections_release(&s->connections);
    pthread_mutex_destroy(&s->lock);
    pt_free(s);
}

static int server_open(void **state, const struct pt_http_server_options *options, int fd,
                       struct pt_err *err) {
    struct server *s = pt_calloc(1, sizeof *s);
    s->options = with_defaults(options);
    s->is_loopback = is_internet_loopback(fd);
    s->reads_loosely = MHD_get_version()[0] == '0';
    pthread_mutex_init(&s->lock, NULL);
    pt_http_connections_init(&s->connections, s->options.connection_max);
    const struct MHD_OptionItem tls[] = {
        { MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->certificate },
        { MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->key },
        { MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES },
        { MHD_OPTION_END, 0, NULL },
    };
    const struct MHD_OptionItem none = { MHD_OPTION_END, 0, NULL };
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    s->daemon = MHD_start_daemon(
        flags | (options->certificate ? MHD_USE_TLS : 0), 0, NULL, NULL, on_request, s,
        MHD_OPTION_EXTERNAL_LOGGER, on_log, s, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
        s, MHD_OPTION_URI_LOG_CALLBACK, on_target, s, MHD_OPTION_STRICT_FOR_CLIENT,
        s->reads_loosely ? 0 : 1, MHD_OPTION_CONNECTION_LIMIT, s->options.connection_max,
        MHD_OPTION_CONNECTION_TIMEOUT, s->options.timeout_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_ARRAY,
        options->certificate ? tls : &none, MHD_OPTION_END);
    if (s->daemon) {
        *state = s;
        return 0;
    }
    server_free(s);
    return pt_fail(err, -EIO, "cannot start libmicrohttpd%s",
                   options->certificate ? " (do the certificate and the key match?)" : "");
}

/* The daemon cannot stop while connections are suspended. */
static void cut_exchanges(struct server *s) {
    pthread_mutex_lock(&s->lock);
    s->is_stopping = true;
    for (struct exchange *x = s->exchanges; x; x = x->next) {
        pthread_mutex_lock(&x->lock);
        x->is_gone = true;
        wake(x);
        pthread_mutex_unlock(&x->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static void server_close(void *state) {
    struct server *s = state;
    cut_exchanges(s);
    MHD_stop_daemon(s->daemon);
    server_free(s);
}

static void server_tend(void *state) {
    struct server *s = state;
    pt_http_connections_cut(&s->connections, pt_mono_ns());
}

static const char *exchange_parameter(const struct pt_http_exchange *public, const char *name) {
    const char *value = NULL;
    const struct exchange *x = (const struct exchange *)public;
    bool is_there = MHD_lookup_connection_value_n(x->connection, MHD_GET_ARGUMENT_KIND, name,
                                                  strlen(name), &value, NULL) == MHD_YES;
    return value ? value : is_there ? "" : NULL;
}

static const char *exchange_header(const struct pt_http_exchange *public, const char *name) {
    return header(((const struct exchange *)public)->connection, name);
}

static const struct pt_http_server_interface interface = {
    .open = server_open,
    .close = server_close,
    .tend = server_tend,
    .content_new = content_new,
    .content_free = content_free,
    .parameter = exchange_parameter,
    .header = exchange_header,
    .reply_content = exchange_reply_content,
    .reply = exchange_reply,
    .begin = exchange_begin,
    .push = exchange_push,
    .end = exchange_end,
    .cut = exchange_cut,
    .read_json = pt_http_json_read,
};

PT_MODULE(PT_HTTP_SERVER_VERSION, &interface, "libmicrohttpd", MHD_get_version);
