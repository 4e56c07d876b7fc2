/* inside/preload/preload.h -- what libpitot-heap.so and libpitot-cpu.so have in common: the file of
 * a process with its ring of records, the current thread, the end of the process. */
#ifndef PT_INSIDE_PRELOAD_PRELOAD_H
#define PT_INSIDE_PRELOAD_PRELOAD_H

#include "inside/preload/heap_layout.h"

#include <stdbool.h>
#include <stdint.h>

#define PT_PRELOAD_COLD       __attribute__((cold, noinline))
#define PT_PRELOAD_LIKELY(is) __builtin_expect(!!(is), 1)
#define PT_PRELOAD_EXPORT     __attribute__((visibility("default")))
/* Without a call into the dynamic linker, which would allocate. */
#define PT_PRELOAD_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* What a thread keeps; zero is a thread that has just started. */
struct pt_preload_thread {
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
extern PT_PRELOAD_TLS struct pt_preload_thread pt_preload_self;

/* record_file.c */
struct pt_preload_file {
    struct pt_preload_header *header; /* NULL: nothing is recorded */
    uint8_t *ring;                    /* mapped twice in a row: records never wrap */
    struct pt_heap_stack *stacks;
    struct pt_heap_node *nodes;
    uint64_t mean_bytes, seed;
    uint32_t stack_bytes;
    bool is_every, counts_mmap;
    bool is_off; /* and will not come */
};
extern struct pt_preload_file pt_preload_file;

/* Of its own page, which the kernel wipes in a child after fork. */
struct pt_preload_process {
    uint32_t is_open, is_opening;
    uint32_t is_counting; /* open, and every allocation counts */
    uint32_t is_writing_maps;
    uint8_t reserved[4080];
};
extern struct pt_preload_process pt_preload_process;

/* The file of this process; after fork a new one. False: there is none. */
bool pt_preload_file_is_open(void);

/* exit.c. What else is done before a process ends, or NULL. */
extern void (*pt_preload_before_end)(void);

/* mapping.c. The directory that a variable of the environment names. False: there is none, or the
 * program is setuid. */
bool pt_preload_find_directory(const char *variable);
/* A file in it that is there already; its descriptor or -1. */
int pt_preload_open(const char *name);
/* A new file in it, PID-TIME and this ending; its descriptor or -1. It can be taken away again. */
int pt_preload_create(uint32_t pid, const char *ending);
void pt_preload_remove(void);
bool pt_preload_fits_limit(uint64_t size);
/* Maps a part of a file, where `at` says if it is not NULL; the ring twice in a row. Or NULL. */
void *pt_preload_map_part(int fd, void *at, uint64_t offset, uint64_t size);
uint8_t *pt_preload_map_ring(int fd, uint64_t offset);
bool pt_preload_give_memory(int fd, uint64_t offset, uint64_t size);
/* Gives memory to a part of the newest file, by its name. */
bool pt_preload_file_give(uint64_t offset, uint64_t size);
int64_t pt_preload_clock_ns(int id);
uint64_t pt_preload_number(const char *text, uint64_t otherwise);

/* record_ring.c. Gives memory to a part of the file before it is touched: a full file system
 * must not be a signal. */
bool pt_preload_give(void *at, size_t size, uint64_t offset);
/* Claims a record of `size` bytes, for which at most `limit` bytes of the ring may be used; NULL:
 * no room. It is there for the reader once it is published. */
struct pt_preload_record *pt_preload_claim(size_t size, size_t limit, uint64_t *position);
void pt_preload_publish(struct pt_preload_record *r, uint64_t position, size_t size,
                        enum pt_preload_kind kind, unsigned flags);

/* maps.c. What is mapped now and may be run goes into the ring. */
void pt_preload_write_maps(void);

/* this_thread.c */
#define PT_PRELOAD_STACK_SPAN (UINT64_C(64) << 20)
uint64_t pt_preload_find_stack_end(uint64_t sp);
/* The end of the stack that `sp` is in, or 0 if it is none that we know. */
static inline uint64_t pt_preload_stack_end(uint64_t sp) {
    uint64_t end = pt_preload_self.stack_end;
    return end - sp - 1 < PT_PRELOAD_STACK_SPAN ? end : pt_preload_find_stack_end(sp);
}
uint32_t pt_preload_thread_id(void);
void pt_preload_thread_name(char name[16]);
/* How much of the stack from `sp` on there is to copy, at most; what could be copied of it. */
size_t pt_preload_stack_size(uint64_t sp);
size_t pt_preload_copy_stack(uint8_t *into, uint64_t sp, size_t bytes);

#endif
