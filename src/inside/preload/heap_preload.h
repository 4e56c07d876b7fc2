/* inside/preload/heap_preload.h -- the parts of libpitot-heap.so. It runs inside programs that know
 * nothing of it, in the middle of their malloc: nothing here allocates, waits, prints or changes
 * errno.
 *
 *     malloc.c          the functions that replace those of the C library
 *     next.c            the functions they replace
 *     heap_preload.c    which allocations are sampled, and what is written about them
 *     live.c            the sampled allocations that are still live
 *     record_file.c     the file of a process
 *     python_capture.c  the Python frames of a thread
 *     walk.c, eh_frame.c, stacks.c
 *                       for every allocation: stacks, found and counted here
 *     exit.c, mapping.c, maps.c, record_ring.c, this_thread.c
 *                       shared with libpitot-cpu.so: process end, files and memory, maps of the
 *                       process, ring of a file, current thread */
#ifndef PT_INSIDE_PRELOAD_HEAP_PRELOAD_H
#define PT_INSIDE_PRELOAD_HEAP_PRELOAD_H

#include "inside/preload/heap_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define PT_HEAP_COLD       __attribute__((cold, noinline))
#define PT_HEAP_LIKELY(is) __builtin_expect(!!(is), 1)
#define PT_HEAP_EXPORT     __attribute__((visibility("default")))
/* Without a call into the dynamic linker, which would allocate. */
#define PT_HEAP_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* What a thread keeps; zero is a thread that has just started. */
struct pt_heap_thread {
    uint64_t left;   /* bytes until the next sample, plus one */
    uint64_t random; /* state of the generator */
    uintptr_t last;  /* its newest sample, and `left` right after it */
    uint64_t last_left;
    uint32_t mean_shift;   /* that `left` was drawn with */
    uint32_t sample_shift; /* that the newest sample was drawn with */
    uint64_t stack_end;    /* where its stack was seen to end */
    uint32_t id, pid;      /* `id` is known for the file of that process */
    uint32_t name_age;
    char name[16];
    bool is_ready;
    bool is_inside; /* what is allocated now is our own doing */
    bool was_asked; /* if something is a sample */
};
extern PT_HEAP_TLS struct pt_heap_thread pt_heap_self;

/* next.c */
struct pt_heap_next {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*reallocarray)(void *, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*malloc_usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, long);
    int (*munmap)(void *, size_t);
};
extern struct pt_heap_next pt_heap_next;
void pt_heap_next_find(void);
/* Memory that was handed out while the functions were being looked for; it is never given back. */
bool pt_heap_next_is_early(const void *p);
size_t pt_heap_next_early_size(const void *p);

/* heap_preload.c. A thread's `left` is used up: is this allocation a sample? Draws the next gap. */
bool pt_heap_is_sample(size_t bytes);
/* `p` was allocated and is a sample. Returns it. */
void *pt_heap_allocated(void *p, size_t bytes, unsigned flags);
/* Before `p` is freed, if the filter knows it. True: it was a sample. */
bool pt_heap_freed(void *p);
/* It was not freed after all. */
void pt_heap_restored(void *p);

/* live.c: addresses of live samples (inside/preload/live.h). The filter has false alarms, but
 * misses none. */
#define PT_HEAP_FILTER (64u << 10)
extern uint8_t pt_heap_filter[PT_HEAP_FILTER]; /* samples by hash; 255 stays */

static inline uint32_t pt_heap_filter_slot(uintptr_t p) {
    return (uint32_t)((p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}
static inline bool pt_heap_may_be_live(const void *p) {
    return pt_heap_filter[pt_heap_filter_slot((uintptr_t)p)] != 0;
}
/* One more or one less of this hash. */
void pt_heap_filter_count(const void *p, int by);

/* record_file.c */
struct pt_heap_file {
    struct pt_heap_header *header; /* NULL: nothing is recorded */
    uint8_t *ring;                 /* mapped twice in a row: records never wrap */
    struct pt_heap_stack *stacks;
    struct pt_heap_node *nodes;
    uint64_t mean_bytes, seed;
    uint32_t stack_bytes;
    bool is_every, counts_mmap;
    bool is_off; /* and will not come */
};
extern struct pt_heap_file pt_heap_file;

/* Of its own page, which the kernel wipes in a child after fork. */
struct pt_heap_guard {
    uint32_t is_open, is_opening;
    uint32_t is_counting; /* open, and every allocation counts */
    uint32_t is_writing_maps;
    uint8_t reserved[4080];
};
extern struct pt_heap_guard pt_heap_guard;

/* The file of this process; after fork a new one. False: there is none. */
bool pt_heap_file_is_open(void);

/* exit.c. What else is done before a process ends, or NULL. */
extern void (*pt_heap_before_end)(void);

/* mapping.c. The directory that a variable of the environment names. False: there is none, or the
 * program is setuid. */
bool pt_heap_find_directory(const char *variable);
/* A file in it that is there already; its descriptor or -1. */
int pt_heap_open(const char *name);
/* A new file in it, PID-TIME and this ending; its descriptor or -1. It can be taken away again. */
int pt_heap_create(uint32_t pid, const char *ending);
void pt_heap_remove(void);
bool pt_heap_fits_limit(uint64_t size);
/* Maps a part of a file, where `at` says if it is not NULL; the ring twice in a row. Or NULL. */
void *pt_heap_map_part(int fd, void *at, uint64_t offset, uint64_t size);
uint8_t *pt_heap_map_ring(int fd, uint64_t offset);
bool pt_heap_give_memory(int fd, uint64_t offset, uint64_t size);
/* Gives memory to a part of the newest file, by its name. */
bool pt_heap_file_give(uint64_t offset, uint64_t size);
int64_t pt_heap_clock_ns(int id);
uint64_t pt_heap_number(const char *text, uint64_t otherwise);

/* record_ring.c. Gives memory to a part of the file before it is touched: a full file system
 * must not be a signal. */
bool pt_heap_give(void *at, size_t size, uint64_t offset);
/* Claims a record of `size` bytes, for which at most `limit` bytes of the ring may be used; NULL:
 * no room. It is there for the reader once it is published. */
struct pt_heap_record *pt_heap_claim(size_t size, size_t limit, uint64_t *position);
void pt_heap_publish(struct pt_heap_record *r, uint64_t position, size_t size,
                     enum pt_heap_kind kind, unsigned flags);

/* maps.c. What is mapped now and may be run goes into the ring. */
void pt_heap_write_maps(void);

/* this_thread.c */
#define PT_HEAP_STACK_SPAN (UINT64_C(64) << 20)
uint64_t pt_heap_find_stack_end(uint64_t sp);
/* The end of the stack that `sp` is in, or 0 if it is none that we know. */
static inline uint64_t pt_heap_stack_end(uint64_t sp) {
    uint64_t end = pt_heap_self.stack_end;
    return end - sp - 1 < PT_HEAP_STACK_SPAN ? end : pt_heap_find_stack_end(sp);
}
uint32_t pt_heap_thread_id(void);
void pt_heap_thread_name(char name[16]);
/* How much of the stack from `sp` on there is to copy, at most; what could be copied of it. */
size_t pt_heap_stack_size(uint64_t sp);
size_t pt_heap_copy_stack(uint8_t *into, uint64_t sp, size_t bytes);

/* heap_preload.c. Registers and a copy of the stack, for a stack of the table that could not be
 * walked. */
void pt_heap_write_stack(uint32_t stack);

/* python_capture.c. Looks for an interpreter in this program; at the start, as it asks the
 * linker. */
void pt_heap_python_find(void);
/* In each new file. */
void pt_heap_python_start(void);
/* What this thread runs, or the first `capacity` frames of it, leaf first; how many. Their code
 * objects are in the ring. */
uint32_t pt_heap_python_frames(struct pt_heap_python_frame *into, uint32_t capacity);
extern bool pt_heap_has_python; /* that can be followed */

/* stacks.c, if every allocation counts. False: it cannot be done here (glibc before 2.35). */
bool pt_heap_stacks_open(void);
/* In each new file: room for the first stacks. */
bool pt_heap_stacks_start(void);
static inline bool pt_heap_is_counting(void) {
    return pt_heap_guard.is_counting && !pt_heap_self.is_inside;
}
/* `p` was allocated. Returns it. */
void *pt_heap_count(void *p, size_t bytes);
/* Before it is freed. True: it was counted as `value`; which can be taken back. */
bool pt_heap_uncount(const void *p, uint64_t *value);
void pt_heap_recount(const void *p, uint64_t value);
void pt_heap_free_counted(void *p);

#endif
