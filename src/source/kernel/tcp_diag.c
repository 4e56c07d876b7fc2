#include "source/kernel/tcp_diag.h"

#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static int ask(int fd, uint8_t family) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } request = {
        .header = { .nlmsg_len = sizeof request,
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .body = { .sdiag_family = family,
                  .sdiag_protocol = IPPROTO_TCP,
                  .idiag_states = 1u << TCP_LISTEN },
    };
    return send(fd, &request, sizeof request, 0) == (ssize_t)sizeof request ? 0 : -errno;
}

static bool reaches_loopback(const struct inet_diag_msg *m) {
    const struct in6_addr *v6 = (const void *)m->id.idiag_src;
    if (m->idiag_family == AF_INET)
        return m->id.idiag_src[0] == htonl(INADDR_ANY) ||
               ntohl(m->id.idiag_src[0]) >> 24 == IN_LOOPBACKNET;
    return IN6_IS_ADDR_UNSPECIFIED(v6) || IN6_IS_ADDR_LOOPBACK(v6) ||
           (IN6_IS_ADDR_V4MAPPED(v6) && v6->s6_addr[12] == IN_LOOPBACKNET);
}

static void add(struct pt_tcp_sockets *s, const struct inet_diag_msg *m) {
    pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
    s->at[s->count++] = (struct pt_tcp_socket){ .inode = m->idiag_inode,
                                                .port = ntohs(m->id.idiag_sport),
                                                .is_ipv6 = m->idiag_family == AF_INET6,
                                                .is_reachable_on_loopback = reaches_loopback(m) };
}

int pt_tcp_diag_take(struct pt_tcp_sockets *s, struct pt_str answer) {
    const struct nlmsghdr *h = (const void *)answer.at;
    ssize_t length = (ssize_t)answer.len; /* below 0 after a last message without its padding */
    for (; NLMSG_OK(h, length); h = NLMSG_NEXT(h, length)) {
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR) {
            const struct nlmsgerr *e = NLMSG_DATA(h);
            bool is_known = h->nlmsg_len >= NLMSG_LENGTH(sizeof e->error) && e->error < 0;
            return is_known ? e->error : -EIO;
        }
        if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
            h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)))
            add(s, NLMSG_DATA(h));
    }
    return 1;
}

static int read_family(struct pt_tcp_sockets *s, int fd, uint8_t family) {
    _Alignas(struct nlmsghdr) char answer[16384];
    int rc = ask(fd, family);
    rc = rc ? rc : 1;
    while (rc == 1) {
        ssize_t n = recv(fd, answer, sizeof answer, 0);
        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? -errno : pt_tcp_diag_take(s, (struct pt_str){ answer, (size_t)n });
    }
    return rc;
}

int pt_tcp_diag_read(struct pt_tcp_sockets *s) {
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return -errno;
    /* The kernel answers at once; the timeout is for emulated kernels (gVisor). */
    struct timeval limit = { .tv_sec = 1 };
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int rc = read_family(s, fd, AF_INET);
    if (!rc)
        rc = read_family(s, fd, AF_INET6);
    close(fd);
    return rc;
}
