#include "serve/routes.h"

#include "base/clock.h"
#include "derive/schema_text.h"
#include "serve/answer.h"
#include "serve/health_route.h"
#include "serve/history_route.h"
#include "serve/dashboard_page_parts.h"
#include "serve/runs.h"
#include "serve/service.h"

#include <errno.h>

/* Pages load their own parts from this server and connect to nothing else. */
#define PAGE_POLICY                                                                   \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "     \
    "frame-ancestors 'none'"

static void reply_page(struct pt_http_exchange *x, const char *type, const char *text) {
    static const struct pt_http_header headers[] = {
        { "Content-Security-Policy", PAGE_POLICY },
        { "Referrer-Policy", "no-referrer" },
        { "Cache-Control", "no-cache" },
    };
    struct pt_buf body = { 0 };
    pt_buf_str(&body, pt_str_from(text));
    pt_answer_buf(x, type, &body, headers, PT_COUNT(headers));
}

static void show_page(void *user, struct pt_http_exchange *x) {
    (void)user;
    reply_page(x, PT_TYPE_HTML, pt_dashboard_html);
}

static void show_style(void *user, struct pt_http_exchange *x) {
    (void)user;
    reply_page(x, "text/css; charset=utf-8", pt_dashboard_css);
}

static void show_script(void *user, struct pt_http_exchange *x) {
    (void)user;
    reply_page(x, "text/javascript; charset=utf-8", pt_dashboard_js);
}

static void get_metrics(void *user, struct pt_http_exchange *x) {
    struct pt_service *s = user;
    enum pt_exposition_format format = pt_exposition_negotiate(pt_http_request_header(x, "Accept"));
    pthread_mutex_lock(&s->lock);
    struct pt_http_content *content = pt_metrics_route_content(&s->metrics, s, format);
    if (content)
        pt_http_reply_content(x, content);
    pthread_mutex_unlock(&s->lock);
    if (!content)
        pt_answer_error(x, 503, "no sample yet");
}

static void get_schema(void *user, struct pt_http_exchange *x) {
    struct pt_service *s = user;
    struct pt_buf body = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &body);
    pt_schema_print_json(&s->sampler.schema, &out);
    (void)pt_out_close(&out);
    pt_answer_buf(x, PT_TYPE_JSON, &body, NULL, 0);
}

static void begin_stream(void *user, struct pt_http_exchange *x) {
    struct pt_service *s = user;
    pt_stream_handle(&s->stream, x);
}

static void read_history(void *user, struct pt_job *job) {
    struct pt_service *s = user;
    struct pt_buf json = { 0 };
    int rc = pt_history_write(job->query, &s->sampler.schema, s->segments.ring.path,
                              s->o->interval_ns, &json);
    if (rc)
        pt_answer_error(job->exchange, 500, strerror(-rc));
    else
        pt_answer_buf(job->exchange, PT_TYPE_JSON, &json, NULL, 0);
    pt_buf_release(&json);
}

static void get_history(void *user, struct pt_http_exchange *x) {
    struct pt_service *s = user;
    struct pt_history_texts texts = { .table = pt_http_parameter(x, "table"),
                                      .from = pt_http_parameter(x, "from"),
                                      .to = pt_http_parameter(x, "to"),
                                      .step = pt_http_parameter(x, "step"),
                                      .columns = pt_http_parameter(x, "columns"),
                                      .limit = pt_http_parameter(x, "limit"),
                                      .figure = pt_http_parameter(x, "figure") };
    struct pt_history_query *query = pt_calloc(1, sizeof *query);
    struct pt_err err = { "" };
    if (!s->has_history) {
        pt_answer_error(x, 404, "no history (it is off: --history 0)");
    } else if (pt_history_parse(query, &texts, &s->sampler.schema, pt_wall_ns(), &err)) {
        pt_answer_error(x, 400, err.text);
    } else {
        pt_worker_add(&s->worker, (struct pt_job){ read_history, s, x, query });
        return;
    }
    pt_free(query);
}

static void get_alerts(void *user, struct pt_http_exchange *x) {
    struct pt_service *s = user;
    pthread_mutex_lock(&s->lock);
    pt_answer_json(x, 200, pt_alert_log_put, s);
    pthread_mutex_unlock(&s->lock);
}

const struct pt_http_route pt_routes[] = {
    { "GET", "/", show_page, PT_ACCESS_OPEN },
    { "GET", "/dashboard.css", show_style, PT_ACCESS_OPEN },
    { "GET", "/dashboard.js", show_script, PT_ACCESS_OPEN },
    { "GET", "/metrics", get_metrics, PT_ACCESS_READ },
    { "GET", "/health", pt_health_get, PT_ACCESS_READ },
    { "GET", "/health/live", pt_health_get_live, PT_ACCESS_OPEN },
    { "GET", "/health/ready", pt_health_get_ready, PT_ACCESS_OPEN },
    { "GET", "/-/healthy", pt_health_get_live, PT_ACCESS_OPEN },
    { "GET", "/-/ready", pt_health_get_ready, PT_ACCESS_OPEN },
    { "GET", "/api/schema", get_schema, PT_ACCESS_READ },
    { "GET", "/api/history", get_history, PT_ACCESS_READ },
    { "GET", "/api/stream", begin_stream, PT_ACCESS_READ },
    { "GET", "/api/alerts", get_alerts, PT_ACCESS_READ },
    { "GET", "/api/runs", pt_runs_get, PT_ACCESS_READ },
    { "GET", "/api/report", pt_runs_report, PT_ACCESS_READ },
    { "GET", "/api/recording", pt_actions_get_recording, PT_ACCESS_READ },
    { "POST", "/api/recording/start", pt_actions_start_recording, PT_ACCESS_ACT },
    { "POST", "/api/recording/stop", pt_actions_stop_recording, PT_ACCESS_ACT },
    { "GET", "/api/profile", pt_actions_get_profile, PT_ACCESS_READ },
    { "POST", "/api/profile/start", pt_actions_start_profile, PT_ACCESS_ACT },
    { "GET", "/api/profile/latest", pt_actions_show_profile, PT_ACCESS_READ },
};
const size_t pt_route_count = PT_COUNT(pt_routes);
