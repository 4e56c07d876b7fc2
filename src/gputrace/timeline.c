#include "gputrace/timeline.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct pt_timeline_event pt_timeline_event_of(enum pt_timeline_kind kind) {
    return (struct pt_timeline_event){ .kind = kind,
                                       .bytes = PT_TIMELINE_NONE,
                                       .correlation = PT_TIMELINE_NONE,
                                       .pid = PT_TIMELINE_NONE,
                                       .thread = PT_TIMELINE_NONE,
                                       .device = PT_TIMELINE_NONE,
                                       .stream = PT_TIMELINE_NONE,
                                       .registers = PT_TIMELINE_NONE,
                                       .shared_bytes = PT_TIMELINE_NONE };
}

/* Far from the limits of 64 bits, so that ends and differences need no check: 73 years around 0 on
 * any clock, and 52 days. */
#define TIME_MAX_NS     (INT64_C(1) << 61)
#define DURATION_MAX_NS (INT64_C(1) << 52)

static bool is_possible(const struct pt_timeline_event *e) {
    return e->start_ns >= -TIME_MAX_NS && e->start_ns <= TIME_MAX_NS && e->duration_ns >= 0 &&
           e->duration_ns <= DURATION_MAX_NS;
}

void pt_timeline_add(struct pt_timeline *t, const struct pt_timeline_event *event) {
    if (t->count == PT_TIMELINE_EVENTS_MAX || !is_possible(event)) {
        t->left_out++;
        return;
    }
    pt_grow(&t->events, &t->capacity, t->count + 1, sizeof *t->events);
    t->events[t->count++] = *event;
}

uint32_t pt_timeline_size_plus_one(struct pt_timeline *t, const int64_t size[3]) {
    char text[64];
    if (size[0] < 0 || size[1] < 0 || size[2] < 0)
        return 0;
    int n = snprintf(text, sizeof text, "%lldx%lldx%lld", (long long)size[0], (long long)size[1],
                     (long long)size[2]);
    return pt_names_add(&t->names, (struct pt_str){ text, (size_t)n }) + 1;
}

static int64_t to_monotonic_ns(enum pt_timeline_clock clock, const struct pt_timeline_run *run) {
    switch (clock) {
    case PT_TIMELINE_WALL:
        return -run->ahead_ns;
    case PT_TIMELINE_BOOTTIME:
        return pt_mono_ns() - pt_clock_ns(CLOCK_BOOTTIME);
    default:
        return 0;
    }
}

void pt_timeline_move(struct pt_timeline *t, size_t first, int64_t shift_ns) {
    size_t kept = first;
    for (size_t i = first; i < t->count; i++) {
        struct pt_timeline_event e = t->events[i];
        if (!__builtin_add_overflow(e.start_ns, shift_ns, &e.start_ns) && is_possible(&e))
            t->events[kept++] = e;
    }
    t->left_out += t->count - kept;
    t->count = kept;
}

bool pt_timeline_align(struct pt_timeline *t, size_t first, const struct pt_timeline_run *run) {
    int64_t shift_ns = to_monotonic_ns(t->clock, run), first_ns = INT64_MAX;
    bool is_empty = first == t->count, is_in = false;
    for (size_t i = first; i < t->count; i++) {
        int64_t start_ns;
        is_in |= !__builtin_add_overflow(t->events[i].start_ns, shift_ns, &start_ns) &&
                 start_ns >= run->first_mono_ns && start_ns <= run->last_mono_ns;
        first_ns = t->events[i].start_ns < first_ns ? t->events[i].start_ns : first_ns;
    }
    bool is_aligned = is_empty || (is_in && t->clock != PT_TIMELINE_UNKNOWN_CLOCK);
    if (!is_aligned && __builtin_sub_overflow(run->first_mono_ns, first_ns, &shift_ns))
        shift_ns = 0;
    pt_timeline_move(t, first, shift_ns);
    t->clock = PT_TIMELINE_MONOTONIC;
    return is_aligned;
}

static int by_device_and_start(const void *a, const void *b) {
    const struct pt_timeline_event *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Outer events after inner ones, as they end. */
static int by_end(const void *a, const void *b) {
    const struct pt_timeline_event *x = a, *y = b;
    int64_t x_end = x->start_ns + x->duration_ns, y_end = y->start_ns + y->duration_ns;
    if (x_end != y_end)
        return x_end < y_end ? -1 : 1;
    return (x->start_ns < y->start_ns) - (x->start_ns > y->start_ns);
}

static int gap_by_end(const void *a, const void *b) {
    const struct pt_timeline_gap *x = a, *y = b;
    int64_t x_end = x->start_ns + x->duration_ns, y_end = y->start_ns + y->duration_ns;
    return (x_end > y_end) - (x_end < y_end);
}

/* Kernels of a device may run concurrently: it is busy until the last of them ends. */
static void find_gaps(struct pt_timeline *t) {
    int32_t device = PT_TIMELINE_NONE;
    int64_t busy_until_ns = 0;
    uint32_t last = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_timeline_event *e = &t->events[i];
        if (e->kind != PT_TIMELINE_KERNEL || e->device == PT_TIMELINE_NONE)
            continue;
        bool is_first = e->device != device;
        if (!is_first && e->start_ns > busy_until_ns) {
            pt_grow(&t->gaps, &t->gap_capacity, t->gap_count + 1, sizeof *t->gaps);
            t->gaps[t->gap_count++] =
                (struct pt_timeline_gap){ .start_ns = busy_until_ns,
                                          .duration_ns = e->start_ns - busy_until_ns,
                                          .device = e->device,
                                          .before = last,
                                          .after = e->name };
        }
        if (is_first || e->start_ns + e->duration_ns >= busy_until_ns) {
            busy_until_ns = e->start_ns + e->duration_ns;
            last = e->name;
        }
        device = e->device;
    }
}

static bool is_before(const struct pt_timeline_gap *gap, int32_t device, int64_t start_ns) {
    return gap->device < device ||
           (gap->device == device && gap->start_ns + gap->duration_ns <= start_ns);
}

/* The device copied from `start_ns` to `end_ns`. Intervals come in order and do not overlap, as
 * gaps do; `*next` is the first gap that this one or a later one may touch. */
static void note_copying(struct pt_timeline *t, size_t *next, int32_t device, int64_t start_ns,
                         int64_t end_ns) {
    while (*next < t->gap_count && is_before(&t->gaps[*next], device, start_ns))
        ++*next;
    for (size_t i = *next; i < t->gap_count; i++) {
        struct pt_timeline_gap *gap = &t->gaps[i];
        if (gap->device != device || gap->start_ns >= end_ns)
            return;
        int64_t gap_end_ns = gap->start_ns + gap->duration_ns;
        int64_t from = start_ns > gap->start_ns ? start_ns : gap->start_ns;
        int64_t to = end_ns < gap_end_ns ? end_ns : gap_end_ns;
        gap->copying_ns += to > from ? to - from : 0;
    }
}

/* Concurrent copies are one interval. */
static void find_copying(struct pt_timeline *t) {
    int32_t device = PT_TIMELINE_NONE;
    int64_t start_ns = 0, end_ns = 0;
    size_t next = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_timeline_event *e = &t->events[i];
        if (e->kind != PT_TIMELINE_COPY || e->device == PT_TIMELINE_NONE)
            continue;
        int64_t e_end_ns = e->start_ns + e->duration_ns;
        if (e->device == device && e->start_ns <= end_ns) {
            end_ns = e_end_ns > end_ns ? e_end_ns : end_ns;
            continue;
        }
        note_copying(t, &next, device, start_ns, end_ns);
        device = e->device;
        start_ns = e->start_ns;
        end_ns = e_end_ns;
    }
    note_copying(t, &next, device, start_ns, end_ns);
}

void pt_timeline_finish(struct pt_timeline *t) {
    if (t->count == 0)
        return;
    qsort(t->events, t->count, sizeof *t->events, by_device_and_start);
    find_gaps(t);
    find_copying(t);
    qsort(t->events, t->count, sizeof *t->events, by_end);
    if (t->gap_count > 0)
        qsort(t->gaps, t->gap_count, sizeof *t->gaps, gap_by_end);
}

void pt_timeline_release(struct pt_timeline *t) {
    pt_names_release(&t->names);
    pt_free(t->events);
    pt_free(t->gaps);
    *t = (struct pt_timeline){ 0 };
}
