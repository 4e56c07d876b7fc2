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
    bool enable_profiler;       /* false: steps export traces */
    bool enable_gpu_monitoring; /* false: a thread asks the GPU */
    /* Light. */
    bool collect_timing;       /* true: spans */
    bool collect_throughput;   /* true: spans with samples, tokens or flows as rates */
    bool collect_memory_basic; /* true: memory of the process at each step */
    /* Dearer. */
    bool collect_gpu_utilization;     /* false */
    bool collect_memory_detailed;     /* false: fragmentation and peak */
    bool collect_component_profiling; /* false: CPU time and memory of each component */
    /* Of traces. */
    bool profiler_record_shapes;   /* false; for torch */
    bool profiler_profile_memory;  /* false: memory as a counter of the trace */
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
    double memory_interval; /* 0.5 s: of samples of memory during an operation */
} pt_config;

/* The defaults. */
PT_API void pt_config_init(pt_config *config);
/* Sets what the file sets. 0; -errno; -EINVAL: `message` names line, key and what is wrong. */
PT_API int pt_config_read_file(pt_config *config, const char *path, char *message, size_t capacity);
/* Sets what the environment sets; as above. */
PT_API int pt_config_read_environment(pt_config *config, char *message, size_t capacity);
/* Sets one field by its name; as above. */
PT_API int pt_config_set(pt_config *config, const char *key, const char *value, char *message,
                         size_t capacity);
/* From now on, for all threads. 0; -EINVAL: a value is out of range, nothing has changed. */
PT_API int pt_configure(const pt_config *config);
/* What is in force. */
PT_API void pt_config_get(pt_config *config);

/* Numbers as in Python's logging. The first two are those of the source documents. */
enum pt_level {
    PT_LEVEL_DEBUG_PROFILING = 11,
    PT_LEVEL_DEBUG_PERFORMANCE = 12,
    PT_LEVEL_INFO = 20,
    PT_LEVEL_WARNING = 30
};
/* Called by the thread that has something to say, never on the recording path; NULL: silence,
 * which is the default. */
typedef void pt_log_function(void *arg, int level, const char *text);
PT_API void pt_set_log(pt_log_function *log, void *arg);

/* One step of the program's loop is done: takes a sample of memory, and every so many steps logs,
 * looks for a leak, exports the spans of the steps since to
 * {profiler_trace_dir}/{name}_step_{n}.json. Off: one branch. Returns the number of the step, 0
 * while off. */
PT_API uint64_t pt_step(const char *name);

/* A part that the governor may switch off, and the costs it has seen. */
typedef struct pt_overhead {
    double fraction;        /* of the CPU time of the program since the start; NAN: not known yet */
    double recent_fraction; /* of the last window */
    double span_seconds;    /* calibrated costs of one call */
    double counter_seconds;
    double histogram_seconds;
    double thread_seconds;                /* CPU time of libpitot's own threads */
    uint64_t spans, counts, observations; /* so far; counts are estimated */
    bool spans_on, histograms_on, gpu_on, memory_on;
    uint32_t actions; /* of the governor so far */
} pt_overhead;
PT_API void pt_overhead_get(pt_overhead *overhead);

#ifdef __cplusplus
}
#endif

#endif
