/* include/pitot/operation.h -- resource usage of an operation: time, memory, work, energy.
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
 * Works without pt_start(); when recording is on, an operation is also a span of its name. Unknown
 * figures are NAN. All functions may be called by any thread and preserve errno.
 *
 * Figures of the process include all its threads, without its children. An operation that is open
 * at a fork() belongs to the parent: ending it in the child has no effect. */
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
    uint32_t size;          /* set by pt_profiler_options_init(); new fields are added at the end */
    bool track_gpu;         /* true: a thread polls the GPUs, if there are any */
    bool track_carbon;      /* false; true: energy and carbon */
    bool detailed_memory;   /* false; true: tests for leaks and keeps the samples */
    bool estimate_flops;    /* false; true: hardware counters if available */
    double memory_interval; /* that of pt_config, 0.5 s; 0.01 to 3600 */
    bool exact_peak;        /* true: an operation resets the kernel's VmHWM mark of the process,
                               so that its peak is exact; false: does not */
} pt_profiler_options;

enum pt_flops_source { PT_FLOPS_NONE, PT_FLOPS_COUNTED, PT_FLOPS_ANALYTICAL };
enum pt_energy_source { PT_ENERGY_NONE, PT_ENERGY_MEASURED, PT_ENERGY_MODELLED };
enum pt_leak { PT_LEAK_UNKNOWN = -1, PT_LEAK_NO, PT_LEAK_YES };

typedef struct pt_performance {
    char operation[64];
    bool is_complete; /* it has ended; otherwise these are its figures so far */
    bool has_failed;  /* it ended with failure */
    struct {
        double initial_ram_mb, peak_ram_mb, final_ram_mb; /* resident, of the process */
        bool is_peak_exact; /* from the kernel; otherwise the highest sample */
        /* Highest reading: of the process on all GPUs, if the driver lists it; otherwise the used
         * memory of the first GPU. */
        double peak_gpu_mb;
        /* See below; unknown without detailed_memory, or with too few steps and samples. */
        enum pt_leak memory_leak_detected;
        double growth_mb_per_step;   /* NAN without steps */
        double growth_mb_per_second; /* NAN with steps */
        double growth_error_mb;      /* standard error of the known one */
        uint64_t steps;
    } memory;
    struct {
        double wall_time_s, cpu_time_s, user_time_s, system_time_s; /* of the process */
    } timing;
    struct {
        double estimated_flops, flops_per_second;
        enum pt_flops_source flops_source;
        double gpu_utilization_percent; /* of the first GPU, mean of the readings */
        double cpu_utilization_percent; /* mean of the process; 100 is one busy CPU */
    } compute;
    struct {
        double cpu_percent;                 /* of the machine, all CPUs are 100 */
        double memory_percent;              /* of the machine, at the end */
        double disk_io_percent;             /* busy time of the busiest disk */
        double network_io_mb;               /* both directions, of the machine, without loopback */
        double disk_read_mb, disk_write_mb; /* of the process, from and to devices */
    } system;
    struct {
        /* Of the process: its share of the machine's energy by CPU time, and the GPUs it uses. The
         * range is -error_low_percent to +error_high_percent. Carbon uses the mean of the country
         * in PITOT_CARBON_REGION, otherwise that of the world. */
        double energy_joules, error_low_percent, error_high_percent;
        double carbon_grams, carbon_error_low_percent, carbon_error_high_percent;
        enum pt_energy_source source;
    } energy;
} pt_performance;

PT_API void pt_profiler_options_init(pt_profiler_options *options);
/* `options` NULL: the defaults. Returns NULL: no memory. Waits at most half a second for a GPU. */
PT_API pt_profiler *pt_profiler_new(const pt_profiler_options *options);
/* Running operations are abandoned; their handles must still be ended. */
PT_API void pt_profiler_free(pt_profiler *profiler);

/* Operations may nest and overlap. The name is copied and truncated to fit; after 1024 names all
 * others are "(other)". Never NULL: without memory the operation does nothing. */
PT_API pt_operation *pt_operation_begin(pt_profiler *profiler, const char *name);
/* Marks the end of one iteration. The leak test uses the memory after each, if there are 17 or
 * more, otherwise the samples over time. The first third is dropped; growth is a leak if its slope
 * is above 3 standard errors and the lowest values of the four quarters keep rising, by at least 1
 * MB and 1 % in total. */
PT_API void pt_operation_step(pt_operation *operation);
/* Adds floating-point operations; a multiply-add is 2. See pt_flops_*() below. */
PT_API void pt_operation_add_flops(pt_operation *operation, double flops);
/* Frees the handle; the result stays with the profiler. */
PT_API void pt_operation_end(pt_operation *operation, bool has_succeeded);

/* Figures of the last operation of that name that began or ended; NULL: of any name. 0 or
 * -ENOENT. */
PT_API int pt_profiler_get(pt_profiler *profiler, const char *name, pt_performance *p);
PT_API bool pt_profiler_has_results(pt_profiler *profiler);
/* Names with the total seconds of completed operations, in the order of first use. Returns how many
 * there are. The texts are valid until the profiler is freed. */
PT_API size_t pt_profiler_breakdown(pt_profiler *profiler, const char **names, double *seconds,
                                    size_t capacity);
/* RAM samples of that operation (as in pt_profiler_get()) in MB, oldest first, evenly thinned if
 * there are more than 512; with detailed_memory only. Seconds since it began. Returns how many
 * there are. */
PT_API size_t pt_profiler_memory_samples(pt_profiler *profiler, const char *name, double *seconds,
                                         double *mb, size_t capacity);

/* "Peak RAM: 2.4 GB, Wall Time: 45.2s, GPU Util: 78%". Returns `into`. */
PT_API char *pt_performance_summary(const pt_performance *p, char *into, size_t capacity);
/* All figures, unknown ones null; free() it. NULL: no memory. */
PT_API char *pt_performance_json(const pt_performance *p);

PT_API double pt_current_memory_mb(void);
/* Used share of the memory of the first GPU, 0 to 1; NAN: no GPU. Without a profiler that tracks
 * the GPU, the first call starts polling it permanently. */
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
/* Scores and values of one layer; causal attention is half of it. */
static inline double pt_flops_attention(double batch, double queries, double keys, double width) {
    return 4 * batch * queries * keys * width;
}
/* Forward pass of one token through a decoder: parameters without embeddings, and attention to the
 * context. Training costs three times as much. */
static inline double pt_flops_transformer_token(double parameters, double layers, double width,
                                                double context) {
    return 2 * parameters + 4 * layers * width * context;
}

#ifdef __cplusplus
}
#endif

#endif
