/* profile/sample/perf_ring.h -- the ring that a perf event writes into: one page of positions, then
 * 2^n pages of records, which may wrap around the end. */
#ifndef PT_PROFILE_SAMPLE_PERF_RING_H
#define PT_PROFILE_SAMPLE_PERF_RING_H

#include "base/buf.h"

struct perf_event_mmap_page;

struct pt_perf_ring {
    struct perf_event_mmap_page *page; /* NULL: not mapped */
    const uint8_t *data;
    size_t size; /* of `data`, a power of two */
};

#define PT_PERF_RING_LEAST (64u << 10)

/* Maps `bytes` (a power of two) of the event `fd`, or less, down to `least_bytes`, if the limit of
 * locked memory is lower. 0 or -errno. */
int pt_perf_ring_map(struct pt_perf_ring *ring, int fd, size_t bytes,
                     size_t least_bytes) PT_MUST_CHECK;
void pt_perf_ring_unmap(struct pt_perf_ring *ring);

/* Bytes that the kernel has written and that were not taken yet. */
size_t pt_perf_ring_used(const struct pt_perf_ring *ring);

/* Appends the next record to `into`, with the stack reduced to the bytes in use, unless the record
 * is larger than `room` bytes. False: no record, or no space. The kernel may then overwrite it. */
bool pt_perf_ring_take(struct pt_perf_ring *ring, unsigned register_count, size_t room,
                       struct pt_buf *into);

/* Are all records up to a time samples? Then `*end` is the position after the last of them. */
bool pt_perf_ring_has_only_samples(const struct pt_perf_ring *ring, int64_t until_ns,
                                   uint64_t *end);
/* The first record before position `end`, in place, or copied if it wraps around the end of the
 * ring; empty: none. */
struct pt_str pt_perf_ring_first(const struct pt_perf_ring *ring, uint64_t end,
                                 struct pt_buf *scratch);
/* Lets the kernel overwrite the first `bytes`. */
void pt_perf_ring_drop(struct pt_perf_ring *ring, size_t bytes);

/* pt_perf_ring_take() on arbitrary bytes: `head` and `*tail` are positions that only grow. */
bool pt_perf_ring_take_at(const uint8_t *data, size_t size, uint64_t head, uint64_t *tail,
                          unsigned register_count, size_t room, struct pt_buf *into);

#endif
