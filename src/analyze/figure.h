/* analyze/figure.h -- the main figures of a run, derived from its samples.
 *
 * A figure is one line of the summary: how busy the CPUs were, how fast the disks read. It is
 * computed from two consecutive samples; summary, status line and reports use it. A figure can be
 * unknown: see `is_known`. */
#ifndef PT_ANALYZE_FIGURE_H
#define PT_ANALYZE_FIGURE_H

#include "base/buf.h"
#include "model/sample.h"

/* X(constant, label, format, how ranks of a merged run are combined, kind, table, column, factor).
 * Each line is a figure of the summary and of the report. */
#define PT_FIGURES(X)                                                                              \
    X(CPU, "CPU", PERCENT, MACHINES_AVERAGED, COMPUTED, NULL, NULL, 1)                             \
    X(MEMORY, "Memory", BYTES, MACHINES_ADDED, GAUGE, "mem", "vMemoryUsed", 1)                     \
    X(DISK_READ, "Disk read", BYTES_PER_S, MACHINES_ADDED, RATE, "disk", "vDiskReadBytes", 1)      \
    X(DISK_WRITE, "Disk written", BYTES_PER_S, MACHINES_ADDED, RATE, "disk", "vDiskWriteBytes", 1) \
    X(NET_RECEIVED, "Net received", BYTES_PER_S, MACHINES_ADDED, RATE, "net",                      \
      "vNetworkBytesRecvd", 1)                                                                     \
    X(NET_SENT, "Net sent", BYTES_PER_S, MACHINES_ADDED, RATE, "net", "vNetworkBytesSent", 1)      \
    X(LOAD, "Load", PLAIN, MACHINES_AVERAGED, GAUGE, "cpu", "vLoadAvg", 1)                         \
    X(COMMAND_CPU, "Recorded tree: CPU", PERCENT, RANKS_ADDED, COMPUTED, NULL, NULL, 1)            \
    X(COMMAND_MEMORY, "Recorded tree: RSS", BYTES, RANKS_ADDED, GAUGE, "process_totals",           \
      "pTreeResidentSetSize", 1)                                                                   \
    X(GPU, "GPU", PERCENT, MACHINES_AVERAGED, MEAN, "gpu", "gUtilizationGpu", 1)                   \
    X(GPU_MEMORY, "GPU memory", BYTES, MACHINES_ADDED, SUM, "gpu", "gMemoryUsedMb", 1048576)       \
    X(TOKENS, "Tokens generated", PER_S, RANKS_ADDED, RATE, "engine", "tokens_generation_total",   \
      1)                                                                                           \
    X(TTFT, "First token, p50", SECONDS, RANKS_AVERAGED, GAUGE, "engine", "latency_ttft_s_p50", 1) \
    X(INTER_TOKEN, "Inter-token, p50", SECONDS, RANKS_AVERAGED, GAUGE, "engine",                   \
      "latency_inter_token_s_p50", 1)                                                              \
    X(RUNNING, "Requests running", PLAIN, RANKS_ADDED, GAUGE, "engine", "system_requests_running", \
      1)                                                                                           \
    X(WAITING, "Requests waiting", PLAIN, RANKS_ADDED, GAUGE, "engine", "system_requests_waiting", \
      1)                                                                                           \
    X(KV_CACHE, "KV cache", PERCENT, RANKS_AVERAGED, SUM, "engine", "cache_kv_usage_percent", 100)

#define PT_FIGURE_ENUM_(constant, ...) PT_FIGURE_##constant,
enum pt_figure_id { PT_FIGURES(PT_FIGURE_ENUM_) PT_FIGURE_COUNT };

enum pt_figure_format {
    PT_FORMAT_PERCENT,
    PT_FORMAT_BYTES,
    PT_FORMAT_BYTES_PER_S,
    PT_FORMAT_PLAIN,
    PT_FORMAT_PER_S,
    PT_FORMAT_SECONDS,
};

/* How the values of ranks are combined; the first rank of a machine reports for it. */
enum pt_figure_together {
    PT_RANKS_ADDED,
    PT_RANKS_AVERAGED,
    PT_MACHINES_ADDED,
    PT_MACHINES_AVERAGED,
};

enum pt_figure_kind {
    PT_FIGURE_IS_GAUGE,    /* the cell of the only row */
    PT_FIGURE_IS_RATE,     /* growth of that cell per second */
    PT_FIGURE_IS_MEAN,     /* of the cells of all rows */
    PT_FIGURE_IS_SUM,      /* of the cells of all rows */
    PT_FIGURE_IS_COMPUTED, /* of several columns, in figure.c */
};

struct pt_figure {
    const char *label;
    enum pt_figure_format format;
    enum pt_figure_together together;
    enum pt_figure_kind kind;
    const char *table, *column; /* NULL if computed */
    double factor;              /* of the cell */
};

extern const struct pt_figure pt_figures[PT_FIGURE_COUNT];

/* "97.3 %", "1.2 GiB", "31 MiB/s". */
void pt_figure_print(enum pt_figure_format format, double value, char *into, size_t capacity);

#define PT_FIGURE_INPUTS (PT_FIGURE_COUNT + 11) /* input columns */

struct pt_figure_reader {
    struct pt_sample previous; /* only tables with inputs */
    bool has_previous;
    struct {
        int table, column;
    } places[PT_FIGURE_INPUTS];                /* in the schema; -1: none */
    int tables[PT_FIGURE_INPUTS], table_count; /* with inputs, each once */
    const struct pt_schema *schema;
    double values[PT_FIGURE_COUNT];
    double seconds[PT_FIGURE_COUNT]; /* covered by a value: its weight in a mean */
    bool is_known[PT_FIGURE_COUNT];
};

/* Borrows the schema. */
void pt_figure_reader_init(struct pt_figure_reader *r, const struct pt_schema *schema);
void pt_figure_reader_release(struct pt_figure_reader *r);
/* Computes all figures between the previous sample and this one, and keeps a copy. Ignores samples
 * without host rows (marks): false. */
bool pt_figure_reader_next(struct pt_figure_reader *r, const struct pt_sample *sample);

#endif
