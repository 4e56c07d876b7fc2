/* format/rows/snapshot_shapes.h -- parts of a snapshot that are nested in rows of other tables:
 *
 *     "containers": [{"cId": "a1b2", ..., "perCpu": {"cCpu0Time": {"value": 5, "time": ...}}}]
 *     "nvidia": [{"gGpuIndex": 0, ..., "gProcesses": ["4711: python (1024 MB)"]}]
 *     "vllm": {..., "histograms": {"ttft": {"0.1": 2, "+Inf": 3}},
 *              "config": {"cache_config_info_block_size": 16}}
 *
 * The only place where a format names columns: these are shapes that users know from elsewhere. In
 * all other formats these rows are in files of their own. */
#ifndef PT_FORMAT_ROWS_SNAPSHOT_SHAPES_H
#define PT_FORMAT_ROWS_SNAPSHOT_SHAPES_H

#include "format/rows/snapshot_histograms.h"

/* True if rows of this table are nested: it has no section of its own. */
bool pt_snapshot_is_nested(const struct pt_table *t);

/* Adds what belongs to a row of `table` to the object being written. */
void pt_snapshot_write_nested(const struct pt_sample *sample, uint32_t table, uint32_t row,
                              const struct pt_snapshot_histograms *histograms, struct pt_json *j);

/* The time of a source as it is in snapshots: Unix milliseconds. */
int64_t pt_snapshot_time(const struct pt_sample *sample, const struct pt_batch *b, uint32_t row,
                         int source);

#endif
