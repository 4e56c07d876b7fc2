/* profile/names/kernel_names.h -- names of kernel addresses, from /proc/kallsyms:
 *
 *     ffffffff81234560 t do_futex
 *     ffffffffc0a01000 t xfs_read	[xfs]
 *
 * The kernel needs 0.1 s or more to print it, so a thread starts to read it as soon as a name will
 * be needed. {0} has not started. */
#ifndef PT_PROFILE_NAMES_KERNEL_NAMES_H
#define PT_PROFILE_NAMES_KERNEL_NAMES_H

#include "base/fs.h"

#include <pthread.h>

struct pt_kernel_names {
    pthread_t thread;
    bool has_begun, is_running;
    int proc;
    struct pt_text text;
    struct pt_scan scan;
};

/* Starts the thread; only the first call does. */
void pt_kernel_names_begin(struct pt_kernel_names *k, int proc);
/* Waits for the text, which is borrowed; empty if it cannot be read or was not started. */
struct pt_scan pt_kernel_names_text(struct pt_kernel_names *k);
void pt_kernel_names_release(struct pt_kernel_names *k);

struct pt_kernel_symbol {
    uint64_t start;
    struct pt_str name; /* borrowed from the text; empty: none */
};

/* Finds the names of `count` ascending addresses. Hidden addresses (kptr_restrict) name nothing. */
void pt_kallsyms_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                      struct pt_kernel_symbol *found);

#endif
