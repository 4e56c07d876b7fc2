/* Decides which allocations are samples, and writes their records.
 *
 * Sampling is a Poisson process over the allocated bytes: gaps are drawn from the exponential
 * distribution, and an allocation is a sample if a point falls into it. The probability is 1 -
 * exp(-size / mean); the reader divides by it. */
#include "inside/preload/heap_preload.h"

#include "inside/preload/live.h"
#include "inside/preload/capture_registers.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define NEVER          (UINT64_MAX / 2)
#define LN2_Q32        UINT64_C(2977044472) /* ln 2 * 2^32 */
#define FRACTION_BITS  24
#define ROOM_FOR_FREES (PT_PRELOAD_RING_BYTES / 4) /* lost frees would look like leaks */
/* up to this fill level, the rate is not reduced */
#define CALM_BYTES  (PT_PRELOAD_RING_BYTES / 4)
#define SHIFT_BYTES (PT_PRELOAD_RING_BYTES / 32)
#define MAX_SHIFT   16u

/* splitmix64 */
static uint64_t next_random(void) {
    uint64_t z = pt_preload_self.random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* -log2(u / 2^64) with FRACTION_BITS fraction bits, by squaring. In integers, because a program may
 * have set floating-point traps or rounding. */
static uint64_t minus_log2(uint64_t u) {
    u |= 1;
    unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t mantissa = u << zeros, fraction = 0; /* [1, 2) as 1.63 */
    for (unsigned i = 0; i < FRACTION_BITS; i++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        bool is_above_two = square >> 127;
        fraction = fraction << 1 | is_above_two;
        mantissa = (uint64_t)(square >> (is_above_two ? 64 : 63));
    }
    return ((uint64_t)(zeros + 1) << FRACTION_BITS) - fraction;
}

/* The fuller the ring, the lower the sampling rate: it halves with every SHIFT_BYTES. Each sample
 * records its rate, so sums stay unbiased; they would not if samples were dropped. */
static uint32_t choose_shift(void) {
    const struct pt_preload_header *h = pt_preload_file.header;
    uint64_t used = __atomic_load_n(&h->claimed, __ATOMIC_RELAXED) -
                    __atomic_load_n(&h->read, __ATOMIC_RELAXED);
    uint64_t shift = used > CALM_BYTES ? (used - CALM_BYTES) / SHIFT_BYTES : 0;
    return shift < MAX_SHIFT ? (uint32_t)shift : MAX_SHIFT;
}

static uint64_t draw_gap(void) {
    unsigned __int128 nats = (unsigned __int128)minus_log2(next_random()) * LN2_Q32;
    pt_preload_self.mean_shift = choose_shift();
    nats *= pt_preload_file.mean_bytes;
    return (uint64_t)(nats << pt_preload_self.mean_shift >> (FRACTION_BITS + 32)) + 1;
}

static void start_thread(struct pt_preload_thread *t) {
    uint32_t number =
        __atomic_add_fetch(&pt_preload_file.header->thread_count, 1, __ATOMIC_RELAXED);
    t->random = pt_preload_file.seed + number * UINT64_C(0xd1b54a32d192ed03);
    t->random = next_random(); /* makes consecutive seeds independent */
    t->is_ready = true;
    t->left = draw_gap();
}

bool pt_heap_is_sample(size_t bytes) {
    struct pt_preload_thread *t = &pt_preload_self;
    t->was_asked = true;
    if (t->is_inside)
        return false;
    if (!pt_preload_file_is_open()) {
        if (pt_preload_file.is_off)
            t->left = NEVER;
        return false;
    }
    if (pt_preload_file.is_every)
        return true;
    if (!t->is_ready) {
        start_thread(t);
        if (bytes < t->left) {
            t->left -= bytes;
            return false;
        }
    }
    t->sample_shift = t->mean_shift;
    t->left = draw_gap();
    return true;
}

static void fill(struct pt_preload_sample *a, const void *p, size_t bytes, uint32_t stack) {
    a->mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    a->address = (uintptr_t)p;
    a->bytes = bytes;
    a->thread = pt_preload_thread_id();
    a->stack = stack;
    a->mean_shift = pt_preload_self.sample_shift;
    a->python_count = 0;
    memset(a->reserved, 0, sizeof a->reserved);
    pt_preload_thread_name(a->name);
}

static struct pt_preload_sample *claim(size_t stack_bytes, uint32_t python_count,
                                       uint64_t *position, size_t *size) {
    size_t python_bytes = python_count * sizeof(struct pt_preload_python_frame);
    *size =
        (sizeof(struct pt_preload_sample) + stack_bytes + python_bytes + PT_PRELOAD_ALIGNMENT - 1) &
        ~(size_t)(PT_PRELOAD_ALIGNMENT - 1);
    struct pt_preload_record *r =
        pt_preload_claim(*size, PT_PRELOAD_RING_BYTES - ROOM_FOR_FREES, position);
    if (!r)
        __atomic_add_fetch(&pt_preload_file.header->dropped_allocations, 1, __ATOMIC_RELAXED);
    return (struct pt_preload_sample *)(void *)r;
}

__attribute__((noinline)) void pt_heap_write_stack(uint32_t stack) {
    uint64_t registers[PT_PRELOAD_REGISTERS], position;
    pt_preload_registers(registers);
    uint64_t sp = registers[PT_PRELOAD_REGISTER_SP];
    size_t size, bytes = pt_preload_stack_size(sp);
    struct pt_preload_sample *a = claim(bytes, 0, &position, &size);
    if (!a)
        return;
    fill(a, NULL, 0, stack);
    memcpy(a->registers, registers, sizeof a->registers);
    a->stack_size = (uint32_t)pt_preload_copy_stack((uint8_t *)(a + 1), sp, bytes);
    pt_preload_publish(&a->record, position, size, PT_PRELOAD_STACK_COPY, 0);
}

/* Not inlined: the registers must be those of this function, with a frame that exists while
 * copying. */
__attribute__((noinline)) static void write_sample(const void *p, size_t bytes, unsigned flags) {
    uint64_t registers[PT_PRELOAD_REGISTERS], position;
    pt_preload_registers(registers);
    uint64_t sp = registers[PT_PRELOAD_REGISTER_SP];
    size_t size, copied = pt_preload_stack_size(sp);
    uint32_t frames = pt_heap_python_frames(NULL, PT_PRELOAD_PYTHON_MAX);
    struct pt_preload_sample *a = claim(copied, frames, &position, &size);
    if (!a)
        return;
    if (pt_heap_live_add(p, 0)) {
        pt_heap_filter_count(p, 1);
    } else {
        __atomic_add_fetch(&pt_preload_file.header->untracked, 1, __ATOMIC_RELAXED);
        flags |= PT_PRELOAD_UNTRACKED;
    }
    fill(a, p, bytes, 0);
    memcpy(a->registers, registers, sizeof registers);
    a->stack_size = (uint32_t)pt_preload_copy_stack((uint8_t *)(a + 1), sp, copied);
    if (frames > 0)
        a->python_count = pt_heap_python_frames(
            (struct pt_preload_python_frame *)(void *)((uint8_t *)(a + 1) + a->stack_size), frames);
    pt_preload_publish(&a->record, position, size, PT_PRELOAD_ALLOCATION, flags);
}

static void write_free(const void *p, enum pt_preload_kind kind, unsigned flags) {
    uint64_t position;
    struct pt_preload_free *f = (struct pt_preload_free *)(void *)pt_preload_claim(
        sizeof *f, PT_PRELOAD_RING_BYTES, &position);
    if (!f) {
        __atomic_add_fetch(&pt_preload_file.header->dropped_frees, 1, __ATOMIC_RELAXED);
        return;
    }
    f->mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    f->address = (uintptr_t)p;
    pt_preload_publish(&f->record, position, sizeof *f, kind, flags);
}

PT_PRELOAD_COLD void *pt_heap_allocated(void *p, size_t bytes, unsigned flags) {
    struct pt_preload_thread *t = &pt_preload_self;
    if (!p || t->is_inside)
        return p;
    if (pt_preload_file.is_every)
        return pt_heap_count(p, bytes);
    int error = errno;
    t->is_inside = true;
    write_sample(p, bytes, flags);
    t->last = (uintptr_t)p;
    t->last_left = t->left;
    t->is_inside = false;
    errno = error;
    return p;
}

/* This thread has allocated nothing since: the allocation was probably avoidable. */
static bool is_temporary(const void *p) {
    const struct pt_preload_thread *t = &pt_preload_self;
    return t->last == (uintptr_t)p && t->last_left == t->left;
}

bool pt_heap_freed(void *p) {
    struct pt_preload_thread *t = &pt_preload_self;
    uint64_t value;
    if (t->is_inside || !pt_preload_file_is_open() || pt_preload_file.is_every ||
        !pt_heap_live_take(p, &value))
        return false;
    int error = errno;
    t->is_inside = true;
    pt_heap_filter_count(p, -1);
    write_free(p, PT_PRELOAD_FREE, is_temporary(p) ? PT_PRELOAD_TEMPORARY : 0);
    t->last = 0;
    t->is_inside = false;
    errno = error;
    return true;
}

void pt_heap_restored(void *p) {
    struct pt_preload_thread *t = &pt_preload_self;
    int error = errno;
    t->is_inside = true;
    if (pt_heap_live_add(p, 0)) {
        pt_heap_filter_count(p, 1);
        write_free(p, PT_PRELOAD_RESTORE, 0);
    }
    t->is_inside = false;
    errno = error;
}
