/* The table of live samples; see inside/preload/live.h. */
#include "inside/preload/live.h"

#include <string.h>
#include <sys/mman.h>

#define SAMPLED_SLOTS (1u << 17)
#define EVERY_SLOTS   (1u << 23)
uint8_t pt_heap_filter[PT_HEAP_FILTER];

struct pt_heap_slot *pt_heap_slots;
uintptr_t pt_heap_slot_mask;

/* 255 may stand for more, so it is sticky, at the cost of false positives. */
void pt_heap_filter_count(const void *p, int by) {
    uint8_t *at = &pt_heap_filter[pt_heap_filter_slot((uintptr_t)p)];
    uint8_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    do {
        if (old == UINT8_MAX || (by < 0 && old == 0))
            return;
    } while (!__atomic_compare_exchange_n(at, &old, (uint8_t)(old + by), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

bool pt_heap_live_open(bool is_every) {
    size_t count = is_every ? EVERY_SLOTS : SAMPLED_SLOTS;
    if (!pt_heap_slots) {
        void *at = pt_heap_next.mmap(NULL, count * sizeof *pt_heap_slots, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return false;
        /* a child has its own samples */
        if (madvise(at, count * sizeof *pt_heap_slots, MADV_WIPEONFORK))
            return false;
        pt_heap_slots = at;
        pt_heap_slot_mask = count - 1;
    }
    if (is_every)
        memset(pt_heap_filter, UINT8_MAX, sizeof pt_heap_filter);
    return true;
}
