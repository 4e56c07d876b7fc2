/* profile/sample/preload_files.h -- the files that processes with libpitot-heap.so or
 * libpitot-cpu.so write into a directory: finds them, reads them while they grow, removes them when
 * their process has ended. */
#ifndef PT_PROFILE_SAMPLE_PRELOAD_FILES_H
#define PT_PROFILE_SAMPLE_PRELOAD_FILES_H

#include "profile/sample/preload_source.h"

struct pt_preload_file_state {
    char name[64];
    struct pt_preload_source source;
    uint32_t process; /* number given by the reader */
    bool is_open;
};

/* Reads the files. `add` returns a number for a process; `read` takes the new records, up to the
 * end if the process `is_over`. */
struct pt_preload_files_reader {
    uint32_t (*add)(void *state, const struct pt_preload_source *s);
    void (*read)(void *state, uint32_t process, struct pt_preload_source *s, bool is_over);
    void *state;
};

struct pt_preload_files {
    int directory;      /* borrowed */
    const char *suffix; /* suffix of their names; static */
    struct pt_preload_files_reader reader;
    struct pt_preload_file_state *at;
    size_t count, capacity;
    size_t seen_count;       /* processes so far */
    size_t own_malloc_count; /* of these, with their own allocator */
    size_t sandboxed_count;  /* of these that have ended, in a sandbox: not recorded to the end */
    int64_t first_wall_ns;
};

/* Borrows the directory; does not read it yet. */
void pt_preload_files_init(struct pt_preload_files *f, int directory, const char *suffix,
                           struct pt_preload_files_reader reader);
void pt_preload_files_release(struct pt_preload_files *f);

/* How full the fullest ring is, from 0 to 1. */
double pt_preload_files_fill(const struct pt_preload_files *f);

/* Finds new files. */
void pt_preload_files_look(struct pt_preload_files *f);
/* Reads what is new in the files. `is_final`: does not wait for processes that still run. */
void pt_preload_files_read(struct pt_preload_files *f, bool is_final);

#endif
