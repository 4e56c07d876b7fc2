/* http/server_connection.h -- the connections of a server: who is at the other end, how long each
 * may take, and which one gives its place to a new one. For the server's module only.
 *
 * libmicrohttpd closes idle connections and stops accepting at its limit. A client that sends a
 * byte now and then would keep its connection for ever, and a few hundred of them would keep
 * everybody else waiting. So every connection has a deadline while the server waits for the client,
 * and above three quarters of the limit each new one closes the one that has made the server wait
 * longest, for a request or for reading an answer. Answers that are not read have a limit, too:
 * above it the oldest is dropped. */
#ifndef PT_HTTP_SERVER_CONNECTION_H
#define PT_HTTP_SERVER_CONNECTION_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_HTTP_FROM_BYTES 48

enum pt_http_turn {
    PT_HTTP_CLIENT_SENDS, /* a request, or nothing yet */
    PT_HTTP_CLIENT_READS, /* an answer */
    PT_HTTP_SERVER_WORKS, /* on an answer or a stream */
};

struct pt_http_connection {
    int fd;
    char from[PT_HTTP_FROM_BYTES]; /* "10.0.0.7", "2001:db8::1", or "uid 1000" of a UNIX socket */
    size_t target_length;          /* of the current request, as it was sent */
    bool is_target_bad;
    enum pt_http_turn turn;
    int64_t since_ns;    /* of this turn; CLOCK_MONOTONIC */
    int64_t deadline_ns; /* 0: none */
    size_t unread_bytes; /* of the answer */
    bool is_cut;
    struct pt_http_connection *next, **before;
};

struct pt_http_connections {
    pthread_mutex_t lock;
    struct pt_http_connection *first;
    size_t unread_bytes;  /* of all */
    unsigned count;       /* without those that are cut */
    unsigned most, crowd; /* above `crowd` a new one closes another */
};

void pt_http_connections_init(struct pt_http_connections *c, unsigned most);
void pt_http_connections_release(struct pt_http_connections *c);

/* A new one, which ends unless its deadline is moved. May cut another. */
struct pt_http_connection *pt_http_connection_new(struct pt_http_connections *c, int fd,
                                                  int64_t patience_ns);
/* Before the descriptor is closed. */
void pt_http_connection_free(struct pt_http_connections *c, struct pt_http_connection *connection);
/* Sets whose turn it is, the size of the answer and the deadline, this far from now; 0: none. */
void pt_http_connection_grant(struct pt_http_connections *c, struct pt_http_connection *connection,
                              enum pt_http_turn turn, size_t unread_bytes, int64_t patience_ns);
/* Shuts the connection down, with what its client has not read; libmicrohttpd then closes it. */
void pt_http_connection_cut(struct pt_http_connections *c, struct pt_http_connection *connection);
/* Does that with all connections after their deadline. */
void pt_http_connections_cut(struct pt_http_connections *c, int64_t now_ns);

#endif
