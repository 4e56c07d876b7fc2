/* profile/sample/record_order.h -- sorts the records of several rings by time: a sample must come
 * after the mapping it ran in, even if another CPU recorded that. */
#ifndef PT_PROFILE_SAMPLE_RECORD_ORDER_H
#define PT_PROFILE_SAMPLE_RECORD_ORDER_H

#include "base/buf.h"

struct pt_ordered_record {
    int64_t time_ns;
    uint32_t sequence; /* order of arrival, kept for equal times */
    uint32_t size;
    const uint8_t *at;
};

struct pt_record_order {
    struct pt_ordered_record *at;
    size_t count, capacity;
    struct pt_buf held, older; /* records that are too new; the buffer used before */
};

void pt_record_order_release(struct pt_record_order *o);

/* Holds `bytes` back: more must arrive before they can be sorted. */
void pt_record_order_keep(struct pt_record_order *o, struct pt_str bytes);
/* Sorts the held records and those in `bytes`, which is borrowed until pt_record_order_hold(). */
void pt_record_order_sort(struct pt_record_order *o, struct pt_str bytes);

/* Drops the first `done` records and holds the others. */
void pt_record_order_hold(struct pt_record_order *o, size_t done);

#endif
