/* The functions that ours replace: those of the C library, or of another allocator that the program
 * is linked with. They are looked up at the first call, which comes from the dynamic linker before
 * any constructor runs; allocations during the lookup come from a static buffer. */
#include "inside/preload/heap_preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EARLY_BYTES 65536
#define UNIT        16u

static _Alignas(16) uint8_t early[EARLY_BYTES];
static size_t early_used;
static bool is_looking, is_found;

bool pt_heap_next_is_early(const void *p) {
    return (uintptr_t)p - (uintptr_t)early < sizeof early;
}

size_t pt_heap_next_early_size(const void *p) {
    size_t bytes;
    memcpy(&bytes, (const uint8_t *)p - UNIT, sizeof bytes);
    return bytes;
}

/* The size is stored in front. Only one thread runs: the dynamic linker's. */
static void *early_alloc(size_t bytes) {
    size_t need = bytes + UNIT + (-bytes & (UNIT - 1));
    if (need < bytes || need > sizeof early - early_used) {
        errno = ENOMEM;
        return NULL;
    }
    uint8_t *p = early + early_used + UNIT;
    memcpy(p - UNIT, &bytes, sizeof bytes);
    early_used += need;
    pt_heap_filter_count(p, 1);
    return p;
}

static void *first_malloc(size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.malloc(bytes) : early_alloc(bytes);
}

static void first_free(void *p) {
    pt_heap_next_find();
    if (p && is_found)
        pt_heap_next.free(p);
}

static void *first_calloc(size_t count, size_t bytes) {
    size_t all;
    pt_heap_next_find();
    if (is_found)
        return pt_heap_next.calloc(count, bytes);
    return __builtin_mul_overflow(count, bytes, &all) ? NULL : early_alloc(all);
}

static void *first_realloc(void *old, size_t bytes) {
    pt_heap_next_find();
    if (is_found)
        return pt_heap_next.realloc(old, bytes);
    return old ? NULL : early_alloc(bytes);
}

static void *first_reallocarray(void *old, size_t count, size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.reallocarray(old, count, bytes) : NULL;
}

static void *first_memalign(size_t alignment, size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.memalign(alignment, bytes) : NULL;
}

static void *first_aligned_alloc(size_t alignment, size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.aligned_alloc(alignment, bytes) : NULL;
}

static int first_posix_memalign(void **into, size_t alignment, size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.posix_memalign(into, alignment, bytes) : ENOMEM;
}

static void *first_valloc(size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.valloc(bytes) : NULL;
}

static void *first_pvalloc(size_t bytes) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.pvalloc(bytes) : NULL;
}

static size_t first_usable_size(void *p) {
    pt_heap_next_find();
    return is_found ? pt_heap_next.malloc_usable_size(p) : 0;
}

static void *raw_mmap(void *at, size_t bytes, int rights, int flags, int fd, long offset) {
    return (void *)syscall(SYS_mmap, at, bytes, rights, flags, fd, offset);
}

static int raw_munmap(void *p, size_t bytes) {
    return (int)syscall(SYS_munmap, p, bytes);
}

struct pt_heap_next pt_heap_next = {
    .malloc = first_malloc,
    .free = first_free,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .reallocarray = first_reallocarray,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_usable_size,
    .mmap = raw_mmap,
    .munmap = raw_munmap,
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    { "malloc", offsetof(struct pt_heap_next, malloc) },
    { "free", offsetof(struct pt_heap_next, free) },
    { "calloc", offsetof(struct pt_heap_next, calloc) },
    { "realloc", offsetof(struct pt_heap_next, realloc) },
    { "reallocarray", offsetof(struct pt_heap_next, reallocarray) },
    { "memalign", offsetof(struct pt_heap_next, memalign) },
    { "aligned_alloc", offsetof(struct pt_heap_next, aligned_alloc) },
    { "posix_memalign", offsetof(struct pt_heap_next, posix_memalign) },
    { "valloc", offsetof(struct pt_heap_next, valloc) },
    { "pvalloc", offsetof(struct pt_heap_next, pvalloc) },
    { "malloc_usable_size", offsetof(struct pt_heap_next, malloc_usable_size) },
};

void pt_heap_next_find(void) {
    if (is_looking || is_found)
        return;
    int error = errno;
    struct pt_heap_next found = pt_heap_next;
    is_looking = true;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(RTLD_NEXT, functions[i].name);
        if (function)
            memcpy((uint8_t *)&found + functions[i].offset, &function, sizeof function);
    }
    pt_heap_next = found;
    is_found = true;
    is_looking = false;
    errno = error;
}
