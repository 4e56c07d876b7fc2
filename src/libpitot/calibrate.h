/* libpitot/calibrate.h -- what one call costs on this machine. */
#ifndef PT_LIBPITOT_CALIBRATE_H
#define PT_LIBPITOT_CALIBRATE_H

#include "base/attr.h"

struct pt_costs {
    double span_seconds, counter_seconds, histogram_seconds;
};

/* Takes some ten microseconds, in which the calling thread records into memory of its own, with
 * signals blocked: nothing of it is seen. 0 or -errno. Recording must be on. */
int pt_calibrate(struct pt_costs *costs) PT_MUST_CHECK;

#endif
