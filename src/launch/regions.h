/* launch/regions.h -- the directory for the files of programs with libpitot during a run.
 *
 * It is in memory, /dev/shm/pitot-<uuid>: on a disk, write-back would block threads that store into
 * a mapped page. The recorder holds a lock on it, so that a later recorder can recognise and remove
 * the directory of a killed one. */
#ifndef PT_LAUNCH_REGIONS_H
#define PT_LAUNCH_REGIONS_H

#include "base/fd.h"

#define PT_REGIONS_PREFIX "pitot-"

struct pt_regions {
    char path[64]; /* "": none, libpitot stays off */
    struct pt_fd fd;
};

/* Logs a warning if it cannot be created. */
void pt_regions_make(struct pt_regions *r, const char *uuid);
/* Removes all files; their content is in the journal. */
void pt_regions_remove(struct pt_regions *r);

#endif
