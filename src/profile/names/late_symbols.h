/* profile/names/late_symbols.h -- adds names, lines and inlined functions to a saved profile
 * without symbols: its modules have build ids, and its frames have addresses in the modules. */
#ifndef PT_PROFILE_NAMES_LATE_SYMBOLS_H
#define PT_PROFILE_NAMES_LATE_SYMBOLS_H

#include "profile/names/debug_files.h"
#include "profile/model/profile.h"

struct pt_late_symbols {
    size_t wanted;     /* frames of native code without a name or without a line */
    size_t found;      /* of these, the frames that got one */
    uint32_t *missing; /* modules without a matching file */
    size_t missing_count;
};

/* Renumbers frames, stacks and samples. */
void pt_late_symbols_add(struct pt_late_symbols *s, struct pt_profile *p,
                         struct pt_debug_files *files);
void pt_late_symbols_release(struct pt_late_symbols *s);

#endif
