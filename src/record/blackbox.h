/* record/blackbox.h -- a recording in a ring that keeps the minutes before a failure.
 *
 * The recording is a ring (store/ring.h). On a failure, the minutes before it become a run of their
 * own: <output>/kept-<time>-<kind>/<uuid>.ring. */
#ifndef PT_RECORD_BLACKBOX_H
#define PT_RECORD_BLACKBOX_H

#include "analyze/death.h"
#include "store/ring.h"

#define PT_BLACKBOX_KEPT_MAX 32 /* per recording; after that only its end is kept */

struct pt_blackbox_options {
    uint64_t bound_bytes; /* 0: no black box */
    int64_t keep_ns;      /* history to keep, if the ring holds that much */
};

struct pt_blackbox {
    struct pt_blackbox_options o;
    const char *directory; /* of the recording; borrowed */
    struct pt_ring *ring;  /* borrowed */
    int64_t kept_ns;       /* time of the last kept run; 0: never */
    int kept_count;
    uint32_t gone_count; /* engines that did not answer in the last sample */
};

/* Looks for failures: alerts that fired, engines that stopped answering. */
bool pt_blackbox_see(struct pt_blackbox *b, const struct pt_sample *sample, struct pt_cause *cause);
/* Keeps the minutes before, unless a kept run already has them; `last` becomes their last sample.
 * At the end of the recording it always keeps them. 0 or -errno; prints where. */
int pt_blackbox_keep(struct pt_blackbox *b, const struct pt_cause *cause,
                     const struct pt_sample *last, bool is_end);

#endif
