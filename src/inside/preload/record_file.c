/* The file of a process: created when the library starts, and again in a child after fork. The
 * kernel wipes pt_preload_process there, but not after vfork. */
#include "inside/preload/heap_preload.h"

#include "inside/preload/live.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MEAN  (512u << 10)
#define DEFAULT_STACK (32u << 10)

struct pt_preload_file pt_preload_file;

_Alignas(4096) struct pt_preload_process pt_preload_process;

struct parts {
    uint64_t ring, stacks, nodes, size;
};

static struct parts parts_of(bool is_every) {
    struct parts p = { .ring = sizeof(struct pt_preload_header) };
    p.stacks = p.ring + PT_PRELOAD_RING_BYTES;
    p.nodes = p.stacks + (is_every ? PT_HEAP_STACKS * sizeof(struct pt_heap_stack) : 0);
    p.size = p.nodes + (is_every ? PT_HEAP_NODES * sizeof(struct pt_heap_node) : 0);
    return p;
}

static bool map_file(int fd, struct pt_preload_file *f) {
    struct parts p = parts_of(f->is_every);
    if (!pt_preload_fits_limit(p.size) || ftruncate(fd, (off_t)p.size) ||
        !pt_preload_give_memory(fd, 0, sizeof *f->header))
        return false;
    f->header = pt_preload_map_part(fd, NULL, 0, sizeof *f->header);
    f->ring = pt_preload_map_ring(fd, p.ring);
    if (f->is_every) {
        f->stacks = pt_preload_map_part(fd, NULL, p.stacks, p.nodes - p.stacks);
        f->nodes = pt_preload_map_part(fd, NULL, p.nodes, p.size - p.nodes);
    }
    return f->header && f->ring && (!f->is_every || (f->stacks && f->nodes));
}

/* Do calls of malloc reach us? The address alone does not show it: position-dependent programs have
 * their own stubs for it. */
static bool brings_own_malloc(void) {
    void *(*used_malloc)(size_t) = NULL;
    void (*used_free)(void *) = NULL;
    void *at = dlsym(RTLD_DEFAULT, "malloc");
    memcpy(&used_malloc, &at, sizeof at);
    at = dlsym(RTLD_DEFAULT, "free");
    memcpy(&used_free, &at, sizeof at);
    if (!used_malloc || !used_free)
        return false;
    pt_preload_self.was_asked = false;
    void *p = used_malloc(1);
    bool is_ours = pt_preload_self.was_asked;
    used_free(p);
    return !is_ours;
}

static void fill_header(struct pt_preload_header *h, uint32_t pid, uint32_t flags) {
    struct parts p = parts_of(pt_preload_file.is_every);
    h->version = PT_PRELOAD_VERSION;
    h->header_size = sizeof *h;
    h->size = p.size;
    h->ring_offset = p.ring;
    h->ring_size = PT_PRELOAD_RING_BYTES;
    h->stacks_offset = pt_preload_file.is_every ? p.stacks : 0;
    h->nodes_offset = pt_preload_file.is_every ? p.nodes : 0;
    h->mean_bytes = pt_preload_file.is_every ? 0 : pt_preload_file.mean_bytes;
    h->start_mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    h->start_wall_ns = pt_preload_clock_ns(CLOCK_REALTIME);
    h->pid = pid;
    h->flags = flags | (pt_preload_file.is_every ? PT_PRELOAD_EVERY : 0);
    h->stack_count = 1; /* 0 is "unknown" */
    h->node_count = PT_HEAP_FIRST_NODE;
}

static bool open_file(uint32_t flags) {
    uint32_t pid = (uint32_t)getpid();
    struct pt_preload_file f = pt_preload_file;
    int fd = pt_preload_create(pid, PT_HEAP_FILE_SUFFIX);
    if (fd < 0)
        return false;
    bool is_done = map_file(fd, &f);
    close(fd);
    if (!is_done) {
        pt_preload_remove();
        return false;
    }
    pt_preload_file = f;
    fill_header(f.header, pid, flags);
    pt_heap_python_start();
    /* Release: a reader that sees the magic also sees the rest. */
    __atomic_store_n(&f.header->magic, PT_PRELOAD_MAGIC, __ATOMIC_RELEASE);
    return true;
}

static void unmap_parent(void) {
    struct parts p = parts_of(pt_preload_file.is_every);
    pt_heap_next.munmap(pt_preload_file.ring, 2 * PT_PRELOAD_RING_BYTES);
    if (pt_preload_file.is_every) {
        pt_heap_next.munmap(pt_preload_file.stacks, p.nodes - p.stacks);
        pt_heap_next.munmap(pt_preload_file.nodes, p.size - p.nodes);
    }
    pt_heap_next.munmap(pt_preload_file.header, sizeof *pt_preload_file.header);
    pt_preload_file.header = NULL;
}

static void turn_off(void) {
    pt_preload_file.counts_mmap = false;
    pt_preload_file.is_off = true;
}

/* The recorder needs the mappings for what is recorded already. Later frees are not noticed. */
static void stop_for_sandbox(void) {
    bool was_inside = pt_preload_self.is_inside;
    pt_preload_self.is_inside = true;
    if (pt_preload_file_is_open()) {
        if (pt_preload_file.header->ring_given)
            pt_preload_write_maps();
        __atomic_or_fetch(&pt_preload_file.header->flags, PT_PRELOAD_SANDBOXED, __ATOMIC_RELAXED);
    }
    pt_preload_file.counts_mmap = false;
    __atomic_store_n(&pt_preload_process.is_counting, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&pt_preload_process.is_open, 0, __ATOMIC_RELEASE);
    pt_preload_self.is_inside = was_inside;
}

/* When sampling, the mappings are written with the first sample. */
static void turn_on(void) {
    __atomic_store_n(&pt_preload_process.is_open, 1, __ATOMIC_RELEASE);
    if (!pt_preload_file.is_every)
        return;
    pt_preload_write_maps();
    if (!pt_heap_stacks_start()) {
        turn_off();
        return;
    }
    __atomic_store_n(&pt_preload_process.is_counting, 1, __ATOMIC_RELEASE);
}

/* One thread does it; the others continue unrecorded until it is done. */
static bool open_in_child(void) {
    uint32_t none = 0;
    if (pt_preload_file.is_off || !pt_preload_file.header ||
        !__atomic_compare_exchange_n(&pt_preload_process.is_opening, &none, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    int error = errno;
    bool was_inside = pt_preload_self.is_inside;
    pt_preload_self.is_inside = true;
    uint32_t flags = pt_preload_file.header->flags & PT_PRELOAD_OWN_MALLOC;
    unmap_parent();
    if (open_file(flags))
        turn_on();
    else
        turn_off();
    pt_preload_self.is_inside = was_inside;
    errno = error;
    return pt_preload_process.is_open;
}

bool pt_preload_file_is_open(void) {
    return PT_PRELOAD_LIKELY(__atomic_load_n(&pt_preload_process.is_open, __ATOMIC_ACQUIRE)) ||
           open_in_child();
}

static bool read_environment(void) {
    const char *arenas = secure_getenv(PT_HEAP_ARENAS);
    if (!pt_preload_find_directory(PT_HEAP_DIRECTORY))
        return false;
    struct pt_preload_file *f = &pt_preload_file;
    f->mean_bytes = pt_preload_number(secure_getenv(PT_HEAP_MEAN), DEFAULT_MEAN);
    f->is_every = f->mean_bytes == 0;
    uint64_t stack = pt_preload_number(secure_getenv(PT_HEAP_STACK), DEFAULT_STACK);
    f->stack_bytes =
        (uint32_t)(stack < PT_PRELOAD_STACK_MAX ? stack & ~UINT64_C(15) : PT_PRELOAD_STACK_MAX);
    f->seed = pt_preload_number(secure_getenv(PT_HEAP_SEED),
                                (uint64_t)pt_preload_clock_ns(CLOCK_MONOTONIC) * 2654435761u ^
                                    (uint64_t)getpid() << 32);
    f->counts_mmap = arenas && *arenas == '1';
    return true;
}

__attribute__((constructor)) static void start(void) {
    int error = errno;
    pt_heap_next_find();
    pt_preload_before_silence = stop_for_sandbox;
    pt_preload_self.is_inside = true;
    pt_heap_python_find();
    if (read_environment() && pt_heap_live_open(pt_preload_file.is_every) &&
        (!pt_preload_file.is_every || pt_heap_stacks_open()) &&
        !madvise(&pt_preload_process, sizeof pt_preload_process, MADV_WIPEONFORK) &&
        open_file(brings_own_malloc() ? PT_PRELOAD_OWN_MALLOC : 0))
        turn_on();
    else
        turn_off();
    pt_preload_self.is_inside = false;
    errno = error;
}
