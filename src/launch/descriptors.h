/* launch/descriptors.h -- how many files Pitot may keep open. */
#ifndef PT_LAUNCH_DESCRIPTORS_H
#define PT_LAUNCH_DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

/* Raises the soft limit as far as useful and permitted. True if it changed: a command gets
 * `old_limit`. */
bool pt_descriptors_raise(struct rlimit *old_limit);

/* The number of files that the collectors of containers and of processes may each keep open:
 * together at most half of what the rest of Pitot leaves of the limit. */
int pt_descriptors_budget(void);

#endif
