/* profile/run/heap_profile.h -- makes a heap profile of a command from start to end, with
 * libpitot-heap.so preloaded into it and its descendants. */
#ifndef PT_PROFILE_RUN_HEAP_PROFILE_H
#define PT_PROFILE_RUN_HEAP_PROFILE_H

#include "profile/run/profile_files.h"
#include "base/fs.h"
#include "profile/heap/heap.h"

struct pt_heap_profile_options {
    struct pt_fs fs;
    char *const *command; /* argv, NULL-terminated */
    int64_t grace_ns;     /* between SIGTERM and SIGKILL, if Pitot ends the command */
    uint64_t mean_bytes;  /* between samples; 0: every allocation */
    size_t stack_bytes;
    enum pt_heap_metric metric;
    struct pt_profile_files files;
    size_t top_rows;   /* of the tables on stderr; 0 = none */
    const char *lines; /* FILE:FUNCTION to print by line too, or NULL */
    bool wants_leaks, counts_mmap, wants_python_malloc;
};

/* Records, writes the files, prints a summary. Returns the exit code of Pitot. */
int pt_heap_profile_run(const struct pt_heap_profile_options *options);

#endif
