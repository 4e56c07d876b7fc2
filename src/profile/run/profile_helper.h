/* profile/run/profile_helper.h -- the confined process (base/confine.h) that makes a profile. It
 * samples from its start until the order to stop, then looks up symbols and sends the profile. */
#ifndef PT_PROFILE_RUN_PROFILE_HELPER_H
#define PT_PROFILE_RUN_PROFILE_HELPER_H

#include "base/confine.h"
#include "base/fs.h"
#include "profile/files/profile_readers.h"

/* What it reports when it has started and when it is done. */
struct pt_helper_report {
    int32_t rc;       /* 0 or -errno with a message */
    int32_t unsealed; /* 0, or -errno: why it is not confined */
    uint32_t method;  /* of CPU profiles: enum pt_cpu_method */
    struct pt_err err, refused;
};

struct pt_profile_helper {
    struct pt_confined process;
    struct pt_profile_file file; /* at the end */
    struct pt_err lost;          /* how it ended too early; "": it did not */
    const char *save_path;       /* of what it sends before its end, or NULL; borrowed */
    pthread_t saver;
    bool is_started, is_stopped, has_saver;
};

/* `run` reports its start. `directory` is that of preloaded libraries, or -1. 0, or -errno with a
 * message. */
int pt_profile_helper_start(struct pt_profile_helper *h, void (*run)(void *), void *state,
                            const struct pt_fs *fs, int directory, struct pt_helper_report *started,
                            struct pt_err *err) PT_MUST_CHECK;
/* From now on no samples are taken. */
void pt_profile_helper_stop(struct pt_profile_helper *h);
/* Waits for the profile. 0, or -errno with a message: that of its report, or -EPROTO or -ENOMEM if
 * the helper ended. */
int pt_profile_helper_finish(struct pt_profile_helper *h, struct pt_err *err) PT_MUST_CHECK;
void pt_profile_helper_release(struct pt_profile_helper *h);

/* In the helper, in this order. */

/* True: go on. */
bool pt_helper_started(const struct pt_helper_report *r);
/* Waits at most this long, -1: as long as it takes. True: stop. */
bool pt_helper_must_stop(int timeout_ms);
/* To be saved in case Pitot is killed. */
void pt_helper_save(const struct pt_profile *p);
void pt_helper_stopped(void);
void pt_helper_done(const struct pt_helper_report *r, const struct pt_profile *p);

#endif
