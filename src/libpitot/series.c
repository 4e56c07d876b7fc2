#include "libpitot/series.h"

#include "base/str.h"

#include <errno.h>
#include <stdlib.h>

static size_t bucket_of(const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (size_t)((hash ^ hash >> 32) % PT_SERIES_BUCKETS);
}

static struct pt_monitor_series *find(const struct pt_monitor_series_set *set, const char *name) {
    struct pt_monitor_series *series = set->buckets[bucket_of(name)];
    while (series && strcmp(series->name, name) != 0)
        series = series->next_in_bucket;
    return series;
}

const struct pt_monitor_series *pt_monitor_series_find(const struct pt_monitor_series_set *set,
                                                       const char *name) {
    return find(set, name);
}

static void release_series(struct pt_monitor_series *series) {
    free(series->points);
    free(series);
}

static struct pt_monitor_series *make(struct pt_monitor_series_set *set, const char *name) {
    size_t capacity = set->capacity ? set->capacity : PT_SERIES_CAPACITY;
    struct pt_monitor_series *series =
        set->count < PT_SERIES_LIMIT ? calloc(1, sizeof *series) : NULL;
    if (!series)
        return NULL;
    series->points = calloc(capacity, sizeof *series->points);
    if (!series->points) {
        release_series(series);
        return NULL;
    }
    series->capacity = capacity;
    pt_str_copy(series->name, sizeof series->name, pt_str_from(name));
    struct pt_monitor_series **bucket = &set->buckets[bucket_of(name)];
    series->next_in_bucket = *bucket;
    *bucket = series;
    if (set->last)
        set->last->next = series;
    else
        set->first = series;
    set->last = series;
    set->count++;
    return series;
}

int pt_monitor_series_add(struct pt_monitor_series_set *set, const char *name,
                          struct pt_monitor_series_point point) {
    struct pt_monitor_series *series = find(set, name);
    if (!series)
        series = make(set, name);
    if (!series)
        return -ENOSPC;
    series->points[(series->oldest + series->count) % series->capacity] = point;
    if (series->count < series->capacity)
        series->count++;
    else
        series->oldest = (series->oldest + 1) % series->capacity;
    return 0;
}

struct pt_monitor_series_point pt_monitor_series_at(const struct pt_monitor_series *series,
                                                    size_t index) {
    return series->points[(series->oldest + index) % series->capacity];
}

static int resize(struct pt_monitor_series *series, size_t capacity) {
    struct pt_monitor_series_point *points = calloc(capacity, sizeof *points);
    if (!points)
        return -ENOMEM;
    size_t kept = series->count < capacity ? series->count : capacity;
    for (size_t i = 0; i < kept; i++)
        points[i] = pt_monitor_series_at(series, series->count - kept + i);
    free(series->points);
    series->points = points;
    series->count = kept;
    series->capacity = capacity;
    series->oldest = 0;
    return 0;
}

int pt_monitor_series_set_capacity(struct pt_monitor_series_set *set, size_t capacity) {
    set->capacity = capacity;
    for (struct pt_monitor_series *series = set->first; series; series = series->next) {
        int rc = resize(series, capacity);
        if (rc)
            return rc;
    }
    return 0;
}

void pt_monitor_series_summarize(const struct pt_monitor_series *series,
                                 pt_series_summary *summary) {
    double first = pt_monitor_series_at(series, 0).value, sum = 0;
    *summary = (pt_series_summary){ .count = series->count, .min = first, .max = first };
    pt_str_copy(summary->name, sizeof summary->name, pt_str_from(series->name));
    for (size_t i = 0; i < series->count; i++) {
        double value = pt_monitor_series_at(series, i).value;
        sum += value;
        summary->min = value < summary->min ? value : summary->min;
        summary->max = value > summary->max ? value : summary->max;
        summary->current = value;
    }
    summary->average = sum / (double)series->count;
}

void pt_monitor_series_release(struct pt_monitor_series_set *set) {
    for (struct pt_monitor_series *series = set->first, *next; series; series = next) {
        next = series->next;
        release_series(series);
    }
    *set = (struct pt_monitor_series_set){ 0 };
}
