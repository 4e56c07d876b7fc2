#include "serve/health_route.h"

#include "base/clock.h"
#include "serve/answer.h"
#include "serve/service.h"

#define STALE_SAMPLES 5
#define STALE_NS      (10 * PT_NS_PER_SECOND) /* at least */

void pt_health_of(pt_health *health, const struct pt_latest *latest,
                  const struct pt_probe_result *probe) {
    *health = (pt_health){ .is_healthy = true, .probe_seconds = (double)NAN };
    health->memory_usage_mb = latest->figures.now[PT_FIGURE_MEM_USED].value / (1 << 20);
    health->gpu_utilization = latest->figures.now[PT_FIGURE_GPU_UTIL].value * 100;
    if (probe) {
        pt_health_of_requests(health, &probe->recent);
        health->probe_seconds = probe->seconds;
        health->is_healthy = !probe->has_failed;
        return;
    }
    health->latency_p50 = latest->figures.now[PT_FIGURE_ENGINE_E2E_P50].value;
    health->latency_p95 = latest->figures.now[PT_FIGURE_ENGINE_E2E_P95].value;
    health->error_rate = (double)NAN;
}

/* Call with the lock held. */
static bool is_fresh(const struct pt_service *s) {
    int64_t limit_ns = STALE_SAMPLES * s->o->interval_ns;
    limit_ns = limit_ns > STALE_NS ? limit_ns : STALE_NS;
    return s->latest.sample_count > 0 && pt_mono_ns() - s->latest.now.mono_ns < limit_ns;
}

struct answer {
    pt_health health;
    const char *reason;
};

static void put(void *user, struct pt_json *j) {
    const struct answer *a = user;
    pt_json_object(j, NULL);
    pt_health_put(&a->health, j);
    if (a->reason)
        pt_json_text(j, "reason", a->reason);
    pt_json_end(j);
}

void pt_health_get(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    struct pt_probe_result *probe = pt_calloc(1, sizeof *probe);
    struct answer answer = { .reason = NULL };
    bool has_probe = pt_probe_read(&s->probe, probe);
    pthread_mutex_lock(&s->lock);
    pt_health_of(&answer.health, &s->latest, has_probe ? probe : NULL);
    bool is_stale = !is_fresh(s);
    pthread_mutex_unlock(&s->lock);
    if (!answer.health.is_healthy)
        answer.reason = probe->words;
    else if (is_stale)
        answer.reason = "no recent sample";
    answer.health.is_healthy = !answer.reason;
    pt_answer_json(x, answer.health.is_healthy ? 200 : 503, put, &answer);
    pt_free(probe);
}

void pt_health_get_live(void *service, struct pt_http_exchange *x) {
    (void)service;
    pt_http_reply(x, 200, PT_TYPE_TEXT, PT_STR("alive\n"));
}

void pt_health_get_ready(void *service, struct pt_http_exchange *x) {
    struct pt_service *s = service;
    pthread_mutex_lock(&s->lock);
    bool is_ready = is_fresh(s);
    pthread_mutex_unlock(&s->lock);
    pt_http_reply(x, is_ready ? 200 : 503, PT_TYPE_TEXT,
                  is_ready ? PT_STR("ready\n") : PT_STR("no recent sample\n"));
}
