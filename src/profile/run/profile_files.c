#include "profile/run/profile_files.h"

#include "base/log.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <stdio.h>

static int write_file(const struct pt_profile *p, const char *path, bool is_quiet) {
    struct pt_err err;
    int rc = pt_profile_write(p, path, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    else if (!is_quiet && pt_log_is_ready(PT_LOG_PATIENCE_MS))
        pt_say("profile: %s", path);
    return rc;
}

int pt_profile_files_write(const struct pt_profile_files *files, const struct pt_profile *p,
                           int32_t pid) {
    char page[96];
    int rc = 0;
    for (size_t i = 0; i < files->count; i++)
        rc = write_file(p, files->paths[i], files->is_quiet) ? -EIO : rc;
    if (files->count > 0)
        return rc;
    pt_profile_name_page(p, pid, page, sizeof page);
    return write_file(p, page, files->is_quiet);
}
