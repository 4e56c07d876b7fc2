/* analyze/figure.h -- the main figures of a run, derived from its samples.
 *
 * A figure is one line a person asks for first: how busy the CPUs were, how
 * fast the disks read. It is computed from two samples in a row; the summary,
 * the status line and later reports all take it from here. Unknown is unknown:
 * pt_figure_value() then says false. */
#ifndef PT_ANALYZE_FIGURE_H
#define PT_ANALYZE_FIGURE_H

#include "base/buf.h"
#include "model/sample.h"

enum pt_figure_id {
    PT_FIGURE_CPU,
    PT_FIGURE_MEMORY,
    PT_FIGURE_DISK_READ,
    PT_FIGURE_DISK_WRITE,
    PT_FIGURE_NET_RECEIVED,
    PT_FIGURE_NET_SENT,
    PT_FIGURE_LOAD,
    PT_FIGURE_COMMAND_CPU,
    PT_FIGURE_COMMAND_MEMORY,
    PT_FIGURE_GPU,
    PT_FIGURE_GPU_MEMORY,
    PT_FIGURE_TOKENS,
    PT_FIGURE_TTFT,
    PT_FIGURE_INTER_TOKEN,
    PT_FIGURE_RUNNING,
    PT_FIGURE_WAITING,
    PT_FIGURE_KV_CACHE,
    PT_FIGURE_COUNT
};

enum pt_figure_format {
    PT_FORMAT_PERCENT,
    PT_FORMAT_BYTES,
    PT_FORMAT_BYTES_PER_S,
    PT_FORMAT_PLAIN,
    PT_FORMAT_PER_S,
    PT_FORMAT_SECONDS,
};

struct pt_figure {
    const char *label;
    enum pt_figure_format format;
};

extern const struct pt_figure pt_figures[PT_FIGURE_COUNT];

/* "97.3 %", "1.2 GiB", "31 MiB/s". */
void pt_figure_print(enum pt_figure_format format, double value, char *into, size_t capacity);

/* Where the needed columns are in a schema; -1 where it has none. */
struct pt_figure_reader {
    struct pt_sample previous; /* only the tables that are needed are kept */
    bool has_previous;
    struct {
        int table, column;
    } places[32];
    const struct pt_schema *schema;
    double values[PT_FIGURE_COUNT];
    double seconds[PT_FIGURE_COUNT]; /* that a value stands for: its weight in a mean */
    bool is_known[PT_FIGURE_COUNT];
};

/* Borrows the schema. */
void pt_figure_reader_init(struct pt_figure_reader *r, const struct pt_schema *schema);
void pt_figure_reader_release(struct pt_figure_reader *r);
/* Computes all figures between the sample before and this one; keeps a copy of it. Samples
 * without host rows (marks) are passed over: false. */
bool pt_figure_reader_next(struct pt_figure_reader *r, const struct pt_sample *sample);

#endif
