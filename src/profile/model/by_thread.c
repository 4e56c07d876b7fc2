#include "profile/model/by_thread.h"

#include <stdlib.h>

/* Samples without a thread come after those of all threads. */
static size_t slot_of(const struct pt_profile *p, size_t sample) {
    uint32_t thread = p->samples.at[sample].thread;
    return thread == PT_PROFILE_NONE ? p->threads.count : thread;
}

static int by_time(const void *a, const void *b, void *user) {
    const struct pt_profile *p = user;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int64_t left = p->samples.at[x].time_ns, right = p->samples.at[y].time_ns;
    if (left != right)
        return left < right ? -1 : 1;
    return (x > y) - (x < y);
}

static bool is_sorted(const struct pt_profile *p, const uint32_t *samples, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (p->samples.at[samples[i]].time_ns < p->samples.at[samples[i - 1]].time_ns)
            return false;
    return true;
}

void pt_by_thread_init(struct pt_by_thread *b, const struct pt_profile *p) {
    size_t slots = p->threads.count + 1;
    b->samples = pt_calloc(p->samples.count, sizeof *b->samples);
    b->starts = pt_calloc(slots + 1, sizeof *b->starts);
    for (size_t i = 0; i < p->samples.count; i++)
        b->starts[slot_of(p, i) + 1]++;
    for (size_t i = 0; i < slots; i++)
        b->starts[i + 1] += b->starts[i];
    size_t *next = pt_calloc(slots, sizeof *next);
    memcpy(next, b->starts, slots * sizeof *next);
    for (size_t i = 0; i < p->samples.count; i++)
        b->samples[next[slot_of(p, i)]++] = (uint32_t)i;
    pt_free(next);
    for (size_t i = 0; i < slots; i++) {
        uint32_t *first = b->samples + b->starts[i];
        size_t count = b->starts[i + 1] - b->starts[i];
        if (!is_sorted(p, first, count))
            qsort_r(first, count, sizeof *first, by_time, (void *)p);
    }
}

void pt_by_thread_release(struct pt_by_thread *b) {
    pt_free(b->samples);
    pt_free(b->starts);
    *b = (struct pt_by_thread){ 0 };
}
