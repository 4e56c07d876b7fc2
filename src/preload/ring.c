/* The ring of a file: records are claimed, written, published. */
#include "preload/heap.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

bool pt_heap_give(void *at, size_t size, uint64_t offset) {
    int error = errno;
    bool is_given = !madvise(at, size, MADV_POPULATE_WRITE) ||
                    (errno == EINVAL && pt_heap_file_give(offset, size));
    errno = error;
    return is_given;
}

/* Most processes of a tree end before their first sample: memory comes with that. */
static bool prepare(struct pt_heap_header *h) {
    if (PT_HEAP_LIKELY(__atomic_load_n(&h->is_ring_ready, __ATOMIC_RELAXED)))
        return true;
    if (!pt_heap_give(pt_heap_file.ring, PT_HEAP_RING_BYTES, h->ring_offset))
        return false;
    __atomic_store_n(&h->is_ring_ready, 1, __ATOMIC_RELAXED);
    pt_heap_write_maps();
    return true;
}

struct pt_heap_record *pt_heap_claim(size_t size, size_t limit, uint64_t *position) {
    struct pt_heap_header *h = pt_heap_file.header;
    if (!prepare(h))
        return NULL;
    uint64_t at = __atomic_load_n(&h->claimed, __ATOMIC_RELAXED);
    do {
        /* Acquire: paired with the release of the reader, who is done with these bytes. */
        if (at + size - __atomic_load_n(&h->read, __ATOMIC_ACQUIRE) > limit)
            return NULL;
    } while (!__atomic_compare_exchange_n(&h->claimed, &at, at + size, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    *position = at;
    return (struct pt_heap_record *)(void *)(pt_heap_file.ring + at % PT_HEAP_RING_BYTES);
}

void pt_heap_publish(struct pt_heap_record *r, uint64_t position, size_t size,
                     enum pt_heap_kind kind, unsigned flags) {
    r->size = (uint32_t)size;
    r->kind = (uint16_t)kind;
    r->flags = (uint16_t)flags;
    /* Release: who sees the stamp sees the record. */
    __atomic_store_n(&r->stamp, position ^ PT_HEAP_STAMP, __ATOMIC_RELEASE);
}
