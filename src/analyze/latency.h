/* analyze/latency.h -- requests of the last five to ten minutes: how long, how many failed.
 *
 * Counts only grow, in buckets of inside/region/histogram.h, by relaxed atomic adds. Every five
 * minutes they are copied; what came since the older of the last two copies is the window. So
 * recording takes no lock, and nothing is ever cleared under a writer. {0} is empty. */
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
    struct pt_latency_counts copies[2]; /* older, newer; belong to who holds `is_taken` */
    int64_t copied_ns;                  /* when the newer one was made; 0: never */
    int is_taken;
};

/* `seconds` may be NAN: not known. Async-signal-safe. */
void pt_latency_record(struct pt_latency *l, double seconds, bool has_succeeded, int64_t now_ns);
/* The window. Waits for a copy that is being made. */
void pt_latency_read(struct pt_latency *l, int64_t now_ns, struct pt_latency_counts *window);

#endif
