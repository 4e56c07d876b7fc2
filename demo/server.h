/* demo/server.h -- the demo engine as a server that looks like vLLM: POST /v1/completions,
 * GET /metrics, /health and /v1/models. */
#ifndef PT_DEMO_SERVER_H
#define PT_DEMO_SERVER_H

#include "demo/completion.h"
#include "demo/deployment.h"
#include "http/server.h"

struct pt_demo_server {
    struct pt_deployment deployment;
    struct pt_completions completions;
    struct pt_http_server http; /* .url is where it listens */
    int64_t created_s;
};

/* `listen` is as in http/address.h; loopback only. The server must not move afterwards. */
int pt_demo_server_open(struct pt_demo_server *s, const char *listen,
                        const struct pt_deployment_options *options,
                        struct pt_err *err) PT_MUST_CHECK;
/* Closes open connections. */
void pt_demo_server_close(struct pt_demo_server *s);

#endif
