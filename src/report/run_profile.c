#include "report/run_profile.h"

#include "profile/sample/confined_names.h"
#include "store/run.h"

#include <unistd.h>

int pt_profile_read_named(struct pt_profile_file **into, const char *path, struct pt_err *err) {
    struct pt_profile_file *f = pt_calloc(1, sizeof *f);
    *into = NULL;
    int rc = pt_profile_file_read(f, path, err);
    if (rc) {
        pt_run_profile_free(f);
        return rc;
    }
    pt_confined_names_saved(f);
    *into = f;
    return 0;
}

int pt_run_profile_read(struct pt_profile_file **into, const char *journal, const char *kind,
                        struct pt_err *err) {
    char *path = pt_run_profile_path(journal, kind);
    *into = NULL;
    int rc = access(path, F_OK) == 0 ? pt_profile_read_named(into, path, err) : 0;
    pt_free(path);
    return rc;
}

void pt_run_profile_free(struct pt_profile_file *f) {
    if (f)
        pt_profile_file_release(f);
    pt_free(f);
}
