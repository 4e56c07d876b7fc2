/* Is the service healthy? From its own probe and figures of its recent requests. */
#include "analyze/health.h"
#include "base/clock.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/json_text.h"
#include "libpitot/process_usage.h"
#include "libpitot/requests.h"
#include "libpitot/config_settings.h"

#include <errno.h>
#include <math.h>
#include <pitot/monitor.h>

double pt_latency_percentile(double q) {
    struct pt_latency_counts window;
    if (isnan(q))
        return (double)NAN;
    pt_requests_window(&window);
    return pt_bucket_quantile(window.buckets, pt_all_buckets, q < 0 ? 0 : q > 1 ? 1 : q);
}

double pt_error_rate(void) {
    struct pt_latency_counts window;
    pt_health health;
    pt_requests_window(&window);
    pt_health_of_requests(&health, &window);
    return health.error_rate;
}

/* The first call starts the watch for good: services call this repeatedly. */
double pt_gpu_utilization(void) {
    static int is_watching;
    struct pt_gpu_now now;
    if (!__atomic_exchange_n(&is_watching, 1, __ATOMIC_RELAXED) &&
        pt_gpu_watch_start(pt_settings_gpu_interval_ns()))
        __atomic_store_n(&is_watching, 0, __ATOMIC_RELAXED);
    return pt_gpu_watch_read(&now) ? now.utilization_percent : (double)NAN;
}

/* Seconds it took; NAN: there is no probe. */
static double run_probe(pt_health_probe *probe, void *arg, bool *is_healthy) {
    *is_healthy = true;
    if (!probe)
        return (double)NAN;
    int64_t start_ns = pt_mono_ns();
    *is_healthy = probe(arg) == 0;
    return (double)(pt_mono_ns() - start_ns) / (double)PT_NS_PER_SECOND;
}

void pt_health_check(pt_health *health, pt_health_probe *probe, void *arg) {
    struct pt_latency_counts window;
    *health = (pt_health){ 0 };
    health->probe_seconds = run_probe(probe, arg, &health->is_healthy);
    pt_requests_window(&window);
    pt_health_of_requests(health, &window);
    health->memory_usage_mb = pt_process_ram_mb();
    health->gpu_utilization = pt_gpu_utilization();
}

static void write_health(struct pt_json *j, const void *what) {
    pt_json_object(j, NULL);
    pt_health_put(what, j);
    pt_json_end(j);
}

char *pt_health_json(const pt_health *health) {
    return pt_json_text_new(write_health, health);
}
