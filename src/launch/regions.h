/* launch/regions.h -- the directory where programs with libpitot put their files during a run.
 *
 * It is in memory, /dev/shm/pitot-<uuid>: on a disk, writing back would hold up threads that store
 * into a mapped page. The recorder holds a lock on it, so that what a killed recorder left behind
 * is known as such and taken away by a later one. */
#ifndef PT_LAUNCH_REGIONS_H
#define PT_LAUNCH_REGIONS_H

#include "base/fd.h"

#define PT_REGIONS_PREFIX "pitot-"

struct pt_regions {
    char path[64]; /* "": there is none, and libpitot stays off */
    struct pt_fd fd;
};

/* Says in the log if it cannot be made. */
void pt_regions_make(struct pt_regions *r, const char *uuid);
/* With all files; their content is in the journal. */
void pt_regions_remove(struct pt_regions *r);

#endif
