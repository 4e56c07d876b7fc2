/* The ring of a file: records are claimed, written, published. */
#include "inside/preload/preload.h"

#include <errno.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define RING_CHUNK (256u << 10)

bool pt_preload_give(void *at, size_t size, uint64_t offset) {
    int error = errno;
    bool is_given = !madvise(at, size, MADV_POPULATE_WRITE) ||
                    (errno == EINVAL && pt_preload_file_give(offset, size));
    errno = error;
    return is_given;
}

/* Memory is allocated as the ring is first used, because most processes of a tree end before their
 * first sample. The mappings are written then, too. */
static bool has_memory(struct pt_preload_header *h, uint64_t end) {
    uint64_t given = __atomic_load_n(&h->ring_given, __ATOMIC_RELAXED);
    if (PT_PRELOAD_LIKELY(end <= given || given == PT_PRELOAD_RING_BYTES))
        return true;
    uint64_t next = (end + RING_CHUNK - 1) & ~(uint64_t)(RING_CHUNK - 1);
    next = next < PT_PRELOAD_RING_BYTES ? next : PT_PRELOAD_RING_BYTES;
    if (!pt_preload_give(pt_preload_file.ring + given, next - given, h->ring_offset + given))
        return false;
    __atomic_store_n(&h->ring_given, (uint32_t)next, __ATOMIC_RELAXED);
    if (given == 0)
        pt_preload_write_maps();
    return true;
}

struct pt_preload_record *pt_preload_claim(size_t size, size_t limit, uint64_t *position) {
    struct pt_preload_header *h = pt_preload_file.header;
    uint64_t at = __atomic_load_n(&h->claimed, __ATOMIC_RELAXED);
    do {
        /* Acquire: paired with the release of the reader, which is done with these bytes. */
        if (at + size - __atomic_load_n(&h->read, __ATOMIC_ACQUIRE) > limit ||
            !has_memory(h, at + size))
            return NULL;
    } while (!__atomic_compare_exchange_n(&h->claimed, &at, at + size, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    *position = at;
    return (struct pt_preload_record *)(void *)(pt_preload_file.ring + at % PT_PRELOAD_RING_BYTES);
}

void pt_preload_publish(struct pt_preload_record *r, uint64_t position, size_t size,
                        enum pt_preload_kind kind, unsigned flags) {
    r->size = (uint32_t)size;
    r->kind = (uint16_t)kind;
    r->flags = (uint16_t)flags;
    /* Release: a reader that sees the stamp also sees the record. */
    __atomic_store_n(&r->stamp, position ^ PT_PRELOAD_STAMP, __ATOMIC_RELEASE);
}
