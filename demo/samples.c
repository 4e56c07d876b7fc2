#include "demo/samples.h"

#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

void pt_samples_release(struct pt_samples *s) {
    pt_free(s->at);
    *s = (struct pt_samples){ 0 };
}

void pt_samples_add(struct pt_samples *s, int64_t value) {
    pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
    s->at[s->count++] = value;
}

static int compare_i64(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int64_t percentile(const struct pt_samples *sorted, size_t percent) {
    return sorted->at[(sorted->count * percent + 99) / 100 - 1];
}

struct pt_demo_latency pt_samples_latency(struct pt_samples *s) {
    if (s->count == 0)
        return (struct pt_demo_latency){ 0 };
    qsort(s->at, s->count, sizeof *s->at, compare_i64);
    return (struct pt_demo_latency){ s->count, percentile(s, 50), percentile(s, 95),
                                     percentile(s, 99) };
}

static double ms(int64_t ns) {
    return (double)ns / (double)PT_NS_PER_MS;
}

void pt_samples_print_latency(struct pt_out *out, const char *what, struct pt_demo_latency l) {
    if (l.count == 0)
        pt_out_printf(out, "%-12s none\n", what);
    else
        pt_out_printf(out, "%-12s p50 %8.1f ms   p95 %8.1f ms   p99 %8.1f ms\n", what, ms(l.p50_ns),
                      ms(l.p95_ns), ms(l.p99_ns));
}

void pt_samples_print_rate(struct pt_out *out, const char *what, uint64_t count, double seconds) {
    pt_out_printf(out, "%-12s %9" PRIu64 " tokens   %8.1f tokens/s\n", what, count,
                  seconds > 0 ? (double)count / seconds : 0);
}
