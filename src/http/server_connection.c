#include "http/server_connection.h"

#include "base/clock.h"
#include "base/mem.h"
#include "http/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define SEND_BYTES (128 << 10) /* the kernel would keep 4 MB for a client that does not read */

#define UNREAD_MAX ((size_t)64 << 20) /* of all answers together */

void pt_http_connections_init(struct pt_http_connections *c, unsigned most) {
    *c = (struct pt_http_connections){ .most = most, .crowd = most - most / 4 };
    pthread_mutex_init(&c->lock, NULL);
}

void pt_http_connections_release(struct pt_http_connections *c) {
    pthread_mutex_destroy(&c->lock);
}

/* An IPv4 client of an IPv6 socket is known by its IPv4 address. */
static void name_peer(int fd, char from[PT_HTTP_FROM_BYTES]) {
    struct pt_http_address a = { .length = 0 };
    struct ucred peer;
    socklen_t length = sizeof a, peer_length = sizeof peer;
    snprintf(from, PT_HTTP_FROM_BYTES, "unknown");
    if (getpeername(fd, &a.any, &length))
        return;
    if (a.any.sa_family == AF_INET)
        inet_ntop(AF_INET, &a.v4.sin_addr, from, PT_HTTP_FROM_BYTES);
    else if (a.any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a.v6.sin6_addr))
        inet_ntop(AF_INET, &a.v6.sin6_addr.s6_addr[12], from, PT_HTTP_FROM_BYTES);
    else if (a.any.sa_family == AF_INET6)
        inet_ntop(AF_INET6, &a.v6.sin6_addr, from, PT_HTTP_FROM_BYTES);
    else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_length) == 0)
        snprintf(from, PT_HTTP_FROM_BYTES, "uid %u", peer.uid);
}

/* Call this and the next ones with the lock held. An answer that a client does not read is dropped:
 * the kernel would keep it for minutes. */
static void cut(struct pt_http_connections *c, struct pt_http_connection *connection) {
    struct linger at_once = { .l_onoff = 1 };
    if (connection->turn != PT_HTTP_CLIENT_SENDS)
        setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    shutdown(connection->fd, SHUT_RDWR);
    c->count -= !connection->is_cut;
    c->unread_bytes -= connection->unread_bytes;
    connection->unread_bytes = 0;
    connection->is_cut = true;
}

/* A request that libmicrohttpd has not read yet: it is not the client who is slow. */
static bool is_asking(const struct pt_http_connection *connection) {
    int bytes = 0;
    return connection->turn == PT_HTTP_CLIENT_SENDS &&
           ioctl(connection->fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

static struct pt_http_connection *oldest_of(const struct pt_http_connections *c, bool has_answer) {
    struct pt_http_connection *oldest = NULL;
    for (struct pt_http_connection *at = c->first; at; at = at->next) {
        if (at->is_cut || at->turn == PT_HTTP_SERVER_WORKS ||
            (oldest && at->since_ns >= oldest->since_ns) || (has_answer && !at->unread_bytes) ||
            (c->count < c->most && is_asking(at)))
            continue;
        oldest = at;
    }
    return oldest;
}

static void make_room(struct pt_http_connections *c) {
    struct pt_http_connection *oldest = oldest_of(c, false);
    if (oldest)
        cut(c, oldest);
}

/* The newest answer is sent, however large. */
static void keep_answers_small(struct pt_http_connections *c,
                               const struct pt_http_connection *newest) {
    while (c->unread_bytes > UNREAD_MAX) {
        struct pt_http_connection *oldest = oldest_of(c, true);
        if (!oldest || oldest == newest)
            return;
        cut(c, oldest);
    }
}

static int64_t deadline_in(int64_t patience_ns) {
    return patience_ns ? pt_mono_ns() + patience_ns : 0;
}

struct pt_http_connection *pt_http_connection_new(struct pt_http_connections *c, int fd,
                                                  int64_t patience_ns) {
    struct pt_http_connection *connection = pt_calloc(1, sizeof *connection);
    connection->fd = fd;
    connection->deadline_ns = deadline_in(patience_ns);
    connection->since_ns = pt_mono_ns();
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){ SEND_BYTES }, sizeof(int));
    name_peer(fd, connection->from);
    pthread_mutex_lock(&c->lock);
    if (++c->count > c->crowd)
        make_room(c);
    connection->next = c->first;
    connection->before = &c->first;
    if (connection->next)
        connection->next->before = &connection->next;
    c->first = connection;
    pthread_mutex_unlock(&c->lock);
    return connection;
}

void pt_http_connection_free(struct pt_http_connections *c, struct pt_http_connection *connection) {
    pthread_mutex_lock(&c->lock);
    c->count -= !connection->is_cut;
    c->unread_bytes -= connection->unread_bytes;
    *connection->before = connection->next;
    if (connection->next)
        connection->next->before = connection->before;
    pthread_mutex_unlock(&c->lock);
    pt_free(connection);
}

void pt_http_connection_grant(struct pt_http_connections *c, struct pt_http_connection *connection,
                              enum pt_http_turn turn, size_t unread_bytes, int64_t patience_ns) {
    int64_t deadline_ns = deadline_in(patience_ns);
    int64_t now_ns = pt_mono_ns();
    pthread_mutex_lock(&c->lock);
    connection->deadline_ns = deadline_ns;
    connection->since_ns = now_ns;
    connection->turn = turn;
    if (!connection->is_cut) {
        c->unread_bytes += unread_bytes - connection->unread_bytes;
        connection->unread_bytes = unread_bytes;
    }
    keep_answers_small(c, connection);
    if (turn != PT_HTTP_SERVER_WORKS && c->count >= c->most)
        make_room(c); /* at the limit libmicrohttpd accepts nobody who could make it */
    pthread_mutex_unlock(&c->lock);
}

void pt_http_connection_cut(struct pt_http_connections *c, struct pt_http_connection *connection) {
    pthread_mutex_lock(&c->lock);
    cut(c, connection);
    pthread_mutex_unlock(&c->lock);
}

void pt_http_connections_cut(struct pt_http_connections *c, int64_t now_ns) {
    pthread_mutex_lock(&c->lock);
    for (struct pt_http_connection *at = c->first; at; at = at->next)
        if (at->deadline_ns && at->deadline_ns < now_ns)
            cut(c, at);
    pthread_mutex_unlock(&c->lock);
}
