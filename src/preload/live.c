/* The samples that are still allocated: a filter of one byte for each hash, which every free looks
 * at, and a table for those it does not clear. The table has room for all that linear probing finds
 * within PROBES places; nobody waits.
 *
 * An address belongs to whoever has it: it is added by the thread that got it, before anyone else
 * can know it, and taken by the one that frees it. So places only need to be claimed with care. */
#include "preload/heap.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>

#define PROBES        64
#define SAMPLED_SLOTS (1u << 17)
#define EVERY_SLOTS   (1u << 23)
#define FREE          0u
#define GONE          1u /* was in use: others may stand behind it */

struct slot {
    uintptr_t address;
    uint64_t value;
};

uint8_t pt_heap_filter[PT_HEAP_FILTER];

static struct slot *slots;
static uintptr_t slot_mask;

/* 255 cannot be told from more: it stays, at the cost of false alarms. */
static void filter_count(const void *p, int by) {
    uint8_t *at = &pt_heap_filter[pt_heap_filter_slot((uintptr_t)p)];
    uint8_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    do {
        if (old == UINT8_MAX || (by < 0 && old == 0))
            return;
    } while (!__atomic_compare_exchange_n(at, &old, (uint8_t)(old + by), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

void pt_heap_filter_add(const void *p) {
    filter_count(p, 1);
}

bool pt_heap_live_open(bool is_every) {
    size_t count = is_every ? EVERY_SLOTS : SAMPLED_SLOTS;
    if (!slots) {
        void *at = pt_heap_next.mmap(NULL, count * sizeof *slots, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED)
            return false;
        /* a child has samples of its own */
        if (madvise(at, count * sizeof *slots, MADV_WIPEONFORK))
            return false;
        slots = at;
        slot_mask = count - 1;
    }
    if (is_every)
        memset(pt_heap_filter, UINT8_MAX, sizeof pt_heap_filter);
    return true;
}

/* Neighbours in memory are neighbours in the table: it takes memory as the heap does. */
static uintptr_t first_slot(uintptr_t address) {
    return (address >> 12) * UINT64_C(0x9e3779b97f4a7c15) >> 32 ^ address >> 4;
}

static bool claim(struct slot *s, uintptr_t address) {
    uintptr_t old = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
    if (__libc_single_threaded && old <= GONE) {
        s->address = address;
        return true;
    }
    return old <= GONE && __atomic_compare_exchange_n(&s->address, &old, address, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

bool pt_heap_live_add(const void *p, uint64_t value) {
    uintptr_t address = (uintptr_t)p, first = first_slot(address);
    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s = &slots[(first + i) & slot_mask];
        if (!claim(s, address))
            continue;
        s->value = value;
        if (!pt_heap_file.is_every)
            filter_count(p, 1);
        return true;
    }
    return false;
}

bool pt_heap_live_take(const void *p, uint64_t *value) {
    uintptr_t address = (uintptr_t)p, first = first_slot(address);
    for (unsigned i = 0; i < PROBES; i++) {
        struct slot *s = &slots[(first + i) & slot_mask];
        uintptr_t found = __atomic_load_n(&s->address, __ATOMIC_RELAXED);
        if (found == FREE)
            return false;
        if (found != address)
            continue;
        *value = s->value;
        __atomic_store_n(&s->address, GONE, __ATOMIC_RELEASE);
        if (!pt_heap_file.is_every)
            filter_count(p, -1);
        return true;
    }
    return false;
}
