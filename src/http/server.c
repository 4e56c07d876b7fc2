#include "http/server.h"

#include <errno.h>
#include <unistd.h>

const struct pt_module_need pt_http_server_module = { "http-server", PT_HTTP_SERVER_VERSION,
                                                      "libmicrohttpd12 libjansson4" };

int pt_http_server_open(struct pt_http_server *s, const struct pt_http_server_options *options,
                        struct pt_err *err) {
    const void *interface;
    *s = (struct pt_http_server){ 0 };
    int rc = pt_module_open(&pt_http_server_module, &interface, err);
    if (!rc)
        rc = pt_http_address_parse(&s->address, options->listen ? options->listen : "127.0.0.1:0",
                                   err);
    if (rc)
        return rc;
    if (!options->allows_others && !pt_http_address_is_loopback(&s->address))
        return pt_fail(err, -EACCES, "%s is no loopback address", options->listen);
    int fd = pt_http_address_listen(&s->address, err);
    if (fd < 0)
        return fd;
    pt_http_address_print(&s->address, s->url, sizeof s->url);
    s->module = interface;
    rc = s->module->open(&s->state, options, fd, err);
    if (rc)
        pt_http_server_close(s);
    return rc;
}

void pt_http_server_close(struct pt_http_server *s) {
    if (s->state)
        s->module->close(s->state);
    if (s->module && s->address.any.sa_family == AF_UNIX)
        unlink(s->address.local.sun_path);
    *s = (struct pt_http_server){ 0 };
}
