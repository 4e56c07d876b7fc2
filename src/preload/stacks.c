/* If every allocation counts, it counts here: each stack has a number and its sums in the file.
 *
 * A stack is found in two ways. The short one: the results of walks are kept by where they started,
 * with every word of the stack they depend on; if those are all as they were, so is the stack. The
 * long one walks. */
#include "preload/heap.h"

#include "preload/eh_frame.h"
#include "preload/live.h"
#include "preload/registers.h"
#include "preload/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KNOWN        4096u /* results of walks that are kept; a power of two */
#define INDEX        (2 * PT_HEAP_STACKS)
#define INDEX_PROBES 64
#define PEAK_STEP    64 /* the stacks at the peak are as they were within 1/64 of it */
#define MIN_STEP     (16u << 10)

/* Guarded by `version`, which is odd while someone writes. */
struct known {
    uint32_t version, stack;
    uint64_t caller, sp, fp, stack_end;
    uint32_t word_count, uses_fp;
    struct pt_walk_word words[PT_WALK_WORDS];
};

/* All of this is empty in a child after fork, whose file has no stacks yet. */
static struct tables {
    struct known known[KNOWN];
    uint32_t index[INDEX]; /* numbers of stacks, by hash */
    uint64_t next_peak;
    uint32_t is_taking_peak;
} * tables;
static uint64_t own_start, own_end;

bool pt_heap_stacks_open(void) {
    void *at = pt_heap_next.mmap(NULL, sizeof *tables, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || madvise(at, sizeof *tables, MADV_WIPEONFORK) || !pt_walk_open() ||
        !pt_eh_module((uint64_t)(uintptr_t)&pt_heap_stacks_open, &own_start, &own_end))
        return false;
    tables = at;
    return true;
}

/* A program with one thread needs no bus lock. */
static inline void count(uint64_t *at, uint64_t by) {
    if (__libc_single_threaded)
        *at += by;
    else
        __atomic_add_fetch(at, by, __ATOMIC_RELAXED);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct pt_walk *w) {
    uint64_t hash = w->is_whole;
    for (uint32_t i = 0; i < w->depth; i++)
        hash = mix(hash, w->pcs[i]);
    return hash;
}

static bool is_stack(uint32_t number, uint64_t hash, const struct pt_walk *w) {
    const struct pt_heap_stack *s = &pt_heap_file.stacks[number];
    return s->hash == hash && s->depth == w->depth &&
           memcmp(&pt_heap_file.frames[s->first], w->pcs, w->depth * sizeof *w->pcs) == 0;
}

/* 0: there is no room. */
static uint32_t add_stack(uint64_t hash, const struct pt_walk *w) {
    struct pt_heap_header *h = pt_heap_file.header;
    if (__atomic_load_n(&h->stack_count, __ATOMIC_RELAXED) >= PT_HEAP_STACKS ||
        __atomic_load_n(&h->frame_count, __ATOMIC_RELAXED) > PT_HEAP_FRAMES - PT_HEAP_DEPTH)
        return 0;
    uint32_t first = __atomic_fetch_add(&h->frame_count, w->depth, __ATOMIC_RELAXED);
    uint32_t number = __atomic_fetch_add(&h->stack_count, 1, __ATOMIC_RELAXED);
    if (number >= PT_HEAP_STACKS || first > PT_HEAP_FRAMES - w->depth)
        return 0;
    struct pt_heap_stack *s = &pt_heap_file.stacks[number];
    memcpy(&pt_heap_file.frames[first], w->pcs, w->depth * sizeof *w->pcs);
    s->first = first;
    s->depth = w->depth;
    s->hash = hash;
    s->thread = pt_heap_thread_id();
    /* Release: for the reader, and for other threads by the index. */
    __atomic_store_n(&s->is_ready, w->is_whole ? PT_HEAP_IS_WHOLE : PT_HEAP_IS_PART,
                     __ATOMIC_RELEASE);
    return number;
}

/* Two threads may add the same stack at once: it then has two numbers, which does no harm. */
static uint32_t number_of(const struct pt_walk *w, bool *is_new) {
    uint64_t hash = hash_of(w);
    *is_new = false;
    for (uint64_t i = 0; i < INDEX_PROBES; i++) {
        uint32_t *slot = &tables->index[(hash + i) % INDEX];
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE), none = 0;
        if (number && is_stack(number, hash, w))
            return number;
        if (number)
            continue;
        number = add_stack(hash, w);
        *is_new = number > 0;
        if (number)
            (void)__atomic_compare_exchange_n(slot, &none, number, false, __ATOMIC_RELEASE,
                                              __ATOMIC_RELAXED);
        return number;
    }
    return 0;
}

static struct known *known_at(uint64_t caller, uint64_t sp) {
    return &tables->known[mix(caller, sp) >> 40 & (KNOWN - 1)];
}

/* Words are read in their order: each shows that the next is still part of this stack. */
static inline bool is_same(const struct known *k, uint64_t caller, uint64_t sp, uint64_t fp,
                           uint64_t stack_end) {
    if (k->caller != caller || k->sp != sp || k->stack_end != stack_end ||
        (k->uses_fp && k->fp != fp))
        return false;
    for (uint32_t i = 0; i < k->word_count; i++)
        if (*(const uint64_t *)(uintptr_t)k->words[i].address != k->words[i].value)
            return false;
    return true;
}

static inline uint32_t recall(const struct known *k, uint64_t caller, uint64_t sp, uint64_t fp,
                              uint64_t stack_end) {
    uint32_t version = __atomic_load_n(&k->version, __ATOMIC_ACQUIRE);
    if (version & 1 || version == 0 || !is_same(k, caller, sp, fp, stack_end))
        return 0;
    uint32_t stack = k->stack;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&k->version, __ATOMIC_RELAXED) == version ? stack : 0;
}

static void remember(struct known *k, uint64_t caller, uint64_t sp, uint64_t fp,
                     const struct pt_walk *w, uint32_t stack) {
    uint32_t version = __atomic_load_n(&k->version, __ATOMIC_RELAXED);
    if (w->word_count > PT_WALK_WORDS || version & 1 ||
        !__atomic_compare_exchange_n(&k->version, &version, version + 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    k->stack = stack;
    k->caller = caller;
    k->sp = sp;
    k->fp = fp;
    k->stack_end = w->stack_end;
    k->uses_fp = w->uses_fp;
    k->word_count = w->word_count;
    memcpy(k->words, w->words, w->word_count * sizeof *w->words);
    __atomic_store_n(&k->version, version + 2, __ATOMIC_RELEASE);
}

/* What could not be walked to its end is copied, once, for a better unwinder. */
static PT_HEAP_COLD uint32_t walk(const uint64_t registers[PT_HEAP_REGISTERS], uint64_t caller,
                                  uint64_t stack_end, struct known *k) {
    struct pt_walk w;
    bool is_new;
    int error = errno;
    w.pc = registers[PT_HEAP_REGISTER_PC];
    w.sp = registers[PT_HEAP_REGISTER_SP];
    w.fp = registers[PT_HEAP_REGISTER_FP];
    w.stack_end = stack_end;
    pt_walk(&w, own_start, own_end);
    if (w.depth == 0)
        w.pcs[w.depth++] = caller;
    uint32_t stack = number_of(&w, &is_new);
    if (is_new && !w.is_whole)
        pt_heap_write_stack(registers, stack);
    if (stack && w.is_whole)
        remember(k, caller, registers[PT_HEAP_REGISTER_SP], registers[PT_HEAP_REGISTER_FP], &w,
                 stack);
    errno = error;
    return stack;
}

/* Not inlined: the registers are those of this function. */
__attribute__((noinline)) static uint32_t find(uint64_t caller) {
    uint64_t registers[PT_HEAP_REGISTERS];
    pt_heap_registers(registers);
    uint64_t sp = registers[PT_HEAP_REGISTER_SP], fp = registers[PT_HEAP_REGISTER_FP];
    uint64_t stack_end = pt_heap_stack_end(sp);
    struct known *k = known_at(caller, sp);
    uint32_t stack = recall(k, caller, sp, fp, stack_end);
    return stack ? stack : walk(registers, caller, stack_end, k);
}

static PT_HEAP_COLD void take_peak(struct pt_heap_header *h, uint64_t live) {
    if (__atomic_exchange_n(&tables->is_taking_peak, 1, __ATOMIC_ACQUIRE))
        return;
    uint32_t count_of = h->stack_count < PT_HEAP_STACKS ? h->stack_count : PT_HEAP_STACKS;
    for (uint32_t i = 0; i < count_of; i++) {
        struct pt_heap_stack *s = &pt_heap_file.stacks[i];
        s->peak_count = s->allocated_count - s->freed_count;
        s->peak_bytes = s->allocated_bytes - s->freed_bytes;
    }
    h->peak_mono_ns = pt_heap_clock_ns(CLOCK_MONOTONIC);
    tables->next_peak = live + (live / PEAK_STEP > MIN_STEP ? live / PEAK_STEP : MIN_STEP);
    __atomic_store_n(&tables->is_taking_peak, 0, __ATOMIC_RELEASE);
}

static inline void grow(uint64_t bytes) {
    struct pt_heap_header *h = pt_heap_file.header;
    count(&h->live_bytes, bytes);
    uint64_t live = h->live_bytes;
    if (live <= h->peak_bytes || live > INT64_MAX)
        return;
    h->peak_bytes = live;
    if (live >= tables->next_peak)
        take_peak(h, live);
}

/* A stack and a size, as the table of live blocks keeps them. */
#define SIZE_BITS 48
#define SIZE_MASK ((UINT64_C(1) << SIZE_BITS) - 1)

static void count_free(uint64_t value, bool is_temporary) {
    struct pt_heap_stack *s = &pt_heap_file.stacks[value >> SIZE_BITS];
    uint64_t bytes = value & SIZE_MASK;
    count(&s->freed_count, 1);
    count(&s->freed_bytes, bytes);
    count(&pt_heap_file.header->live_bytes, -bytes);
    if (!is_temporary)
        return;
    count(&s->temporary_count, 1);
    count(&s->temporary_bytes, bytes);
}

/* Its end will not be seen: it must not look live for ever. */
static PT_HEAP_COLD void lose(uint64_t value) {
    count_free(value, false);
    count(&pt_heap_file.header->untracked, 1);
}

void *pt_heap_count(void *p, size_t bytes) {
    if (!p)
        return p;
    pt_heap_self.is_inside = true;
    uint64_t number = find((uint64_t)(uintptr_t)__builtin_return_address(0));
    struct pt_heap_stack *s = &pt_heap_file.stacks[number];
    if (number == 0)
        count(&pt_heap_file.header->lost_stacks, 1);
    count(&s->allocated_count, 1);
    count(&s->allocated_bytes, bytes);
    grow(bytes);
    uint64_t value = number << SIZE_BITS | bytes;
    if (!pt_heap_live_add(p, value))
        lose(value);
    pt_heap_self.last = (uintptr_t)p;
    pt_heap_self.is_inside = false;
    return p;
}

/* Temporary: nothing else was allocated by this thread since. */
bool pt_heap_uncount(const void *p, uint64_t *value) {
    if (!pt_heap_live_take(p, value))
        return false;
    count_free(*value, pt_heap_self.last == (uintptr_t)p);
    return true;
}

void pt_heap_recount(const void *p, uint64_t value) {
    struct pt_heap_stack *s = &pt_heap_file.stacks[value >> SIZE_BITS];
    count(&s->freed_count, -UINT64_C(1));
    count(&s->freed_bytes, -(value & SIZE_MASK));
    grow(value & SIZE_MASK);
    if (!pt_heap_live_add(p, value))
        lose(value);
}
