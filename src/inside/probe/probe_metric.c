/* Counters and histograms are added up in the thread's own block; a gauge is one cell for all
 * threads. */
#include "inside/probe/probe.h"

#include <errno.h>

/* Why the last metric of this thread has no handle: 0 or -errno. */
static PT_PROBE_TLS int registration_error;

int pt_registration_error(void) {
    return registration_error;
}

/* Cuts at the start of a UTF-8 character. */
static void copy_text(char *into, size_t capacity, const char *text) {
    size_t length = text ? strnlen(text, capacity) : 0;
    if (length == capacity)
        for (length--; length > 0 && ((uint8_t)text[length] & 0xc0) == 0x80;)
            length--;
    if (length > 0)
        memcpy(into, text, length);
    into[length] = '\0';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_metric_name(const char *name) {
    if (is_digit(*name))
        return false;
    size_t length = 0;
    while (is_letter(name[length]) || is_digit(name[length]) || name[length] == ':')
        length++;
    return length > 0 && name[length] == '\0';
}

/* The end of name="value"; NULL: it is not that. */
static const char *skip_label(const char *at) {
    if (!is_letter(*at))
        return NULL;
    while (is_letter(*at) || is_digit(*at))
        at++;
    if (at[0] != '=' || at[1] != '"')
        return NULL;
    for (at += 2; *at && *at != '"' && *at != '\n'; at++)
        if (*at == '\\' && !strchr("\\\"n", *++at))
            return NULL;
        else if (!*at)
            return NULL;
    return *at == '"' ? at + 1 : NULL;
}

static size_t label_name_length(const char *label) {
    return strcspn(label, "=");
}

/* Is the name of the label at `label` a duplicate of an earlier one? */
static bool is_repeated(const char *labels, const char *label) {
    size_t length = label_name_length(label);
    for (const char *at = labels; at < label; at = skip_label(at) + 1)
        if (label_name_length(at) == length && !memcmp(at, label, length))
            return true;
    return false;
}

static bool are_labels(const char *labels) {
    if (!*labels)
        return true;
    for (const char *at = labels;;) {
        const char *end = skip_label(at);
        if (!end || is_repeated(labels, at))
            return false;
        if (!*end)
            return true;
        if (*end != ',')
            return false;
        at = end + 1;
    }
}

static int check_texts(const char *name, const char *labels) {
    const struct pt_region_metric *m = NULL;
    if (!name || !is_metric_name(name) || !are_labels(labels))
        return -EINVAL;
    return strlen(name) < sizeof m->name && strlen(labels) < sizeof m->labels ? 0 : -ENAMETOOLONG;
}

/* The slot of a new metric of that kind; 0: full. */
static uint32_t take_slot(struct pt_region_layout *region, uint32_t kind) {
    struct pt_probe_own *own = &pt_probe_own;
    if (kind == PT_REGION_GAUGE)
        return own->metric_count;
    uint32_t *count = kind == PT_REGION_COUNTER ? &own->counter_count : &own->histogram_count;
    uint32_t limit = kind == PT_REGION_COUNTER ? PT_REGION_COUNTERS : PT_REGION_HISTOGRAMS;
    uint32_t slot = pt_region_load(count);
    if (slot >= limit || (kind == PT_REGION_HISTOGRAM && !pt_probe_prepare_histogram(region, slot)))
        return 0;
    pt_region_store(count, slot + 1);
    pt_region_store(&region->header.counter_count, own->counter_count);
    pt_region_store(&region->header.histogram_count, own->histogram_count);
    return slot;
}

/* The family name in OpenMetrics: the name of a counter without _total. */
static size_t family_length(const struct pt_region_metric *metric) {
    static const char total[] = "_total";
    size_t length = strnlen(metric->name, sizeof metric->name), suffix = sizeof total - 1;
    bool has_total = metric->kind == PT_REGION_COUNTER && length > suffix &&
                     !memcmp(metric->name + length - suffix, total, suffix);
    return has_total ? length - suffix : length;
}

static bool share_a_name(const struct pt_region_metric *a, const struct pt_region_metric *b) {
    size_t length = family_length(a);
    return !strncmp(a->name, b->name, sizeof a->name) ||
           (family_length(b) == length && !memcmp(a->name, b->name, length));
}

/* The number of the same metric, or of one that conflicts with it; 0: none. */
static uint32_t find(const struct pt_region_layout *region, const struct pt_region_metric *metric) {
    for (uint32_t i = 1; i < pt_probe_own.metric_count; i++) {
        const struct pt_region_metric *other = &region->metrics[i];
        if (share_a_name(other, metric) &&
            (other->kind != metric->kind ||
             !strncmp(other->labels, metric->labels, sizeof other->labels)))
            return i;
    }
    return 0;
}

static int add(struct pt_region_layout *region, struct pt_region_metric *metric) {
    struct pt_region_header *h = &region->header;
    uint32_t index = pt_probe_own.metric_count;
    if (index < PT_REGION_METRICS)
        metric->slot = take_slot(region, metric->kind);
    if (metric->slot == 0) {
        pt_probe_add_shared(&h->dropped_metrics, 1);
        return -ENOSPC;
    }
    region->metrics[index] = *metric;
    pt_probe_own.metric_count = index + 1;
    /* Release: a reader that sees the count sees the description. */
    __atomic_store_n(&h->metric_count, index + 1, __ATOMIC_RELEASE);
    return 0;
}

/* A slot becomes an index in the program: one that others wrote must be in range. */
static int find_or_add(struct pt_region_layout *region, struct pt_region_metric *metric) {
    if (!region)
        return -ENOMEM;
    uint32_t index = find(region, metric);
    if (!index)
        return add(region, metric);
    const struct pt_region_metric *found = &region->metrics[index];
    if (found->kind != metric->kind || strncmp(found->name, metric->name, sizeof found->name) != 0)
        return -EEXIST;
    const uint32_t ends[] = { [PT_REGION_COUNTER] = pt_probe_own.counter_count,
                              [PT_REGION_GAUGE] = pt_probe_own.metric_count,
                              [PT_REGION_HISTOGRAM] = pt_probe_own.histogram_count };
    uint32_t slot = pt_region_load(&found->slot);
    metric->slot = slot < ends[metric->kind] ? slot : 0;
    return metric->slot ? 0 : -EIO;
}

static uint32_t new_metric(uint32_t kind, const char *name, const char *unit, const char *help,
                           const char *labels) {
    registration_error = check_texts(name, labels ? labels : "");
    if (registration_error)
        return 0;
    int saved_errno = errno;
    struct pt_region_metric metric = { .kind = kind };
    copy_text(metric.name, sizeof metric.name, name);
    copy_text(metric.unit, sizeof metric.unit, unit);
    copy_text(metric.help, sizeof metric.help, help);
    copy_text(metric.labels, sizeof metric.labels, labels);
    registration_error = find_or_add(pt_probe_lock(), &metric);
    pt_probe_unlock();
    errno = saved_errno;
    return registration_error ? 0 : metric.slot;
}

pt_counter pt_counter_new(const char *name, const char *unit, const char *help,
                          const char *labels) {
    return (pt_counter){ new_metric(PT_REGION_COUNTER, name, unit, help, labels) };
}

pt_gauge pt_gauge_new(const char *name, const char *unit, const char *help, const char *labels) {
    return (pt_gauge){ new_metric(PT_REGION_GAUGE, name, unit, help, labels) };
}

pt_histogram pt_histogram_new(const char *name, const char *unit, const char *help,
                              const char *labels) {
    return (pt_histogram){ new_metric(PT_REGION_HISTOGRAM, name, unit, help, labels) };
}

/* For a thread without a block. */
void pt_counter_add_(pt_counter counter, uint64_t n) {
    struct pt_region_thread *self = pt_probe_self();
    struct pt_region_layout *region = pt_probe_region();
    if (self)
        pt_probe_add(&self->counters[counter.slot], n);
    else if (region)
        pt_probe_add_shared(&region->threads[0].counters[counter.slot], n);
}

/* A child of fork may not have its region yet. */
static uint64_t *gauge_cell(pt_gauge gauge) {
    struct pt_region_layout *region = pt_probe_region();
    if (!PT_PROBE_LIKELY(region)) {
        pt_probe_claim();
        region = pt_probe_region();
    }
    return region ? &region->metrics[gauge.slot].gauge : NULL;
}

void pt_gauge_set_(pt_gauge gauge, double value) {
    uint64_t *cell = gauge_cell(gauge);
    if (cell)
        pt_region_store(cell, pt_probe_bits(value));
}

static void add_double(uint64_t *cell, double n) {
    uint64_t old = pt_region_load(cell);
    while (!__atomic_compare_exchange_n(cell, &old, pt_probe_bits(pt_probe_double(old) + n), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

void pt_gauge_add_(pt_gauge gauge, double n) {
    uint64_t *cell = gauge_cell(gauge);
    if (cell)
        add_double(cell, n);
}

/* A shard for this thread; 0: none is left. */
static uint32_t take_shard(struct pt_region_layout *region) {
    uint32_t index = pt_region_load(&pt_probe_own.shard_count);
    do {
        if (index >= PT_REGION_SHARDS)
            return 0;
    } while (!__atomic_compare_exchange_n(&pt_probe_own.shard_count, &index, index + 1, false,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    pt_region_store(&region->header.shard_count, index + 1);
    if (!pt_probe_populate(region, &region->shards[index], sizeof region->shards[index]))
        return 0;
    pt_region_store(&pt_probe_own.has_shard[index], 1);
    return index;
}

static void use_octave(struct pt_region_shard *shard, uint32_t bucket) {
    pt_region_store(&shard->is_used[bucket / PT_BUCKETS_PER_OCTAVE], 1);
}

__attribute__((cold, noinline)) static void record_in_shared(pt_histogram histogram, double value) {
    struct pt_region_layout *region = pt_probe_region();
    if (!region)
        return;
    struct pt_region_shard *shard = &region->shards[histogram.slot];
    uint32_t bucket = pt_bucket_of(value);
    use_octave(shard, bucket);
    pt_probe_add_shared(&shard->buckets[bucket], 1);
    add_double(&shard->sums[0], value);
}

__attribute__((cold, noinline)) static struct pt_region_shard *
prepare_shard(struct pt_region_thread *self, uint32_t slot) {
    int saved_errno = errno;
    struct pt_region_layout *region = pt_probe_region();
    uint32_t index = take_shard(region);
    struct pt_region_shard *none = NULL;
    struct pt_region_shard *shard = index ? &region->shards[index] : &pt_probe_no_shard;
    /* Release: a reader that sees the shard sees memory. A signal handler may have been faster. */
    if (!__atomic_compare_exchange_n(&pt_probe_shards_[slot], &none, shard, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        shard = none;
    else
        __atomic_store_n(&self->shards[slot], index ? index + 1 : slot + 1, __ATOMIC_RELEASE);
    errno = saved_errno;
    return shard;
}

/* By the only writer. Volatile instead of atomic, which would go through integer registers and
 * double the cost. TSan need not see it, as a word is written whole. */
__attribute__((no_sanitize("thread"))) static inline void add_to_sum(uint64_t *sum, double value) {
    volatile double *at = (volatile double *)sum;
    *at = *at + value;
}

static inline void add_to_shard(struct pt_region_shard *shard, uint32_t bucket, uint64_t count,
                                double value) {
    pt_region_store(&shard->buckets[bucket], count + 1);
    add_to_sum(&shard->sums[bucket % PT_REGION_SUMS], value);
}

/* Values out of range, the first of a thread and the first in a bucket. */
__attribute__((cold, noinline)) static void record_rarely(pt_histogram histogram, double value) {
    struct pt_region_thread *self = pt_probe_self();
    if (histogram.slot == 0 || value != value)
        return;
    if (!self) {
        record_in_shared(histogram, value);
        return;
    }
    struct pt_region_shard *shard = pt_region_load(&pt_probe_shards_[histogram.slot]);
    if (!shard)
        shard = prepare_shard(self, histogram.slot);
    if (shard == &pt_probe_no_shard) {
        record_in_shared(histogram, value);
        return;
    }
    uint32_t bucket = pt_bucket_of(value);
    use_octave(shard, bucket);
    add_to_shard(shard, bucket, pt_region_load(&shard->buckets[bucket]), value);
}

void pt_histogram_record_(pt_histogram histogram, double value) {
    struct pt_region_shard **shards = pt_probe_shards_;
    uint64_t bits = pt_probe_bits(value);
    if (!PT_PROBE_LIKELY(shards && bits - PT_BUCKET_FIRST_BITS < PT_BUCKET_RANGE_BITS)) {
        record_rarely(histogram, value);
        return;
    }
    struct pt_region_shard *shard = pt_region_load(&shards[histogram.slot]);
    uint32_t bucket = pt_bucket_of_bits(bits);
    uint64_t count = PT_PROBE_LIKELY(shard) ? pt_region_load(&shard->buckets[bucket]) : 0;
    if (PT_PROBE_LIKELY(count))
        add_to_shard(shard, bucket, count, value);
    else
        record_rarely(histogram, value);
}

uint64_t pt_counter_value(pt_counter counter) {
    struct pt_region_layout *region = pt_probe_region();
    uint64_t total = 0;
    if (!region || counter.slot == 0)
        return 0;
    for (uint32_t i = 0; i < PT_REGION_THREADS; i++)
        if (pt_probe_is_ready(i))
            total += pt_region_load(&region->threads[i].counters[counter.slot]);
    return total;
}

double pt_gauge_value(pt_gauge gauge) {
    struct pt_region_layout *region = pt_probe_region();
    if (!region || gauge.slot == 0)
        return (double)NAN;
    return pt_probe_double(pt_region_load(&region->metrics[gauge.slot].gauge));
}

static void add_shard(uint64_t counts[PT_BUCKET_COUNT], const struct pt_region_shard *shard) {
    uint32_t octave = pt_region_used_octave(shard, 0);
    for (; octave < PT_OCTAVE_COUNT; octave = pt_region_used_octave(shard, octave + 1))
        for (uint32_t i = 0; i < PT_BUCKETS_PER_OCTAVE; i++) {
            uint32_t bucket = octave * PT_BUCKETS_PER_OCTAVE + i;
            counts[bucket] += pt_region_load(&shard->buckets[bucket]);
        }
}

double pt_histogram_quantile(pt_histogram histogram, double q) {
    struct pt_region_layout *region = pt_probe_region();
    uint64_t counts[PT_BUCKET_COUNT] = { 0 };
    if (!region || histogram.slot == 0)
        return (double)NAN;
    add_shard(counts, &region->shards[histogram.slot]);
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++) {
        const struct pt_region_shard *shard = pt_probe_shard(i, histogram.slot);
        if (shard)
            add_shard(counts, shard);
    }
    return pt_bucket_quantile(counts, pt_all_buckets, q);
}
