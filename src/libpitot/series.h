/* libpitot/series.h -- named series of values; each keeps the newest. {0} is an empty set. */
#ifndef PT_LIBPITOT_SERIES_H
#define PT_LIBPITOT_SERIES_H

#include "base/attr.h"

#include <pitot/monitor.h>

#define PT_SERIES_CAPACITY 100
#define PT_SERIES_LIMIT    4096
#define PT_SERIES_BUCKETS  1024

struct pt_monitor_series_point {
    double timestamp, value;
};

struct pt_monitor_series {
    char name[64];
    struct pt_monitor_series *next_in_bucket, *next; /* `next`: in order of creation */
    struct pt_monitor_series_point *points;          /* a ring */
    size_t count, capacity, oldest;
};

struct pt_monitor_series_set {
    struct pt_monitor_series *buckets[PT_SERIES_BUCKETS];
    struct pt_monitor_series *first, *last;
    size_t count;    /* of series */
    size_t capacity; /* of values of each; 0: PT_SERIES_CAPACITY */
};

/* 0; -ENOSPC: too many series, or no memory. */
int pt_monitor_series_add(struct pt_monitor_series_set *set, const char *name,
                          struct pt_monitor_series_point point) PT_MUST_CHECK;
/* 0; -ENOMEM: some series still have the old capacity. */
int pt_monitor_series_set_capacity(struct pt_monitor_series_set *set,
                                   size_t capacity) PT_MUST_CHECK;
/* NULL: there is no series of that name. */
const struct pt_monitor_series *pt_monitor_series_find(const struct pt_monitor_series_set *set,
                                                       const char *name);
/* Oldest first. */
struct pt_monitor_series_point pt_monitor_series_at(const struct pt_monitor_series *series,
                                                    size_t index);
/* For a series with values. */
void pt_monitor_series_summarize(const struct pt_monitor_series *series,
                                 pt_series_summary *summary);
void pt_monitor_series_release(struct pt_monitor_series_set *set);

#endif
