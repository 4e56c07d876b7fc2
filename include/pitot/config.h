/* include/pitot/config.h -- all settings of libpitot in one struct; log, steps and overhead.
 *
 *     pt_config config;
 *     pt_config_init(&config);
 *     config.enable_metrics = true;
 *     pt_configure(&config);
 *     while (train_step())
 *         pt_step("train_step"); -- logs, checks memory and exports traces at their intervals
 *
 * The same names are environment variables, PITOT_ENABLE_METRICS=1, and keys of a file named by
 * PITOT_CONFIG, `enable_metrics = true`. Code overrides the environment, which overrides the
 * file. */
#ifndef PITOT_CONFIG_H
#define PITOT_CONFIG_H

#include <pitot/pitot.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pt_config {
    uint32_t size; /* of the struct, set by pt_config_init(); new fields are added at the end */
    /* Switches. */
    bool enable_metrics;        /* false: everything is off, regardless of the rest */
    bool enable_profiler;       /* false; true: steps export traces */
    bool enable_gpu_monitoring; /* false; true: a thread polls the GPU */
    /* Low overhead. */
    bool collect_timing;       /* true: spans */
    bool collect_throughput;   /* true: rates of spans with samples, tokens or flows */
    bool collect_memory_basic; /* true: memory of the process at each step */
    /* Higher overhead. */
    bool collect_gpu_utilization;     /* false */
    bool collect_memory_detailed;     /* false; true: fragmentation and peak */
    bool collect_component_profiling; /* false; true: a histogram per span name */
    /* Traces. */
    bool profiler_record_shapes;   /* false; for torch */
    bool profiler_profile_memory;  /* false: memory over time in traces, every memory_interval */
    bool profiler_with_stack;      /* false; for torch */
    int profiler_export_interval;  /* 1000 steps */
    char profiler_trace_dir[4096]; /* "traces" */
    /* Intervals. */
    int metrics_log_interval;          /* 10 steps */
    double gpu_monitor_interval;       /* 1.0 s */
    int memory_cleanup_check_interval; /* 50 steps: tests for a leak */
    /* The governor. */
    bool auto_disable_on_slow;    /* true: above the threshold turn off the most expensive parts */
    double performance_threshold; /* 0.05: overhead as a share of the program's CPU time */
    /* Not in document 1. */
    bool debug_mode;        /* false; true also enables GPU monitoring and component profiling */
    double min_duration;    /* 0.001 s: shorter spans are not in pt_recent_timings() */
    int history_spans;      /* 200000: newest spans kept in the process */
    double memory_interval; /* 0.5 s: between memory samples of an operation and for traces */
} pt_config;

/* With collect_component_profiling every span name has a histogram of durations,
 * pitot_component_seconds{component="name"}, next to the other metrics of the process. It is filled
 * from the spans kept by the process (history_spans), not when they end, and uses one of the 63
 * histograms: names without a free histogram are counted as dropped. */

/* `size` is that of the program's header, which may be older or newer than the library. */
PT_API void pt_config_init_(pt_config *config, size_t size);
PT_API void pt_config_get_(pt_config *config, size_t size);
/* Sets the defaults. */
static inline void pt_config_init(pt_config *config) {
    pt_config_init_(config, sizeof *config);
}
/* Gets the current settings: to change a field, get, set, configure. Under a recorder
 * enable_metrics is true from the start. */
static inline void pt_config_get(pt_config *config) {
    pt_config_get_(config, sizeof *config);
}
/* Reads settings from a file with lines `key = value`; # and ; begin comments. 0; -errno; -EINVAL:
 * nothing is set, and `message` (or NULL) has line, key, error and allowed values. */
PT_API int pt_config_read_file(pt_config *config, const char *path, char *message, size_t capacity);
/* Reads the file of PITOT_CONFIG, then the variables; as above. If any such variable exists, this
 * was already done when the library was loaded. */
PT_API int pt_config_read_environment(pt_config *config, char *message, size_t capacity);
/* Sets one field by its name; as above. */
PT_API int pt_config_set(pt_config *config, const char *key, const char *value, char *message,
                         size_t capacity);
/* Applies the settings, for all threads. enable_metrics calls pt_start(NULL) or pt_stop(): false
 * also ends recording under a recorder. 0; -EINVAL: a value is out of range, the log says which,
 * nothing has changed; other -errno: recording cannot start, all else is applied. */
PT_API int pt_configure(const pt_config *config);

/* Levels as in Python's logging. The first two are from the source documents. */
enum pt_level {
    PT_LEVEL_DEBUG_PROFILING = 11,
    PT_LEVEL_DEBUG_PERFORMANCE = 12,
    PT_LEVEL_INFO = 20,
    PT_LEVEL_WARNING = 30
};
/* Called by the thread that logs, possibly by several at once, never on the recording path; NULL,
 * the default: silent. An earlier first warning is passed on during pt_set_log(). */
typedef void pt_log_function(void *arg, int level, const char *text);
PT_API void pt_set_log(pt_log_function *log, void *arg);

/* Marks the end of a step of the program's loop: samples memory, and at the intervals above logs,
 * tests for a leak, and exports the spans since the last export to the new file
 * {profiler_trace_dir}/{name}_step_{n}.json. Off: one branch. Returns the number of the step,
 * shared by all names; 0 while off. */
PT_API uint64_t pt_step_(const char *name);
static inline uint64_t pt_step(const char *name) {
    return pt_is_off_(PT_METRICS_ON_) ? 0 : pt_step_(name);
}

/* Overhead. Once a second, the calibrated costs of calls and the CPU time of libpitot's own
 * threads are divided by the CPU time of the program, but at least by 5 % of one CPU: in a
 * sleeping program any cost would be a large share. Counter adds are not counted: counting would
 * cost as much as they do.
 *
 * Above performance_threshold for three seconds, the governor turns off the most expensive part
 * that matters: spans, histograms, memory samples; the GPU is polled less often. A span
 * "pitot: spans off" and the gauge pitot_part_on{part="spans"} report it in the data, a line at
 * PT_LEVEL_WARNING in the log. Below half of the threshold for a minute, the last part is turned
 * on again, at most three times. */
typedef struct pt_overhead {
    double fraction;        /* since the first check; NAN: not known yet */
    double recent_fraction; /* mean over about ten seconds */
    double span_seconds;    /* calibrated costs of one call; NAN: not known yet */
    double counter_seconds;
    double histogram_seconds;
    double thread_seconds;        /* CPU time of libpitot's own threads */
    uint64_t spans, observations; /* so far; observations of histograms */
    bool spans_on, histograms_on, memory_on;
    bool gpu_on;      /* at its full rate */
    uint32_t actions; /* of the governor so far */
} pt_overhead;
/* The governor runs from the first pt_start(), pt_configure() or call of this function on. */
PT_API void pt_overhead_get(pt_overhead *overhead);

#ifdef __cplusplus
}
#endif

#endif
