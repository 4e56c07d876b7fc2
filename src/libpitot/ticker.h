/* libpitot/ticker.h -- the only thread of libpitot: calls functions at intervals.
 *
 * The thread exists while it is needed. It blocks all signals. A child made by fork() has its
 * parent's entries, and a thread from the next pt_ticker_add() or pt_ticker_wake() on. */
#ifndef PT_LIBPITOT_TICKER_H
#define PT_LIBPITOT_TICKER_H

#include "base/attr.h"

#include <stdint.h>

typedef void pt_tick_function(void *arg);

/* An id above 0; -ENOSPC: too many; other -errno: no thread. The first call is one interval from
 * now. */
int pt_ticker_add(pt_tick_function *call, void *arg, int64_t interval_ns) PT_MUST_CHECK;
/* When this returns, the function does not run and is not called again; 0 and unknown ids do
 * nothing. Not from a function of the ticker. */
void pt_ticker_remove(int id);
void pt_ticker_set_interval(int id, int64_t interval_ns);
/* Makes sure that a child of fork() has a thread, if there are entries. */
void pt_ticker_wake(void);
/* CPU time of all threads of the ticker so far. */
int64_t pt_ticker_cpu_ns(void);

#endif
