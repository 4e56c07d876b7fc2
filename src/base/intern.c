#include "base/intern.h"

#define SMALLEST 64 /* a power of two */

void pt_intern_release(struct pt_intern *t) {
    pt_free(t->slots);
    *t = (struct pt_intern){ 0 };
}

void pt_intern_clear(struct pt_intern *t) {
    if (t->capacity > 0)
        memset(t->slots, 0, t->capacity * sizeof *t->slots);
    t->count = 0;
}

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

uint32_t pt_intern_hash(const void *bytes, size_t n) {
    const uint8_t *at = bytes;
    uint64_t h = n * UINT64_C(0x9e3779b97f4a7c15), word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = mix(h ^ word);
    }
    if (n > 0) {
        word = 0;
        memcpy(&word, at, n);
        h = mix(h ^ word);
    }
    return (uint32_t)h;
}

static void enlarge(struct pt_intern *t) {
    struct pt_intern old = *t;
    t->capacity = old.capacity ? old.capacity * 2 : SMALLEST;
    t->slots = pt_calloc(t->capacity, sizeof *t->slots);
    size_t mask = t->capacity - 1;
    for (size_t i = 0; i < old.capacity; i++) {
        if (!old.slots[i])
            continue;
        size_t k = (size_t)(old.slots[i] >> 32) & mask;
        while (t->slots[k])
            k = (k + 1) & mask;
        t->slots[k] = old.slots[i];
    }
    pt_free(old.slots);
}

uint32_t pt_intern_find(struct pt_intern *t, uint32_t hash, pt_intern_equal *is_equal,
                        const void *owner, const void *key, uint32_t next) {
    if (t->count * 4 >= t->capacity * 3)
        enlarge(t);
    size_t mask = t->capacity - 1, i = hash & mask;
    for (; t->slots[i]; i = (i + 1) & mask) {
        uint32_t number = (uint32_t)t->slots[i] - 1;
        if (t->slots[i] >> 32 == hash && is_equal(owner, number, key))
            return number;
    }
    if (next == PT_INTERN_NONE)
        return next;
    t->slots[i] = (uint64_t)hash << 32 | (next + 1);
    t->count++;
    return next;
}
