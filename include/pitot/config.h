/* include/pitot/config.h -- all settings of libpitot in one struct, its log, and steps.
 *
 *     pt_config config;
 *     pt_config_init(&config);
 *     config.enable_metrics = true;
 *     pt_configure(&config);
 *     while (train_step())
 *         pt_step("train_step"); -- logs, checks memory and exports traces when it is time
 *
 * The same names are variables of the environment, PITOT_ENABLE_METRICS=1, and keys of a file,
 * `enable_metrics = true`, which PITOT_CONFIG names. Code beats environment beats file. */
#ifndef PITOT_CONFIG_H
#define PITOT_CONFIG_H

#include <pitot/pitot.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pt_config {
    uint32_t size; /* of the struct, set by pt_config_init(): fields are only added at the end */
    /* Switches. */
    bool enable_metrics;        /* false: everything is off, whatever stands below */
    bool enable_profiler;       /* false; true: steps export traces */
    bool enable_gpu_monitoring; /* false; true: a thread asks the GPU */
    /* Light. */
    bool collect_timing;       /* true: spans */
    bool collect_throughput;   /* true: spans with samples, tokens or flows as rates */
    bool collect_memory_basic; /* true: memory of the process at each step */
    /* Dearer. */
    bool collect_gpu_utilization;     /* false */
    bool collect_memory_detailed;     /* false: fragmentation and peak */
    bool collect_component_profiling; /* false: each name of spans as a histogram, see below */
    /* Of traces. */
    bool profiler_record_shapes;   /* false; for torch */
    bool profiler_profile_memory;  /* false: memory over time in traces, every memory_interval */
    bool profiler_with_stack;      /* false; for torch */
    int profiler_export_interval;  /* 1000 steps */
    char profiler_trace_dir[4096]; /* "traces" */
    /* Intervals. */
    int metrics_log_interval;          /* 10 steps */
    double gpu_monitor_interval;       /* 1.0 s */
    int memory_cleanup_check_interval; /* 50 steps: looks for a leak */
    /* The governor. */
    bool auto_disable_on_slow;    /* true: above the threshold the dearest parts are switched off */
    double performance_threshold; /* 0.05: cost of measuring by CPU time of the program */
    /* Beyond document 1. */
    bool debug_mode;        /* false; true also enables GPU monitoring and component profiling */
    double min_duration;    /* 0.001 s: shorter spans are not in pt_recent_timings() */
    int history_spans;      /* 200000: of spans kept in the process, the newest */
    double memory_interval; /* 0.5 s: of samples of memory during an operation and for traces */
} pt_config;

/* With collect_component_profiling every name of spans has a histogram of their durations,
 * pitot_component_seconds{component="name"}, beside the other metrics of the process. It is fed
 * from the spans that the process keeps (history_spans), not where they end, and takes one of the
 * 63 histograms that there is room for: names that find none are counted as dropped. */

/* The size is that of the program's header, which may be older or newer than the library. */
PT_API void pt_config_init_(pt_config *config, size_t size);
PT_API void pt_config_get_(pt_config *config, size_t size);
/* The defaults. */
static inline void pt_config_init(pt_config *config) {
    pt_config_init_(config, sizeof *config);
}
/* What is in force: to change one field of it, get, set, configure. Under a recorder enable_metrics
 * is true from the start. */
static inline void pt_config_get(pt_config *config) {
    pt_config_get_(config, sizeof *config);
}
/* Sets what the file sets, lines `key = value`; # and ; begin comments. 0; -errno; -EINVAL: then
 * nothing is set, and `message` (or NULL) names line, key, what is wrong and what is allowed. */
PT_API int pt_config_read_file(pt_config *config, const char *path, char *message, size_t capacity);
/* Sets what the file of PITOT_CONFIG sets, then what variables set; as above. It was done already
 * when the library was loaded, if there was any such variable. */
PT_API int pt_config_read_environment(pt_config *config, char *message, size_t capacity);
/* Sets one field by its name; as above. */
PT_API int pt_config_set(pt_config *config, const char *key, const char *value, char *message,
                         size_t capacity);
/* From now on, for all threads. enable_metrics calls pt_start(NULL) or pt_stop(): false ends
 * recording under a recorder too. 0; -EINVAL: a value is out of range, the log says which, nothing
 * has changed; other -errno: recording cannot start, all else is in force. */
PT_API int pt_configure(const pt_config *config);

/* Numbers as in Python's logging. The first two are those of the source documents. */
enum pt_level {
    PT_LEVEL_DEBUG_PROFILING = 11,
    PT_LEVEL_DEBUG_PERFORMANCE = 12,
    PT_LEVEL_INFO = 20,
    PT_LEVEL_WARNING = 30
};
/* Called by the thread that has something to say, by several at once if they have, never on the
 * recording path; NULL: silence, which is the default. The first warning of before comes with the
 * call. */
typedef void pt_log_function(void *arg, int level, const char *text);
PT_API void pt_set_log(pt_log_function *log, void *arg);

/* One step of the program's loop is done: takes a sample of memory, and every so many steps logs,
 * looks for a leak, exports the spans since the last export to the new file
 * {profiler_trace_dir}/{name}_step_{n}.json. Off: one branch. Returns the number of the step, which
 * all names share, 0 while off. */
PT_API uint64_t pt_step_(const char *name);
static inline uint64_t pt_step(const char *name) {
    return pt_is_off_(PT_METRICS_ON_) ? 0 : pt_step_(name);
}

/* What measuring costs. Once a second, calibrated costs of calls and the CPU time of libpitot's own
 * threads are divided by the CPU time of the program, but at least by 5 % of one CPU: in a program
 * that sleeps everything is dear by share. Adds to counters are not counted: that would cost as
 * much as they do.
 *
 * Above performance_threshold for three seconds, the dearest part that matters goes: spans,
 * histograms, samples of memory; the GPU is asked less often. A span "pitot: spans off" and the
 * gauge pitot_part_on{part="spans"} tell it in the data, a line at PT_LEVEL_WARNING in the log.
 * Below half of the threshold for a minute, the last one comes back, three times at most. */
typedef struct pt_overhead {
    double fraction;        /* since the first look; NAN: not known yet */
    double recent_fraction; /* mean over about ten seconds */
    double span_seconds;    /* calibrated costs of one call; NAN: not known yet */
    double counter_seconds;
    double histogram_seconds;
    double thread_seconds;        /* CPU time of libpitot's own threads */
    uint64_t spans, observations; /* so far; observations are of histograms */
    bool spans_on, histograms_on, memory_on;
    bool gpu_on;      /* at its full pace */
    uint32_t actions; /* of the governor so far */
} pt_overhead;
/* The governor works from the first pt_start(), pt_configure() or call of this on. */
PT_API void pt_overhead_get(pt_overhead *overhead);

#ifdef __cplusplus
}
#endif

#endif
