/* The report of a monitor: one struct, or JSON with the six keys of the source document. */
#include "base/clock.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/json_text.h"
#include "libpitot/monitor.h"

#include <stdlib.h>

/* Series are only ever added: a report may lack the newest ones. */
static pt_monitor_report *make(const pt_monitor *monitor, const struct pt_monitor_alerts *alerts) {
    pt_monitor_lock();
    size_t summary_count = monitor->series.count;
    pt_monitor_unlock();
    pt_monitor_report *report = calloc(1, sizeof *report + alerts->count * sizeof(pt_alert) +
                                              summary_count * sizeof(pt_series_summary));
    if (!report)
        return NULL;
    report->alert_count = alerts->count;
    report->alerts = (pt_alert *)(report + 1);
    memcpy(report->alerts, alerts->at, alerts->count * sizeof *alerts->at);
    report->metric_summaries = (pt_series_summary *)(report->alerts + alerts->count);
    pt_monitor_lock();
    const struct pt_monitor_series *series = monitor->series.first;
    for (; series && report->summary_count < summary_count; series = series->next)
        if (series->count > 0)
            pt_monitor_series_summarize(series, &report->metric_summaries[report->summary_count++]);
    pt_monitor_unlock();
    return report;
}

pt_monitor_report *pt_monitor_report_new(pt_monitor *monitor) {
    struct pt_monitor_now now;
    struct pt_monitor_alerts alerts;
    pt_monitor_gpu(monitor, &now.gpu);
    pt_monitor_system(monitor, &now.system);
    pt_monitor_check_with(monitor, &now, &alerts);
    pt_monitor_report *report = make(monitor, &alerts);
    if (!report)
        return NULL;
    report->timestamp = (double)pt_wall_ns() / (double)PT_NS_PER_SECOND;
    report->uptime_seconds = (double)(pt_mono_ns() - monitor->start_ns) / (double)PT_NS_PER_SECOND;
    report->gpu_metrics = now.gpu;
    report->system_metrics = now.system;
    return report;
}

static void write_report(struct pt_json *j, const void *what) {
    const pt_monitor_report *report = what;
    const pt_gpu_metrics *gpu = &report->gpu_metrics;
    const pt_system_metrics *system = &report->system_metrics;
    pt_json_object(j, NULL);
    pt_json_f64(j, "timestamp", report->timestamp);
    pt_json_f64(j, "uptime_seconds", report->uptime_seconds);
    pt_json_object(j, "gpu_metrics");
    if (gpu->is_known) {
        pt_json_f64(j, "gpu_utilization", gpu->gpu_utilization);
        pt_json_f64(j, "gpu_memory_used", gpu->gpu_memory_used);
        pt_json_f64(j, "gpu_memory_total", gpu->gpu_memory_total);
        pt_json_f64(j, "gpu_temperature", gpu->gpu_temperature);
        pt_json_f64(j, "gpu_power_draw", gpu->gpu_power_draw);
    }
    pt_json_end(j);
    pt_json_object(j, "system_metrics");
    pt_json_f64(j, "cpu_utilization", system->cpu_utilization);
    pt_json_f64(j, "memory_used_gb", system->memory_used_gb);
    pt_json_f64(j, "memory_total_gb", system->memory_total_gb);
    pt_json_f64(j, "memory_percent", system->memory_percent);
    pt_json_end(j);
    pt_json_array(j, "alerts");
    for (size_t i = 0; i < report->alert_count; i++)
        pt_json_text(j, NULL, report->alerts[i].text);
    pt_json_end(j);
    pt_json_object(j, "metric_summaries");
    for (size_t i = 0; i < report->summary_count; i++) {
        const pt_series_summary *summary = &report->metric_summaries[i];
        pt_json_object(j, summary->name);
        pt_json_f64(j, "current", summary->current);
        pt_json_f64(j, "average", summary->average);
        pt_json_f64(j, "min", summary->min);
        pt_json_f64(j, "max", summary->max);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
}

char *pt_monitor_report_json(pt_monitor *monitor) {
    pt_monitor_report *report = pt_monitor_report_new(monitor);
    char *text = report ? pt_json_text_new(write_report, report) : NULL;
    free(report);
    return text;
}
