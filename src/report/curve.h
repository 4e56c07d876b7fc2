/* report/curve.h -- a series of any length in a fixed number of stretches of time.
 *
 * Of each stretch the lowest and the highest value are kept, in the order they came: a line through
 * them shows every peak. A short run has a stretch for each sample: nothing is lost then. */
#ifndef PT_REPORT_CURVE_H
#define PT_REPORT_CURVE_H

#include <stdbool.h>
#include <stdint.h>

/* The stretches that all curves of a report share. */
struct pt_curve_axis {
    int64_t start_ns, end_ns;
    uint32_t count;
    bool is_whole; /* a stretch for each sample */
};

/* `most`: stretches, if there are more than twice as many samples. */
void pt_curve_axis_init(struct pt_curve_axis *a, int64_t start_ns, int64_t end_ns,
                        uint64_t sample_count, uint32_t most);
/* The stretch of a sample, the `index`-th of the run. */
uint32_t pt_curve_axis_at(const struct pt_curve_axis *a, uint64_t index, int64_t time_ns);

struct pt_curve {
    double *values; /* two a stretch; NAN: unknown */
    uint32_t count; /* of stretches */
};

void pt_curve_init(struct pt_curve *c, uint32_t count);
void pt_curve_release(struct pt_curve *c);
void pt_curve_add(struct pt_curve *c, uint32_t stretch, double value);

struct pt_curve_range {
    double low, high; /* NAN: there is no value */
};

struct pt_curve_range pt_curve_range_of(const struct pt_curve *c);

#endif
