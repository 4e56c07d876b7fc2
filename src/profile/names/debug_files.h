/* profile/names/debug_files.h -- finds the file with the symbols of a module by its build id: in
 * directories that the user names, in /usr/lib/debug, where somebody fetches it, or where the
 * module itself was. A file whose build id is another one is never taken. */
#ifndef PT_PROFILE_NAMES_DEBUG_FILES_H
#define PT_PROFILE_NAMES_DEBUG_FILES_H

#include "base/err.h"
#include "profile/unwind/elf.h"

#define PT_DEBUG_FILES_MAX 100000 /* looked at in the directories */

struct pt_debug_file {
    char build_id[2 * PT_ELF_BUILD_ID_MAX + 1];
    char *path;
};

struct pt_debug_files {
    const char *const *directories; /* borrowed */
    size_t directory_count;
    /* A descriptor of the debug file with this build id from elsewhere, or -1; may be NULL. */
    int (*fetch)(void *arg, const char *build_id);
    void *fetch_arg;
    bool is_scanned;
    struct pt_debug_file *list; /* of the directories */
    size_t count, capacity;
};

/* Does each directory exist? 0 or -errno with words. */
int pt_debug_files_check(const struct pt_debug_files *f, struct pt_err *err) PT_MUST_CHECK;
/* `path` is where the module was; `build_id` its id in hex. 0, or -ENOENT. */
int pt_debug_files_open(struct pt_debug_files *f, const char *path, const char *build_id,
                        struct pt_elf *elf) PT_MUST_CHECK;
void pt_debug_files_release(struct pt_debug_files *f);

#endif
