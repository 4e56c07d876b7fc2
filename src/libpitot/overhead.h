/* libpitot/overhead.h -- the overhead of measuring in this process; see pitot/config.h. */
#ifndef PT_LIBPITOT_OVERHEAD_H
#define PT_LIBPITOT_OVERHEAD_H

#include "libpitot/budget.h"

#include <pitot/config.h>

/* Checks once a second from now on; a second call makes sure that there is a thread for it. */
void pt_overhead_begin(void);
void pt_overhead_configure(const pt_config *config);
/* False: the governor has switched it off. */
bool pt_overhead_allows(enum pt_part part);
/* Reports the duration of a memory sample. */
void pt_overhead_add_memory(int64_t ns);

/* The check that runs once a second. For tests. */
void pt_overhead_look(void *unused);

#endif
