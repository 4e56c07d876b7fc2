/* launch/stopping.h -- how a command is asked to end: the first signal is handed on to it, the
 * second ends all it started. A recording has no more patience than 2 s either. */
#ifndef PT_LAUNCH_STOPPING_H
#define PT_LAUNCH_STOPPING_H

#include "launch/child.h"

#include <stdint.h>
#include <sys/signalfd.h>

struct pt_stopping {
    struct pt_child *child; /* borrowed; NULL: there is no command */
    bool is_patient;        /* only a second signal kills */
    bool has_reminded, has_killed;
    int64_t asked_ns; /* CLOCK_MONOTONIC of the first signal that asks for the end; 0: none yet */
};

/* A signal that was read from pt_signals_block()'s descriptor. True if it asks for the end and
 * there is no command that could end by itself. */
bool pt_stopping_take(struct pt_stopping *s, const struct signalfd_siginfo *info);

/* Reminds a command that goes on, then kills it, when the time for that has come: see deadline. */
void pt_stopping_escalate(struct pt_stopping *s, int64_t now_ns);
int64_t pt_stopping_deadline(const struct pt_stopping *s); /* INT64_MAX: there is none */

#endif
