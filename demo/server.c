#include "demo/server.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "demo/exposition.h"

#define CONNECTION_MAX 128 /* a full load, plus scrapers of metrics */

static void complete(void *user, struct pt_http_exchange *x) {
    struct pt_demo_server *s = user;
    pt_completions_handle(&s->completions, x);
}

static void write_models(struct pt_demo_server *s, struct pt_out *out) {
    struct pt_json j = { .out = out };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "object", "list");
    pt_json_array(&j, "data");
    pt_json_object(&j, NULL);
    pt_json_text(&j, "id", PT_DEMO_MODEL_NAME);
    pt_json_text(&j, "object", "model");
    pt_json_i64(&j, "created", s->created_s);
    pt_json_text(&j, "owned_by", "pitot");
    pt_json_i64(&j, "max_model_len", (int64_t)s->deployment.model.config.context);
    pt_json_end(&j);
    pt_json_end(&j);
    pt_json_end(&j);
}

static void write_metrics(struct pt_demo_server *s, struct pt_out *out) {
    struct pt_engine_stats stats;
    pt_engine_stats(s->deployment.engine, &stats);
    pt_exposition_write(out, &stats, s->deployment.block_count);
}

static void reply(struct pt_demo_server *s, struct pt_http_exchange *x, const char *type,
                  void (*write)(struct pt_demo_server *s, struct pt_out *out)) {
    struct pt_buf body = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &body);
    write(s, &out);
    pt_out_close(&out);
    pt_http_reply(x, 200, type, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

static void tell_metrics(void *user, struct pt_http_exchange *x) {
    reply(user, x, "text/plain; version=0.0.4; charset=utf-8", write_metrics);
}

static void tell_models(void *user, struct pt_http_exchange *x) {
    reply(user, x, "application/json", write_models);
}

static void tell_health(void *user, struct pt_http_exchange *x) {
    (void)user;
    pt_http_reply(x, 200, "text/plain; charset=utf-8", PT_STR(""));
}

static const struct pt_http_route routes[] = {
    { "POST", "/v1/completions", complete },
    { "GET", "/metrics", tell_metrics },
    { "GET", "/v1/models", tell_models },
    { "GET", "/health", tell_health },
};

static void on_problem(void *user, const char *text) {
    (void)user;
    pt_log(PT_LOG_DEBUG, "%s", text);
}

int pt_demo_server_open(struct pt_demo_server *s, const char *listen,
                        const struct pt_deployment_options *options, struct pt_err *err) {
    *s = (struct pt_demo_server){ .created_s = pt_wall_ns() / PT_NS_PER_SECOND };
    int rc = pt_deployment_open(&s->deployment, options, err);
    if (rc)
        return rc;
    pt_completions_init(&s->completions, s->deployment.engine, s->deployment.model.config.context);
    struct pt_http_server_options http = { .listen = listen,
                                           .routes = routes,
                                           .route_count = PT_COUNT(routes),
                                           .user = s,
                                           .connection_max = CONNECTION_MAX,
                                           .on_problem = on_problem };
    rc = pt_http_server_open(&s->http, &http, err);
    if (rc)
        pt_demo_server_close(s);
    return rc;
}

void pt_demo_server_close(struct pt_demo_server *s) {
    pt_http_server_close(&s->http);
    pt_engine_stop(s->deployment.engine);
    pt_completions_release(&s->completions);
    pt_deployment_close(&s->deployment);
}
