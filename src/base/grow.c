#include "base/mem.h"

bool pt_try_grow(void *array, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity : 8, bytes;
    while (grown < need)
        grown *= 2;
    void *old, *moved;
    memcpy(&old, array, sizeof old);
    if (__builtin_mul_overflow(grown, size, &bytes))
        bytes = SIZE_MAX;
    moved = pt_try_realloc(old, bytes);
    if (!moved)
        return false;
    memcpy(array, &moved, sizeof moved);
    *capacity = grown;
    return true;
}
