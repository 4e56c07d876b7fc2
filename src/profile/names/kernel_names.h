/* profile/names/kernel_names.h -- the text of /proc/kallsyms, on its way: the kernel needs a
 * tenth of a second and more to print it, so a thread asks as soon as a name will be needed. {0}
 * has not begun. */
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

/* Only the first call counts. */
void pt_kernel_names_begin(struct pt_kernel_names *k, int proc);
/* Waits for it. The text is borrowed; empty if it cannot be read or nobody began. */
struct pt_scan pt_kernel_names_text(struct pt_kernel_names *k);
void pt_kernel_names_release(struct pt_kernel_names *k);

#endif
