#include "libpitot/metric_families.h"

#include "libpitot/component.h"
#include "libpitot/span_history.h"
#include "format/metrics/label.h"

#include <errno.h>
#include <pitot/export.h>
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 1024 /* of the hash table; more than there are metrics */
#define NONE  UINT16_MAX

_Static_assert(SLOTS > PT_REGION_METRICS, "a free slot is always found");

/* A metric of the region and its family. */
struct member {
    uint16_t index; /* of the metric */
    uint16_t family;
    uint16_t next; /* of the same family, or NONE */
};

struct histogram {
    struct pt_distribution distribution;
    uint64_t buckets[PT_BUCKET_COUNT];
};

/* Where the value of a series is. */
struct source {
    enum pt_family_kind kind;
    uint32_t slot;
    const uint64_t *gauge;
};

/* Groups stay valid while the region has the same metrics: then only the values are read, and
 * nothing else of the large region. */
struct pt_metric_families {
    struct pt_region region; /* closed: nothing is grouped */
    struct pt_region_blocks blocks;
    uint32_t metric_count;                             /* of the region, when they were grouped */
    struct pt_region_metric copies[PT_REGION_METRICS]; /* others may write to the region */
    struct member members[PT_REGION_METRICS];
    uint16_t member_count;
    struct pt_family families[PT_REGION_METRICS + 1];           /* including dropped ones */
    uint16_t first[PT_REGION_METRICS], last[PT_REGION_METRICS]; /* members of a family */
    uint16_t family_count;
    uint16_t slots[SLOTS]; /* families, by their names */
    struct pt_series series[PT_REGION_METRICS + 1];
    struct source sources[PT_REGION_METRICS]; /* of the series */
    size_t series_count;
    char labels[PT_REGION_METRICS * sizeof((struct pt_region_metric *)NULL)->labels];
    size_t labels_length;                               /* of all of them, one after the other */
    struct histogram *histograms[PT_REGION_HISTOGRAMS]; /* by slot; NULL: not needed yet */
};

/* All guarded by the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pt_bounds default_bounds;
static struct pt_bounds *bounds_of[PT_REGION_HISTOGRAMS]; /* NULL: the default */
static struct pt_metric_families metrics;

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void) {
    pthread_mutex_unlock(&lock);
}

/* The child has its own region, possibly at the same address. */
static void after_fork_in_child(void) {
    metrics.region = (struct pt_region){ 0 };
    pthread_mutex_unlock(&lock);
}

static void prepare(void) {
    pt_bounds_set_default(&default_bounds);
    (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

int pt_histogram_set_buckets(pt_histogram histogram, const double *upper, size_t count) {
    struct pt_bounds *set = malloc(sizeof *set);
    if (!set)
        return -ENOMEM;
    int rc = histogram.slot < PT_REGION_HISTOGRAMS && (upper || count == 0)
                 ? pt_bounds_set(set, upper, count)
                 : -EINVAL;
    if (rc) {
        free(set);
        return rc;
    }
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    struct pt_bounds *old = bounds_of[histogram.slot];
    bounds_of[histogram.slot] = set;
    pthread_mutex_unlock(&lock);
    free(old);
    return 0;
}

static enum pt_family_kind kind_of(const struct pt_region_metric *metric) {
    static const enum pt_family_kind kinds[] = {
        [PT_REGION_COUNTER] = PT_FAMILY_COUNTER,
        [PT_REGION_GAUGE] = PT_FAMILY_GAUGE,
        [PT_REGION_HISTOGRAM] = PT_FAMILY_HISTOGRAM,
    };
    return kinds[metric->kind];
}

/* Eight bytes at a time. */
static uint32_t hash(struct pt_str name) {
    uint64_t h = name.len, word;
    for (; name.len > 0; name = pt_str_skip(name, sizeof word)) {
        word = 0;
        memcpy(&word, name.at, name.len < sizeof word ? name.len : sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

/* Its slot in the hash table: that of the family, or the free one for it. */
static uint16_t *find_slot(struct pt_metric_families *m, struct pt_str name,
                           enum pt_family_kind kind) {
    for (uint32_t at = hash(name);; at++) {
        uint16_t *slot = &m->slots[at % SLOTS];
        if (*slot == NONE ||
            (m->families[*slot].kind == kind && pt_str_eq(m->families[*slot].name, name)))
            return slot;
    }
}

static uint16_t add_family(struct pt_metric_families *m, const struct pt_region_metric *metric,
                           struct pt_str name) {
    m->families[m->family_count] = (struct pt_family){
        .name = name,
        .help = pt_str_from(metric->help),
        .unit = pt_str_from(metric->unit),
        .kind = kind_of(metric),
    };
    m->first[m->family_count] = NONE;
    return m->family_count++;
}

static void add_member(struct pt_metric_families *m, uint16_t metric_index) {
    const struct pt_region_metric *metric = &m->copies[metric_index];
    struct pt_str name = pt_str_from(metric->name);
    if (metric->kind == PT_REGION_COUNTER)
        name = pt_counter_family(name);
    uint16_t *slot = find_slot(m, name, kind_of(metric));
    if (*slot == NONE)
        *slot = add_family(m, metric, name);
    uint16_t family = *slot, index = m->member_count++;
    m->members[index] = (struct member){ metric_index, family, NONE };
    if (m->first[family] == NONE)
        m->first[family] = index;
    else
        m->members[m->last[family]].next = index;
    m->last[family] = index;
    m->families[family].series_count++;
}

/* Labels were checked when the metric was created, but not their UTF-8, and `le` is reserved. */
static struct pt_str add_labels(struct pt_metric_families *m,
                                const struct pt_region_metric *metric) {
    const char *reserved = metric->kind == PT_REGION_HISTOGRAM ? "le" : NULL;
    char *at = m->labels + m->labels_length;
    size_t length = pt_labels_clean(at, pt_str_from(metric->labels), reserved);
    m->labels_length += length;
    return (struct pt_str){ at, length };
}

static int add_series(struct pt_metric_families *m, const struct pt_region *region,
                      uint16_t index) {
    const struct pt_region_metric *metric = &m->copies[index];
    struct pt_series *series = &m->series[m->series_count];
    *series = (struct pt_series){ .labels = add_labels(m, metric),
                                  .is_integer = metric->kind == PT_REGION_COUNTER };
    m->sources[m->series_count++] =
        (struct source){ kind_of(metric), metric->slot, &region->at->metrics[index].gauge };
    if (metric->kind != PT_REGION_HISTOGRAM)
        return 0;
    struct histogram **histogram = &m->histograms[metric->slot];
    if (!*histogram)
        *histogram = calloc(1, sizeof **histogram);
    if (!*histogram)
        return -ENOMEM;
    series->distribution = &(*histogram)->distribution;
    return 0;
}

/* The series of a family are contiguous. */
static int add_all_series(struct pt_metric_families *m, const struct pt_region *region) {
    int rc = 0;
    for (uint16_t i = 0; i < m->family_count; i++) {
        m->families[i].series = &m->series[m->series_count];
        for (uint16_t at = m->first[i]; at != NONE && !rc; at = m->members[at].next)
            rc = add_series(m, region, m->members[at].index);
    }
    return rc;
}

static int group(struct pt_metric_families *m, const struct pt_region *region,
                 uint32_t metric_count) {
    m->region = (struct pt_region){ 0 };
    m->member_count = m->family_count = 0;
    m->series_count = m->labels_length = 0;
    memset(m->slots, 0xff, sizeof m->slots);
    for (size_t i = 0; i < PT_REGION_HISTOGRAMS; i++) { /* their content may be of another region */
        free(m->histograms[i]);
        m->histograms[i] = NULL;
    }
    for (uint32_t i = 1; i < metric_count; i++)
        if (pt_region_describe_metric(region, i, &m->copies[i]))
            add_member(m, (uint16_t)i);
    int rc = add_all_series(m, region);
    if (rc)
        return rc;
    m->region = *region;
    m->metric_count = metric_count;
    return 0;
}

static void read_histogram(const struct pt_metric_families *m, uint32_t slot) {
    struct histogram *h = m->histograms[slot];
    struct pt_distribution *d = &h->distribution;
    d->buckets = h->buckets;
    d->bounds = bounds_of[slot] ? bounds_of[slot] : &default_bounds;
    d->count = pt_region_histogram(&m->region, &m->blocks, slot, h->buckets, &d->used, &d->sum);
}

static void read_series(const struct pt_metric_families *m, const struct source *source,
                        struct pt_series *series) {
    uint64_t bits;
    switch (source->kind) {
    case PT_FAMILY_COUNTER:
        series->integer = pt_region_counter(&m->region, &m->blocks, source->slot);
        break;
    case PT_FAMILY_GAUGE:
        bits = pt_region_load(source->gauge);
        memcpy(&series->value, &bits, sizeof bits);
        break;
    case PT_FAMILY_HISTOGRAM:
        read_histogram(m, source->slot);
        break;
    }
}

/* Appends. Returns the number of families. */
static size_t add_dropped(struct pt_metric_families *m) {
    uint64_t dropped = pt_region_dropped(&m->region);
    if (dropped == 0)
        return m->family_count;
    struct pt_series *series = &m->series[m->series_count];
    *series = (struct pt_series){ .labels = PT_STR(""), .integer = dropped, .is_integer = true };
    m->families[m->family_count] = (struct pt_family){
        .name = PT_STR("pitot_dropped"),
        .help = PT_STR("Spans, names and metrics dropped because the region was full"),
        .unit = PT_STR(""),
        .kind = PT_FAMILY_COUNTER,
        .series = series,
        .series_count = 1,
    };
    return m->family_count + 1u;
}

/* The lock is held. */
static int group_if_changed(struct pt_metric_families *m, const struct pt_region *region) {
    uint32_t metric_count = pt_region_metric_count(region);
    if (m->region.at == region->at && m->metric_count == metric_count)
        return 0;
    return group(m, region, metric_count);
}

int pt_metric_families_read(struct pt_metric_families_view *view) {
    struct pt_region region;
    pthread_once(&once, prepare);
    pt_components_feed();
    pthread_mutex_lock(&lock);
    *view = (struct pt_metric_families_view){ .metrics = &metrics };
    if (!pt_history_region(&region))
        return 0;
    int rc = group_if_changed(&metrics, &region);
    if (rc) {
        pt_metric_families_release(view);
        return rc;
    }
    pt_region_find_blocks(&metrics.region, &metrics.blocks);
    for (size_t i = 0; i < metrics.series_count; i++)
        read_series(&metrics, &metrics.sources[i], &metrics.series[i]);
    view->families = metrics.families;
    view->family_count = add_dropped(&metrics);
    return 0;
}

void pt_metric_families_release(struct pt_metric_families_view *view) {
    if (view->metrics)
        pthread_mutex_unlock(&lock);
    *view = (struct pt_metric_families_view){ 0 };
}
