#include "http/address.h"

#include "base/scan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define BACKLOG SOMAXCONN /* a client that does not fit tries again after a second */

/* Splits "HOST:PORT", "[HOST]:PORT" or "HOST"; the port may be empty. */
struct authority {
    char host[64];
    struct pt_str port;
};

static bool split(struct pt_str text, struct authority *a) {
    struct pt_scan s = pt_scan_of(text);
    struct pt_str host;
    if (pt_scan_take(&s, PT_STR("[")))
        host = pt_scan_until(&s, ']');
    else
        for (host = (struct pt_str){ s.at, 0 }; s.at < s.end && *s.at != ':'; s.at++)
            host.len++;
    if (s.failed || host.len >= sizeof a->host || memchr(host.at, 0, host.len))
        return false;
    pt_str_copy(a->host, sizeof a->host, host);
    bool has_port = pt_scan_take(&s, PT_STR(":"));
    a->port = pt_scan_rest(&s);
    return has_port || a->port.len == 0;
}

static bool parse_port(struct pt_str text, in_port_t *port) {
    struct pt_scan s = pt_scan_of(text);
    uint64_t number = pt_scan_u64(&s);
    *port = htons((uint16_t)number);
    return !s.failed && s.at == s.end && number <= UINT16_MAX;
}

static int parse_local(struct pt_http_address *a, const char *path, struct pt_err *err) {
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof a->local.sun_path)
        return pt_fail(err, -EINVAL, "the path of a UNIX socket has 1 to %zu bytes",
                       sizeof a->local.sun_path - 1);
    a->local.sun_family = AF_UNIX;
    pt_str_copy(a->local.sun_path, sizeof a->local.sun_path, pt_str_from(path));
    a->length = sizeof a->local;
    return 0;
}

static bool parse_internet(struct pt_http_address *a, struct pt_str host_and_port) {
    struct authority parts;
    in_port_t port;
    if (!split(host_and_port, &parts) || !parse_port(parts.port, &port))
        return false;
    const char *host = strcasecmp(parts.host, "localhost") == 0 ? "127.0.0.1" : parts.host;
    if (inet_pton(AF_INET, host, &a->v4.sin_addr) == 1) {
        a->v4.sin_family = AF_INET;
        a->v4.sin_port = port;
        a->length = sizeof a->v4;
    } else if (inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
        a->v6.sin6_family = AF_INET6;
        a->v6.sin6_port = port;
        a->length = sizeof a->v6;
    }
    return a->length > 0;
}

int pt_http_address_parse(struct pt_http_address *a, const char *text, struct pt_err *err) {
    *a = (struct pt_http_address){ 0 };
    if (pt_str_starts(pt_str_from(text), PT_STR("unix:")))
        return parse_local(a, text + strlen("unix:"), err);
    char whole[80];
    bool is_port = *text && text[strspn(text, "0123456789")] == 0;
    snprintf(whole, sizeof whole, "%s%s", is_port ? "127.0.0.1:" : "", text);
    if (parse_internet(a, pt_str_from(whole)))
        return 0;
    return pt_fail(err, -EINVAL,
                   "cannot listen on '%s' (use PORT, 127.0.0.1:PORT, [::1]:PORT or unix:PATH)",
                   text);
}

static bool is_loopback_v4(struct in_addr address) {
    return ntohl(address.s_addr) >> 24 == 127;
}

bool pt_http_address_is_loopback(const struct pt_http_address *a) {
    switch (a->any.sa_family) {
    case AF_UNIX:
        return true;
    case AF_INET:
        return is_loopback_v4(a->v4.sin_addr);
    default:
        return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
    }
}

/* Removes a socket file if no server listens on it. */
static void remove_stale(const struct pt_http_address *a) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    struct stat st;
    if (connect(fd, &a->any, a->length) && errno == ECONNREFUSED &&
        stat(a->local.sun_path, &st) == 0 && S_ISSOCK(st.st_mode))
        unlink(a->local.sun_path);
    close(fd);
}

static int bind_and_listen(struct pt_http_address *a, int fd) {
    int yes = 1;
    bool is_local = a->any.sa_family == AF_UNIX;
    if (is_local)
        remove_stale(a);
    else if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes))
        return -errno;
    if (bind(fd, &a->any, a->length))
        return -errno;
    /* no client can connect before listen() */
    if (is_local && chmod(a->local.sun_path, 0600))
        return -errno;
    if (listen(fd, BACKLOG))
        return -errno;
    socklen_t length = sizeof *a;
    if (!is_local && getsockname(fd, &a->any, &length))
        return -errno;
    return 0;
}

int pt_http_address_listen(struct pt_http_address *a, struct pt_err *err) {
    char text[160];
    int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = fd < 0 ? -errno : bind_and_listen(a, fd);
    if (!rc)
        return fd;
    if (fd >= 0)
        close(fd);
    pt_http_address_print(a, text, sizeof text);
    return pt_fail(err, rc, "cannot listen on %s: %s", text, strerror(-rc));
}

void pt_http_address_print(const struct pt_http_address *a, char *into, size_t capacity) {
    char host[INET6_ADDRSTRLEN] = "";
    switch (a->any.sa_family) {
    case AF_UNIX:
        snprintf(into, capacity, "unix:%s", a->local.sun_path);
        return;
    case AF_INET:
        inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof host);
        snprintf(into, capacity, "http://%s:%u", host, ntohs(a->v4.sin_port));
        return;
    default:
        inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof host);
        snprintf(into, capacity, "http://[%s]:%u", host, ntohs(a->v6.sin6_port));
    }
}

bool pt_http_host_is_loopback(struct pt_str host) {
    struct authority parts;
    struct in_addr v4;
    struct in6_addr v6;
    in_port_t port;
    if (!split(host, &parts) || (parts.port.len > 0 && !parse_port(parts.port, &port)))
        return false;
    return strcasecmp(parts.host, "localhost") == 0 ||
           (inet_pton(AF_INET, parts.host, &v4) == 1 && is_loopback_v4(v4)) ||
           (inet_pton(AF_INET6, parts.host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

bool pt_http_url_is_loopback(struct pt_str url) {
    struct pt_scan s = pt_scan_of(url);
    if (!pt_scan_take(&s, PT_STR("http://")))
        return false;
    struct pt_str rest = pt_scan_rest(&s);
    const char *end = rest.at;
    while (end < s.end && *end != '/' && *end != '?' && *end != '#')
        end++;
    return pt_http_host_is_loopback((struct pt_str){ rest.at, (size_t)(end - rest.at) });
}
