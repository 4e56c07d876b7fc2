/* launch/descriptors.h -- how many files Pitot may keep open. */
#ifndef PT_LAUNCH_DESCRIPTORS_H
#define PT_LAUNCH_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

/* Raises the soft limit as far as is useful and allowed. true if it was: `old_limit` is for a
 * command. */
bool pt_descriptors_raise(struct rlimit *old_limit);

/* What containers and processes, the collectors of many things, may each keep open: together at
 * most half of what is allowed. */
int pt_descriptors_budget(void);

#endif
