/* profile/run/heap_session.h -- a heap profile while it is recorded: the directory of the files
 * that processes with libpitot-heap.so write, and the helper process that reads them.
 *
 * The files are in memory (launch/regions.h), so that malloc never waits for a disk. What was read
 * from them exists only in the helper; so the profile may be saved periodically, and survives if
 * the helper or Pitot is killed. */
#ifndef PT_PROFILE_RUN_HEAP_SESSION_H
#define PT_PROFILE_RUN_HEAP_SESSION_H

#include "launch/environment.h"
#include "profile/sample/preload_files.h"
#include "launch/regions.h"
#include "profile/heap/heap.h"
#include "profile/run/profile_helper.h"

#include <limits.h>

struct pt_heap_session_options {
    const struct pt_fs *fs; /* borrowed */
    uint64_t mean_bytes;    /* between samples; 0: every allocation */
    size_t stack_bytes;
    bool counts_mmap, wants_python_malloc;
    char *const *command;  /* argv, NULL-terminated; borrowed */
    const char *save_path; /* where to save it periodically, or NULL; borrowed */
    enum pt_heap_metric metric;
};

struct pt_heap_session {
    struct pt_heap_session_options o;
    char library[PATH_MAX];
    struct pt_regions regions;
    struct pt_profile_helper helper;
    bool is_open;
    /* in the helper */
    struct pt_heap heap;
    struct pt_preload_files files;
    int64_t next_save_ns;
};

/* 0 or -errno with a message. */
int pt_heap_session_open(struct pt_heap_session *s, const struct pt_heap_session_options *o,
                         struct pt_err *err) PT_MUST_CHECK;
/* Sets the environment that the command needs. */
void pt_heap_session_set(const struct pt_heap_session *s, struct pt_environment *e);
/* Starts the helper, before there are threads. pt_profile_helper_stop() then reads the rest and
 * does not wait for processes that still run; pt_profile_helper_finish() makes the profile, or
 * returns -ENODATA with a message: nothing was recorded. */
int pt_heap_session_start(struct pt_heap_session *s, struct pt_err *err) PT_MUST_CHECK;
/* In the helper: why nothing was recorded; NULL if something was. */
const char *pt_heap_session_nothing(const struct pt_heap_session *s);
void pt_heap_session_release(struct pt_heap_session *s);

#endif
