/* inside/preload/live.h -- the samples that are still allocated: a filter with one byte per hash,
 * which every free checks, and a hash table for the addresses that pass it. Linear probing is
 * limited to PT_HEAP_PROBES slots; no lock is needed.
 *
 * An address belongs to one thread at a time: it is added by the thread that allocated it, before
 * any other can know it, and removed by the one that frees it. So only claiming a slot must be
 * atomic. */
#ifndef PT_INSIDE_PRELOAD_LIVE_H
#define PT_INSIDE_PRELOAD_LIVE_H

#include "inside/preload/heap_preload.h"

#include <sys/single_threaded.h>

#define PT_HEAP_PROBES    512
#define PT_HEAP_SLOT_FREE 0u
#define PT_HEAP_SLOT_GONE 1u /* was in use: probing continues after it */

struct pt_heap_slot {
    uintptr_t address;
    uint64_t value;
};
extern struct pt_heap_slot *pt_heap_slots;
extern uintptr_t pt_heap_slot_mask;

bool pt_heap_live_open(bool is_every);

/* Neighbours in memory are neighbours in the table, so that its memory grows like the heap. */
static inline uintptr_t pt_heap_first_slot(uintptr_t address) {
    return (address >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ address >> 4;
}

static inline bool pt_heap_slot_claim(struct pt_heap_slot *s, uintptr_t address) {
    uintptr_t old = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
    if (old > PT_HEAP_SLOT_GONE)
        return false;
    if (!__libc_single_threaded)
        return __atomic_compare_exchange_n(&s->address, &old, address, false, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
    s->address = address;
    return true;
}

/* False: no free slot. */
static inline bool pt_heap_live_add(const void *p, uint64_t value) {
    uintptr_t address = (uintptr_t)p, first = pt_heap_first_slot(address);
    for (unsigned i = 0; i < PT_HEAP_PROBES; i++) {
        struct pt_heap_slot *s = &pt_heap_slots[(first + i) & pt_heap_slot_mask];
        if (!pt_heap_slot_claim(s, address))
            continue;
        s->value = value;
        return true;
    }
    return false;
}

static inline bool pt_heap_live_take(const void *p, uint64_t *value) {
    uintptr_t address = (uintptr_t)p, first = pt_heap_first_slot(address);
    for (unsigned i = 0; i < PT_HEAP_PROBES; i++) {
        struct pt_heap_slot *s = &pt_heap_slots[(first + i) & pt_heap_slot_mask];
        uintptr_t found = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
        if (found == PT_HEAP_SLOT_FREE)
            return false;
        if (found != address)
            continue;
        *value = s->value;
        __atomic_store_n(&s->address, PT_HEAP_SLOT_GONE, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

#endif
