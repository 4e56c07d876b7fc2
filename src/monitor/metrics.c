#include "monitor/metrics.h"

#include "base/utf8.h"
#include "monitor/history.h"
#include "wire/label.h"

#include <errno.h>
#include <pitot/export.h>
#include <pthread.h>
#include <stdlib.h>

#define PLACES 1024 /* of the hash table; more than there are metrics */
#define NONE   UINT16_MAX

_Static_assert(PLACES > PT_REGION_METRICS, "a free place is always found");

/* The lock guards the bounds, which views borrow. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pt_bounds default_bounds;
static struct pt_bounds *bounds_of[PT_REGION_HISTOGRAMS]; /* NULL: the default */

/* A metric of the region and the family it is in. */
struct member {
    const struct pt_region_metric *metric;
    uint16_t family;
    uint16_t next; /* of the same family, or NONE */
};

struct histogram {
    struct pt_distribution distribution;
    uint64_t buckets[PT_BUCKET_COUNT];
};

struct pt_metrics {
    struct pt_region region;
    struct pt_region_blocks blocks;
    struct member members[PT_REGION_METRICS];
    uint16_t member_count;
    struct pt_family families[PT_REGION_METRICS + 1];           /* and what was dropped */
    uint16_t first[PT_REGION_METRICS], last[PT_REGION_METRICS]; /* members of a family */
    uint16_t family_count;
    uint16_t places[PLACES]; /* families, by their names */
    struct pt_series series[PT_REGION_METRICS + 1];
    size_t series_count;
    /* Only touched where the program's own text will not do. */
    char clean_labels[PT_REGION_METRICS][sizeof((struct pt_region_metric *)NULL)->labels];
    uint32_t histogram_count;
    struct histogram histograms[]; /* by slot */
};

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void prepare(void) {
    pt_bounds_set_default(&default_bounds);
    (void)pthread_atfork(before_fork, after_fork, after_fork);
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

/* Counters are called with _total by the writers. */
static struct pt_str family_name(const struct pt_region_metric *metric) {
    const struct pt_str total = PT_STR("_total");
    struct pt_str name = pt_str_from(metric->name);
    if (metric->kind == PT_REGION_COUNTER && name.len > total.len && pt_str_ends(name, total))
        name.len -= total.len;
    return name;
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

/* Its place in the hash table: that of the family, or the free one it belongs to. */
static uint16_t *find_place(struct pt_metrics *m, struct pt_str name, enum pt_family_kind kind) {
    for (uint32_t at = hash(name);; at++) {
        uint16_t *place = &m->places[at % PLACES];
        if (*place == NONE ||
            (m->families[*place].kind == kind && pt_str_eq(m->families[*place].name, name)))
            return place;
    }
}

static uint16_t add_family(struct pt_metrics *m, const struct pt_region_metric *metric,
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

static void add_member(struct pt_metrics *m, const struct pt_region_metric *metric) {
    struct pt_str name = family_name(metric);
    uint16_t *place = find_place(m, name, kind_of(metric));
    if (*place == NONE)
        *place = add_family(m, metric, name);
    uint16_t family = *place, index = m->member_count++;
    m->members[index] = (struct member){ metric, family, NONE };
    if (m->first[family] == NONE)
        m->first[family] = index;
    else
        m->members[m->last[family]].next = index;
    m->last[family] = index;
    m->families[family].series_count++;
}

/* Histograms that were added after the memory was measured wait for the next time. */
static bool is_whole(const struct pt_metrics *m, const struct pt_region_metric *metric) {
    uint32_t kind = pt_region_load(&metric->kind);
    return (kind == PT_REGION_COUNTER && metric->slot < PT_REGION_COUNTERS) ||
           kind == PT_REGION_GAUGE ||
           (kind == PT_REGION_HISTOGRAM && metric->slot < m->histogram_count);
}

static void group(struct pt_metrics *m) {
    uint32_t count = pt_region_metric_count(&m->region);
    memset(m->places, 0xff, sizeof m->places);
    for (uint32_t i = 1; i < count; i++)
        if (is_whole(m, &m->region.at->metrics[i]))
            add_member(m, &m->region.at->metrics[i]);
}

/* Labels were checked when the metric was made, but not their UTF-8, and `le` is ours. */
static struct pt_str labels_of(struct pt_metrics *m, const struct pt_region_metric *metric) {
    bool is_histogram = metric->kind == PT_REGION_HISTOGRAM;
    struct pt_str labels = pt_str_from(metric->labels);
    if (!is_histogram && pt_utf8_valid_length(labels) == labels.len)
        return labels;
    char *clean = m->clean_labels[m->series_count];
    return (struct pt_str){ clean, pt_labels_clean(clean, labels, is_histogram ? "le" : NULL) };
}

static const struct pt_distribution *read_histogram(struct pt_metrics *m, uint32_t slot) {
    struct histogram *h = &m->histograms[slot];
    struct pt_distribution *d = &h->distribution;
    const struct pt_bounds *bounds = bounds_of[slot];
    *d = (struct pt_distribution){ .buckets = h->buckets,
                                   .bounds = bounds ? bounds : &default_bounds };
    d->count = pt_region_histogram(&m->region, &m->blocks, slot, h->buckets, &d->sum);
    return d;
}

static void read_series(struct pt_metrics *m, const struct pt_region_metric *metric) {
    struct pt_series series = { .labels = labels_of(m, metric) };
    uint64_t bits;
    switch (kind_of(metric)) {
    case PT_FAMILY_COUNTER:
        series.is_integer = true;
        series.integer = pt_region_counter(&m->region, &m->blocks, metric->slot);
        break;
    case PT_FAMILY_GAUGE:
        bits = pt_region_load(&metric->gauge);
        memcpy(&series.value, &bits, sizeof bits);
        break;
    case PT_FAMILY_HISTOGRAM:
        series.distribution = read_histogram(m, metric->slot);
        break;
    }
    m->series[m->series_count++] = series;
}

static void read_all(struct pt_metrics *m) {
    pt_region_find_blocks(&m->region, &m->blocks);
    for (uint16_t i = 0; i < m->family_count; i++) {
        m->families[i].series = &m->series[m->series_count];
        for (uint16_t at = m->first[i]; at != NONE; at = m->members[at].next)
            read_series(m, m->members[at].metric);
    }
}

static void add_dropped(struct pt_metrics *m) {
    uint64_t dropped = pt_region_dropped(&m->region);
    if (dropped == 0)
        return;
    struct pt_series *series = &m->series[m->series_count++];
    *series = (struct pt_series){ .labels = PT_STR(""), .integer = dropped, .is_integer = true };
    m->families[m->family_count++] = (struct pt_family){
        .name = PT_STR("pitot_dropped"),
        .help = PT_STR("Spans, names and metrics that found no room"),
        .unit = PT_STR(""),
        .kind = PT_FAMILY_COUNTER,
        .series = series,
        .series_count = 1,
    };
}

static uint32_t histogram_count(const struct pt_region *region) {
    uint32_t count = pt_region_load(&region->at->header.histogram_count);
    return count < PT_REGION_HISTOGRAMS ? count : PT_REGION_HISTOGRAMS;
}

int pt_metrics_read(struct pt_metrics_view *view) {
    struct pt_region region;
    *view = (struct pt_metrics_view){ 0 };
    if (!pt_history_region(&region))
        return 0;
    uint32_t histograms = histogram_count(&region);
    struct pt_metrics *m = malloc(sizeof *m + histograms * sizeof m->histograms[0]);
    if (!m)
        return -ENOMEM;
    m->region = region;
    m->member_count = m->family_count = 0;
    m->series_count = 0;
    m->histogram_count = histograms;
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    group(m);
    read_all(m);
    add_dropped(m);
    *view = (struct pt_metrics_view){ m->families, m->family_count, m };
    return 0;
}

void pt_metrics_release(struct pt_metrics_view *view) {
    if (view->metrics)
        pthread_mutex_unlock(&lock);
    free(view->metrics);
    *view = (struct pt_metrics_view){ 0 };
}
