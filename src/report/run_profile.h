/* report/run_profile.h -- the profiles that were taken with a run; they lie beside its journal. */
#ifndef PT_REPORT_RUN_PROFILE_H
#define PT_REPORT_RUN_PROFILE_H

#include "profile/files/profile_readers.h"

/* The file of that name, with names looked up; `*into` stays NULL if it fails. */
int pt_profile_read_named(struct pt_profile_file **into, const char *path,
                          struct pt_err *err) PT_MUST_CHECK;
/* `kind` is cpu or heap. `*into` stays NULL where there is none. */
int pt_run_profile_read(struct pt_profile_file **into, const char *journal, const char *kind,
                        struct pt_err *err) PT_MUST_CHECK;
void pt_run_profile_free(struct pt_profile_file *f); /* or NULL */

#endif
