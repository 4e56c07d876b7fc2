/* include/pitot/export.h -- exports recorded data as text, traces and events, from inside the
 * program.
 *
 *     size_t length;
 *     char *text = pt_render(PT_PROMETHEUS, &length); -- for the program's own /metrics
 *     pt_write_trace("trace.json.gz");               -- for Perfetto or chrome://tracing */
#ifndef PITOT_EXPORT_H
#define PITOT_EXPORT_H

#include <pitot/pitot.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pt_exposition_format {
    PT_PROMETHEUS,  /* text 0.0.4, classic buckets */
    PT_OPENMETRICS, /* text 1.0.0 */
    PT_PROTOBUF,    /* delimited MetricFamily messages, native histograms */
    PT_JSON
};

/* All metrics of the process. Ends with a zero that `length` does not count; free() it.
 * NULL: no memory. If nothing has been recorded, a valid, empty exposition. */
PT_API char *pt_render(enum pt_exposition_format format, size_t *length);
/* The Content-Type of a format. */
PT_API const char *pt_content_type(enum pt_exposition_format format);
/* The format requested by an Accept header; NULL: PT_PROMETHEUS. */
PT_API enum pt_exposition_format pt_negotiate(const char *accept);

/* Upper bounds of the classic buckets of a histogram; default: .005 .01 .025 .05 .1 .25 .5 1 2.5 5
 * 10. Counts at a bound are exact within the 2.2 % of a bucket. 0; -EINVAL: not increasing, too
 * many. */
PT_API int pt_histogram_set_buckets(pt_histogram histogram, const double *bounds, size_t count);

/* Writes the spans that the process keeps (pt_config.history_spans) as Chrome trace events, with
 * names of process and threads, counters, and flows between the spans of a request. Spans of a
 * thread that overlap without nesting are on additional lines, "name (2)". "-": standard output; a
 * path with the extension .gz is compressed. 0 or -errno. */
PT_API int pt_write_trace(const char *path);

/* One of the newest spans that lasted at least pt_config.min_duration. */
typedef struct pt_timing {
    char name[64];
    double seconds;
    double wall_time; /* of its end, seconds since 1970 */
} pt_timing;
/* The throughput of a span with a known amount of work. */
typedef struct pt_throughput {
    char name[64];
    double per_second;
    double wall_time;
    enum pt_work work;
} pt_throughput;
/* Memory at a step. Unknown is NAN. */
typedef struct pt_memory_sample {
    double ram_mb, gpu_mb;
    double wall_time;
} pt_memory_sample;
/* The newest values, oldest first: up to 1000, 1000 and 500. Returns how many. */
PT_API size_t pt_recent_timings(pt_timing *into, size_t capacity);
PT_API size_t pt_recent_throughputs(pt_throughput *into, size_t capacity);
PT_API size_t pt_recent_memory(pt_memory_sample *into, size_t capacity);

/* TensorBoard: an event file in `directory`, which is created. NULL and errno. Not thread-safe. */
typedef struct pt_tensorboard pt_tensorboard;
PT_API pt_tensorboard *pt_tensorboard_open(const char *directory);
PT_API int pt_tensorboard_scalar(pt_tensorboard *board, const char *tag, int64_t step,
                                 double value);
PT_API int pt_tensorboard_histogram(pt_tensorboard *board, const char *tag, int64_t step,
                                    pt_histogram histogram);
/* All metrics of the process: counters and gauges as scalars, histograms as histograms. */
PT_API int pt_tensorboard_metrics(pt_tensorboard *board, int64_t step);
PT_API int pt_tensorboard_flush(pt_tensorboard *board);
PT_API int pt_tensorboard_close(pt_tensorboard *board); /* the first error of any call */

#ifdef __cplusplus
}
#endif

#endif
