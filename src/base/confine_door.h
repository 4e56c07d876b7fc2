/* base/confine_door.h -- both sides of the door of a confined process: a socket through which Pitot
 * passes descriptors. */
#ifndef PT_BASE_CONFINE_DOOR_H
#define PT_BASE_CONFINE_DOOR_H

#include "base/confine.h"

/* In Pitot: the thread of a helper's door, with its struct pt_confined. Ends with the helper. */
void *pt_confine_porter(void *confined);
/* In the helper, whose end of the socket this is; -1: it has no door. */
void pt_confine_use_door(int socket, bool reads_memory);

#endif
