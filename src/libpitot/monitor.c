/* The monitor of a service: readings of the machine, and the rules that are violated. */
#include "libpitot/monitor.h"

#include "base/clock.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/config_settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define BYTES_PER_GB (1024.0 * 1024 * 1024)
#define CPU_WINDOW_NS \
    (100 * PT_NS_PER_MS) /* the kernel counts in 10 ms: a shorter window is not meaningful */
#define GPU_FRESH_NS   (10 * PT_NS_PER_SECOND)
#define CAPACITY_LIMIT 1000000

static const pt_alert_rule first_rules[] = {
    { "gpu_utilization", false, 10, 0, 0, "GPU utilization below 10%" },
    { "gpu_utilization", true, 90, 0, 0, "GPU utilization above 90%" },
    { "gpu_memory_usage", true, 0.8, 0, 0, "GPU memory usage above 80%" },
    { "gpu_temperature", true, 85, 0, 0, "GPU temperature above 85°C" },
};

static double seconds_of(int64_t ns) {
    return (double)ns / (double)PT_NS_PER_SECOND;
}

pt_monitor *pt_monitor_new(void) {
    pt_monitor *monitor = calloc(1, sizeof *monitor);
    if (!monitor)
        return NULL;
    monitor->start_ns = monitor->cpu_ns = pt_mono_ns();
    monitor->cpu_percent = (double)NAN;
    pt_machine_read_ticks(&monitor->cpu);
    for (size_t i = 0; i < PT_COUNT(first_rules); i++)
        (void)pt_monitor_add_rule(monitor, &first_rules[i]);
    return monitor;
}

void pt_monitor_free(pt_monitor *monitor) {
    if (!monitor)
        return;
    if (monitor->watches_gpu)
        pt_gpu_watch_stop();
    pt_monitor_series_release(&monitor->series);
    free(monitor);
}

int pt_monitor_set_capacity(pt_monitor *monitor, size_t values) {
    if (values == 0 || values > CAPACITY_LIMIT)
        return -EINVAL;
    pt_monitor_lock();
    int rc = pt_monitor_series_set_capacity(&monitor->series, values);
    pt_monitor_unlock();
    return rc;
}

int pt_monitor_record(pt_monitor *monitor, const char *name, double value, double timestamp) {
    if (!name || !*name || !isfinite(value) || isinf(timestamp))
        return -EINVAL;
    if (strlen(name) >= sizeof((struct pt_monitor_series *)NULL)->name)
        return -ENAMETOOLONG;
    int saved_errno = errno;
    struct pt_monitor_series_point point = { isnan(timestamp) ? seconds_of(pt_wall_ns())
                                                              : timestamp,
                                             value };
    pt_monitor_lock();
    int rc = pt_monitor_series_add(&monitor->series, name, point);
    pt_monitor_unlock();
    errno = saved_errno;
    return rc;
}

size_t pt_monitor_values(pt_monitor *monitor, const char *name, double *timestamps, double *values,
                         size_t capacity) {
    pt_monitor_lock();
    const struct pt_monitor_series *series = pt_monitor_series_find(&monitor->series, name);
    size_t count = series ? series->count : 0;
    for (size_t i = 0; i < count && i < capacity; i++) {
        struct pt_monitor_series_point point = pt_monitor_series_at(series, i);
        timestamps[i] = point.timestamp;
        values[i] = point.value;
    }
    pt_monitor_unlock();
    return count;
}

/* The first call starts to watch the GPU. The search is expensive only if there is one. */
static void watch_gpu(pt_monitor *monitor) {
    pt_monitor_lock();
    bool is_first = !monitor->watches_gpu;
    monitor->watches_gpu = true;
    pt_monitor_unlock();
    if (!is_first || !pt_gpu_watch_start(pt_settings_gpu_interval_ns()))
        return;
    pt_monitor_lock();
    monitor->watches_gpu = false;
    pt_monitor_unlock();
}

void pt_monitor_gpu(pt_monitor *monitor, pt_gpu_metrics *metrics) {
    struct pt_gpu_now now;
    watch_gpu(monitor);
    bool is_known = pt_gpu_watch_read(&now) && pt_mono_ns() - now.time_ns < GPU_FRESH_NS;
    *metrics = (pt_gpu_metrics){ false, NAN, NAN, NAN, NAN, NAN };
    if (is_known)
        *metrics = (pt_gpu_metrics){ true,
                                     now.utilization_percent,
                                     now.memory_used_mb,
                                     now.memory_total_mb,
                                     now.temperature_c,
                                     now.power_w };
}

/* Since the previous reading; if that was a moment ago, the previous answer. The first answer waits
 * until the window is long enough. */
static double cpu_percent(pt_monitor *monitor) {
    struct pt_machine_usage cpu;
    pt_monitor_lock();
    int64_t due_ns = monitor->cpu_ns + CPU_WINDOW_NS;
    bool is_first = isnan(monitor->cpu_percent) && !isnan(monitor->cpu.total_ticks);
    pt_monitor_unlock();
    if (is_first) {
        struct timespec t = { .tv_sec = due_ns / PT_NS_PER_SECOND,
                              .tv_nsec = due_ns % PT_NS_PER_SECOND };
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
            continue;
    }
    int64_t now_ns = pt_mono_ns();
    bool is_due = now_ns >= due_ns;
    if (is_due)
        pt_machine_read_ticks(&cpu);
    pt_monitor_lock();
    if (is_due && now_ns >= monitor->cpu_ns + CPU_WINDOW_NS) {
        double percent = pt_machine_cpu_percent(&monitor->cpu, &cpu);
        monitor->cpu_percent = isnan(percent) ? monitor->cpu_percent : percent;
        monitor->cpu = cpu;
        monitor->cpu_ns = now_ns;
    }
    double percent = monitor->cpu_percent;
    pt_monitor_unlock();
    return percent;
}

void pt_monitor_system(pt_monitor *monitor, pt_system_metrics *metrics) {
    struct pt_machine_memory memory;
    int saved_errno = errno;
    *metrics = (pt_system_metrics){ cpu_percent(monitor), NAN, NAN, NAN };
    if (!pt_machine_read_memory(&memory)) {
        double total = (double)memory.total_bytes;
        metrics->memory_used_gb = (double)memory.used_bytes / BYTES_PER_GB;
        metrics->memory_total_gb = total / BYTES_PER_GB;
        metrics->memory_percent = (total - (double)memory.available_bytes) / total * 100;
    }
    errno = saved_errno;
}

#define AT(member) offsetof(struct pt_monitor_now, member)

/* Names that rules may use besides those of series. */
static const struct {
    const char *name;
    size_t offset;
    bool is_of_gpu;
} known_metrics[] = {
    { "gpu_utilization", AT(gpu.gpu_utilization), true },
    { "gpu_memory_used", AT(gpu.gpu_memory_used), true },
    { "gpu_memory_total", AT(gpu.gpu_memory_total), true },
    { "gpu_memory_usage", AT(gpu_memory_usage), true },
    { "gpu_temperature", AT(gpu.gpu_temperature), true },
    { "gpu_power_draw", AT(gpu.gpu_power_draw), true },
    { "cpu_utilization", AT(system.cpu_utilization), false },
    { "memory_used_gb", AT(system.memory_used_gb), false },
    { "memory_total_gb", AT(system.memory_total_gb), false },
    { "memory_percent", AT(system.memory_percent), false },
};

static int find_known(const char *name) {
    for (size_t i = 0; i < PT_COUNT(known_metrics); i++)
        if (strcmp(known_metrics[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_valid(const pt_alert_rule *rule, const struct pt_alert_limit *limit) {
    return rule->metric && *rule->metric && rule->text && *rule->text &&
           strlen(rule->metric) < sizeof((struct pt_monitor_rule *)NULL)->metric &&
           strlen(rule->text) < sizeof((struct pt_monitor_rule *)NULL)->text &&
           pt_alert_limit_is_valid(limit);
}

int pt_monitor_add_rule(pt_monitor *monitor, const pt_alert_rule *rule) {
    struct pt_alert_limit limit = { rule->is_above, rule->threshold, rule->for_seconds,
                                    rule->hysteresis };
    if (!is_valid(rule, &limit))
        return -EINVAL;
    struct pt_monitor_rule added = { .known = find_known(rule->metric), .limit = limit };
    pt_str_copy(added.metric, sizeof added.metric, pt_str_from(rule->metric));
    pt_str_copy(added.text, sizeof added.text, pt_str_from(rule->text));
    int rc = -ENOSPC;
    pt_monitor_lock();
    if (monitor->rule_count < PT_MONITOR_RULES) {
        monitor->rules[monitor->rule_count++] = added;
        rc = 0;
    }
    pt_monitor_unlock();
    return rc;
}

void pt_monitor_clear_rules(pt_monitor *monitor) {
    pt_monitor_lock();
    monitor->rule_count = 0;
    pt_monitor_unlock();
}

void pt_monitor_on_alert(pt_monitor *monitor, pt_alert_function *call, void *arg) {
    pt_monitor_lock();
    monitor->on_alert = call;
    monitor->on_alert_arg = arg;
    pt_monitor_unlock();
}

/* Reads only what the rules need: no waiting for a CPU window or a driver that no rule uses. */
static void look(pt_monitor *monitor, struct pt_monitor_now *now) {
    bool needs_gpu = false, needs_system = false;
    pt_monitor_lock();
    for (size_t i = 0; i < monitor->rule_count; i++) {
        int known = monitor->rules[i].known;
        needs_gpu |= known >= 0 && known_metrics[known].is_of_gpu;
        needs_system |= known >= 0 && !known_metrics[known].is_of_gpu;
    }
    pt_monitor_unlock();
    *now = (struct pt_monitor_now){ .gpu = { false, NAN, NAN, NAN, NAN, NAN },
                                    .system = { NAN, NAN, NAN, NAN } };
    if (needs_gpu)
        pt_monitor_gpu(monitor, &now->gpu);
    if (needs_system)
        pt_monitor_system(monitor, &now->system);
}

/* NAN: unknown. The guard is held. */
static double value_for(const pt_monitor *monitor, const struct pt_monitor_rule *rule,
                        const struct pt_monitor_now *now) {
    double value = (double)NAN;
    if (rule->known >= 0) {
        memcpy(&value, (const char *)now + known_metrics[rule->known].offset, sizeof value);
        return value;
    }
    const struct pt_monitor_series *series = pt_monitor_series_find(&monitor->series, rule->metric);
    return series && series->count > 0 ? pt_monitor_series_at(series, series->count - 1).value
                                       : value;
}

struct change {
    pt_alert alert;
    bool is_on;
};

/* Updates all rules; `alerts` gets those that are firing. The guard is held. */
static void step_rules(pt_monitor *monitor, const struct pt_monitor_now *now,
                       struct pt_monitor_alerts *alerts, struct change *changes,
                       size_t *change_count) {
    double seconds = seconds_of(pt_mono_ns());
    double wall_offset = seconds_of(pt_wall_ns()) - seconds;
    alerts->count = 0;
    for (size_t i = 0; i < monitor->rule_count; i++) {
        struct pt_monitor_rule *rule = &monitor->rules[i];
        enum pt_alert_change change =
            pt_alert_step(&rule->limit, &rule->state, value_for(monitor, rule, now), seconds);
        pt_alert alert = { .value = rule->state.value,
                           .since = rule->state.on_since + wall_offset };
        pt_str_copy(alert.text, sizeof alert.text, pt_str_from(rule->text));
        if (change != PT_ALERT_SAME)
            changes[(*change_count)++] = (struct change){ alert, change == PT_ALERT_WENT_ON };
        if (rule->state.is_on)
            alerts->at[alerts->count++] = alert;
    }
}

/* Slower steps are alerts of every monitor. The guard is held. */
static void step_regressions(pt_monitor *monitor, struct pt_monitor_alerts *alerts,
                             struct change *changes, size_t *change_count) {
    pt_regression all[PT_REGRESSION_NAMES];
    uint32_t on = pt_regression_list(all), changed = on ^ monitor->regressions;
    for (uint32_t i = 0; i < PT_REGRESSION_NAMES; i++) {
        bool is_on = on >> i & 1;
        if (!is_on && !(changed >> i & 1))
            continue;
        pt_alert alert = { .value = all[i].after, .since = all[i].since };
        pt_regression_describe(&all[i], alert.text, sizeof alert.text);
        if (changed >> i & 1)
            changes[(*change_count)++] = (struct change){ alert, is_on };
        if (is_on)
            alerts->at[alerts->count++] = alert;
    }
    monitor->regressions = on;
}

size_t pt_monitor_check_with(pt_monitor *monitor, struct pt_monitor_now *now,
                             struct pt_monitor_alerts *alerts) {
    struct change changes[PT_MONITOR_ALERTS];
    size_t change_count = 0;
    now->gpu_memory_usage =
        now->gpu.gpu_memory_total > 0 ? now->gpu.gpu_memory_used / now->gpu.gpu_memory_total : NAN;
    pt_monitor_lock();
    step_rules(monitor, now, alerts, changes, &change_count);
    step_regressions(monitor, alerts, changes, &change_count);
    pt_alert_function *call = monitor->on_alert;
    void *arg = monitor->on_alert_arg;
    pt_monitor_unlock();
    for (size_t i = 0; call && i < change_count; i++)
        call(arg, &changes[i].alert, changes[i].is_on);
    return alerts->count;
}

size_t pt_monitor_check(pt_monitor *monitor, pt_alert *into, size_t capacity) {
    struct pt_monitor_now now;
    struct pt_monitor_alerts alerts;
    look(monitor, &now);
    size_t count = pt_monitor_check_with(monitor, &now, &alerts);
    for (size_t i = 0; i < count && i < capacity; i++)
        into[i] = alerts.at[i];
    return count;
}
