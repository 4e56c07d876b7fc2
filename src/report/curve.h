/* report/curve.h -- a series of any length, downsampled to a fixed number of time buckets.
 *
 * Each bucket keeps its lowest and highest value, in order of time: a line through them shows every
 * peak. A short run has one bucket per sample, so that nothing is lost. */
#ifndef PT_REPORT_CURVE_H
#define PT_REPORT_CURVE_H

#include "base/json.h"
#include "model/table.h"
#include "report/blob.h"

/* The buckets that all curves of a report share. */
struct pt_curve_axis {
    int64_t start_ns, end_ns;
    uint32_t count;
    bool is_whole; /* one bucket per sample */
};

/* `max`: number of buckets if there are more than twice as many samples. */
void pt_curve_axis_init(struct pt_curve_axis *a, int64_t start_ns, int64_t end_ns,
                        uint64_t sample_count, uint32_t max);
/* The bucket of the `index`-th sample of the run. */
uint32_t pt_curve_axis_at(const struct pt_curve_axis *a, uint64_t index, int64_t time_ns);
/* When a bucket ends; not for one bucket per sample. */
int64_t pt_curve_axis_end(const struct pt_curve_axis *a, uint32_t bucket);

struct pt_curve {
    double *values;          /* two per bucket; NAN: unknown */
    double *means, *seconds; /* per bucket, and the time that they cover; NULL: no means */
    uint32_t count;          /* of buckets */
};

void pt_curve_init(struct pt_curve *c, uint32_t count);
void pt_curve_release(struct pt_curve *c);
void pt_curve_add(struct pt_curve *c, uint32_t bucket, double value);
/* The same, and keeps the mean: the parts of a stack add up by their means, because extremes are of
 * different times. */
void pt_curve_add_part(struct pt_curve *c, uint32_t bucket, double value, double seconds);

struct pt_curve_range {
    double low, high; /* NAN: no value */
};

struct pt_curve_range pt_curve_range_of(const struct pt_curve *c);

/* Members of an object: "value" of a constant curve, otherwise "at" and "base", and "means". */
void pt_curve_write(const struct pt_curve *c, const struct pt_curve_axis *axis, struct pt_json *j,
                    struct pt_blob *blob);

#endif
