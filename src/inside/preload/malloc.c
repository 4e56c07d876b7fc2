/* The functions that replace those of the C library. Almost every call takes the fast path: the
 * allocation is not a sample (a subtraction), the freed block was not one (a look into the filter).
 */
#include "inside/preload/heap_preload.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

PT_PRELOAD_TLS struct pt_preload_thread pt_preload_self;

static inline bool is_plain(size_t bytes) {
    if (PT_PRELOAD_LIKELY(bytes < pt_preload_self.left)) {
        pt_preload_self.left -= bytes;
        return true;
    }
    return !pt_heap_is_counting() && !pt_heap_is_sample(bytes);
}

static inline void *noted(void *p, size_t bytes) {
    return pt_heap_is_counting() ? pt_heap_count(p, bytes) : pt_heap_allocated(p, bytes, 0);
}

/* A separate function, so that the fast path does not save registers for it. */
__attribute__((noinline)) static void *slow_malloc(size_t bytes) {
    if (PT_PRELOAD_LIKELY(pt_heap_is_counting()))
        return pt_heap_count(pt_heap_next.malloc(bytes), bytes);
    return is_plain(bytes) ? pt_heap_next.malloc(bytes) : noted(pt_heap_next.malloc(bytes), bytes);
}

PT_PRELOAD_EXPORT void *malloc(size_t bytes) {
    if (!PT_PRELOAD_LIKELY(bytes < pt_preload_self.left))
        return slow_malloc(bytes);
    pt_preload_self.left -= bytes;
    return pt_heap_next.malloc(bytes);
}

/* Whether and as what a block was counted, to undo that. */
struct block {
    bool was_live;
    uint64_t value;
};

static inline struct block forget(void *p) {
    struct block b = { 0 };
    b.was_live = pt_heap_is_counting() ? pt_heap_uncount(p, &b.value) : pt_heap_freed(p);
    return b;
}

__attribute__((noinline)) static void free_known(void *p) {
    if (PT_PRELOAD_LIKELY(pt_heap_is_counting())) {
        pt_heap_free_counted(p);
        return;
    }
    if (!forget(p).was_live && pt_heap_next_is_early(p))
        return;
    pt_heap_next.free(p);
}

PT_PRELOAD_EXPORT void free(void *p) {
    if (PT_PRELOAD_LIKELY(!pt_heap_may_be_live(p)))
        pt_heap_next.free(p);
    else
        free_known(p);
}

PT_PRELOAD_EXPORT void *calloc(size_t count, size_t bytes) {
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || is_plain(all))
        return pt_heap_next.calloc(count, bytes);
    return noted(pt_heap_next.calloc(count, bytes), all);
}

/* The free is recorded first: right after it, the address may belong to another thread. */
static void *realloc_known(void *old, size_t bytes, bool is_sample) {
    struct block b = { 0 };
    if (old)
        b = forget(old);
    void *p = pt_heap_next.realloc(old, bytes);
    if (!p && bytes > 0 && b.was_live) {
        if (pt_heap_is_counting())
            pt_heap_recount(old, b.value);
        else
            pt_heap_restored(old);
    }
    return p && is_sample ? noted(p, bytes) : p;
}

static PT_PRELOAD_COLD void *realloc_early(void *old, size_t bytes) {
    size_t had = pt_heap_next_early_size(old);
    void *p = malloc(bytes);
    return p ? memcpy(p, old, had < bytes ? had : bytes) : NULL;
}

PT_PRELOAD_EXPORT void *realloc(void *old, size_t bytes) {
    bool may_be_live = pt_heap_may_be_live(old);
    if (may_be_live && pt_heap_next_is_early(old))
        return realloc_early(old, bytes);
    bool is_sample = !is_plain(bytes);
    if (PT_PRELOAD_LIKELY(!is_sample && !may_be_live))
        return pt_heap_next.realloc(old, bytes);
    return realloc_known(old, bytes, is_sample);
}

PT_PRELOAD_EXPORT void *reallocarray(void *old, size_t count, size_t bytes) {
    size_t all;
    if (!__builtin_mul_overflow(count, bytes, &all))
        return realloc(old, all);
    errno = ENOMEM;
    return NULL;
}

PT_PRELOAD_EXPORT void *memalign(size_t alignment, size_t bytes) {
    if (is_plain(bytes))
        return pt_heap_next.memalign(alignment, bytes);
    return noted(pt_heap_next.memalign(alignment, bytes), bytes);
}

PT_PRELOAD_EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
    if (is_plain(bytes))
        return pt_heap_next.aligned_alloc(alignment, bytes);
    return noted(pt_heap_next.aligned_alloc(alignment, bytes), bytes);
}

PT_PRELOAD_EXPORT int posix_memalign(void **into, size_t alignment, size_t bytes) {
    if (is_plain(bytes))
        return pt_heap_next.posix_memalign(into, alignment, bytes);
    int rc = pt_heap_next.posix_memalign(into, alignment, bytes);
    if (!rc)
        (void)noted(*into, bytes);
    return rc;
}

PT_PRELOAD_EXPORT void *valloc(size_t bytes) {
    if (is_plain(bytes))
        return pt_heap_next.valloc(bytes);
    return noted(pt_heap_next.valloc(bytes), bytes);
}

PT_PRELOAD_EXPORT void *pvalloc(size_t bytes) {
    if (is_plain(bytes))
        return pt_heap_next.pvalloc(bytes);
    return noted(pt_heap_next.pvalloc(bytes), bytes);
}

PT_PRELOAD_EXPORT size_t malloc_usable_size(void *p) {
    if (pt_heap_may_be_live(p) && pt_heap_next_is_early(p))
        return pt_heap_next_early_size(p);
    return pt_heap_next.malloc_usable_size(p);
}

/* Memory of a program's own allocator, not merely reserved address space. */
static bool is_arena(int rights, int flags) {
    return pt_preload_file.counts_mmap && rights & PROT_WRITE && flags & MAP_ANONYMOUS &&
           flags & MAP_PRIVATE && !(flags & (MAP_NORESERVE | MAP_FIXED | MAP_STACK));
}

static void *map(void *at, size_t bytes, int rights, int flags, int fd, off_t offset) {
    void *p = pt_heap_next.mmap(at, bytes, rights, flags, fd, offset);
    if (p == MAP_FAILED || !is_arena(rights, flags) || pt_preload_self.is_inside || is_plain(bytes))
        return p;
    return pt_heap_is_counting() ? pt_heap_count(p, bytes)
                                 : pt_heap_allocated(p, bytes, PT_PRELOAD_IS_MMAP);
}

/* The headers may map one of the two names to the other. */
void *pt_heap_mmap(void *at, size_t bytes, int rights, int flags, int fd,
                   off_t offset) __asm__("mmap");
void *pt_heap_mmap64(void *at, size_t bytes, int rights, int flags, int fd,
                     off_t offset) __asm__("mmap64");

PT_PRELOAD_EXPORT void *pt_heap_mmap(void *at, size_t bytes, int rights, int flags, int fd,
                                     off_t offset) {
    return map(at, bytes, rights, flags, fd, offset);
}

PT_PRELOAD_EXPORT void *pt_heap_mmap64(void *at, size_t bytes, int rights, int flags, int fd,
                                       off_t offset) {
    return map(at, bytes, rights, flags, fd, offset);
}

PT_PRELOAD_EXPORT int munmap(void *p, size_t bytes) {
    if (pt_preload_file.counts_mmap && pt_heap_may_be_live(p))
        (void)forget(p);
    return pt_heap_next.munmap(p, bytes);
}
