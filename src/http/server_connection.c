#include "http/server_connection.h"

#include "base/clock.h"
#include "base/mem.h"

#include <sys/socket.h>

#define CROWDED_NS PT_NS_PER_SECOND

void pt_http_connections_init(struct pt_http_connections *c, unsigned most) {
    *c = (struct pt_http_connections){ .crowd = most - most / 4 };
    pthread_mutex_init(&c->lock, NULL);
}

void pt_http_connections_release(struct pt_http_connections *c) {
    pthread_mutex_destroy(&c->lock);
}

static int64_t deadline_in(int64_t patience_ns) {
    return patience_ns ? pt_mono_ns() + patience_ns : 0;
}

struct pt_http_connection *pt_http_connection_new(struct pt_http_connections *c, int fd,
                                                  int64_t patience_ns) {
    struct pt_http_connection *connection = pt_calloc(1, sizeof *connection);
    connection->fd = fd;
    connection->deadline_ns = deadline_in(patience_ns);
    connection->waiting_ns = pt_mono_ns();
    pthread_mutex_lock(&c->lock);
    c->count++;
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
    c->count--;
    *connection->before = connection->next;
    if (connection->next)
        connection->next->before = connection->before;
    pthread_mutex_unlock(&c->lock);
    pt_free(connection);
}

void pt_http_connection_grant(struct pt_http_connections *c, struct pt_http_connection *connection,
                              int64_t patience_ns, bool is_waiting) {
    int64_t deadline_ns = deadline_in(patience_ns);
    int64_t waiting_ns = is_waiting ? pt_mono_ns() : 0;
    pthread_mutex_lock(&c->lock);
    connection->deadline_ns = deadline_ns;
    connection->waiting_ns = waiting_ns;
    pthread_mutex_unlock(&c->lock);
}

void pt_http_connections_cut(struct pt_http_connections *c, int64_t now_ns) {
    pthread_mutex_lock(&c->lock);
    bool is_crowded = c->count >= c->crowd;
    for (struct pt_http_connection *at = c->first; at; at = at->next) {
        bool is_late = at->deadline_ns && at->deadline_ns < now_ns;
        bool is_too_slow = is_crowded && at->waiting_ns && now_ns - at->waiting_ns > CROWDED_NS;
        if (is_late || is_too_slow)
            shutdown(at->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&c->lock);
}
