/* libpitot/recent.h -- the newest spans by duration, for pitot/export.h. */
#ifndef PT_LIBPITOT_RECENT_H
#define PT_LIBPITOT_RECENT_H

#include <pitot/export.h>

/* Shorter spans are not in pt_recent_timings(); 0.001 until set. */
void pt_recent_set_min_duration(double seconds);

#endif
