/* launch/signals.h -- signals of a program that runs a command: read one by one, handed on. */
#ifndef PT_LAUNCH_SIGNALS_H
#define PT_LAUNCH_SIGNALS_H

#include "base/err.h"

#include <signal.h>
#include <stddef.h>

/* Blocks these signals for this thread and those it makes. A descriptor to read them from
 * (signalfd), or -errno. `old_mask`: what was blocked before. */
int pt_signals_watch(const int *signals, size_t count, sigset_t *old_mask,
                     struct pt_err *err) PT_MUST_CHECK;

/* Blocks those that matter to a command. A descriptor to read them from (signalfd), or -errno;
 * `old_mask` is for the command. */
int pt_signals_block(sigset_t *old_mask, struct pt_err *err) PT_MUST_CHECK;

/* Only once the command exists, which must not inherit this. A closed stderr must not end us; a
 * file size limit is an error of write(2) like others. */
void pt_signals_ignore(void);

#endif
