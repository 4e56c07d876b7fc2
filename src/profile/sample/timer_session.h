/* profile/sample/timer_session.h -- sampling by timers inside the processes of a command, if perf
 * events are forbidden: the preloaded libpitot-cpu.so writes registers and stacks into files; a
 * thread reads these files and Python frames, and unwinds. */
#ifndef PT_PROFILE_SAMPLE_TIMER_SESSION_H
#define PT_PROFILE_SAMPLE_TIMER_SESSION_H

#include "launch/environment.h"
#include "profile/sample/preload_files.h"
#include "launch/regions.h"
#include "inside/preload/cpu_layout.h"
#include "profile/sample/perf_event.h"
#include "profile/sample/recording.h"

#include <limits.h>

/* A process with a known file. */
struct pt_timer_process {
    int32_t pid;
    bool may_refresh; /* its mappings: once per batch */
    uint64_t dropped; /* samples that did not fit into its ring */
};

struct pt_timer_session {
    struct pt_recording recording;
    struct pt_pythons pythons;
    struct pt_buf python_entries;
    struct pt_regions regions;
    struct pt_preload_files files;
    uint32_t files_seen; /* of the files that the bell counts */
    struct pt_timer_process *processes;
    size_t process_count, process_capacity;
    struct pt_cpu_bell *bell;
    char library[PATH_MAX];
    int64_t period_ns;
    size_t stack_bytes;
    pthread_t reader;
    int64_t reader_cpu_ns; /* at its end */
    bool is_opened, is_running;
    uint32_t must_stop; /* atomic */
};

/* Call before the command is created. 0 or -errno with a message and nothing to release. */
int pt_timer_session_open(struct pt_timer_session *s, const struct pt_fs *fs,
                          const struct pt_perf_options *o, const char *program,
                          struct pt_err *err) PT_MUST_CHECK;
/* Sets the environment that the command needs to be sampled. */
void pt_timer_session_prepare(const struct pt_timer_session *s, struct pt_environment *e);
int pt_timer_session_start(struct pt_timer_session *s, struct pt_err *err) PT_MUST_CHECK;
int64_t pt_timer_session_cpu_ns(const struct pt_timer_session *s);
/* Ends sampling; processes that still run continue without it. */
void pt_timer_session_stop(struct pt_timer_session *s);
/* Call after stop: -ENODATA with a message if no process loaded the library; warns about what was
 * not sampled. */
int pt_timer_session_check(const struct pt_timer_session *s, struct pt_err *err) PT_MUST_CHECK;
void pt_timer_session_release(struct pt_timer_session *s);

/* What its thread does with the file of a process: adds the process (its number is returned), reads
 * its records. */
uint32_t pt_timer_session_add(void *session, const struct pt_preload_source *source);
void pt_timer_session_read(void *session, uint32_t number, struct pt_preload_source *source,
                           bool is_over);

#endif
