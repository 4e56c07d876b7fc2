/* Mode "every": counts allocations by stack; each stack has a number and its sums in the file.
 *
 * A stack is found in one of two ways. Fast: results of walks are cached by their start, with every
 * stack word they depend on; if all these words are unchanged, so is the stack. Slow: it is walked.
 */
#include "inside/preload/heap_preload.h"

#include "inside/preload/eh_frame.h"
#include "inside/preload/live.h"
#include "inside/preload/capture_registers.h"
#include "inside/preload/walk.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define SETS          1024u /* of cached walks; a power of two */
#define WAYS          4u
#define WORDS_AT_ONCE 4u /* compared at a time */
#define INDEX         (2 * PT_HEAP_NODES)
#define INDEX_PROBES  64
#define PEAK_STEP     64 /* stacks at the peak are recorded within 1/64 of it */
#define MIN_STEP      (16u << 10)

_Static_assert(PT_WALK_WORDS % WORDS_AT_ONCE == 0, "words fill complete groups");

/* Guarded by `version`, which is odd while a thread writes. */
struct known {
    uint32_t version, stack;
    uint64_t caller, sp, fp, stack_end;
    uint32_t word_count, uses_fp;
    struct pt_walk_word words[PT_WALK_WORDS];
};

/* All of this is empty in a child after fork, because its file has no stacks yet. */
static struct tables {
    struct known known[SETS][WAYS];
    uint32_t next_way[SETS];
    uint32_t index[INDEX];              /* numbers of nodes, by hash */
    uint32_t stacks_given, nodes_given; /* with memory */
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

/* A program with one thread needs no atomic operation. */
static inline void count(uint64_t *at, uint64_t by, bool is_alone) {
    if (is_alone)
        *at += by;
    else
        __atomic_add_fetch(at, by, __ATOMIC_RELAXED);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Ensures that there is memory for this element of an array in the file. */
static bool has_memory(uint32_t number, uint32_t *given, void *array, size_t element,
                       uint64_t offset) {
    if (number < __atomic_load_n(given, __ATOMIC_ACQUIRE))
        return true;
    uint64_t first = (number & ~(PT_HEAP_CHUNK - 1)) * element;
    if (!pt_preload_give((uint8_t *)array + first, PT_HEAP_CHUNK * element, offset + first))
        return false;
    __atomic_store_n(given, (number | (PT_HEAP_CHUNK - 1)) + 1, __ATOMIC_RELEASE);
    return true;
}

/* Takes the next number below `limit`; 0: there is none. */
static uint32_t take_number(uint32_t *counter, uint32_t limit) {
    uint32_t number = __atomic_load_n(counter, __ATOMIC_RELAXED);
    do {
        if (number >= limit)
            return 0;
    } while (!__atomic_compare_exchange_n(counter, &number, number + 1, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return number;
}

bool pt_heap_stacks_start(void) {
    const struct pt_preload_header *h = pt_preload_file.header;
    return has_memory(0, &tables->stacks_given, pt_preload_file.stacks,
                      sizeof *pt_preload_file.stacks, h->stacks_offset) &&
           has_memory(0, &tables->nodes_given, pt_preload_file.nodes, sizeof *pt_preload_file.nodes,
                      h->nodes_offset);
}

static uint32_t add_node(uint32_t parent, uint64_t pc) {
    struct pt_preload_header *h = pt_preload_file.header;
    uint32_t number = take_number(&h->node_count, PT_HEAP_NODES);
    if (!number || !has_memory(number, &tables->nodes_given, pt_preload_file.nodes,
                               sizeof *pt_preload_file.nodes, h->nodes_offset))
        return 0;
    pt_preload_file.nodes[number] = (struct pt_heap_node){ .pc = pc, .parent = parent };
    return number;
}

/* The node below `parent`; 0: no space. If two threads add the same node at once, it gets two
 * numbers, which is harmless. */
static uint32_t node_of(uint32_t parent, uint64_t pc) {
    uint64_t hash = mix(mix(0, pc), parent);
    for (uint64_t i = 0; i < INDEX_PROBES; i++) {
        uint32_t *slot = &tables->index[((hash >> 20) + i) % INDEX];
        /* Acquire: paired with the release below; the node is complete. */
        uint32_t number = __atomic_load_n(slot, __ATOMIC_ACQUIRE), none = 0;
        if (number) {
            const struct pt_heap_node *n = &pt_preload_file.nodes[number];
            if (n->pc == pc && n->parent == parent)
                return number;
            continue;
        }
        number = add_node(parent, pc);
        if (number)
            (void)__atomic_compare_exchange_n(slot, &none, number, false, __ATOMIC_RELEASE,
                                              __ATOMIC_RELAXED);
        return number;
    }
    return 0;
}

static uint32_t add_stack(uint32_t node) {
    struct pt_preload_header *h = pt_preload_file.header;
    uint32_t number = take_number(&h->stack_count, PT_HEAP_STACKS);
    if (!number || !has_memory(number, &tables->stacks_given, pt_preload_file.stacks,
                               sizeof *pt_preload_file.stacks, h->stacks_offset))
        return 0;
    pt_preload_file.stacks[number].thread = pt_preload_thread_id();
    /* Release: the reader also sees the path of nodes. */
    __atomic_store_n(&pt_preload_file.stacks[number].node, node, __ATOMIC_RELEASE);
    return number;
}

/* The stack that ends at a node; 0: no space. */
static uint32_t stack_at(uint32_t node, bool *is_new) {
    uint32_t *stack = &pt_preload_file.nodes[node].stack;
    uint32_t number = __atomic_load_n(stack, __ATOMIC_ACQUIRE);
    if (number)
        return number;
    number = add_stack(node);
    *is_new = number > 0;
    __atomic_store_n(stack, number, __ATOMIC_RELEASE);
    return number;
}

/* From the root to the leaf. 0: no space. */
static uint32_t number_of(const struct pt_walk *w, bool *is_new) {
    uint32_t node = w->is_whole ? PT_HEAP_WHOLE : PT_HEAP_PART;
    *is_new = false;
    for (uint32_t i = w->depth; i > 0; i--) {
        node = node_of(node, w->pcs[i - 1]);
        if (!node)
            return 0;
    }
    return stack_at(node, is_new);
}

static bool is_whole(uint32_t stack) {
    uint32_t node = pt_preload_file.stacks[stack].node;
    while (node >= PT_HEAP_FIRST_NODE)
        node = pt_preload_file.nodes[node].parent;
    return node == PT_HEAP_WHOLE;
}

/* The same stack with its Python frames; an incomplete stack stays as it is, because its copy
 * refers to its number. */
static __attribute__((noinline)) uint32_t with_python(uint32_t stack) {
    struct pt_preload_python_frame frames[PT_HEAP_DEPTH];
    bool is_new = false;
    uint32_t count = pt_heap_python_frames(frames, PT_HEAP_DEPTH);
    if (count == 0 || stack == 0 || !is_whole(stack))
        return stack;
    uint32_t node = pt_preload_file.stacks[stack].node;
    for (uint32_t i = count; i > 0 && node; i--)
        node = node_of(node, pt_preload_python_pc(frames[i - 1]));
    uint32_t number = node ? stack_at(node, &is_new) : 0;
    return number ? number : stack;
}

static uint32_t set_of(uint64_t caller, uint64_t sp) {
    return (uint32_t)(mix(caller, sp) >> 40) & (SETS - 1);
}

/* All words are between the stack pointer and the end of the stack, which are unchanged, so they
 * can be read. */
static inline bool is_same(const struct known *k, uint64_t caller,
                           const struct pt_preload_place *here, uint64_t stack_end) {
    if (k->caller != caller || k->sp != here->sp || k->stack_end != stack_end ||
        (k->uses_fp && k->fp != here->fp))
        return false;
    for (uint32_t i = 0; i < k->word_count; i += WORDS_AT_ONCE) {
        uint64_t differs = 0;
        for (uint32_t n = 0; n < WORDS_AT_ONCE; n++)
            differs |=
                *(const uint64_t *)(uintptr_t)k->words[i + n].address ^ k->words[i + n].value;
        if (differs)
            return false;
    }
    return true;
}

static inline uint32_t recall(const struct known *k, uint64_t caller,
                              const struct pt_preload_place *here, uint64_t stack_end) {
    uint32_t version = __atomic_load_n(&k->version, __ATOMIC_ACQUIRE);
    if (version & 1 || version == 0 || !is_same(k, caller, here, stack_end))
        return 0;
    uint32_t stack = k->stack;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&k->version, __ATOMIC_RELAXED) == version ? stack : 0;
}

static void remember(uint32_t set, uint64_t caller, const struct pt_preload_place *from,
                     const struct pt_walk *w, uint32_t stack) {
    uint32_t way = __atomic_fetch_add(&tables->next_way[set], 1, __ATOMIC_RELAXED) % WAYS;
    struct known *k = &tables->known[set][way];
    uint32_t version = __atomic_load_n(&k->version, __ATOMIC_RELAXED);
    if (w->word_count > PT_WALK_WORDS || w->word_count == 0 || version & 1 ||
        !__atomic_compare_exchange_n(&k->version, &version, version + 1, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    k->stack = stack;
    k->caller = caller;
    k->sp = from->sp;
    k->fp = from->fp;
    k->stack_end = w->stack_end;
    k->uses_fp = w->uses_fp;
    memcpy(k->words, w->words, w->word_count * sizeof *w->words);
    k->word_count = w->word_count;
    while (k->word_count % WORDS_AT_ONCE)
        k->words[k->word_count++] = w->words[0];
    __atomic_store_n(&k->version, version + 2, __ATOMIC_RELEASE);
}

/* A stack that could not be walked to the root is copied, once, for the recorder's better unwinder.
 */
static PT_PRELOAD_COLD uint32_t walk(const struct pt_preload_place *from, uint64_t caller,
                                     uint64_t stack_end) {
    struct pt_walk w;
    bool is_new;
    int error = errno;
    w.pc = from->pc;
    w.sp = from->sp;
    w.fp = from->fp;
    w.stack_end = stack_end;
    pt_walk(&w, own_start, own_end);
    if (w.depth == 0)
        w.pcs[w.depth++] = caller;
    uint32_t stack = number_of(&w, &is_new);
    if (is_new && !w.is_whole)
        pt_heap_write_stack(stack);
    if (stack && w.is_whole)
        remember(set_of(caller, from->sp), caller, from, &w, stack);
    errno = error;
    return stack;
}

/* Walks start in the function that this is inlined into. */
__attribute__((always_inline)) static inline uint32_t find(uint64_t caller) {
    struct pt_preload_place here = pt_preload_here();
    uint64_t stack_end = pt_preload_stack_end(here.sp);
    const struct known *set = tables->known[set_of(caller, here.sp)];
    for (uint32_t way = 0; way < WAYS; way++) {
        uint32_t stack = recall(&set[way], caller, &here, stack_end);
        if (stack)
            return stack;
    }
    return walk(&here, caller, stack_end);
}

static PT_PRELOAD_COLD void take_peak(struct pt_preload_header *h, uint64_t live) {
    if (__atomic_exchange_n(&tables->is_taking_peak, 1, __ATOMIC_ACQUIRE))
        return;
    uint32_t given = __atomic_load_n(&tables->stacks_given, __ATOMIC_ACQUIRE);
    uint32_t used = __atomic_load_n(&h->stack_count, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < used && i < given; i++) {
        struct pt_heap_stack *s = &pt_preload_file.stacks[i];
        s->peak_count = s->allocated_count - s->freed_count;
        s->peak_bytes = s->allocated_bytes - s->freed_bytes;
    }
    h->peak_mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    tables->next_peak = live + (live / PEAK_STEP > MIN_STEP ? live / PEAK_STEP : MIN_STEP);
    __atomic_store_n(&tables->is_taking_peak, 0, __ATOMIC_RELEASE);
}

static inline void grow(uint64_t bytes, bool is_alone) {
    struct pt_preload_header *h = pt_preload_file.header;
    count(&h->live_bytes, bytes, is_alone);
    uint64_t live = h->live_bytes;
    if (live <= h->peak_bytes || live > INT64_MAX)
        return;
    h->peak_bytes = live;
    if (live >= tables->next_peak)
        take_peak(h, live);
}

/* A stack and a size, packed for the table of live blocks. */
#define SIZE_BITS 40
#define SIZE_MASK ((UINT64_C(1) << SIZE_BITS) - 1)

static inline void count_free(uint64_t value, bool is_temporary) {
    struct pt_heap_stack *s = &pt_preload_file.stacks[value >> SIZE_BITS];
    uint64_t bytes = value & SIZE_MASK;
    bool is_alone = __libc_single_threaded;
    count(&s->freed_count, 1, is_alone);
    count(&s->freed_bytes, bytes, is_alone);
    count(&pt_preload_file.header->live_bytes, -bytes, is_alone);
    if (!is_temporary)
        return;
    count(&s->temporary_count, 1, is_alone);
    count(&s->temporary_bytes, bytes, is_alone);
}

/* Its free will not be noticed: it must not look live forever. */
static PT_PRELOAD_COLD void lose(uint64_t value) {
    count_free(value, false);
    count(&pt_preload_file.header->untracked, 1, false);
}

__attribute__((noinline)) void *pt_heap_count(void *p, size_t bytes) {
    if (!p || bytes > SIZE_MASK)
        return p;
    pt_preload_self.is_inside = true;
    uint32_t number = find((uint64_t)(uintptr_t)__builtin_return_address(0));
    if (pt_heap_has_python)
        number = with_python(number);
    struct pt_heap_stack *s = &pt_preload_file.stacks[number];
    bool is_alone = __libc_single_threaded;
    if (number == 0)
        count(&pt_preload_file.header->lost_stacks, 1, is_alone);
    count(&s->allocated_count, 1, is_alone);
    count(&s->allocated_bytes, bytes, is_alone);
    grow(bytes, is_alone);
    uint64_t value = (uint64_t)number << SIZE_BITS | bytes;
    if (!pt_heap_live_add(p, value))
        lose(value);
    pt_preload_self.last = (uintptr_t)p;
    pt_preload_self.is_inside = false;
    return p;
}

/* Temporary: this thread has allocated nothing else since. */
bool pt_heap_uncount(const void *p, uint64_t *value) {
    if (!pt_heap_live_take(p, value))
        return false;
    count_free(*value, pt_preload_self.last == (uintptr_t)p);
    return true;
}

void pt_heap_free_counted(void *p) {
    uint64_t value;
    if (PT_PRELOAD_LIKELY(pt_heap_live_take(p, &value)))
        count_free(value, pt_preload_self.last == (uintptr_t)p);
    else if (pt_heap_next_is_early(p))
        return;
    pt_heap_next.free(p);
}

void pt_heap_recount(const void *p, uint64_t value) {
    struct pt_heap_stack *s = &pt_preload_file.stacks[value >> SIZE_BITS];
    count(&s->freed_count, -UINT64_C(1), false);
    count(&s->freed_bytes, -(value & SIZE_MASK), false);
    grow(value & SIZE_MASK, false);
    if (!pt_heap_live_add(p, value))
        lose(value);
}
