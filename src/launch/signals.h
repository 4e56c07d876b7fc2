/* launch/signals.h -- the signals of a program that runs a command: blocked and read one by one. */
#ifndef PT_LAUNCH_SIGNALS_H
#define PT_LAUNCH_SIGNALS_H

#include "base/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Blocks these signals in this thread and the threads it creates. Returns a descriptor to read them
 * from (signalfd), or -errno. `old_mask` is the previous mask. */
int pt_signals_watch(const int *signals, size_t count, sigset_t *old_mask,
                     struct pt_err *err) PT_MUST_CHECK;

/* The same with the signals that concern Pitot. With a command these are all signals that another
 * process can mean for the command; `old_mask` is for the command. */
int pt_signals_block(bool has_command, sigset_t *old_mask, struct pt_err *err) PT_MUST_CHECK;

/* Call after the command is created: it must not inherit this. A closed stderr must not end Pitot;
 * a file size limit becomes an error of write(2). */
void pt_signals_ignore(void);

#endif
