/* inside/preload/heap_preload.h -- the parts of libpitot-heap.so. It runs inside unprepared
 * programs, in the middle of their malloc: nothing here allocates, waits, prints or changes errno.
 *
 *     malloc.c          the functions that replace those of the C library
 *     next.c            the functions they replace
 *     heap_preload.c    which allocations are sampled, and what is written about them
 *     live.c            the sampled allocations that are still live
 *     record_file.c     the file of a process
 *     python_capture.c  the Python frames of a thread
 *     walk.c, eh_frame.c, stacks.c
 *                       for every allocation: stacks, found and counted here
 *     exit.c, mapping.c, maps.c, record_ring.c, sandbox.c, this_thread.c
 *                       shared with libpitot-cpu.so: process end, files and memory, maps of the
 *                       process, ring of a file, sandboxes of seccomp, current thread */
#ifndef PT_INSIDE_PRELOAD_HEAP_PRELOAD_H
#define PT_INSIDE_PRELOAD_HEAP_PRELOAD_H

#include "inside/preload/preload.h"

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
/* Memory allocated while the functions were being looked up; it is never freed. */
bool pt_heap_next_is_early(const void *p);
size_t pt_heap_next_early_size(const void *p);

/* heap_preload.c. Called when a thread's `left` is used up: is this allocation a sample? Draws the
 * next gap. */
bool pt_heap_is_sample(size_t bytes);
/* `p` was allocated and is a sample. Returns it. */
void *pt_heap_allocated(void *p, size_t bytes, unsigned flags);
/* Call before `p` is freed, if the filter contains it. True: it was a sample. */
bool pt_heap_freed(void *p);
/* `p` was not freed after all. */
void pt_heap_restored(void *p);

/* live.c: addresses of live samples (inside/preload/live.h). The filter has false positives, but no
 * false negatives. */
#define PT_HEAP_FILTER (64u << 10)
extern uint8_t pt_heap_filter[PT_HEAP_FILTER]; /* number of samples by hash; 255 is sticky */

static inline uint32_t pt_heap_filter_slot(uintptr_t p) {
    return (uint32_t)((p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48);
}
static inline bool pt_heap_may_be_live(const void *p) {
    return pt_heap_filter[pt_heap_filter_slot((uintptr_t)p)] != 0;
}
/* Adds or removes one sample of this hash. */
void pt_heap_filter_count(const void *p, int by);

/* heap_preload.c. Writes registers and a copy of the stack, for a stack of the table that could not
 * be walked. */
void pt_heap_write_stack(uint32_t stack);

/* python_capture.c. Looks for an interpreter in this program; at the start, because it uses the
 * dynamic linker. */
void pt_heap_python_find(void);
/* Called for each new file. */
void pt_heap_python_start(void);
/* Stores at most `capacity` Python frames of this thread, leaf first, and returns their count.
 * Their code objects are in the ring. */
uint32_t pt_heap_python_frames(struct pt_preload_python_frame *into, uint32_t capacity);
extern bool pt_heap_has_python; /* with a known layout */

/* stacks.c, for mode "every". False: not supported here (glibc before 2.35). */
bool pt_heap_stacks_open(void);
/* Called for each new file: gets memory for the first stacks. */
bool pt_heap_stacks_start(void);
static inline bool pt_heap_is_counting(void) {
    return pt_preload_process.is_counting && !pt_preload_self.is_inside;
}
/* `p` was allocated. Returns it. */
void *pt_heap_count(void *p, size_t bytes);
/* Call before `p` is freed. True: it was counted as `value`; pt_heap_recount() undoes it. */
bool pt_heap_uncount(const void *p, uint64_t *value);
void pt_heap_recount(const void *p, uint64_t value);
void pt_heap_free_counted(void *p);

#endif
