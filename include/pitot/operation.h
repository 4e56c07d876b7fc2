/* include/pitot/operation.h -- what one operation took: time, memory, work, energy.
 *
 *     pt_profiler *profiler = pt_profiler_new(NULL);
 *     pt_operation *op = pt_operation_begin(profiler, "training");
 *     for (int i = 0; i < 100; i++) {
 *         step();
 *         pt_operation_step(op);
 *     }
 *     pt_operation_end(op, true);
 *     pt_performance p;
 *     if (!pt_profiler_get(profiler, NULL, &p))
 *         puts(pt_performance_summary(&p, text, sizeof text));
 *
 * Works without pt_start(); when recording is on, an operation is a span of its name too. Unknown
 * figures are NAN. All functions may be called by any thread and leave errno alone.
 *
 * Figures of the process are of all its threads, without its children. An operation that is open
 * at a fork() stays the parent's: to end it in the child has no effect there. */
#ifndef PITOT_OPERATION_H
#define PITOT_OPERATION_H

#include <pitot/pitot.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pt_profiler pt_profiler;
typedef struct pt_operation pt_operation;

typedef struct pt_profiler_options {
    uint32_t size;          /* set by pt_profiler_options_init(): fields are added at the end */
    bool track_gpu;         /* true: a thread asks the GPUs, if there are any */
    bool track_carbon;      /* false: energy and carbon */
    bool detailed_memory;   /* false: looks for leaks, keeps the samples */
    bool estimate_flops;    /* false: hardware counters where there are any */
    double memory_interval; /* that of pt_config, 0.5 s; 0.01 to 3600 */
    bool exact_peak;        /* true: an operation sets back the kernel's highest mark, VmHWM of the
                               process, so that its peak is exact; false: leaves it alone */
} pt_profiler_options;

enum pt_flops_source { PT_FLOPS_NONE, PT_FLOPS_COUNTED, PT_FLOPS_ANALYTICAL };
enum pt_energy_source { PT_ENERGY_NONE, PT_ENERGY_MEASURED, PT_ENERGY_MODELLED };
enum pt_leak { PT_LEAK_UNKNOWN = -1, PT_LEAK_NO, PT_LEAK_YES };

typedef struct pt_performance {
    char operation[64];
    bool is_complete; /* it has ended; else these are its figures so far */
    bool has_failed;  /* it ended with failure */
    struct {
        double initial_ram_mb, peak_ram_mb, final_ram_mb; /* resident, of the process */
        bool is_peak_exact; /* by the kernel; else the highest sample */
        /* Highest reading: of the process, on all GPUs, where the driver lists it; else what is in
         * use of the first GPU. */
        double peak_gpu_mb;
        /* See below; unknown without detailed_memory, or with too few steps and samples. */
        enum pt_leak memory_leak_detected;
        double growth_mb_per_step;   /* NAN without steps */
        double growth_mb_per_second; /* NAN with steps */
        double growth_error_mb;      /* standard error of the one that is known */
        uint64_t steps;
    } memory;
    struct {
        double wall_time_s, cpu_time_s, user_time_s, system_time_s; /* of the process */
    } timing;
    struct {
        double estimated_flops, flops_per_second;
        enum pt_flops_source flops_source;
        double gpu_utilization_percent; /* of the first GPU, average of the readings meanwhile */
        double cpu_utilization_percent; /* average of the process; 100 is one busy CPU */
    } compute;
    struct {
        double cpu_percent;                 /* of the machine, all CPUs are 100 */
        double memory_percent;              /* of the machine, at the end */
        double disk_io_percent;             /* busy time of the busiest disk */
        double network_io_mb;               /* both ways, of the machine, without loopback */
        double disk_read_mb, disk_write_mb; /* of the process, from and to devices */
    } system;
    struct {
        /* Of the process: its part of the machine's by CPU time, and the GPUs that it is on. The
         * range is from less error_low_percent to plus error_high_percent. Carbon is by the means
         * of the country in PITOT_CARBON_REGION, else of the world. */
        double energy_joules, error_low_percent, error_high_percent;
        double carbon_grams, carbon_error_low_percent, carbon_error_high_percent;
        enum pt_energy_source source;
    } energy;
} pt_performance;

PT_API void pt_profiler_options_init(pt_profiler_options *options);
/* NULL: the defaults. NULL: no memory. Waits for a GPU, half a second at most. */
PT_API pt_profiler *pt_profiler_new(const pt_profiler_options *options);
/* Operations that still run are abandoned; their handles are still to be ended. */
PT_API void pt_profiler_free(pt_profiler *profiler);

/* Operations may nest and overlap. The name is copied and cut to fit; after 1024 names all others
 * are "(other)". Never NULL: without memory it does nothing. */
PT_API pt_operation *pt_operation_begin(pt_profiler *profiler, const char *name);
/* One of many alike repetitions is done. The test for leaks looks at the memory after each, if
 * there are 17 or more, else at the samples over time: after a first third that is dropped, growth
 * is a leak if its slope is above 3 standard errors and the lowest values of the four quarters
 * keep rising, by 1 MB and 1 % in all at least. */
PT_API void pt_operation_step(pt_operation *operation);
/* Floating-point operations, a multiply-add is 2; see pt_flops_*() below. */
PT_API void pt_operation_add_flops(pt_operation *operation, double flops);
/* The handle is gone; the result stays with the profiler. */
PT_API void pt_operation_end(pt_operation *operation, bool has_succeeded);

/* Of the operation of that name that began or ended last, of all for NULL. 0 or -ENOENT. */
PT_API int pt_profiler_get(pt_profiler *profiler, const char *name, pt_performance *p);
PT_API bool pt_profiler_has_results(pt_profiler *profiler);
/* Names with the total seconds of operations that ended, in the order of their first use. Returns
 * how many there are. The texts are there until the profiler is freed. */
PT_API size_t pt_profiler_breakdown(pt_profiler *profiler, const char **names, double *seconds,
                                    size_t capacity);
/* Samples of RAM in MB of that operation, as of pt_profiler_get(), oldest first, evenly thinned
 * when there are more than 512; with detailed_memory only. Seconds since it began. Returns how many
 * there are. */
PT_API size_t pt_profiler_memory_samples(pt_profiler *profiler, const char *name, double *seconds,
                                         double *mb, size_t capacity);

/* "Peak RAM: 2.4 GB, Wall Time: 45.2s, GPU Util: 78%". Returns `into`. */
PT_API char *pt_performance_summary(const pt_performance *p, char *into, size_t capacity);
/* All figures, unknown ones null; free() it. NULL: no memory. */
PT_API char *pt_performance_json(const pt_performance *p);

PT_API double pt_current_memory_mb(void);
/* In use of the first GPU, 0 to 1; NAN: no GPU. Without a profiler that tracks it, the first call
 * begins to watch it, for good. */
PT_API double pt_current_gpu_memory(void);

/* Analytical counts. */
static inline double pt_flops_matmul(double m, double n, double k) {
    return 2 * m * n * k;
}
static inline double pt_flops_conv2d(double batch, double out_channels, double out_height,
                                     double out_width, double in_channels_per_group,
                                     double kernel_height, double kernel_width) {
    return 2 * batch * out_channels * out_height * out_width * in_channels_per_group *
           kernel_height * kernel_width;
}
/* Scores and values of one layer; a causal one is half of it. */
static inline double pt_flops_attention(double batch, double queries, double keys, double width) {
    return 4 * batch * queries * keys * width;
}
/* One token forward through a decoder: parameters without embeddings, and attention to the
 * context. Training costs three times that. */
static inline double pt_flops_transformer_token(double parameters, double layers, double width,
                                                double context) {
    return 2 * parameters + 4 * layers * width * context;
}

#ifdef __cplusplus
}
#endif

#endif
