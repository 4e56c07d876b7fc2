/* profile/sample/confined_names.h -- names for a saved profile, looked up by a confined process
 * (base/confine.h): ELF and DWARF files are foreign bytes. */
#ifndef PT_PROFILE_SAMPLE_CONFINED_NAMES_H
#define PT_PROFILE_SAMPLE_CONFINED_NAMES_H

#include "base/buf.h"
#include "profile/files/profile_readers.h"

struct pt_confined_names {
    /* In the confined process: changes the profile; `said` is for the caller. */
    void (*look_up)(struct pt_profile *p, void *state, struct pt_buf *said);
    void *state;
    /* In Pitot, by a thread of its own: see pt_confine_fetch(); or NULL. */
    int (*fetch)(void *arg, const char *build_id);
    void *fetch_arg;
};

/* Replaces the profile; its modules keep their numbers. 0, or -errno with a message: the profile is
 * then unchanged. Trust nothing in `said`. */
int pt_confined_names(struct pt_profile_file *f, const struct pt_confined_names *how,
                      struct pt_buf *said, struct pt_err *err) PT_MUST_CHECK;

/* For a profile that was saved without symbols: from the files on this machine. Warns if that
 * fails. */
void pt_confined_names_saved(struct pt_profile_file *f);

#endif
