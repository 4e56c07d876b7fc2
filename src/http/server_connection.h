/* http/server_connection.h -- how long each connection may take. For the server's module only.
 *
 * libmicrohttpd closes idle connections. A client that sends a byte now and then would keep its
 * connection for ever, so every connection also has a deadline while the server waits for the
 * client. With many connections, those without a complete request get less time. */
#ifndef PT_HTTP_SERVER_CONNECTION_H
#define PT_HTTP_SERVER_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct pt_http_connection {
    int fd;
    int64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none */
    int64_t waiting_ns;  /* since when for a request; 0: it has sent one */
    struct pt_http_connection *next, **before;
};

struct pt_http_connections {
    pthread_mutex_t lock;
    struct pt_http_connection *first;
    unsigned count, crowd; /* above this count few are left */
};

void pt_http_connections_init(struct pt_http_connections *c, unsigned most);
void pt_http_connections_release(struct pt_http_connections *c);

/* A new one, which ends unless its deadline is moved. */
struct pt_http_connection *pt_http_connection_new(struct pt_http_connections *c, int fd,
                                                  int64_t patience_ns);
/* Before the descriptor is closed. */
void pt_http_connection_free(struct pt_http_connections *c, struct pt_http_connection *connection);
/* Sets the deadline this far from now; 0: none. `is_waiting`: for a request. */
void pt_http_connection_grant(struct pt_http_connections *c, struct pt_http_connection *connection,
                              int64_t patience_ns, bool is_waiting);
/* Shuts down connections after their deadline; libmicrohttpd then closes them. */
void pt_http_connections_cut(struct pt_http_connections *c, int64_t now_ns);

#endif
