/* profile/names/kallsyms.h -- names of kernel addresses, from /proc/kallsyms:
 *
 *     ffffffff81234560 t do_futex
 *     ffffffffc0a01000 t xfs_read	[xfs]
 */
#ifndef PT_PROFILE_NAMES_KALLSYMS_H
#define PT_PROFILE_NAMES_KALLSYMS_H

#include "base/scan.h"

struct pt_kernel_symbol {
    uint64_t start;
    struct pt_str name; /* borrowed from the text; empty: none */
};

/* Finds the names of `count` ascending addresses. Hidden addresses (kptr_restrict) name nothing. */
void pt_kallsyms_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                      struct pt_kernel_symbol *found);

#endif
