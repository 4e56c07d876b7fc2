/* profile/heap/heap_live.h -- the samples that are still allocated, by process and address. {0} is
 * empty. */
#ifndef PT_PROFILE_HEAP_HEAP_LIVE_H
#define PT_PROFILE_HEAP_HEAP_LIVE_H

#include "base/mem.h"

struct pt_heap_live_entry {
    uint64_t address; /* 0: free */
    uint32_t process;
    uint32_t group;                /* the group it was counted in */
    double bytes, count, variance; /* its weight */
};

struct pt_heap_live {
    struct pt_heap_live_entry *at;
    size_t capacity; /* a power of two */
    size_t count;
};

void pt_heap_live_release(struct pt_heap_live *l);

/* Adds an entry. True: it replaced an entry of the same address, which was freed unnoticed. */
bool pt_heap_live_put(struct pt_heap_live *l, struct pt_heap_live_entry entry,
                      struct pt_heap_live_entry *replaced);
bool pt_heap_live_remove(struct pt_heap_live *l, uint32_t process, uint64_t address,
                         struct pt_heap_live_entry *removed);

#endif
