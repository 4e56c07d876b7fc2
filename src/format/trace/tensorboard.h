/* format/trace/tensorboard.h -- records of a TensorBoard event file.
 *
 *     u64 length | u32 CRC of the length | message tensorflow.Event | u32 CRC of the message
 *
 * CRCs are CRC-32C, rotated right by 15 bits, plus a282ead8. Errors stick to `out`. */
#ifndef PT_FORMAT_TRACE_TENSORBOARD_H
#define PT_FORMAT_TRACE_TENSORBOARD_H

#include "base/out.h"
#include "inside/region/histogram.h"

struct pt_event {
    double wall_time; /* seconds since 1970 */
    int64_t step;
    struct pt_str tag;
};

/* The first record of a file. */
void pt_event_version(struct pt_out *out, double wall_time);
void pt_event_scalar(struct pt_out *out, const struct pt_event *event, double value);
/* `buckets` are PT_BUCKET_COUNT of inside/region/histogram.h. Minimum and maximum are the bounds of
 * the outermost buckets with values; the sum of squares uses the middles of the buckets. */
void pt_event_histogram(struct pt_out *out, const struct pt_event *event, const uint64_t *buckets,
                        struct pt_bucket_range used, double sum);

#endif
