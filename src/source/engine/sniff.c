#include "source/engine/sniff.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scan.h"
#include "source/engine/alias.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define ANSWER_BYTES (256u << 10)

bool pt_sniff_text(struct pt_str text) {
    struct pt_scan scan = pt_scan_of(text), line;
    while (pt_scan_line(&scan, &line)) {
        pt_scan_take(&line, PT_STR("# TYPE "));
        struct pt_str rest = pt_scan_rest(&line), name = rest;
        name.len = 0;
        while (name.len < rest.len && !strchr(" {\r", rest.at[name.len]))
            name.len++;
        if (name.len > 0 && pt_engine_route_of(name).kind != PT_ENGINE_UNKNOWN)
            return true;
    }
    return false;
}

static int wait_for(int fd, short events, int64_t deadline_ns) {
    int64_t left_ns = deadline_ns - pt_mono_ns();
    struct pollfd p = { .fd = fd, .events = events };
    int ready = left_ns > 0 ? poll(&p, 1, (int)(left_ns / PT_NS_PER_MS) + 1) : 0;
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    return ready == 0 ? -ETIMEDOUT : 0;
}

static int connect_loopback(uint16_t port, bool is_ipv6, int64_t deadline_ns) {
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_port = htons(port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons(port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    const struct sockaddr *address = is_ipv6 ? (void *)&v6 : (void *)&v4;
    socklen_t length = is_ipv6 ? sizeof v6 : sizeof v4;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    int rc = connect(fd, address, length) ? -errno : 0;
    if (rc == -EINPROGRESS)
        rc = wait_for(fd, POLLOUT, deadline_ns);
    int error = 0;
    socklen_t size = sizeof error;
    if (!rc && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        rc = -error;
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

/* "HTTP/1.1 503 Service Unavailable" */
static bool says_unavailable(struct pt_str answer) {
    return answer.len > 12 && memcmp(answer.at + 8, " 503", 4) == 0;
}

/* Reads until the end, the deadline, or enough to decide. */
static int read_answer(int fd, char *answer, int64_t deadline_ns) {
    size_t length = 0;
    for (;;) {
        int rc = wait_for(fd, POLLIN, deadline_ns);
        ssize_t n = rc ? -1 : recv(fd, answer + length, ANSWER_BYTES - length, 0);
        if (n > 0)
            length += (size_t)n;
        bool is_over = rc || n == 0 || (n < 0 && errno != EAGAIN) || length == ANSWER_BYTES;
        struct pt_str text = { answer, length };
        if (length >= 7 && !pt_str_starts(text, PT_STR("HTTP/1.")))
            return PT_SNIFFED_OTHER;
        if (says_unavailable(text))
            return PT_SNIFFED_LOADING;
        if (is_over && length == 0)
            return rc ? rc : -ECONNRESET;
        if (is_over)
            return pt_sniff_text(text) ? PT_SNIFFED_ENGINE : PT_SNIFFED_OTHER;
    }
}

int pt_sniff(uint16_t port, bool is_ipv6, const char *path, int64_t timeout_ns) {
    int64_t deadline_ns = pt_mono_ns() + timeout_ns;
    int fd = connect_loopback(port, is_ipv6, deadline_ns);
    if (fd < 0)
        return fd;
    char request[256];
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n"
                          "User-Agent: pitot\r\nConnection: close\r\n\r\n",
                          path);
    int rc = send(fd, request, (size_t)length, MSG_NOSIGNAL) == length ? 0 : -EPIPE;
    if (!rc) {
        char *answer = pt_malloc(ANSWER_BYTES);
        rc = read_answer(fd, answer, deadline_ns);
        pt_free(answer);
    }
    close(fd);
    return rc;
}
