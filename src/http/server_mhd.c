/* The module "http-server": http/server.h on libmicrohttpd, with one epoll thread.
 *
 * A connection that has nothing to send is suspended, so that the daemon never spins; pushing to it
 * resumes it. An exchange has two owners, the connection and whoever answers, and goes with the
 * last. Its lock is taken after the server's and before those of the daemon. */
#include "http/server.h"
#include "http/server_json.h"

#include "base/buf.h"
#include "base/scan.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>

#define CONNECTION_MAX     64
#define TIMEOUT_SECONDS    30
#define BYTES_MAX          ((size_t)1 << 20)
#define CONNECTION_BYTES   16384
#define STREAM_BLOCK_BYTES 4096

enum stage { WAITING, REPLIED, STREAMING };

struct server {
    struct pt_http_server_options options;
    struct MHD_Daemon *daemon;
    bool is_loopback; /* the Host of a request must be, too */
    pthread_mutex_t lock;
    /* Below: guarded by the lock. */
    struct exchange *exchanges;
    bool is_stopping;
};

struct exchange {
    struct pt_http_exchange public;
    struct MHD_Connection *connection;
    struct server *server;           /* known to its thread only, like the next three */
    struct exchange *next, **before; /* of the server's list */
    const struct pt_http_route *route;
    bool is_handled;
    struct pt_buf body;
    size_t unread_max_bytes;

    pthread_mutex_t lock;
    /* Below: guarded by the lock. */
    int owners;
    enum stage stage;
    unsigned status;
    const char *type;
    struct pt_buf pending; /* to be sent */
    size_t sent;           /* of them */
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
};

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

/* What was sent makes room. */
static void drop_sent(struct exchange *x) {
    memmove(x->pending.at, x->pending.at + x->sent, x->pending.len - x->sent);
    x->pending.len -= x->sent;
    x->sent = 0;
}

static int exchange_push(struct pt_http_exchange *public, struct pt_str piece) {
    struct exchange *x = exchange_of(public);
    pthread_mutex_lock(&x->lock);
    if (x->sent > 0)
        drop_sent(x);
    if (piece.len > x->unread_max_bytes - x->pending.len)
        x->is_gone = true;
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

/* Gives the daemon what there is of a stream; with nothing there it is suspended. */
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

/* Called with the lock held. A text that is whole goes with its length, and takes the buffer. */
static struct MHD_Response *response_of(struct exchange *x) {
    if (x->stage == STREAMING)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream,
                                                 x, NULL);
    struct pt_buf body = x->pending;
    x->pending = (struct pt_buf){ 0 };
    return MHD_create_response_from_buffer_with_free_callback(body.len, body.at, pt_free);
}

static enum MHD_Result send_response(struct MHD_Connection *connection,
                                     struct MHD_Response *response, unsigned status,
                                     const char *type) {
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < PT_COUNT(security_headers); i++)
        MHD_add_response_header(response, security_headers[i][0], security_headers[i][1]);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* Sends what the handler has answered, or waits for it. */
static enum MHD_Result answer(struct exchange *x) {
    struct MHD_Response *response = NULL;
    pthread_mutex_lock(&x->lock);
    bool has_answer = x->stage != WAITING, is_gone = x->is_gone;
    if (has_answer && !is_gone) {
        response = response_of(x);
    } else if (!is_gone) {
        x->is_suspended = true;
        MHD_suspend_connection(x->connection);
    }
    unsigned status = x->status;
    const char *type = x->type;
    pthread_mutex_unlock(&x->lock);
    if (is_gone)
        return MHD_NO;
    return has_answer ? send_response(x->connection, response, status, type) : MHD_YES;
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

/* No Host comes from programs that speak HTTP/1.0, not from browsers. */
static bool host_is_allowed(const struct server *s, struct MHD_Connection *connection) {
    const char *host = header(connection, MHD_HTTP_HEADER_HOST);
    return !s->is_loopback || !host || pt_http_host_is_loopback(pt_str_from(host));
}

static bool body_is_allowed(const struct server *s, struct MHD_Connection *connection) {
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (!length)
        return true;
    struct pt_scan scan = pt_scan_of(pt_str_from(length));
    uint64_t bytes = pt_scan_u64(&scan);
    return !scan.failed && bytes <= s->options.body_max_bytes;
}

static const struct {
    unsigned status;
    const char *text;
} refusals[] = {
    { MHD_HTTP_FORBIDDEN, "this server answers to names of this machine only\n" },
    { MHD_HTTP_NOT_FOUND, "not found\n" },
    { MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed\n" },
    { MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large\n" },
};

/* 0 if the request can be handled. */
static unsigned refusal_of(const struct server *s, struct MHD_Connection *connection,
                           const char *method, const struct pt_http_route *route) {
    if (!host_is_allowed(s, connection))
        return MHD_HTTP_FORBIDDEN;
    if (!route)
        return MHD_HTTP_NOT_FOUND;
    if (!is_method(route, method))
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    return body_is_allowed(s, connection) ? 0 : MHD_HTTP_CONTENT_TOO_LARGE;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status,
                              const struct pt_http_route *route) {
    const char *text = "";
    for (size_t i = 0; i < PT_COUNT(refusals); i++)
        if (refusals[i].status == status)
            text = refusals[i].text;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, route->method);
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

static void delist(struct server *s, struct exchange *x) {
    pthread_mutex_lock(&s->lock);
    *x->before = x->next;
    if (x->next)
        x->next->before = x->before;
    pthread_mutex_unlock(&s->lock);
}

/* The head of a request has come. */
static enum MHD_Result open_exchange(struct server *s, struct MHD_Connection *connection,
                                     const char *path, const char *method, void **slot) {
    const struct pt_http_route *route = find_route(s, method, path);
    unsigned refusal = refusal_of(s, connection, method, route);
    if (refusal)
        return refuse(connection, refusal, route);
    struct exchange *x = pt_calloc(1, sizeof *x);
    x->public.module = &interface;
    x->public.path = route->path;
    x->connection = connection;
    x->server = s;
    x->route = route;
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
        return MHD_NO; /* came in chunks: it is too late for an answer */
    pt_buf_bytes(&x->body, bytes, *count);
    *count = 0;
    return MHD_YES;
}

static void handle(struct exchange *x) {
    x->is_handled = true;
    x->owners = 2; /* nobody else knows it yet */
    x->public.body = pt_buf_as_str(&x->body);
    x->route->handle(x->server->options.user, &x->public);
}

/* Called for the head of a request, each piece of its body, its end, and whenever it is resumed. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes,
                                  size_t *count, void **slot) {
    (void)version;
    struct exchange *x = *slot;
    if (!x)
        return open_exchange(user, connection, path, method, slot);
    if (*count > 0)
        return take_body(x, bytes, count);
    if (!x->is_handled)
        handle(x);
    return answer(x);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **slot,
                         enum MHD_RequestTerminationCode how) {
    (void)connection;
    (void)how;
    struct exchange *x = *slot;
    if (!x)
        return;
    *slot = NULL;
    delist(user, x);
    pthread_mutex_lock(&x->lock);
    x->is_gone = true;
    if (x->on_gone && !x->is_ended)
        x->on_gone(x->user);
    disown(x);
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
    pthread_mutex_destroy(&s->lock);
    pt_free(s);
}

static int server_open(void **state, const struct pt_http_server_options *options, int fd,
                       struct pt_err *err) {
    struct server *s = pt_calloc(1, sizeof *s);
    s->options = with_defaults(options);
    s->is_loopback = is_internet_loopback(fd);
    pthread_mutex_init(&s->lock, NULL);
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        on_request, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, s, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_CONNECTION_LIMIT, s->options.connection_max, MHD_OPTION_CONNECTION_TIMEOUT,
        s->options.timeout_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
        MHD_OPTION_END);
    if (s->daemon) {
        *state = s;
        return 0;
    }
    server_free(s);
    return pt_fail(err, -EIO, "libmicrohttpd cannot start");
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

static const char *server_library(void) {
    return MHD_get_version();
}

static const struct pt_http_server_interface interface = {
    .open = server_open,
    .close = server_close,
    .reply = exchange_reply,
    .begin = exchange_begin,
    .push = exchange_push,
    .end = exchange_end,
    .read_json = pt_http_json_read,
    .library = server_library,
};

PT_MODULE(PT_HTTP_SERVER_VERSION, &interface);
