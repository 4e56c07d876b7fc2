/* launch/waiting.h -- how a profiler waits: until its command or the watched process ends, a time
 * has passed, or a signal arrives. launch/stopping.h says what signals do to the command. */
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

/* Call before anything can fail: also initialises the child. */
void pt_waiting_init(struct pt_waiting *w, struct pt_child *child);
/* Blocks signals and reads them from now on. 0 or -errno with a message. */
int pt_waiting_open(struct pt_waiting *w, int64_t grace_ns, struct pt_err *err) PT_MUST_CHECK;
/* Creates the command, which waits. Releases the environment. */
int pt_waiting_create_command(struct pt_waiting *w, const struct pt_fs *fs, char *const *command,
                              struct pt_environment *environment, struct pt_err *err) PT_MUST_CHECK;
/* Waits until the end, at most `duration_ns`; 0: no limit. */
void pt_waiting_until_end(struct pt_waiting *w, int64_t duration_ns);
/* Ends a command that still runs after this time, waits for it and reaps it: Pitot returns its exit
 * code. */
void pt_waiting_for_command(struct pt_waiting *w);
/* Also closes the child. Pitot may end here: see pt_stopping_end_alike(). */
void pt_waiting_close(struct pt_waiting *w);

#endif
