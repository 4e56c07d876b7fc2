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
/* Avoids a call into the dynamic linker, which would allocate. */
#define PT_PRELOAD_TLS _Thread_local __attribute__((tls_model("initial-exec")))

/* The state of a thread; zero is a new thread. */
struct pt_preload_thread {
    uint64_t left;   /* bytes until the next sample, plus one */
    uint64_t random; /* state of the generator */
    uintptr_t last;  /* its latest sample, and `left` right after it */
    uint64_t last_left;
    uint32_t mean_shift;   /* used to draw `left` */
    uint32_t sample_shift; /* used to draw the latest sample */
    uint64_t stack_end;    /* end of its stack, as found before */
    uint32_t id, pid;      /* `id` is valid for the file of process `pid` */
    uint32_t name_age;
    char name[16];
    bool is_ready;
    bool is_inside; /* allocations now are our own */
    bool was_asked; /* set by pt_heap_is_sample() */
};
extern PT_PRELOAD_TLS struct pt_preload_thread pt_preload_self;

/* record_file.c */
struct pt_preload_file {
    struct pt_preload_header *header; /* NULL: recording is off */
    uint8_t *ring;                    /* mapped twice in a row, so that records never wrap */
    struct pt_heap_stack *stacks;
    struct pt_heap_node *nodes;
    uint64_t mean_bytes, seed;
    uint32_t stack_bytes;
    bool is_every, counts_mmap;
    bool is_off; /* permanently: no system call of ours happens any more */
};
extern struct pt_preload_file pt_preload_file;

/* In its own page, which the kernel wipes in a child after fork. */
struct pt_preload_process {
    uint32_t is_open, is_opening;
    uint32_t is_counting; /* open, in mode "every" */
    uint32_t is_writing_maps;
    uint8_t reserved[4080];
};
extern struct pt_preload_process pt_preload_process;

/* Opens a new file after fork. False: there is no file. */
bool pt_preload_file_is_open(void);

/* exit.c. Called before the process ends, or NULL. */
extern void (*pt_preload_before_end)(void);

/* sandbox.c. Called before a program enters a seccomp sandbox, after which `is_off` holds; or NULL:
 * recording is off. */
extern void (*pt_preload_before_silence)(void);

/* mapping.c. The variable that the directory was found in. */
extern const char *pt_preload_directory_variable;
/* Sets the directory from an environment variable. False: it is not set, or the program
 * is setuid. */
bool pt_preload_find_directory(const char *variable);
/* Opens an existing file in the directory; returns a descriptor or -1. */
int pt_preload_open(const char *name);
/* Creates the file PID-TIME with this suffix; returns a descriptor or -1. pt_preload_remove()
 * removes it. */
int pt_preload_create(uint32_t pid, const char *suffix);
void pt_preload_remove(void);
bool pt_preload_fits_limit(uint64_t size);
/* Map a part of a file, at `at` if that is not NULL; the ring twice in a row. NULL on failure. */
void *pt_preload_map_part(int fd, void *at, uint64_t offset, uint64_t size);
uint8_t *pt_preload_map_ring(int fd, uint64_t offset);
bool pt_preload_give_memory(int fd, uint64_t offset, uint64_t size);
/* Allocates memory for a part of the latest file, by its name. */
bool pt_preload_file_give(uint64_t offset, uint64_t size);
int64_t pt_preload_clock_ns(int id);
uint64_t pt_preload_number(const char *text, uint64_t otherwise);

/* record_ring.c. Allocates memory for a part of the file before it is used: a full file system must
 * not raise a signal. */
bool pt_preload_give(void *at, size_t size, uint64_t offset);
/* Claims a record of `size` bytes, unless more than `limit` bytes of the ring would be in use;
 * NULL: no space. The reader sees it once it is published. */
struct pt_preload_record *pt_preload_claim(size_t size, size_t limit, uint64_t *position);
void pt_preload_publish(struct pt_preload_record *r, uint64_t position, size_t size,
                        enum pt_preload_kind kind, unsigned flags);

/* maps.c. Writes the current executable mappings into the ring. */
void pt_preload_write_maps(void);

/* this_thread.c */
#define PT_PRELOAD_STACK_SPAN (UINT64_C(64) << 20)
uint64_t pt_preload_find_stack_end(uint64_t sp);
/* The end of the stack that `sp` is in, or 0 if unknown. */
static inline uint64_t pt_preload_stack_end(uint64_t sp) {
    uint64_t end = pt_preload_self.stack_end;
    return end - sp - 1 < PT_PRELOAD_STACK_SPAN ? end : pt_preload_find_stack_end(sp);
}
uint32_t pt_preload_thread_id(void);
void pt_preload_thread_name(char name[16]);
/* How many bytes of the stack from `sp` on to copy at most; copies them and returns how many were
 * readable. */
size_t pt_preload_stack_size(uint64_t sp);
size_t pt_preload_copy_stack(uint8_t *into, uint64_t sp, size_t bytes);

#endif
