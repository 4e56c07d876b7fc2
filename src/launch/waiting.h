/* launch/waiting.h -- a profiler waits: until its command or the watched process ends, a time is
 * over, or a signal says so. Signals are handed on to the command; the second that asks for the end
 * kills all it started. */
#ifndef PT_LAUNCH_WAITING_H
#define PT_LAUNCH_WAITING_H

#include "launch/environment.h"
#include "launch/stopping.h"

struct pt_waiting {
    struct pt_child *child; /* borrowed; NULL: there is no command */
    struct pt_stopping stopping;
    int signal_fd;
    int target_fd;     /* of a watched process (pidfd), or -1 */
    sigset_t old_mask; /* for the command */
    bool must_stop;
};

/* Before anything else can fail: initialises the child, too. */
void pt_waiting_init(struct pt_waiting *w, struct pt_child *child);
/* Blocks signals, which are read from then on. 0 or -errno with words. */
int pt_waiting_open(struct pt_waiting *w, struct pt_err *err) PT_MUST_CHECK;
/* Creates the command, which waits, with this environment, which is released. */
int pt_waiting_create_command(struct pt_waiting *w, const struct pt_fs *fs, char *const *command,
                              struct pt_environment *environment, struct pt_err *err) PT_MUST_CHECK;
/* Until the end, but `duration_ns` at most; 0: however long it takes. */
void pt_waiting_until_end(struct pt_waiting *w, int64_t duration_ns);
/* A command that goes on after that: its exit code is still ours to hand on. Collects it. */
void pt_waiting_for_command(struct pt_waiting *w);
/* Closes the child, too. */
void pt_waiting_close(struct pt_waiting *w);

#endif
