/* report/latency_slots.h -- a histogram in each time slot of a report: the buckets that grew, and
 * when. The page sums them up to the percentiles of any part of the run. */
#ifndef PT_REPORT_LATENCY_SLOTS_H
#define PT_REPORT_LATENCY_SLOTS_H

#include "base/json.h"
#include "derive/classic_histogram.h"
#include "report/blob.h"
#include "report/curve.h"

/* Observations of one bucket in each time slot. */
struct pt_report_bucket {
    double above, le;
    double *counts;
};

/* {0} is empty. */
struct pt_report_latency {
    struct pt_report_bucket *buckets;
    size_t count, capacity;
};

void pt_report_latency_release(struct pt_report_latency *l);
void pt_report_latency_add(struct pt_report_latency *l, const struct pt_curve_axis *axis,
                           uint32_t slot, const struct pt_classic_histogram *grown);

/* The percentile of each time slot; the curve is replaced. */
void pt_report_latency_draw(const struct pt_report_latency *l, const struct pt_curve_axis *axis,
                            double level, struct pt_curve *curve);

/* An array of buckets: bounds, and the time slots and counts of slots that have any. A bound that
 * is not finite is null. */
void pt_report_latency_write(const struct pt_report_latency *l, const struct pt_curve_axis *axis,
                             const char *key, struct pt_json *j, struct pt_blob *blob);

#endif
