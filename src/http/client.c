#include "http/client.h"

#include <errno.h>

void pt_http_request_release(struct pt_http_request *r) {
    pt_buf_release(&r->body);
}

int pt_http_client_open(struct pt_http_client *c, struct pt_err *err) {
    const void *interface;
    *c = (struct pt_http_client){ 0 };
    int rc = pt_module_open("http-client", PT_HTTP_CLIENT_VERSION, &interface, err);
    if (rc)
        return rc;
    c->module = interface;
    c->state = c->module->open();
    pt_module_settle();
    return c->state ? 0 : pt_fail(err, -ENOMEM, "cannot start libcurl");
}

void pt_http_client_close(struct pt_http_client *c) {
    if (c->state)
        c->module->close(c->state);
    *c = (struct pt_http_client){ 0 };
}

void pt_http_client_run(struct pt_http_client *c, struct pt_http_request *requests, size_t count) {
    c->module->run(c->state, requests, count);
}
