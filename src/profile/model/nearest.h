/* profile/model/nearest.h -- which of very many named starts stands nearest before each of a few
 * addresses, in one pass and without sorting the many. */
#ifndef PT_PROFILE_MODEL_NEAREST_H
#define PT_PROFILE_MODEL_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* The first of `count` rising addresses that is not below `start`; `count` if none. */
static inline size_t pt_nearest_first(const uint64_t *addresses, size_t count, uint64_t start) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (addresses[middle] < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
