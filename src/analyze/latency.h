/* analyze/latency.h -- latency and errors of requests of the last five to ten minutes.
 *
 * Counts only grow, in buckets of inside/region/histogram.h, by relaxed atomic adds. Every five
 * minutes they are copied; the window is what was added since the older of the last two copies. So
 * recording takes no lock, and counts are never cleared while a writer uses them. {0} is empty. */
#ifndef PT_ANALYZE_LATENCY_H
#define PT_ANALYZE_LATENCY_H

#include "inside/region/histogram.h"

#include <stdbool.h>

#define PT_LATENCY_HALF_NS (INT64_C(300) * 1000000000)

struct pt_latency_counts {
    uint64_t requests, errors;
    uint64_t buckets[PT_BUCKET_COUNT];
};

struct pt_latency {
    struct pt_latency_counts total;
    struct pt_latency_counts copies[2]; /* older, newer; owned by the holder of `is_locked` */
    int64_t copied_ns;                  /* time of the newer copy; 0: never */
    int is_locked;
};

/* `seconds` is NAN if unknown. Async-signal-safe. */
void pt_latency_record(struct pt_latency *l, double seconds, bool has_succeeded, int64_t now_ns);
/* The window. Waits while another thread copies. */
void pt_latency_read(struct pt_latency *l, int64_t now_ns, struct pt_latency_counts *window);

#endif
