/* model/metric.h -- columns as metrics of Prometheus: names in base units, and labels.
 *
 *     cpu.time, a counter in centiseconds   -> pitot_cpu_time_seconds (_total), x 0.01
 *     container.memory_used, bytes          -> pitot_container_memory_used_bytes{id="..."}
 *
 * Keys are labels, infos are labels of pitot_TABLE_info. Strings are not metrics. */
#ifndef PT_MODEL_METRIC_H
#define PT_MODEL_METRIC_H

#include "base/buf.h"
#include "model/batch.h"

#define PT_METRIC_NAME_BYTES 96

struct pt_metric {
    char name[PT_METRIC_NAME_BYTES]; /* of counters: without _total */
    const char *unit;                /* seconds, bytes, ... or "" */
    double factor;                   /* from the column's unit to that */
    bool is_counter;
};

/* False: the column is not a metric. */
bool pt_metric_of(const struct pt_table *t, int column, struct pt_metric *metric);

/* True if pitot_TABLE_info has labels. */
bool pt_table_has_info(const struct pt_table *t);

/* Appends the labels of a row, id="a",cpu="0", escaped; null ones are left out. `kinds` are bits,
 * 1 << PT_KEY | 1 << PT_INFO. */
void pt_metric_labels(const struct pt_batch *b, uint32_t row, unsigned kinds, struct pt_buf *into);
/* Appends a text, escaped for the value of a label. */
void pt_metric_label_value(struct pt_str text, struct pt_buf *into);

#endif
