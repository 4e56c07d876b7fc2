/* profile/run/profile_files.h -- writes the requested files of a profile, or a flame graph into the
 * current directory. */
#ifndef PT_PROFILE_RUN_PROFILE_FILES_H
#define PT_PROFILE_RUN_PROFILE_FILES_H

#include "profile/model/profile.h"

struct pt_profile_files {
    const char *const *paths; /* the extension selects the format */
    size_t count;
    bool is_quiet;
};

/* Writes as many as possible and prints their paths, or errors, to stderr. `pid` is for the name of
 * the flame graph. 0 or -errno. */
int pt_profile_files_write(const struct pt_profile_files *files, const struct pt_profile *p,
                           int32_t pid) PT_MUST_CHECK;

#endif
