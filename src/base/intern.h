/* base/intern.h -- a hash index over an array, to find equal elements. {0} is an empty index.
 *
 * The elements stay in the caller's array, which only grows; the index stores their numbers. */
#ifndef PT_BASE_INTERN_H
#define PT_BASE_INTERN_H

#include "base/mem.h"

struct pt_intern {
    uint64_t *slots; /* hash << 32 | number + 1; 0 = free */
    size_t capacity, count;
};

/* Is the element `number` of `owner` equal to `key`? */
typedef bool pt_intern_equal(const void *owner, uint32_t number, const void *key);

void pt_intern_release(struct pt_intern *t);
void pt_intern_clear(struct pt_intern *t); /* empties it, keeps the memory */

#define PT_INTERN_NONE UINT32_MAX

/* Returns the number of the element that is equal to `key`. If there is none, stores and returns
 * `next`: the caller then appends the element under that number. PT_INTERN_NONE is not stored. */
uint32_t pt_intern_find(struct pt_intern *t, uint32_t hash, pt_intern_equal *is_equal,
                        const void *owner, const void *key, uint32_t next);

/* A hash of bytes for pt_intern_find(). */
uint32_t pt_intern_hash(const void *bytes, size_t n);

#endif
