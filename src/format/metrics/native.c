#include "format/metrics/native.h"

#define INDEX_OF_BUCKET (1 + PT_MIN_EXPONENT * PT_BUCKETS_PER_OCTAVE)

enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };

struct pt_native pt_native_of(const struct pt_distribution *d) {
    struct pt_native n = { .count = d->count,
                           .zero_count = d->used.first == 0 && d->used.end > 0 ? d->buckets[0] : 0,
                           .sum = d->sum,
                           .first = d->used.first > 0 ? d->used.first : 1,
                           .end = d->used.end };
    while (n.first < n.end && d->buckets[n.first] == 0)
        n.first++;
    while (n.end > n.first && d->buckets[n.end - 1] == 0)
        n.end--;
    n.counts = n.first < n.end ? d->buckets + n.first : NULL;
    return n;
}

static uint64_t count_of(const struct pt_native *n, uint32_t bucket) {
    return n->counts[bucket - n->first];
}

/* The next bucket from `bucket` on that is (not) empty. */
static uint32_t find(const struct pt_native *n, uint32_t bucket, bool is_empty) {
    while (bucket < n->end && (count_of(n, bucket) == 0) != is_empty)
        bucket++;
    return bucket;
}

struct span {
    int32_t offset;
    uint32_t length;
};

static void put_span(struct pt_proto *p, const void *arg) {
    const struct span *span = arg;
    pt_proto_sint(p, SPAN_OFFSET, span->offset);
    pt_proto_u64(p, SPAN_LENGTH, span->length);
}

void pt_native_spans(struct pt_proto *p, uint32_t field, const struct pt_native *n) {
    int32_t end = 0; /* index where the previous span ended */
    uint32_t first = n->first;
    while (first < n->end) {
        uint32_t behind = find(n, first, true);
        int32_t index = (int32_t)first + INDEX_OF_BUCKET;
        struct span span = { index - end, behind - first };
        pt_proto_message(p, field, put_span, &span);
        end = (int32_t)behind + INDEX_OF_BUCKET;
        first = find(n, behind, false);
    }
}

static void put_deltas(struct pt_proto *p, const void *arg) {
    const struct pt_native *n = arg;
    uint64_t before = 0;
    for (uint32_t i = n->first; i < n->end; i++) {
        uint64_t count = count_of(n, i);
        if (count == 0)
            continue;
        pt_proto_zigzag(p, (int64_t)(count - before));
        before = count;
    }
}

void pt_native_deltas(struct pt_proto *p, uint32_t field, const struct pt_native *n) {
    if (n->first < n->end)
        pt_proto_message(p, field, put_deltas, n);
}
