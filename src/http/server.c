#include "http/server.h"

#include <errno.h>
#include <unistd.h>

/* Of a socket that listens already. */
static int learn_address(struct pt_http_server *s, int fd, struct pt_err *err) {
    s->address.length = sizeof s->address;
    if (getsockname(fd, &s->address.any, &s->address.length))
        return pt_fail(err, -errno, "cannot serve on the inherited socket: %s", strerror(errno));
    sa_family_t family = s->address.any.sa_family;
    if (family != AF_INET && family != AF_INET6 && family != AF_UNIX)
        return pt_fail(err, -EAFNOSUPPORT, "the inherited socket has an unknown address family");
    return 0;
}

static int choose_address(struct pt_http_server *s, const struct pt_http_server_options *o,
                          struct pt_err *err) {
    const char *listen = o->listen ? o->listen : "127.0.0.1:0";
    int rc = pt_fd_is_open(o->listen_fd) ? learn_address(s, pt_fd_get(o->listen_fd), err)
                                         : pt_http_address_parse(&s->address, listen, err);
    if (rc || o->allows_others || pt_http_address_is_loopback(&s->address))
        return rc;
    return pt_fail(err, -EACCES, "%s is not a loopback address",
                   pt_fd_is_open(o->listen_fd) ? "the address of the inherited socket" : listen);
}

static void print_url(struct pt_http_server *s, bool has_tls) {
    pt_http_address_print(&s->address, s->url, sizeof s->url - 1);
    if (!has_tls || s->address.any.sa_family == AF_UNIX)
        return;
    char *after_http = s->url + strlen("http");
    memmove(after_http + 1, after_http, strlen(after_http) + 1);
    *after_http = 's';
}

int pt_http_server_open(struct pt_http_server *s, const struct pt_http_server_options *options,
                        struct pt_err *err) {
    const void *interface;
    *s = (struct pt_http_server){ 0 };
    int rc = pt_module_open("http-server", PT_HTTP_SERVER_VERSION, &interface, err);
    if (!rc)
        rc = choose_address(s, options, err);
    if (rc)
        return rc;
    s->is_handed_over = pt_fd_is_open(options->listen_fd);
    int fd = s->is_handed_over ? pt_fd_get(options->listen_fd)
                               : pt_http_address_listen(&s->address, err);
    if (fd < 0)
        return fd;
    print_url(s, options->certificate != NULL);
    s->module = interface;
    rc = s->module->open(&s->state, options, fd, err);
    pt_module_settle();
    if (rc)
        pt_http_server_close(s);
    return rc;
}

void pt_http_server_close(struct pt_http_server *s) {
    if (s->state)
        s->module->close(s->state);
    if (s->module && !s->is_handed_over && s->address.any.sa_family == AF_UNIX)
        unlink(s->address.local.sun_path);
    *s = (struct pt_http_server){ 0 };
}

void pt_http_server_tend(struct pt_http_server *s) {
    if (s->state)
        s->module->tend(s->state);
}

struct pt_http_content *pt_http_content_new(const struct pt_http_server *s, unsigned status,
                                            const char *type, struct pt_buf *body,
                                            const struct pt_http_header *headers, size_t count) {
    return s->module->content_new(status, type, body, headers, count);
}

void pt_http_content_free(const struct pt_http_server *s, struct pt_http_content *content) {
    if (content)
        s->module->content_free(content);
}
