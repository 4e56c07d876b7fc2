/* source/kernel/tcp_listen.h -- listening TCP sockets and the processes that own them.
 *
 *   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
 *    0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345
 *
 * from /proc/net/tcp and tcp6; a process that has the socket open has a link to socket:[12345] in
 * its /proc/PID/fd. */
#ifndef PT_SOURCE_KERNEL_TCP_LISTEN_H
#define PT_SOURCE_KERNEL_TCP_LISTEN_H

#include "base/fs.h"

struct pt_tcp_socket {
    uint64_t inode;
    uint16_t port;
    bool is_ipv6;
    bool is_reachable_on_loopback; /* bound to a loopback address or to any */
};

struct pt_tcp_sockets {
    struct pt_tcp_socket *at; /* by inode, ascending */
    size_t count, capacity;
};

/* Takes the next listening socket of a tcp or tcp6 text; false at the end. */
bool pt_tcp_listen_next(struct pt_scan *text, bool is_ipv6, struct pt_tcp_socket *socket);

/* All of the network namespace of `pid` (0: our own). 0 or -errno. */
int pt_tcp_sockets_read(struct pt_tcp_sockets *s, const struct pt_fs *fs, pid_t pid,
                        struct pt_text *text) PT_MUST_CHECK;
void pt_tcp_sockets_release(struct pt_tcp_sockets *s);

/* Calls `visit` for each of the sockets that a process has open. 0 or -errno (-EACCES: its
 * descriptors may not be seen). */
int pt_tcp_sockets_of(const struct pt_tcp_sockets *s, const struct pt_fs *fs, pid_t pid,
                      void (*visit)(void *user, const struct pt_tcp_socket *socket), void *user);

#endif
