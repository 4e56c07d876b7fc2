#include "profile/sample/perf_ring.h"

#include "profile/sample/perf_record.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFETCH_BYTES 2048 /* registers and the used stack of most samples */
#define HEADERS_AHEAD  4

int pt_perf_ring_map(struct pt_perf_ring *ring, int fd, size_t bytes, size_t least_bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int rc = -ENOMEM;
    for (; bytes >= least_bytes; bytes /= 2) {
        void *at = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED) {
            *ring = (struct pt_perf_ring){ at, (const uint8_t *)at + page, bytes };
            return 0;
        }
        rc = -errno;
        if (rc != -EPERM && rc != -ENOMEM)
            break;
    }
    return rc;
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

/* The offset of the size of the copied stack in a sample; 0: no stack, or malformed.
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

/* The kernel reserves space for the whole copy, followed by how much of it was used. */
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
        *tail = head; /* not written by a kernel: nothing after it can be trusted */
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

/* release: our reads are over before the kernel may write there */
static void set_tail(struct pt_perf_ring *ring, uint64_t tail) {
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

bool pt_perf_ring_take(struct pt_perf_ring *ring, unsigned register_count, size_t room,
                       struct pt_buf *into) {
    uint64_t tail = ring->page->data_tail, before = tail;
    bool taken = pt_perf_ring_take_at(ring->data, ring->size, read_head(ring), &tail,
                                      register_count, room, into);
    if (tail != before)
        set_tail(ring, tail);
    return taken;
}

static struct perf_event_header header_at(const struct pt_perf_ring *ring, uint64_t from) {
    struct perf_event_header header;
    copy(ring->data, ring->size, from, &header, sizeof header);
    return header;
}

/* Another CPU has written the data: cache misses would take longer than unwinding. */
static void fetch_line(const struct pt_perf_ring *ring, uint64_t from) {
    __builtin_prefetch(ring->data + ((size_t)from & (ring->size - 1)));
}

bool pt_perf_ring_has_only_samples(const struct pt_perf_ring *ring, int64_t until_ns,
                                   uint64_t *end) {
    const uint64_t time_offset = 24; /* header, ip, tid */
    uint64_t head = read_head(ring), at = ring->page->data_tail;
    while (head - at > time_offset) {
        struct perf_event_header header = header_at(ring, at);
        if (header.type != PERF_RECORD_SAMPLE || header.size <= time_offset ||
            header.size > head - at)
            return false;
        /* samples usually have one size */
        fetch_line(ring, at + (uint64_t)HEADERS_AHEAD * header.size);
        if ((int64_t)word_at(ring->data, ring->size, at + time_offset) > until_ns)
            break;
        at += header.size;
    }
    *end = at;
    return true;
}

struct pt_str pt_perf_ring_first(const struct pt_perf_ring *ring, uint64_t end,
                                 struct pt_buf *scratch) {
    uint64_t tail = ring->page->data_tail;
    if (end - tail < sizeof(struct perf_event_header))
        return PT_STR("");
    size_t size = header_at(ring, tail).size, at = (size_t)tail & (ring->size - 1);
    /* samples usually have one size: fetches the one after the next, up to the size of its stack */
    uint64_t ahead = tail + 2 * size;
    if (end - tail > 2 * size) {
        for (uint64_t i = 0; i < PREFETCH_BYTES; i += 64)
            fetch_line(ring, ahead + i);
        fetch_line(ring, ahead + size - 8);
    }
    if (size <= ring->size - at)
        return (struct pt_str){ (const char *)ring->data + at, size };
    pt_buf_clear(scratch);
    copy(ring->data, ring->size, tail, pt_buf_reserve(scratch, size), size);
    scratch->len = size;
    return pt_buf_as_str(scratch);
}

void pt_perf_ring_drop(struct pt_perf_ring *ring, size_t bytes) {
    set_tail(ring, ring->page->data_tail + bytes);
}
