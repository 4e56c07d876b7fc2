/* profile/sample/preload_files.h -- the files that processes with libpitot-heap.so or
 * libpitot-cpu.so leave in a directory: found, read while they grow, taken away when their
 * process has ended. */
#ifndef PT_PROFILE_SAMPLE_PRELOAD_FILES_H
#define PT_PROFILE_SAMPLE_PRELOAD_FILES_H

#include "profile/sample/preload_source.h"

struct pt_preload_file_state {
    char name[64];
    struct pt_preload_source source;
    uint32_t process; /* number in the profile */
    bool is_open;
};

/* Who reads them. `add` gives a process its number; `read` takes what is new, up to the end if the
 * process `is_over`. */
struct pt_preload_files_reader {
    uint32_t (*add)(void *state, const struct pt_preload_source *s);
    void (*read)(void *state, uint32_t process, struct pt_preload_source *s, bool is_over);
    void *state;
};

struct pt_preload_files {
    int directory;      /* borrowed */
    const char *ending; /* of their names; static */
    struct pt_preload_files_reader reader;
    struct pt_preload_file_state *at;
    size_t count, capacity;
    size_t seen_count,
        own_malloc_count; /* processes so far; those with an allocator of their own */
    int64_t first_wall_ns;
};

/* Borrows the directory; nothing is looked at yet. */
void pt_preload_files_init(struct pt_preload_files *f, int directory, const char *ending,
                           struct pt_preload_files_reader reader);
void pt_preload_files_release(struct pt_preload_files *f);

/* How full the fullest of their rings is, from 0 to 1. */
double pt_preload_files_fill(const struct pt_preload_files *f);

/* Finds files that are new. */
void pt_preload_files_look(struct pt_preload_files *f);
/* Has what is new in them read. `is_final`: whatever still runs is not waited for. */
void pt_preload_files_read(struct pt_preload_files *f, bool is_final);

#endif
