/* profile/run/profile_files.h -- what a profiler leaves behind: the files that were asked for,
 * or a flame graph in this directory. */
#ifndef PT_PROFILE_RUN_PROFILE_FILES_H
#define PT_PROFILE_RUN_PROFILE_FILES_H

#include "profile/model/profile.h"

struct pt_profile_files {
    const char *const *paths; /* the ending says the format */
    size_t count;
    bool is_quiet;
};

/* Writes all it can and says on stderr where they are, or why not. `pid` is for the name of the
 * flame graph. 0 or -errno. */
int pt_profile_files_write(const struct pt_profile_files *files, const struct pt_profile *p,
                           int32_t pid) PT_MUST_CHECK;

#endif
