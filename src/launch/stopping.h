/* launch/stopping.h -- stops a command: the first signal is forwarded to it, the second kills its
 * process tree. A recording also kills it after 2 s. */
#ifndef PT_LAUNCH_STOPPING_H
#define PT_LAUNCH_STOPPING_H

#include "launch/child.h"

#include <stdint.h>
#include <sys/signalfd.h>

struct pt_stopping {
    struct pt_child *child; /* borrowed; NULL: there is no command */
    bool is_patient;        /* no time limit: only a second signal kills */
    bool has_reminded, has_killed;
    int64_t asked_ns; /* CLOCK_MONOTONIC of the first signal to stop; 0: none yet */
};

/* Handles a signal read from the descriptor of pt_signals_block(). True if it is a signal to stop
 * and there is no command to wait for. */
bool pt_stopping_take(struct pt_stopping *s, const struct signalfd_siginfo *info);

/* At the deadline, sends SIGTERM to a command that still runs, later kills it. */
void pt_stopping_escalate(struct pt_stopping *s, int64_t now_ns);
int64_t pt_stopping_deadline(const struct pt_stopping *s); /* INT64_MAX: there is none */

#endif
