/* profile/names/late_symbols.h -- names, lines and inlined functions for a profile that was
 * saved without them: its modules have build ids, and its frames addresses in these. */
#ifndef PT_PROFILE_NAMES_LATE_SYMBOLS_H
#define PT_PROFILE_NAMES_LATE_SYMBOLS_H

#include "profile/names/debug_files.h"
#include "profile/model/profile.h"

struct pt_late_symbols {
    size_t wanted;     /* places in native code without a name or without a line */
    size_t found;      /* of these: that got one */
    uint32_t *missing; /* modules for which there was no file */
    size_t missing_count;
};

/* Frames, stacks and samples are numbered anew. */
void pt_late_symbols_add(struct pt_late_symbols *s, struct pt_profile *p,
                         struct pt_debug_files *files);
void pt_late_symbols_release(struct pt_late_symbols *s);

#endif
