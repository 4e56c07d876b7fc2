/* report/run_profile.h -- the profiles of a run, next to its journal. */
#ifndef PT_REPORT_RUN_PROFILE_H
#define PT_REPORT_RUN_PROFILE_H

#include "profile/files/profile_readers.h"

/* Reads a profile and resolves its symbols; `*into` is NULL on failure. */
int pt_profile_read_named(struct pt_profile_file **into, const char *path,
                          struct pt_err *err) PT_MUST_CHECK;
/* `kind` is cpu or heap. `*into` is NULL if there is none. */
int pt_run_profile_read(struct pt_profile_file **into, const char *journal, const char *kind,
                        struct pt_err *err) PT_MUST_CHECK;
void pt_run_profile_free(struct pt_profile_file *f); /* or NULL */

#endif
