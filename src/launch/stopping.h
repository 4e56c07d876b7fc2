/* launch/stopping.h -- signals to Pitot and the end of its command.
 *
 * The command behaves as it does alone:
 *  - A signal to Pitot is forwarded to the command once. A signal that the kernel sends because of
 *    the terminal (Ctrl+C, Ctrl+Z, a new window size) has reached the foreground group, and what a
 *    process sent to the whole group or cgroup has reached the command: neither is forwarded. The
 *    exception is the hangup of a terminal, of which the kernel tells only the session leader.
 *  - The command then takes the time it needs. Only a second SIGINT or SIGTERM makes Pitot send
 *    SIGTERM as well, and a third kills the process tree. From the terminal only those count that
 *    follow each other within some seconds: interpreters and debuggers use Ctrl+C, too.
 *  - If the command stops (Ctrl+Z), Pitot stops with it, so that the shell sees a stopped job.
 *  - If Pitot itself ends the command (-d), it sends SIGTERM and kills the tree after the grace
 *    time. After the loss of its terminal, the command gets the grace time before SIGTERM too. */
#ifndef PT_LAUNCH_STOPPING_H
#define PT_LAUNCH_STOPPING_H

#include "launch/child.h"
#include "launch/witness.h"

#include <stdint.h>

struct pt_stopping {
    struct pt_child *child; /* borrowed; NULL: there is no command */
    int64_t grace_ns;
    struct pt_witness witness;
    bool had_terminal;
    sigset_t ignored;       /* before Pitot was started: nohup, background jobs of scripts */
    uint64_t from_terminal; /* signals that came from the terminal, a bit each */
    int asked_count;        /* requests to stop in a row */
    int64_t asked_ns;       /* CLOCK_MONOTONIC of the last one */
    uint32_t asked_number, asked_sender;
    int64_t deadline_ns;     /* of a stop that Pitot began; 0: it did not */
    bool has_sent_terminate; /* so that the deadline is that of the kill */
};

/* Call with the signals of pt_signals_block() blocked, before there are threads or a command. */
void pt_stopping_open(struct pt_stopping *s, struct pt_child *child, int64_t grace_ns);
void pt_stopping_close(struct pt_stopping *s);

/* Handles a signal read from the descriptor of pt_signals_block(). True if it is a signal to stop
 * and there is no command to wait for. */
bool pt_stopping_take(struct pt_stopping *s, const struct signalfd_siginfo *info);

/* Ends the command, if it still runs and that has not begun yet. */
void pt_stopping_begin(struct pt_stopping *s, int64_t now_ns);
/* At the deadline, ends a command that Pitot is ending more forcefully. */
void pt_stopping_escalate(struct pt_stopping *s, int64_t now_ns);
int64_t pt_stopping_deadline(const struct pt_stopping *s); /* INT64_MAX: there is none */

/* The last call of the program. If a key of the terminal ended the command, Pitot ends by the same
 * signal: a shell script then ends too, as it does without Pitot. Else it returns. */
void pt_stopping_end_alike(const struct pt_stopping *s);

#endif
