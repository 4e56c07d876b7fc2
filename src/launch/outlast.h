/* launch/outlast.h -- the end of Pitot when memory runs out: recording stops, but the command keeps
 * running and gets its signals, and Pitot returns its exit code. */
#ifndef PT_LAUNCH_OUTLAST_H
#define PT_LAUNCH_OUTLAST_H

#include "launch/stopping.h"

/* Borrows `stopping` until it is called with NULL. `signal_fd`: from pt_signals_block(). */
void pt_outlast_set(struct pt_stopping *stopping, int signal_fd);

#endif
