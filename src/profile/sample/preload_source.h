/* profile/sample/preload_source.h -- reads the file of a process with libpitot-heap.so or
 * libpitot-cpu.so (inside/preload/heap_layout.h), while it is written or after its end. Nothing in
 * it is trusted: a record is copied, then checked. */
#ifndef PT_PROFILE_SAMPLE_PRELOAD_SOURCE_H
#define PT_PROFILE_SAMPLE_PRELOAD_SOURCE_H

#include "base/buf.h"
#include "base/err.h"
#include "inside/preload/heap_layout.h"

struct pt_preload_source {
    uint8_t *at; /* the file */
    size_t size;
    bool is_mapped; /* else borrowed */
    int32_t pid;
    uint64_t mean_bytes; /* 0: every allocation is recorded; for CPU time: nanoseconds */
    int64_t start_mono_ns, start_wall_ns;
    bool is_every, has_own_malloc;
    struct pt_buf record; /* copy of the latest record */
};

/* Bytes that the process has counted but not written as records. */
struct pt_preload_losses {
    uint64_t allocations, frees, untracked, stacks;
};

/* A code object of Python; borrowed like the rest. */
struct pt_preload_event_code {
    uint32_t number, first_line, name_width, file_width, lines_form;
    struct pt_str name, file, lines;
};

struct pt_preload_event {
    enum pt_preload_kind kind;
    bool is_temporary, is_untracked, is_mmap;
    int64_t mono_ns;
    uint64_t address, bytes;
    int32_t thread;
    uint32_t stack_number; /* of PT_PRELOAD_STACK_COPY */
    uint32_t mean_shift;
    char name[17]; /* of the thread */
    uint64_t registers[PT_PRELOAD_REGISTERS];
    struct pt_str stack;               /* borrowed until the next event */
    struct pt_str maps;                /* likewise */
    struct pt_str python;              /* likewise: frames of pt_preload_python_frame */
    struct pt_preload_event_code code; /* of PT_PRELOAD_CODE */
};

/* 0 or -errno; -EAGAIN: the file is not complete yet. */
int pt_preload_source_open(struct pt_preload_source *s, int directory,
                           const char *name) PT_MUST_CHECK;
/* Borrows the bytes. */
int pt_preload_source_attach(struct pt_preload_source *s, void *at, size_t size) PT_MUST_CHECK;
void pt_preload_source_close(struct pt_preload_source *s);

/* Where reading continues; a position in the ring that only grows. */
uint64_t pt_preload_source_position(const struct pt_preload_source *s);
/* The next record from `*position` on, which moves past it; of one kind, or of any (0). `is_final`:
 * the writer has ended, so unfinished records are skipped. False: no record. */
bool pt_preload_source_next(struct pt_preload_source *s, uint64_t *position, bool is_final,
                            unsigned kind, struct pt_preload_event *event);
/* Lets the process reuse the ring before `position`. */
void pt_preload_source_consume(struct pt_preload_source *s, uint64_t position);

struct pt_preload_losses pt_preload_source_losses(const struct pt_preload_source *s);
/* Does the process run a Python with unreadable frames? */
bool pt_preload_source_has_unknown_python(const struct pt_preload_source *s);
/* The unread share of the ring, from 0 to 1. */
double pt_preload_source_fill(const struct pt_preload_source *s);
/* Has the process stopped recording, because it is in a seccomp sandbox? */
bool pt_preload_source_is_sandboxed(const struct pt_preload_source *s);

/* In mode "every": the largest number of live bytes, and when. */
uint64_t pt_preload_source_peak_bytes(const struct pt_preload_source *s);
int64_t pt_preload_source_peak_ns(const struct pt_preload_source *s);

/* The number of stacks, and one of them. False: not there yet. */
uint32_t pt_preload_source_stack_count(const struct pt_preload_source *s);
bool pt_preload_source_stack(const struct pt_preload_source *s, uint32_t number,
                             struct pt_heap_stack *into);

struct pt_heap_path {
    uint64_t frames[PT_HEAP_DEPTH]; /* return addresses, leaf first */
    uint32_t depth;
    struct pt_preload_python_frame python[PT_HEAP_DEPTH]; /* likewise */
    uint32_t python_count;
    bool is_whole; /* the path reaches the root */
};
void pt_preload_source_path(const struct pt_preload_source *s, uint32_t node,
                            struct pt_heap_path *into);

#endif
