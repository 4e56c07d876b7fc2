/* include/pitot/monitor.h -- series, alerts, requests and health of a service.
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
    bool is_known;                            /* false: no GPU, or it does not respond */
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

/* Steps of pt_step() that became permanently slower: found by a rank test for a change of level,
 * which ignores outliers and allows for autocorrelation. */
typedef struct pt_regression {
    char name[64];
    uint64_t step;        /* approximate first slow step */
    double before, after; /* median time of a step, in seconds */
    double p;             /* probability of such a change by chance */
    double since;         /* when it was detected, seconds since 1970 */
} pt_regression;
/* Current regressions: the time has not fallen since. Returns how many there are. Covers up to 16
 * step names; docs/LIBRARY.md says how soon a change is found. */
PT_API size_t pt_regressions(pt_regression *into, size_t capacity);

/* An active alert. */
typedef struct pt_alert {
    char text[128];
    double value;
    double since; /* seconds since 1970 */
} pt_alert;

/* A limit. `metric` is a series, or one of the names in the two structs above, or gpu_memory_usage
 * (used / total). The alert fires after `for_seconds` beyond `threshold` and clears when the value
 * has returned by `hysteresis`. */
typedef struct pt_alert_rule {
    const char *metric;
    bool is_above; /* false: below */
    double threshold;
    double for_seconds, hysteresis; /* 0: immediately */
    const char *text;
} pt_alert_rule;

typedef void pt_alert_function(void *arg, const pt_alert *alert, bool is_on);

PT_API pt_monitor *pt_monitor_new(void); /* NULL: no memory */
PT_API void pt_monitor_free(pt_monitor *monitor);
/* Sets how many values a series keeps, 100 by default; older values are dropped. 0; -EINVAL: not 1
 * to 1000000; -ENOMEM. */
PT_API int pt_monitor_set_capacity(pt_monitor *monitor, size_t values);

/* `timestamp` in seconds since 1970; NAN: now. A new name creates a series (up to 4096).
 * 0; -ENOSPC; -EINVAL: not a finite number, or no name; -ENAMETOOLONG: more than 63 bytes. */
PT_API int pt_monitor_record(pt_monitor *monitor, const char *name, double value, double timestamp);
/* Values of a series, oldest first. Returns how many there are. */
PT_API size_t pt_monitor_values(pt_monitor *monitor, const char *name, double *timestamps,
                                double *values, size_t capacity);

/* The first GPU. The first call looks for it, for at most half a second; then a thread polls it
 * every gpu_monitor_interval while a monitor exists. */
PT_API void pt_monitor_gpu(pt_monitor *monitor, pt_gpu_metrics *metrics);
/* CPU utilization since the previous call of this monitor, or since its creation. Within 0.1 s of
 * that: the first call waits for the rest, later calls return the previous values. */
PT_API void pt_monitor_system(pt_monitor *monitor, pt_system_metrics *metrics);

/* Adds a rule to those of the source document, which are built in; pt_monitor_clear_rules()
 * removes all. Up to 64. Unknown values never fire an alert. 0; -EINVAL: a text is missing or too
 * long, or a number is not finite or is negative; -ENOSPC. */
PT_API int pt_monitor_add_rule(pt_monitor *monitor, const pt_alert_rule *rule);
PT_API void pt_monitor_clear_rules(pt_monitor *monitor);
/* Sets a function that pt_monitor_check() calls when an alert fires or clears. */
PT_API void pt_monitor_on_alert(pt_monitor *monitor, pt_alert_function *call, void *arg);
/* Checks all rules now; returns the number of active alerts, including those of
 * pt_regressions(). */
PT_API size_t pt_monitor_check(pt_monitor *monitor, pt_alert *into, size_t capacity);

typedef struct pt_monitor_report {
    double timestamp, uptime_seconds;
    pt_gpu_metrics gpu_metrics;
    pt_system_metrics system_metrics;
    size_t alert_count, summary_count;
    pt_alert *alerts;
    pt_series_summary *metric_summaries;
} pt_monitor_report;
/* One block: free() it. NULL: no memory. */
PT_API pt_monitor_report *pt_monitor_report_new(pt_monitor *monitor);
/* The six keys timestamp, uptime_seconds, gpu_metrics, system_metrics, alerts, metric_summaries;
 * free() it. */
PT_API char *pt_monitor_report_json(pt_monitor *monitor);

/* Requests: requests_total, request_duration_seconds, active_requests, tokens_per_second,
 * memory_usage_bytes and request_errors_total, as metrics of the process. pt_record_request() and
 * the others register them automatically when recording is on. 0; -errno as in
 * pt_registration_error(): one of them cannot be recorded, which is not an error of the caller. */
PT_API int pt_requests_register(void);
PT_API void pt_request_begin(void); /* active_requests + 1 */
PT_API void pt_request_end(void);   /* active_requests - 1 */
/* A duration of 0 leaves tokens_per_second unchanged; an unknown duration is NAN. Counts for the
 * health also while recording is off. memory_usage_bytes is read at most once a second. */
PT_API void pt_record_request(double seconds, uint64_t tokens, bool has_succeeded);

typedef struct pt_health {
    bool is_healthy;
    double latency_p50, latency_p95; /* seconds, within 1.1 %; NAN: no recent requests */
    double memory_usage_mb;
    double gpu_utilization; /* %; NAN: no GPU */
    double error_rate;      /* 0 to 1; 0 without recent requests */
    double probe_seconds;   /* NAN: no probe */
} pt_health;
/* Latencies and errors cover the last five to ten minutes. A service is healthy if its probe
 * returns 0, or if it has no probe; the probe runs in this call. */
typedef int pt_health_probe(void *arg);
PT_API void pt_health_check(pt_health *health, pt_health_probe *probe, void *arg);
/* "status" is "healthy" or "unhealthy"; free() it. NULL: no memory. */
PT_API char *pt_health_json(const pt_health *health);
PT_API double pt_latency_percentile(double q); /* 0 to 1; NAN: no recent requests */
PT_API double pt_error_rate(void);
PT_API double pt_gpu_utilization(void); /* %, read once per gpu_monitor_interval; NAN: unknown */

#ifdef __cplusplus
}
#endif

#endif
