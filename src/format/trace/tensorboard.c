#include "format/trace/tensorboard.h"

#include "base/crc32c.h"
#include "format/metrics/proto.h"

/* Numbers of the fields in the public schema. */
enum { EVENT_WALL_TIME = 1, EVENT_STEP = 2, EVENT_FILE_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1 };
enum { VALUE_TAG = 1, VALUE_SIMPLE = 2, VALUE_HISTO = 5 };
enum {
    HISTO_MIN = 1,
    HISTO_MAX,
    HISTO_COUNT,
    HISTO_SUM,
    HISTO_SUM_SQUARES,
    HISTO_LIMITS,
    HISTO_COUNTS
};

struct histo {
    const uint64_t *buckets;
    double count, sum, sum_squares;
    uint32_t first, last; /* with values */
};

struct value {
    const struct pt_event *event;
    const struct histo *histo; /* NULL: a scalar */
    double scalar;
};

#define TFRECORD_MASK_DELTA 0xa282ead8u

static uint32_t mask(uint32_t crc) {
    return (crc >> 15 | crc << 17) + TFRECORD_MASK_DELTA;
}

static void put_u32(struct pt_out *out, uint32_t value) {
    pt_out_bytes(out, &value, sizeof value);
}

static void put_record(struct pt_out *out, pt_proto_function *write, const void *arg) {
    uint64_t length = pt_proto_size(write, arg);
    pt_out_bytes(out, &length, sizeof length);
    put_u32(out, mask(pt_crc32c(0, &length, sizeof length)));
    struct pt_proto p = { .out = out, .has_crc = true };
    write(&p, arg);
    put_u32(out, mask(p.crc));
}

static void put_version(struct pt_proto *p, const void *arg) {
    const double *wall_time = arg;
    pt_proto_f64(p, EVENT_WALL_TIME, *wall_time);
    pt_proto_str(p, EVENT_FILE_VERSION, PT_STR("brain.Event:2"));
}

/* A limit is the end of a bucket, which begins at the previous limit: where buckets were omitted,
 * an empty one ends at the start of the next. */
static bool has_gap_before(const struct histo *h, uint32_t bucket) {
    return bucket == h->first || h->buckets[bucket - 1] == 0;
}

static void put_limits(struct pt_proto *p, const void *arg) {
    const struct histo *h = arg;
    for (uint32_t i = h->first; i <= h->last; i++) {
        if (h->buckets[i] == 0)
            continue;
        if (has_gap_before(h, i))
            pt_proto_raw_f64(p, i == 0 ? 0 : pt_bucket_lower(i));
        pt_proto_raw_f64(p, pt_bucket_lower(i + 1));
    }
}

static void put_counts(struct pt_proto *p, const void *arg) {
    const struct histo *h = arg;
    for (uint32_t i = h->first; i <= h->last; i++) {
        if (h->buckets[i] == 0)
            continue;
        if (has_gap_before(h, i))
            pt_proto_raw_f64(p, 0);
        pt_proto_raw_f64(p, (double)h->buckets[i]);
    }
}

static void put_histo(struct pt_proto *p, const void *arg) {
    const struct histo *h = arg;
    pt_proto_f64(p, HISTO_MIN, h->first == 0 ? 0 : pt_bucket_lower(h->first));
    pt_proto_f64(p, HISTO_MAX, pt_bucket_lower(h->last + 1));
    pt_proto_f64(p, HISTO_COUNT, h->count);
    pt_proto_f64(p, HISTO_SUM, h->sum);
    pt_proto_f64(p, HISTO_SUM_SQUARES, h->sum_squares);
    pt_proto_message(p, HISTO_LIMITS, put_limits, h);
    pt_proto_message(p, HISTO_COUNTS, put_counts, h);
}

static void put_value(struct pt_proto *p, const void *arg) {
    const struct value *value = arg;
    pt_proto_str(p, VALUE_TAG, value->event->tag);
    if (value->histo)
        pt_proto_message(p, VALUE_HISTO, put_histo, value->histo);
    else
        pt_proto_f32(p, VALUE_SIMPLE, (float)value->scalar);
}

static void put_summary(struct pt_proto *p, const void *arg) {
    pt_proto_message(p, SUMMARY_VALUE, put_value, arg);
}

static void put_event(struct pt_proto *p, const void *arg) {
    const struct value *value = arg;
    pt_proto_f64(p, EVENT_WALL_TIME, value->event->wall_time);
    pt_proto_u64(p, EVENT_STEP, (uint64_t)value->event->step);
    pt_proto_message(p, EVENT_SUMMARY, put_summary, value);
}

void pt_event_version(struct pt_out *out, double wall_time) {
    put_record(out, put_version, &wall_time);
}

void pt_event_scalar(struct pt_out *out, const struct pt_event *event, double value) {
    put_record(out, put_event, &(struct value){ .event = event, .scalar = value });
}

static void find_range(struct histo *h, struct pt_bucket_range used) {
    h->first = PT_BUCKET_COUNT;
    for (uint32_t i = used.first; i < used.end; i++) {
        double count = (double)h->buckets[i];
        if (h->buckets[i] == 0)
            continue;
        double middle = i == 0 ? 0 : pt_bucket_lower(i) * 0x1.02c9a3e778061p+0; /* 2^(1/64) */
        h->first = h->first == PT_BUCKET_COUNT ? i : h->first;
        h->last = i;
        h->count += count;
        h->sum_squares += count * middle * middle;
    }
}

void pt_event_histogram(struct pt_out *out, const struct pt_event *event, const uint64_t *buckets,
                        struct pt_bucket_range used, double sum) {
    struct histo h = { .buckets = buckets, .sum = sum };
    find_range(&h, used);
    if (h.count == 0) /* no values: one empty bucket */
        h.first = h.last = 0;
    put_record(out, put_event, &(struct value){ .event = event, .histo = &h });
}
