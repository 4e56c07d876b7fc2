/* libpitot/monitor.h -- shared by the files of the monitor. */
#ifndef PT_LIBPITOT_MONITOR_H
#define PT_LIBPITOT_MONITOR_H

#include "analyze/alert.h"
#include "libpitot/machine_load.h"
#include "libpitot/regression.h"
#include "libpitot/series.h"

#include <pitot/monitor.h>

#define PT_MONITOR_RULES 64

struct pt_monitor_rule {
    char metric[64], text[128];
    int known; /* index of a name that is not a series; -1: a series */
    struct pt_alert_limit limit;
    struct pt_alert_state state;
};

/* All guarded by libpitot/monitor_lock.h. */
struct pt_monitor {
    int64_t start_ns; /* CLOCK_MONOTONIC */
    struct pt_monitor_series_set series;
    struct pt_machine_usage cpu; /* as of cpu_ns */
    int64_t cpu_ns;
    bool watches_gpu;
    double cpu_percent; /* NAN: not known yet */
    struct pt_monitor_rule rules[PT_MONITOR_RULES];
    size_t rule_count;
    uint32_t regressions; /* one bit per step name that was slower at the last check */
    pt_alert_function *on_alert;
    void *on_alert_arg;
};

/* Values that rules use, besides series. */
struct pt_monitor_now {
    pt_gpu_metrics gpu;
    double gpu_memory_usage; /* used divided by total */
    pt_system_metrics system;
};

#define PT_MONITOR_ALERTS (PT_MONITOR_RULES + PT_REGRESSION_NAMES)

struct pt_monitor_alerts {
    pt_alert at[PT_MONITOR_ALERTS];
    size_t count;
};

/* Evaluates all rules with these values. Returns the number of firing alerts. */
size_t pt_monitor_check_with(pt_monitor *monitor, struct pt_monitor_now *now,
                             struct pt_monitor_alerts *alerts);

#endif
