/* profile/model/nearest.h -- finds the nearest preceding symbol for each of a few addresses, in one
 * pass over the many symbols and without sorting them. */
#ifndef PT_PROFILE_MODEL_NEAREST_H
#define PT_PROFILE_MODEL_NEAREST_H

#include <stddef.h>
#include <stdint.h>

/* The index of the first of `count` ascending addresses that is not below `start`; `count` if none.
 */
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
