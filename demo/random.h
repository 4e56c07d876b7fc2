/* demo/random.h -- splitmix64: a whole generator in 64 bits of state, any seed is a good one. */
#ifndef PT_DEMO_RANDOM_H
#define PT_DEMO_RANDOM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t pt_random_next(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In [0, 1), all 24 bits a float can hold. */
static inline float pt_random_unit(uint64_t *state) {
    return (float)(pt_random_next(state) >> 40) * 0x1p-24f;
}

/* In [low, high]; the bias of the remainder is far below what a workload shows. */
static inline size_t pt_random_between(uint64_t *state, size_t low, size_t high) {
    return low + (size_t)(pt_random_next(state) % (high - low + 1));
}

#endif
