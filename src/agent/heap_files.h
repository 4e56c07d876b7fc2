/* agent/heap_files.h -- the files that processes with libpitot-heap.so leave in a directory: found,
 * read while they grow, taken away when their process has ended. */
#ifndef PT_AGENT_HEAP_FILES_H
#define PT_AGENT_HEAP_FILES_H

#include "profile/heap.h"

struct pt_heap_file_state {
    char name[64];
    struct pt_heap_source source;
    uint32_t process; /* number in the profile */
    bool is_open;
};

struct pt_heap_files {
    int directory; /* borrowed */
    struct pt_heap_file_state *at;
    size_t count, capacity;
    size_t seen_count,
        own_malloc_count; /* processes so far; those with an allocator of their own */
    int64_t first_wall_ns;
};

void pt_heap_files_init(struct pt_heap_files *f, int directory);
void pt_heap_files_release(struct pt_heap_files *f);

/* How full the fullest of their rings is, from 0 to 1. */
double pt_heap_files_fill(const struct pt_heap_files *f);

/* Reads what is new into the profile. `is_final`: whatever still runs is not waited for. */
void pt_heap_files_read(struct pt_heap_files *f, struct pt_heap *h, bool is_final);

#endif
