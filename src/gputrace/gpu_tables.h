/* gputrace/gpu_tables.h -- a timeline as tables of a run: one row per event and per gap. */
#ifndef PT_GPUTRACE_GPU_TABLES_H
#define PT_GPUTRACE_GPU_TABLES_H

#include "model/batch.h"
#include "gputrace/timeline.h"

#define PT_TIMELINE_TABLES 5

/* In the order of every output. */
extern const struct pt_table *const pt_timeline_tables[PT_TIMELINE_TABLES];

#define PT_TIMELINE_ROWS_AT_ONCE 16384

/* Position of the next rows. {0} is the beginning. */
struct pt_timeline_cursor {
    const struct pt_timeline *timeline; /* finished */
    size_t event, gap;
};

/* Adds the rows that ended until then to the batches of pt_timeline_tables[], in their order. True:
 * there were more than PT_TIMELINE_ROWS_AT_ONCE. `cursor` is a pt_timeline_cursor. */
bool pt_timeline_fill(void *cursor, int64_t until_ns, struct pt_batch *batches);

#endif
