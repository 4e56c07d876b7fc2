/* profile/run/run_heap.h -- the profile of memory that is taken while a run is recorded, and
 * lies beside its journal as <uuid>.heap.pitotprof: saved every few seconds, and whole at the
 * end. What goes wrong with it never ends the recording. */
#ifndef PT_PROFILE_RUN_RUN_HEAP_H
#define PT_PROFILE_RUN_RUN_HEAP_H

#include "profile/run/heap_session.h"
#include "base/out.h"

struct pt_run_heap {
    struct pt_heap_session session;
    bool is_wanted, is_open, is_saved;
    char path[PATH_MAX];
    struct pt_err reason; /* why there is none */
};

/* Before the command is created, whose environment it changes. Says why if it is not possible. */
void pt_run_heap_open(struct pt_run_heap *h, const struct pt_heap_session_options *o,
                      const char *directory, const char *name, struct pt_environment *e);
/* After: a process of several threads must not fork. */
void pt_run_heap_start(struct pt_run_heap *h);
int64_t pt_run_heap_cpu_ns(const struct pt_run_heap *h);
void pt_run_heap_stop(struct pt_run_heap *h);
/* Looks up names and writes the file. 0, or -errno after an error was logged. */
int pt_run_heap_save(struct pt_run_heap *h) PT_MUST_CHECK;
/* For people: where it is and what it is worth, or why there is none. */
void pt_run_heap_print(const struct pt_run_heap *h, struct pt_out *out);
void pt_run_heap_release(struct pt_run_heap *h);
/* Nothing came of the run: takes away what was saved. */
void pt_run_heap_remove(struct pt_run_heap *h);

#endif
