#include "analyze/clock_match.h"

#include "base/mem.h"

#include <stdlib.h>

void pt_clock_events_add(struct pt_clock_events *e, const struct pt_clock_event *event) {
    if (e->count == PT_CLOCK_EVENTS_MAX)
        return;
    pt_grow(&e->list, &e->capacity, e->count + 1, sizeof *e->list);
    e->list[e->count++] = *event;
}

void pt_clock_events_release(struct pt_clock_events *e) {
    pt_free(e->list);
    *e = (struct pt_clock_events){ 0 };
}

static int by_number(const void *a, const void *b) {
    const struct pt_clock_event *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void sort(struct pt_clock_events *e) {
    if (e->count > 0)
        qsort(e->list, e->count, sizeof *e->list, by_number);
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pt_clock_match(struct pt_clock_events *reference, struct pt_clock_events *other,
                    struct pt_clock_offset *offset) {
    int64_t *differences = pt_calloc(reference->count + 1, sizeof *differences);
    sort(reference);
    sort(other);
    size_t count = 0;
    for (size_t i = 0, k = 0; i < reference->count && k < other->count;) {
        const struct pt_clock_event *a = &reference->list[i], *b = &other->list[k];
        if (a->name == b->name && a->number == b->number) {
            differences[count++] = a->time_ns - b->time_ns;
            i++, k++;
        } else if (by_number(a, b) < 0) {
            i++;
        } else {
            k++;
        }
    }
    if (count >= PT_CLOCK_PAIRS_MIN) {
        qsort(differences, count, sizeof *differences, by_value);
        size_t cut = count / 20;
        *offset = (struct pt_clock_offset){
            .offset_ns = differences[count / 2],
            .error_ns = (differences[count - 1 - cut] - differences[cut] + 1) / 2,
            .pair_count = count,
        };
    }
    pt_free(differences);
    return count >= PT_CLOCK_PAIRS_MIN;
}
