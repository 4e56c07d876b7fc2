#include "report/run_profile.h"

#include "profile/symbolize.h"
#include "store/run.h"

#include <stdio.h>
#include <unistd.h>

int pt_profile_read_named(struct pt_profile_file **into, const char *path, struct pt_err *err) {
    struct pt_profile_file *f = pt_calloc(1, sizeof *f);
    *into = NULL;
    int rc = pt_profile_file_read(f, path, err);
    if (rc) {
        pt_run_profile_free(f);
        return rc;
    }
    pt_symbolize_saved(&f->profile);
    *into = f;
    return 0;
}

int pt_run_profile_read(struct pt_profile_file **into, const char *journal, const char *kind,
                        struct pt_err *err) {
    char directory[PATH_MAX], name[NAME_MAX + 1], path[PATH_MAX];
    *into = NULL;
    pt_run_split(journal, directory, name);
    if (snprintf(path, sizeof path, "%s/%s.%s.pitotprof", directory, name, kind) >= PATH_MAX ||
        access(path, F_OK))
        return 0;
    return pt_profile_read_named(into, path, err);
}

void pt_run_profile_free(struct pt_profile_file *f) {
    if (f)
        pt_profile_file_release(f);
    pt_free(f);
}
