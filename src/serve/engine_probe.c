#include "serve/engine_probe.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mask.h"
#include "base/json_walk.h"
#include "base/log.h"
#include "http/client.h"

#include <errno.h>
#include <stdio.h>

#define TIMEOUT_NS (10 * PT_NS_PER_SECOND)

static void take_model(void *arg, const char *path, struct pt_json_value value) {
    struct pt_probe_model *m = arg;
    if (strcmp(path, "data.0.id") == 0 && value.kind == PT_JSON_STRING)
        pt_str_copy(m->name, sizeof m->name, value.text);
}

void pt_probe_read_model(struct pt_probe_model *model, struct pt_str answer) {
    if (pt_json_walk(answer, take_model, model))
        model->name[0] = 0;
}

static void ask_for_model(struct pt_probe *p, struct pt_http_client *client,
                          struct pt_probe_model *model) {
    char url[sizeof p->base + 16];
    snprintf(url, sizeof url, "%s/v1/models", p->base);
    struct pt_http_request r = { .url = url, .timeout_ns = TIMEOUT_NS };
    pt_http_client_run(client, &r, 1);
    if (!r.error)
        pt_probe_read_model(model, pt_buf_as_str(&r.body));
    pt_http_request_release(&r);
}

static void write_order(const struct pt_probe_model *model, struct pt_buf *body) {
    struct pt_out out;
    pt_out_memory(&out, body);
    struct pt_json j = { .out = &out, .mask = pt_mask_value };
    pt_json_object(&j, NULL);
    if (model->name[0])
        pt_json_text(&j, "model", model->name);
    pt_json_text(&j, "prompt", "test");
    pt_json_i64(&j, "max_tokens", 1);
    pt_json_end(&j);
    (void)pt_out_close(&out);
}

static void publish(struct pt_probe *p, const struct pt_http_request *r) {
    double seconds = (double)(r->end_ns - r->start_ns) / (double)PT_NS_PER_SECOND;
    pt_latency_record(p->latency, r->error ? (double)NAN : seconds, !r->error, pt_mono_ns());
    pthread_mutex_lock(&p->lock);
    bool is_change = !p->last.has_run || p->last.has_failed != (r->error != 0);
    p->last.has_run = true;
    p->last.has_failed = r->error != 0;
    p->last.seconds = seconds;
    snprintf(p->last.words, sizeof p->last.words, "the test generation failed: %s", r->words);
    pthread_mutex_unlock(&p->lock);
    if (is_change && r->error)
        pt_log(PT_LOG_WARNING, "probe of %s: %s", p->base, r->words);
    else if (is_change)
        pt_log(PT_LOG_INFO, "probe of %s: %.3f s", p->base, seconds);
}

static void probe(struct pt_probe *p, struct pt_http_client *client, struct pt_probe_model *model) {
    char url[sizeof p->base + 32];
    struct pt_buf body = { 0 };
    if (!model->name[0])
        ask_for_model(p, client, model);
    snprintf(url, sizeof url, "%s/v1/completions", p->base);
    write_order(model, &body);
    struct pt_http_request r = { .url = url,
                                 .post = pt_buf_as_str(&body),
                                 .timeout_ns = TIMEOUT_NS };
    pt_http_client_run(client, &r, 1);
    publish(p, &r);
    if (r.error)
        model->name[0] = 0; /* the engine may restart with another model */
    pt_http_request_release(&r);
    pt_buf_release(&body);
}

static bool wait_for_turn(struct pt_probe *p, int64_t until_ns) {
    struct timespec until = { until_ns / PT_NS_PER_SECOND, until_ns % PT_NS_PER_SECOND };
    pthread_mutex_lock(&p->lock);
    while (!p->must_stop &&
           pthread_cond_clockwait(&p->changed, &p->lock, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        continue;
    bool goes_on = !p->must_stop;
    pthread_mutex_unlock(&p->lock);
    return goes_on;
}

static void *run(void *user) {
    struct pt_probe *p = user;
    struct pt_http_client client;
    struct pt_probe_model model = { "" };
    struct pt_err err;
    pthread_setname_np(pthread_self(), "pitot-probe");
    if (pt_http_client_open(&client, &err)) {
        pt_log(PT_LOG_ERROR, "the probe cannot run: %s", err.text);
        return NULL;
    }
    int64_t next_ns = pt_mono_ns();
    do {
        probe(p, &client, &model);
        next_ns += p->interval_ns;
        if (next_ns < pt_mono_ns())
            next_ns = pt_mono_ns();
    } while (wait_for_turn(p, next_ns));
    pt_http_client_close(&client);
    return NULL;
}

int pt_probe_start(struct pt_probe *p, const char *url, int64_t interval_ns, struct pt_err *err) {
    *p = (struct pt_probe){ .interval_ns = interval_ns, .last.seconds = (double)NAN };
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/')
        length--;
    bool is_http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (!is_http || length >= sizeof p->base || strpbrk(url, "?#@ "))
        return pt_fail(err, -EINVAL,
                       "--probe: '%s' is not a server URL (example: http://HOST:PORT)", url);
    pt_str_copy(p->base, sizeof p->base, (struct pt_str){ url, length });
    p->latency = pt_calloc(1, sizeof *p->latency);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->is_running = true;
    int rc = pthread_create(&p->thread, NULL, run, p);
    if (rc) {
        pt_free(p->latency);
        p->is_running = false;
    }
    return rc ? pt_fail(err, -rc, "cannot start a thread: %s", strerror(rc)) : 0;
}

void pt_probe_stop(struct pt_probe *p) {
    if (!p->is_running)
        return;
    pthread_mutex_lock(&p->lock);
    p->must_stop = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    pt_free(p->latency);
    p->is_running = false;
}

bool pt_probe_read(struct pt_probe *p, struct pt_probe_result *result) {
    if (!p->is_running)
        return false;
    pthread_mutex_lock(&p->lock);
    *result = p->last;
    pthread_mutex_unlock(&p->lock);
    pt_latency_read(p->latency, pt_mono_ns(), &result->recent);
    return true;
}
