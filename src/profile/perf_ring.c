#include "profile/perf_ring.h"

#include "profile/perf_record.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMALLEST_PAGES 16

int pt_perf_ring_map(struct pt_perf_ring *ring, int fd, size_t pages) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (; pages >= SMALLEST_PAGES; pages /= 2) {
        void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct pt_perf_ring){ at, (const uint8_t *)at + page, pages * page };
            return 0;
        }
        if (errno != EPERM && errno != ENOMEM)
            break;
    }
    return -errno;
}

void pt_perf_ring_unmap(struct pt_perf_ring *ring) {
    if (ring->page)
        munmap(ring->page, ring->size + (size_t)sysconf(_SC_PAGESIZE));
    *ring = (struct pt_perf_ring){ 0 };
}

static void copy(const uint8_t *data, size_t size, uint64_t from, void *into, size_t n) {
    size_t at = (size_t)from & (size - 1), first = size - at < n ? size - at : n;
    memcpy(into, data + at, first);
    memcpy((uint8_t *)into + first, data, n - first);
}

static uint64_t word_at(const uint8_t *data, size_t size, uint64_t from) {
    uint64_t word;
    copy(data, size, from, &word, sizeof word);
    return word;
}

/* Where the size of the copied stack stands in a sample, or 0: there is none, or it does not fit.
 */
static size_t stack_size_offset(const uint8_t *data, size_t size, uint64_t at, size_t length,
                                unsigned register_count) {
    const size_t chain = 48; /* header, ip, tid, time, cpu, period */
    if (length < chain + 8)
        return 0;
    uint64_t count = word_at(data, size, at + chain);
    if (count > length / 8)
        return 0;
    size_t abi = chain + 8 + (size_t)count * 8;
    size_t offset = abi + 8 + (size_t)register_count * 8;
    if (offset + 16 > length || word_at(data, size, at + abi) != PERF_SAMPLE_REGS_ABI_64)
        return 0;
    uint64_t stack = word_at(data, size, at + offset);
    return stack > 0 && stack <= length && offset + 16 + stack <= length ? offset : 0;
}

/* The kernel leaves room for the whole copy, and says behind it how much of that it used. */
static void take_sample(const uint8_t *data, size_t size, uint64_t at, size_t length,
                        unsigned register_count, struct pt_buf *into) {
    size_t offset = stack_size_offset(data, size, at, length, register_count);
    uint8_t *record = pt_buf_reserve(into, length);
    if (offset == 0) {
        copy(data, size, at, record, length);
        into->len += length;
        return;
    }
    uint64_t room = word_at(data, size, at + offset);
    uint64_t used = word_at(data, size, at + offset + 8 + room);
    uint64_t kept = used < room ? used & ~UINT64_C(7) : room;
    copy(data, size, at, record, offset + 8 + (size_t)kept);
    memcpy(record + offset, &kept, sizeof kept);
    memcpy(record + offset + 8 + kept, &kept, sizeof kept);
    uint16_t taken = (uint16_t)(offset + 16 + kept);
    memcpy(record + 6, &taken, sizeof taken);
    into->len += taken;
}

bool pt_perf_ring_take_at(const uint8_t *data, size_t size, uint64_t head, uint64_t *tail,
                          unsigned register_count, size_t room, struct pt_buf *into) {
    if (head - *tail < 8)
        return false;
    struct perf_event_header header;
    copy(data, size, *tail, &header, sizeof header);
    if (header.size < sizeof header || header.size > head - *tail) {
        *tail = head; /* not of a kernel: nothing behind it can be trusted */
        return false;
    }
    if (header.size > room)
        return false;
    if (header.type == PERF_RECORD_SAMPLE) {
        take_sample(data, size, *tail, header.size, register_count, into);
    } else {
        copy(data, size, *tail, pt_buf_reserve(into, header.size), header.size);
        into->len += header.size;
    }
    *tail += header.size;
    return true;
}

/* acquire: paired with the kernel's barrier before it moves data_head */
static uint64_t read_head(const struct pt_perf_ring *ring) {
    return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

size_t pt_perf_ring_used(const struct pt_perf_ring *ring) {
    return (size_t)(read_head(ring) - ring->page->data_tail);
}

bool pt_perf_ring_take(struct pt_perf_ring *ring, unsigned register_count, size_t room,
                       struct pt_buf *into) {
    uint64_t tail = ring->page->data_tail, before = tail;
    bool taken = pt_perf_ring_take_at(ring->data, ring->size, read_head(ring), &tail,
                                      register_count, room, into);
    /* release: our reads are over before the kernel may write there */
    if (tail != before)
        __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
    return taken;
}
