/* profile/sample/record_order.h -- records of several rings in the order of their time: a sample
 * must come after the mapping it ran in, though another CPU wrote that down. */
#ifndef PT_PROFILE_SAMPLE_RECORD_ORDER_H
#define PT_PROFILE_SAMPLE_RECORD_ORDER_H

#include "base/buf.h"

struct pt_ordered_record {
    int64_t time_ns;
    uint32_t sequence; /* of arrival: equal times keep it */
    uint32_t size;
    const uint8_t *at;
};

struct pt_record_order {
    struct pt_ordered_record *at;
    size_t count, capacity;
    struct pt_buf held, older; /* records that are too new, and where they were before */
};

void pt_record_order_release(struct pt_record_order *o);

/* More of it comes before anything can be sorted. */
void pt_record_order_keep(struct pt_record_order *o, struct pt_str bytes);
/* Sorts what is held and what is in `bytes`, which is borrowed until pt_record_order_hold(). */
void pt_record_order_sort(struct pt_record_order *o, struct pt_str bytes);

/* The first `done` of them are dealt with; keeps the others. */
void pt_record_order_hold(struct pt_record_order *o, size_t done);

#endif
