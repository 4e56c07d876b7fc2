/* profile/run/heap_session.h -- a heap profile while it is recorded: the directory of the files
 * that processes with libpitot-heap.so write, and the thread that reads them.
 *
 * The files are in memory (launch/regions.h), so that malloc never waits for a disk. What was read
 * from them exists only in Pitot; so the profile may be saved periodically, and survives if Pitot
 * is killed. */
#ifndef PT_PROFILE_RUN_HEAP_SESSION_H
#define PT_PROFILE_RUN_HEAP_SESSION_H

#include "launch/environment.h"
#include "profile/sample/preload_files.h"
#include "launch/regions.h"
#include "profile/heap/heap.h"

#include <limits.h>
#include <pthread.h>

struct pt_heap_session_options {
    const struct pt_fs *fs; /* borrowed */
    uint64_t mean_bytes;    /* between samples; 0: every allocation */
    size_t stack_bytes;
    bool counts_mmap, wants_python_malloc;
    char *const *command;  /* argv, NULL-terminated; borrowed */
    const char *save_path; /* where to save it periodically, or NULL; borrowed */
};

struct pt_heap_session {
    struct pt_heap_session_options o;
    char library[PATH_MAX];
    struct pt_regions regions;
    struct pt_heap heap; /* belongs to the thread while that runs */
    struct pt_preload_files files;
    pthread_t thread;
    int stop_fd;
    bool is_open, is_running;
    int64_t cpu_ns;       /* of the thread, once it has ended */
    int64_t next_save_ns; /* of the thread */
};

/* 0 or -errno with a message. */
int pt_heap_session_open(struct pt_heap_session *s, const struct pt_heap_session_options *o,
                         struct pt_err *err) PT_MUST_CHECK;
/* Sets the environment that the command needs. */
void pt_heap_session_set(const struct pt_heap_session *s, struct pt_environment *e);
int pt_heap_session_start(struct pt_heap_session *s, struct pt_err *err) PT_MUST_CHECK;
int64_t pt_heap_session_cpu_ns(const struct pt_heap_session *s);
/* Reads the rest; does not wait for processes that still run. */
void pt_heap_session_stop(struct pt_heap_session *s);

/* Why nothing was recorded; NULL if something was. */
const char *pt_heap_session_nothing(const struct pt_heap_session *s);
/* Makes the profile, `heap.recording.profile`, with symbols. Warns about what is missing. */
void pt_heap_session_finish(struct pt_heap_session *s, enum pt_heap_metric metric);
void pt_heap_session_release(struct pt_heap_session *s);

#endif
