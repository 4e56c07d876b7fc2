/* record/blackbox.h -- a recording that forgets what is old, and keeps what was before a mishap.
 *
 * The recording is a ring (store/ring.h). When something happens, the minutes before it become
 * a run of their own: <output>/kept-<time>-<kind>/<uuid>.ring. */
#ifndef PT_RECORD_BLACKBOX_H
#define PT_RECORD_BLACKBOX_H

#include "analyze/death.h"
#include "store/ring.h"

#define PT_BLACKBOX_KEPT_MAX 32 /* of one recording; after that only the end is kept */

struct pt_blackbox_options {
    uint64_t bound_bytes; /* 0: no black box */
    int64_t keep_ns;      /* what is kept goes back at least so far, if the ring does */
};

struct pt_blackbox {
    struct pt_blackbox_options o;
    const char *directory; /* of the recording; borrowed */
    struct pt_ring *ring;  /* borrowed */
    int64_t kept_ns;       /* when something was kept last; 0: never */
    int kept_count;
    uint32_t gone_count; /* engines that no longer answered in the last sample */
};

/* Looks for what is worth keeping: alerts that went on, engines that are gone. */
bool pt_blackbox_see(struct pt_blackbox *b, const struct pt_sample *sample, struct pt_cause *cause);
/* Keeps the minutes before, unless they are in what was kept already; `last` becomes their last
 * sample. At the end of the recording that is always done. 0 or -errno; tells where. */
int pt_blackbox_keep(struct pt_blackbox *b, const struct pt_cause *cause,
                     const struct pt_sample *last, bool is_end);

#endif
