/* launch/child.h -- the recorded command.
 *
 * It is created behind a barrier: it does not run before the recorder is
 * ready. Where permitted it has its own cgroup, which counts its whole process
 * tree exactly and can kill it. Its terminal, streams, signal mask, dispositions
 * and limits are those Pitot was started with. */
#ifndef PT_LAUNCH_CHILD_H
#define PT_LAUNCH_CHILD_H

#include "base/fs.h"

#include <stdbool.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#define PT_CHILD_CGROUP_PREFIX "pitot-" /* prefix of the cgroups of commands */
#define PT_CHILD_CONTROLLERS   4

/* Exit codes of commands that run other commands, by convention. */
enum { PT_EXIT_OWN_FAILURE = 125, PT_EXIT_CANNOT_RUN = 126, PT_EXIT_NOT_FOUND = 127 };

/* Before it is created: pt_child_init(). */
struct pt_child {
    const struct pt_fs *fs;
    pid_t pid;
    int pid_fd;
    int barrier_fd; /* writing releases the child; -1 once released */
    int error_fd;   /* which controllers the child has joined; its errno if exec fails */
    bool has_ended, is_collected;
    int wait_status;
    struct rusage usage;           /* of the child and its waited-for children */
    _Atomic int64_t reaped_cpu_ns; /* so far, with orphans; the sampler thread reads it */
    char cgroup_path[512];         /* directory of its own cgroup in v2, or "" */
    int cgroup_fd;                 /* holds a lock on it: this recorder lives */
    struct {
        char path[512];
        int fd, procs_fd;
    } controllers[PT_CHILD_CONTROLLERS]; /* the same in v1 */
    int controller_count;
    bool has_joined;
    bool is_subreaper;
};

struct pt_child_options {
    const struct pt_fs *fs; /* borrowed as long as the child */
    char *const *argv;
    char *const *environment;
    const char *cgroup_parent; /* absolute directory in a v2 mount, or NULL */
    const char *controller_parents[PT_CHILD_CONTROLLERS]; /* the same in v1 mounts; NULL: no more */
    const char *cgroup_name;
    /* Inherited settings that Pitot has changed for itself. */
    const sigset_t *signal_mask;
    const struct rlimit *descriptor_limit; /* or NULL: not changed */
};

/* No child: signals, collect and close have no effect. */
void pt_child_init(struct pt_child *c);
/* Creates the process; it waits for pt_child_release(). */
int pt_child_create(struct pt_child *c, const struct pt_child_options *o,
                    struct pt_err *err) PT_MUST_CHECK;
/* Waits until it is in its v1 cgroups; false: it has no cgroup of its own, in v2 neither. */
bool pt_child_join(struct pt_child *c);
/* Lets it run the command. 0, or -errno of exec with a message. */
int pt_child_release(struct pt_child *c, const char *command, struct pt_err *err) PT_MUST_CHECK;
/* Reaps orphans of the command that have ended. The command itself is only marked (has_ended): its
 * last figures stay readable until pt_child_collect(). */
void pt_child_reap(struct pt_child *c);
void pt_child_collect(struct pt_child *c);
void pt_child_signal(struct pt_child *c, int signal_number);
/* The same with a value, as by sigqueue(3). */
void pt_child_queue_signal(const struct pt_child *c, int signal_number, union sigval value);
/* The signal that has stopped it since the last call; 0: none, or it has been continued. */
int pt_child_take_stop(const struct pt_child *c);
bool pt_child_ignores(const struct pt_child *c, int signal_number);
/* Kills the whole process tree. */
void pt_child_kill_tree(struct pt_child *c);
/* The exit code for Pitot to return: that of the command, or 128 + signal. */
int pt_child_exit_code(const struct pt_child *c);
/* The same for a command that failed to start: `rc` of pt_child_release(). */
int pt_child_failure_code(int rc);
/* Removes the cgroup (if empty) and closes descriptors. */
void pt_child_close(struct pt_child *c);

#endif
