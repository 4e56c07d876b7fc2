/* libpitot/overhead.h -- what measuring costs in this process; see pitot/config.h. */
#ifndef PT_LIBPITOT_OVERHEAD_H
#define PT_LIBPITOT_OVERHEAD_H

#include "libpitot/budget.h"

#include <pitot/config.h>

/* Begins to look once a second; again: makes sure that there is a thread for it. */
void pt_overhead_begin(void);
void pt_overhead_configure(const pt_config *config);
/* False: the governor has switched it off. */
bool pt_overhead_allows(enum pt_part part);
/* A sample of memory took so long. */
void pt_overhead_add_memory(int64_t ns);

/* What happens once a second. For tests. */
void pt_overhead_look(void *unused);

#endif
