/* include/pitot/monitor.h -- series and alerts of a service, its requests and its health.
 *
 *     pt_monitor *monitor = pt_monitor_new();
 *     pt_monitor_record(monitor, "loss", 0.3, NAN);
 *     char *json = pt_monitor_report_json(monitor);
 *
 *     pt_request_begin();
 *     ...
 *     pt_record_request(seconds, tokens, true);
 *     pt_health health;
 *     pt_health_check(&health, generate_test, engine); -- healthy or not, latencies, memory
 *
 * Works without pt_start(). Unknown figures are NAN in structs, null or left out in JSON. */
#ifndef PITOT_MONITOR_H
#define PITOT_MONITOR_H

#include <pitot/pitot.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pt_monitor pt_monitor;

typedef struct pt_gpu_metrics {
    bool is_known;                            /* false: no GPU, or it does not answer */
    double gpu_utilization;                   /* % */
    double gpu_memory_used, gpu_memory_total; /* MB */
    double gpu_temperature;                   /* degrees Celsius */
    double gpu_power_draw;                    /* W */
} pt_gpu_metrics;

typedef struct pt_system_metrics {
    double cpu_utilization;                 /* %; see pt_monitor_system() */
    double memory_used_gb, memory_total_gb; /* 2^30 bytes */
    double memory_percent;
} pt_system_metrics;

typedef struct pt_series_summary {
    char name[64];
    double current, average, min, max; /* of the last values, 100 unless set */
    size_t count;
} pt_series_summary;

/* Steps of pt_step() that have become slower for good: a rank test for a change of level, which
 * takes no notice of outliers and allows for neighbours that resemble each other. */
typedef struct pt_regression {
    char name[64];
    uint64_t step;        /* at which it began, about */
    double before, after; /* medians of the time of a step, in seconds */
    double p;             /* probability of as much by chance */
    double since;         /* when it was noticed, seconds since 1970 */
} pt_regression;
/* Those that are not over: the time has not fallen since. Returns how many there are. Of up to 16
 * names of steps; docs/LIBRARY.md says how soon which change is found. */
PT_API size_t pt_regressions(pt_regression *into, size_t capacity);

/* An alert that is on. */
typedef struct pt_alert {
    char text[128];
    double value;
    double since; /* seconds since 1970 */
} pt_alert;

/* Above or below a limit. `metric` is a series, or one of the names in the two structs above, or
 * gpu_memory_usage (used by total). On after `for_seconds` beyond `threshold`, off when it is back
 * by `hysteresis`. */
typedef struct pt_alert_rule {
    const char *metric;
    bool is_above; /* false: below */
    double threshold;
    double for_seconds, hysteresis; /* 0: at once */
    const char *text;
} pt_alert_rule;

typedef void pt_alert_function(void *arg, const pt_alert *alert, bool is_on);

PT_API pt_monitor *pt_monitor_new(void); /* NULL: no memory */
PT_API void pt_monitor_free(pt_monitor *monitor);
/* How many values of a series are kept, 100 unless set; earlier ones of longer series go. 0;
 * -EINVAL: not 1 to 1000000; -ENOMEM. */
PT_API int pt_monitor_set_capacity(pt_monitor *monitor, size_t values);

/* `timestamp` in seconds since 1970; NAN: now. A new name makes a series (up to 4096).
 * 0; -ENOSPC; -EINVAL: not a finite number, no name; -ENAMETOOLONG: more than 63 bytes. */
PT_API int pt_monitor_record(pt_monitor *monitor, const char *name, double value, double timestamp);
/* Values of a series, oldest first. Returns how many there are. */
PT_API size_t pt_monitor_values(pt_monitor *monitor, const char *name, double *timestamps,
                                double *values, size_t capacity);

/* Of the first GPU. The first call looks for it, half a second at most; then a thread asks it every
 * gpu_monitor_interval while there is a monitor. */
PT_API void pt_monitor_gpu(pt_monitor *monitor, pt_gpu_metrics *metrics);
/* CPU since the call before of this monitor, or since its making; within 0.1 s of that: waits for
 * the rest of it the first time, says what it said before later on. */
PT_API void pt_monitor_system(pt_monitor *monitor, pt_system_metrics *metrics);

/* The rules of the source document are there from the start; these come in addition, or instead
 * after pt_monitor_clear_rules(). Up to 64. What is not known breaks no rule. 0; -EINVAL: a text is
 * missing or too long, a number not finite or negative; -ENOSPC. */
PT_API int pt_monitor_add_rule(pt_monitor *monitor, const pt_alert_rule *rule);
PT_API void pt_monitor_clear_rules(pt_monitor *monitor);
/* Called by pt_monitor_check() when an alert goes on or off. */
PT_API void pt_monitor_on_alert(pt_monitor *monitor, pt_alert_function *call, void *arg);
/* Looks at all rules now; the alerts that are on, those of pt_regressions() among them. Returns how
 * many there are. */
PT_API size_t pt_monitor_check(pt_monitor *monitor, pt_alert *into, size_t capacity);

typedef struct pt_monitor_report {
    double timestamp, uptime_seconds;
    pt_gpu_metrics gpu_metrics;
    pt_system_metrics system_metrics;
    size_t alert_count, summary_count;
    pt_alert *alerts;
    pt_series_summary *metric_summaries;
} pt_monitor_report;
/* NULL: no memory; free() it, it is one block. */
PT_API pt_monitor_report *pt_monitor_report_new(pt_monitor *monitor);
/* The six keys timestamp, uptime_seconds, gpu_metrics, system_metrics, alerts, metric_summaries;
 * free() it. */
PT_API char *pt_monitor_report_json(pt_monitor *monitor);

/* Requests: requests_total, request_duration_seconds, active_requests, tokens_per_second,
 * memory_usage_bytes and request_errors_total, as metrics of the process. pt_record_request() and
 * the others do this by themselves when recording is on. 0; -errno as pt_registration_error(): one
 * of them cannot be recorded, which is not an error of the caller. */
PT_API int pt_requests_register(void);
PT_API void pt_request_begin(void); /* active_requests + 1 */
PT_API void pt_request_end(void);   /* active_requests - 1 */
/* A duration of 0 leaves tokens_per_second as it is, one that is not known is NAN. Counts for the
 * health while recording is off, too. memory_usage_bytes is read at most once a second. */
PT_API void pt_record_request(double seconds, uint64_t tokens, bool has_succeeded);

typedef struct pt_health {
    bool is_healthy;
    double latency_p50, latency_p95; /* seconds, within 1.1 %; NAN: no requests lately */
    double memory_usage_mb;
    double gpu_utilization; /* %; NAN: no GPU */
    double error_rate;      /* 0 to 1; 0 without requests lately */
    double probe_seconds;   /* NAN: no probe */
} pt_health;
/* Latencies and errors are those of the last five to ten minutes. Healthy is a service whose probe
 * returns 0, or that has none; the probe runs in this call. */
typedef int pt_health_probe(void *arg);
PT_API void pt_health_check(pt_health *health, pt_health_probe *probe, void *arg);
/* "status" is "healthy" or "unhealthy"; free() it. NULL: no memory. */
PT_API char *pt_health_json(const pt_health *health);
PT_API double pt_latency_percentile(double q); /* 0 to 1; NAN: no requests lately */
PT_API double pt_error_rate(void);
PT_API double pt_gpu_utilization(void); /* %, asked at most once per gpu_monitor_interval; NAN */

#ifdef __cplusplus
}
#endif

#endif
