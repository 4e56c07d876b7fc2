/* profile/names/debug_files.h -- finds the file with the symbols of a module by its build id: in
 * directories given by the user, in /usr/lib/debug, on a debuginfod server, or at the module's own
 * path. A file with another build id is never used. */
#ifndef PT_PROFILE_NAMES_DEBUG_FILES_H
#define PT_PROFILE_NAMES_DEBUG_FILES_H

#include "base/err.h"
#include "profile/unwind/elf.h"

#define PT_DEBUG_FILES_MAX 100000 /* examined in the directories */

struct pt_debug_file {
    char build_id[2 * PT_ELF_BUILD_ID_MAX + 1];
    char *path;
};

struct pt_debug_files {
    const char *const *directories; /* borrowed */
    size_t directory_count;
    /* Fetches the debug file with this build id and returns a descriptor, or -1; may be NULL. */
    int (*fetch)(void *arg, const char *build_id);
    void *fetch_arg;
    bool is_scanned;
    struct pt_debug_file *list; /* files in the directories */
    size_t count, capacity;
};

/* Checks that each directory exists. 0 or -errno with a message. */
int pt_debug_files_check(const struct pt_debug_files *f, struct pt_err *err) PT_MUST_CHECK;
/* `path` is the path of the module, `build_id` its id in hex. 0 or -ENOENT. */
int pt_debug_files_open(struct pt_debug_files *f, const char *path, const char *build_id,
                        struct pt_elf *elf) PT_MUST_CHECK;
void pt_debug_files_release(struct pt_debug_files *f);

#endif
