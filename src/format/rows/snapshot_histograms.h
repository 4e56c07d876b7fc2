/* format/rows/snapshot_histograms.h -- latency histograms of engines as they are in snapshots: how
 * many observations were at or below each bound, over all engines, since the first scrape of the
 * run.
 *
 *     "histograms": {"ttft": {"0.1": 2, "0.25": 5, "+Inf": 6}} */
#ifndef PT_FORMAT_ROWS_SNAPSHOT_HISTOGRAMS_H
#define PT_FORMAT_ROWS_SNAPSHOT_HISTOGRAMS_H

#include "base/json.h"
#include "derive/classic_histogram.h"
#include "model/sample.h"

struct pt_snapshot_histogram {
    char name[32];
    struct pt_classic_histogram histogram;
};

/* {0} is empty. */
struct pt_snapshot_histograms {
    struct pt_snapshot_histogram *list;
    size_t count, capacity;
};

void pt_snapshot_histograms_release(struct pt_snapshot_histograms *h);
void pt_snapshot_histograms_add(struct pt_snapshot_histograms *h, const struct pt_sample *sample);
/* Writes nothing if there are none. */
void pt_snapshot_histograms_write(const struct pt_snapshot_histograms *h, struct pt_json *j);

#endif
