/* profile/run/run_heap.h -- the heap profile of a recorded run, written next to its journal as
 * <uuid>.heap.pitotprof: saved every few seconds and complete at the end. Its errors never end the
 * recording. */
#ifndef PT_PROFILE_RUN_RUN_HEAP_H
#define PT_PROFILE_RUN_RUN_HEAP_H

#include "profile/run/heap_session.h"
#include "base/out.h"

struct pt_run_heap {
    struct pt_heap_session session;
    bool is_wanted, is_open, is_saved;
    bool is_partial; /* the helper ended; what it had saved is there */
    char path[PATH_MAX];
    struct pt_err reason; /* why there is no profile */
};

/* Call before the command is created: changes its environment. Logs an error if recording is not
 * possible. */
void pt_run_heap_open(struct pt_run_heap *h, const struct pt_heap_session_options *o,
                      const char *directory, const char *name, struct pt_environment *e);
/* Call before there are threads: it starts a process. */
void pt_run_heap_start(struct pt_run_heap *h);
void pt_run_heap_stop(struct pt_run_heap *h);
/* Resolves symbols and writes the file. 0, or -errno after logging the error. */
int pt_run_heap_save(struct pt_run_heap *h) PT_MUST_CHECK;
/* Prints path and quality of the profile, or why there is none. */
void pt_run_heap_print(const struct pt_run_heap *h, struct pt_out *out);
void pt_run_heap_release(struct pt_run_heap *h);
/* The run has failed: removes what was saved. */
void pt_run_heap_remove(struct pt_run_heap *h);

#endif
