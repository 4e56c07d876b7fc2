/* Steps of the program's loop: samples of memory, and every N steps a log line, a leak check and a
 * trace. Failures are logged and stop nothing. */
#include "libpitot/step.h"

#include "base/clock.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/span_history.h"
#include "libpitot/leak_check.h"
#include "libpitot/library_log.h"
#include "libpitot/overhead.h"
#include "libpitot/process_usage.h"
#include "libpitot/regression.h"
#include "libpitot/config_settings.h"
#include "libpitot/trace_export.h"

#include <errno.h>
#include <math.h>
#include <pitot/export.h>
#include <stdio.h>
#include <sys/stat.h>

#define MEMORY_SAMPLES 500
#define NAME_LENGTH    100 /* of a step name in a file name */

/* Guarded by libpitot/monitor_lock.h. */
static struct {
    uint64_t number;
    pt_memory_sample memory[MEMORY_SAMPLES]; /* the newest; sample n is at n % MEMORY_SAMPLES */
    uint64_t memory_count;
    struct pt_step_since log; /* since the last line */
    uint64_t export_span;     /* the first span that was not exported */
} steps;

static pt_memory_sample sample_memory(void) {
    struct pt_gpu_now gpu;
    int64_t start_ns = pt_mono_ns();
    (void)pt_gpu_watch_read(&gpu);
    double gpu_mb = isnan(gpu.process_memory_mb) ? gpu.memory_used_mb : gpu.process_memory_mb;
    pt_memory_sample sample = { .ram_mb = pt_process_ram_mb(),
                                .gpu_mb = gpu_mb,
                                .wall_time = (double)pt_wall_ns() / (double)PT_NS_PER_SECOND };
    pt_overhead_add_memory(pt_mono_ns() - start_ns);
    return sample;
}

size_t pt_recent_memory(pt_memory_sample *into, size_t capacity) {
    pt_config config;
    pt_config_get(&config);
    if (!config.collect_memory_basic)
        return 0;
    pt_monitor_lock();
    size_t count = steps.memory_count < MEMORY_SAMPLES ? steps.memory_count : MEMORY_SAMPLES;
    count = count < capacity ? count : capacity;
    for (size_t i = 0; i < count; i++)
        into[i] = steps.memory[(steps.memory_count - count + i) % MEMORY_SAMPLES];
    pt_monitor_unlock();
    return count;
}

/* Memory at the last `count` steps; returns the number of values. */
static size_t copy_ram(double *mb, size_t count) {
    pt_monitor_lock();
    count = count < steps.memory_count ? count : steps.memory_count;
    for (size_t i = 0; i < count; i++)
        mb[i] = steps.memory[(steps.memory_count - count + i) % MEMORY_SAMPLES].ram_mb;
    pt_monitor_unlock();
    return count;
}

static void look_for_leak(const pt_config *config, uint64_t number) {
    double numbers[MEMORY_SAMPLES], mb[MEMORY_SAMPLES];
    size_t wanted = (size_t)config->memory_cleanup_check_interval;
    size_t count = copy_ram(mb, wanted < MEMORY_SAMPLES ? wanted : MEMORY_SAMPLES);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (double)i;
    struct pt_leak_result leak = pt_leak_test(numbers, mb, count);
    if (leak.verdict == PT_LEAK_YES)
        pt_monitor_log(PT_LEVEL_WARNING,
                       "step %llu: memory grows by %.3f MB per step (+- %.3f), now %.1f MB",
                       (unsigned long long)number, leak.slope, leak.slope_error, mb[count - 1]);
}

/* Where the previous line ended; the next one begins here. */
static struct pt_step_since begin_line(uint64_t number) {
    struct pt_step_since now = { number, pt_mono_ns(), pt_history_end() };
    pt_monitor_lock();
    struct pt_step_since before = steps.log;
    steps.log = now;
    pt_monitor_unlock();
    return before;
}

static void log_steps(const pt_config *config, const char *name, uint64_t number) {
    char text[PT_STEP_TEXT];
    if (!pt_monitor_is_logging())
        return;
    struct pt_step_since before = begin_line(number);
    pt_step_describe(config, name, number, &before, text);
    pt_monitor_log(PT_LEVEL_DEBUG_PERFORMANCE, "%s", text);
}

/* The step name as part of a file name. */
static void make_safe(const char *name, char safe[NAME_LENGTH + 1]) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strnlen(name, NAME_LENGTH);
    for (size_t i = 0; i < length; i++)
        safe[i] = strchr(allowed, name[i]) && (i > 0 || name[i] != '.') ? name[i] : '_';
    safe[length] = '\0';
    if (length == 0)
        memcpy(safe, "step", sizeof "step");
}

/* Creates its parents too. 0 or -errno. */
static int make_directory(const char *path) {
    char part[sizeof((pt_config *)NULL)->profiler_trace_dir];
    pt_str_copy(part, sizeof part, pt_str_from(path));
    for (char *at = part + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            if (mkdir(part, 0777) && errno != EEXIST)
                return -errno;
            *at = '/';
        }
    return mkdir(part, 0777) && errno != EEXIST ? -errno : 0;
}

static void export_trace(const pt_config *config, const char *name, uint64_t number) {
    char safe[NAME_LENGTH + 1], path[sizeof config->profiler_trace_dir + NAME_LENGTH + 40];
    make_safe(name, safe);
    snprintf(path, sizeof path, "%s/%s_step_%llu.json", config->profiler_trace_dir, safe,
             (unsigned long long)number);
    uint64_t end = pt_history_end();
    pt_monitor_lock();
    uint64_t from = steps.export_span;
    steps.export_span = end;
    pt_monitor_unlock();
    int rc = make_directory(config->profiler_trace_dir);
    if (!rc)
        rc = pt_trace_write_since(path, from);
    if (rc)
        pt_monitor_log(PT_LEVEL_WARNING, "cannot write the trace %.400s: %s", path, strerror(-rc));
    else
        pt_monitor_log(PT_LEVEL_DEBUG_PROFILING, "Exported profiler trace: %.450s", path);
}

/* The first line covers the time since the first step. */
static uint64_t next_number(void) {
    pt_monitor_lock();
    uint64_t number = ++steps.number;
    pt_monitor_unlock();
    if (number == 1)
        (void)begin_line(number);
    return number;
}

static bool is_due(uint64_t number, int interval) {
    return number % (uint64_t)interval == 0;
}

static void look_for_regression(const char *name, uint64_t number) {
    pt_regression found;
    char text[128];
    if (!pt_regression_step(name, number, pt_mono_ns(), &found))
        return;
    pt_regression_describe(&found, text, sizeof text);
    pt_monitor_log(PT_LEVEL_WARNING, "%s", text);
}

static uint64_t step(const char *name) {
    pt_config config;
    pt_config_get(&config);
    pt_settings_catch_up();
    pt_overhead_begin();
    uint64_t number = next_number();
    if (config.collect_memory_basic && pt_overhead_allows(PT_PART_MEMORY)) {
        pt_memory_sample sample = sample_memory();
        pt_monitor_lock();
        steps.memory[steps.memory_count++ % MEMORY_SAMPLES] = sample;
        pt_monitor_unlock();
    }
    if (config.collect_timing)
        look_for_regression(name, number);
    if (is_due(number, config.metrics_log_interval))
        log_steps(&config, name, number);
    if (config.collect_memory_basic && is_due(number, config.memory_cleanup_check_interval))
        look_for_leak(&config, number);
    if (config.enable_profiler && is_due(number, config.profiler_export_interval))
        export_trace(&config, name, number);
    return number;
}

uint64_t pt_step_(const char *name) {
    if (pt_is_off_(PT_METRICS_ON_))
        return 0;
    int saved_errno = errno;
    uint64_t number = step(name ? name : "");
    errno = saved_errno;
    return number;
}
