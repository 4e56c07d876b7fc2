/* The active configuration and its effects. */
#include "base/clock.h"
#include "libpitot/component.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/span_history.h"
#include "libpitot/library_log.h"
#include "libpitot/memory_track.h"
#include "libpitot/overhead.h"
#include "libpitot/recent.h"
#include "libpitot/config_settings.h"

#include <errno.h>
#include <string.h>

#define MESSAGE_SIZE 512

/* Guarded by libpitot/monitor_lock.h. */
static pt_config in_force; /* size 0: the defaults */
static uint64_t version;
static struct {
    int64_t wanted_ns, held_ns; /* interval; 0: none */
    bool is_watched, is_moving;
} gpu;

/* The guard is held. */
static const pt_config *get(void) {
    if (in_force.size == 0)
        pt_config_init(&in_force);
    return &in_force;
}

void pt_config_get_(pt_config *config, size_t size) {
    memset(config, 0, size);
    pt_monitor_lock();
    memcpy(config, get(), size < sizeof in_force ? size : sizeof in_force);
    pt_monitor_unlock();
    config->size = (uint32_t)size;
    config->enable_metrics = !pt_is_off_(PT_METRICS_ON_);
}

int64_t pt_settings_gpu_interval_ns(void) {
    pt_monitor_lock();
    double seconds = get()->gpu_monitor_interval;
    pt_monitor_unlock();
    return (int64_t)(seconds * (double)PT_NS_PER_SECOND);
}

static bool begin_move(int64_t *to_ns, bool *is_watched) {
    pt_monitor_lock();
    bool has_to = !gpu.is_moving && gpu.wanted_ns != gpu.held_ns;
    gpu.is_moving |= has_to;
    *to_ns = gpu.wanted_ns;
    *is_watched = gpu.is_watched;
    pt_monitor_unlock();
    return has_to;
}

void pt_settings_catch_up(void) {
    int64_t to_ns;
    bool is_watched;
    while (begin_move(&to_ns, &is_watched)) {
        if (is_watched)
            pt_gpu_watch_stop();
        int rc = to_ns ? pt_gpu_watch_start(to_ns) : 0;
        if (rc)
            pt_monitor_log(PT_LEVEL_DEBUG_PERFORMANCE,
                           "GPU monitoring: no GPU found, continuing without it");
        pt_monitor_lock();
        gpu.held_ns = to_ns;
        gpu.is_watched = to_ns && !rc;
        gpu.is_moving = false;
        pt_monitor_unlock();
    }
}

static int apply_switch(const pt_config *config) {
    if (!config->enable_metrics) {
        pt_stop();
        return 0;
    }
    int rc = pt_start(NULL);
    if (rc) {
        pt_monitor_log(PT_LEVEL_WARNING, "cannot start recording: %s", strerror(-rc));
        return rc;
    }
    if (config->history_spans == 0)
        pt_history_stop();
    else
        rc = pt_history_start((size_t)config->history_spans);
    if (rc)
        pt_monitor_log(PT_LEVEL_WARNING, "spans will not be kept in the process: %s",
                       strerror(-rc));
    return 0;
}

static void apply_memory_track(const pt_config *config) {
    bool is_on = config->enable_metrics && config->profiler_profile_memory;
    int64_t interval_ns = (int64_t)(config->memory_interval * (double)PT_NS_PER_SECOND);
    int rc = pt_memory_track_set(is_on ? interval_ns : 0);
    if (rc)
        pt_monitor_log(PT_LEVEL_WARNING, "traces will not show memory: %s", strerror(-rc));
}

static int apply(const pt_config *config) {
    pt_overhead_configure(config);
    pt_recent_set_min_duration(config->min_duration);
    int rc = apply_switch(config);
    pt_components_set(config->enable_metrics && config->collect_component_profiling);
    apply_memory_track(config);
    return rc;
}

static void put(const pt_config *config) {
    size_t size = config->size < sizeof in_force ? config->size : sizeof in_force;
    pt_monitor_lock();
    (void)get();
    memcpy(&in_force, config, size);
    in_force.size = sizeof in_force;
    if (in_force.debug_mode)
        in_force.enable_gpu_monitoring = in_force.collect_component_profiling = true;
    bool asks_gpu = in_force.enable_gpu_monitoring || in_force.collect_gpu_utilization;
    gpu.wanted_ns = in_force.enable_metrics && asks_gpu
                        ? (int64_t)(in_force.gpu_monitor_interval * (double)PT_NS_PER_SECOND)
                        : 0;
    version++;
    pt_monitor_unlock();
}

static uint64_t copy(pt_config *config) {
    pt_monitor_lock();
    *config = *get();
    uint64_t copied = version;
    pt_monitor_unlock();
    return copied;
}

/* Settings that other threads have stored since are applied too, so that the last one is in
 * force. */
static int configure(const pt_config *config) {
    pt_config now, after;
    int rc;
    put(config);
    uint64_t applied = copy(&now), latest;
    while (rc = apply(&now), latest = copy(&after), latest != applied) {
        now = after;
        applied = latest;
    }
    return rc;
}

int pt_configure(const pt_config *config) {
    char message[MESSAGE_SIZE];
    int saved_errno = errno;
    int rc = pt_settings_check(config, message, sizeof message);
    if (rc) {
        pt_monitor_log(PT_LEVEL_WARNING, "configuration: %s", message);
        return rc;
    }
    rc = configure(config);
    pt_settings_catch_up();
    errno = saved_errno;
    return rc;
}

/* Only if the environment has settings: a program without them pays nothing. GPU settings wait for
 * the first step: drivers must not run before main(). */
__attribute__((constructor)) static void look_at_environment(void) {
    char message[MESSAGE_SIZE];
    pt_config config;
    if (!pt_settings_in_environment())
        return;
    pt_config_get(&config);
    if (pt_config_read_environment(&config, message, sizeof message))
        pt_monitor_log(PT_LEVEL_WARNING, "configuration: %s", message);
    else
        (void)configure(&config);
}
