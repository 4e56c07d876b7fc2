/* source/kernel/tcp_diag.h -- listening TCP sockets by asking the kernel (netlink, sock_diag).
 *
 * Reading /proc/net/tcp walks the hash table of all connections and always takes milliseconds. A
 * request for listening sockets only takes microseconds. */
#ifndef PT_SOURCE_KERNEL_TCP_DIAG_H
#define PT_SOURCE_KERNEL_TCP_DIAG_H

#include "source/kernel/tcp_listen.h"

/* Adds those of our own network namespace. 0 or -errno: the kernel does not answer this. */
int pt_tcp_diag_read(struct pt_tcp_sockets *s) PT_MUST_CHECK;
/* Adds those of a message, which is aligned. 1: there is more to come; 0: that was all; -errno. */
int pt_tcp_diag_take(struct pt_tcp_sockets *s, struct pt_str answer) PT_MUST_CHECK;

#endif
