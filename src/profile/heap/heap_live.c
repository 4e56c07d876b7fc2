#include "profile/heap/heap_live.h"

#define FIRST_CAPACITY 1024

void pt_heap_live_release(struct pt_heap_live *l) {
    pt_free(l->at);
    *l = (struct pt_heap_live){ 0 };
}

static size_t home_of(const struct pt_heap_live *l, uint32_t process, uint64_t address) {
    uint64_t mixed = (address ^ (uint64_t)process << 48) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(mixed >> 20) & (l->capacity - 1);
}

/* The slot of the address, or the free slot where it would be. */
static size_t find(const struct pt_heap_live *l, uint32_t process, uint64_t address) {
    size_t i = home_of(l, process, address);
    while (l->at[i].address != 0 && (l->at[i].address != address || l->at[i].process != process))
        i = (i + 1) & (l->capacity - 1);
    return i;
}

static void grow(struct pt_heap_live *l) {
    struct pt_heap_live old = *l;
    l->capacity = old.capacity ? 2 * old.capacity : FIRST_CAPACITY;
    l->at = pt_calloc(l->capacity, sizeof *l->at);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.at[i].address != 0)
            l->at[find(l, old.at[i].process, old.at[i].address)] = old.at[i];
    pt_free(old.at);
}

bool pt_heap_live_put(struct pt_heap_live *l, struct pt_heap_live_entry entry,
                      struct pt_heap_live_entry *replaced) {
    if (2 * (l->count + 1) > l->capacity)
        grow(l);
    size_t i = find(l, entry.process, entry.address);
    bool is_taken = l->at[i].address != 0;
    if (is_taken)
        *replaced = l->at[i];
    l->at[i] = entry;
    l->count += !is_taken;
    return is_taken;
}

/* Moves up entries after the hole that belong before it. */
static void close_hole(struct pt_heap_live *l, size_t hole) {
    size_t mask = l->capacity - 1;
    for (size_t i = (hole + 1) & mask; l->at[i].address != 0; i = (i + 1) & mask) {
        size_t home = home_of(l, l->at[i].process, l->at[i].address);
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        l->at[hole] = l->at[i];
        hole = i;
    }
    l->at[hole].address = 0;
}

bool pt_heap_live_remove(struct pt_heap_live *l, uint32_t process, uint64_t address,
                         struct pt_heap_live_entry *removed) {
    if (l->count == 0 || address == 0)
        return false;
    size_t i = find(l, process, address);
    if (l->at[i].address == 0)
        return false;
    *removed = l->at[i];
    close_hole(l, i);
    l->count--;
    return true;
}
