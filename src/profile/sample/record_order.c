#include "profile/sample/record_order.h"

#include "profile/sample/perf_record.h"

#include <stdlib.h>

void pt_record_order_release(struct pt_record_order *o) {
    pt_free(o->at);
    pt_buf_release(&o->held);
    pt_buf_release(&o->older);
    *o = (struct pt_record_order){ 0 };
}

static void add_all(struct pt_record_order *o, struct pt_str bytes) {
    struct perf_event_header header;
    while (bytes.len >= sizeof header) {
        memcpy(&header, bytes.at, sizeof header);
        if (header.size < sizeof header || header.size > bytes.len)
            return;
        const uint8_t *at = (const uint8_t *)bytes.at;
        pt_grow(&o->at, &o->capacity, o->count + 1, sizeof *o->at);
        o->at[o->count] = (struct pt_ordered_record){ pt_perf_record_time(at, header.size),
                                                      (uint32_t)o->count, header.size, at };
        o->count++;
        bytes = pt_str_skip(bytes, header.size);
    }
}

static int by_time(const void *a, const void *b) {
    const struct pt_ordered_record *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->sequence < y->sequence ? -1 : 1;
}

void pt_record_order_keep(struct pt_record_order *o, struct pt_str bytes) {
    pt_buf_str(&o->held, bytes);
}

void pt_record_order_sort(struct pt_record_order *o, struct pt_str bytes) {
    o->count = 0;
    add_all(o, pt_buf_as_str(&o->held));
    add_all(o, bytes);
    if (o->count > 1)
        qsort(o->at, o->count, sizeof *o->at, by_time);
}

void pt_record_order_hold(struct pt_record_order *o, size_t done) {
    struct pt_buf free = o->older;
    pt_buf_clear(&free);
    for (size_t i = done; i < o->count; i++)
        pt_buf_bytes(&free, o->at[i].at, o->at[i].size);
    o->older = o->held;
    o->held = free;
    o->count = 0;
}
