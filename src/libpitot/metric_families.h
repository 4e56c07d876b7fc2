/* libpitot/metric_families.h -- all metrics of this process at one instant, in families.
 *
 * Series of one name are contiguous, regardless of where they were registered. */
#ifndef PT_LIBPITOT_METRIC_FAMILIES_H
#define PT_LIBPITOT_METRIC_FAMILIES_H

#include "format/metrics/family.h"

struct pt_metric_families; /* what is behind the families */

struct pt_metric_families_view {
    const struct pt_family *families;
    size_t family_count;
    struct pt_metric_families *metrics;
};

/* 0 or -ENOMEM. Without a region there are no families. Only one thread has a view at a time:
 * others wait. */
int pt_metric_families_read(struct pt_metric_families_view *view) PT_MUST_CHECK;
void pt_metric_families_release(struct pt_metric_families_view *view);

#endif
