/* libpitot/calibrate.h -- the cost of one call on this machine. */
#ifndef PT_LIBPITOT_CALIBRATE_H
#define PT_LIBPITOT_CALIBRATE_H

#include "base/attr.h"

struct pt_costs {
    double span_seconds, counter_seconds, histogram_seconds;
};

/* Takes some ten microseconds, in which the calling thread records into private memory, with
 * signals blocked: none of it is visible. 0 or -errno. Recording must be on. */
int pt_calibrate(struct pt_costs *costs) PT_MUST_CHECK;

#endif
