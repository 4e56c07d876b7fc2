#include "inside/region/reader.h"

#include "base/clock.h"
#include "inside/region/sigbus_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <pitot/pitot.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_layout_ours(const struct pt_region_header *h) {
    return h->version == PT_REGION_VERSION && h->header_size == sizeof *h &&
           h->size == sizeof(struct pt_region_layout) &&
           h->name_size == sizeof(struct pt_region_name) &&
           h->metric_size == sizeof(struct pt_region_metric) &&
           h->thread_size == sizeof(struct pt_region_thread) &&
           h->shard_size == sizeof(struct pt_region_shard);
}

int pt_region_attach(struct pt_region *r, void *memory, size_t size) {
    *r = (struct pt_region){ 0 };
    struct pt_region_layout *at = memory;
    if (size != sizeof *at)
        return -EPROTO;
    /* Acquire: paired with the release by the creator of the region. */
    uint64_t magic = __atomic_load_n(&at->header.magic, __ATOMIC_ACQUIRE);
    if (magic != PT_REGION_MAGIC)
        return magic ? -EPROTO : -EAGAIN;
    if (!is_layout_ours(&at->header))
        return -EPROTO;
    r->at = at;
    r->is_ready = at->header.is_ready;
    r->pid = at->header.pid;
    pt_tick_clock_begin(&r->clock, at->header.calibration_ticks, at->header.calibration_mono_ns);
    return 0;
}

static void unmap(struct pt_region_layout *at) {
    pt_sigbus_guard_remove(at);
    munmap(at, sizeof *at);
}

static int map(struct pt_region *r, int fd) {
    struct stat st;
    if (fstat(fd, &st))
        return -errno;
    if (st.st_size < (off_t)sizeof(struct pt_region_layout))
        return -EAGAIN;
    void *at =
        mmap(NULL, sizeof(struct pt_region_layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    int rc = pt_sigbus_guard_add(at, sizeof(struct pt_region_layout));
    if (!rc)
        rc = pt_region_attach(r, at, (size_t)st.st_size);
    if (rc)
        unmap(at);
    return rc;
}

int pt_region_open(struct pt_region *r, int directory, const char *name) {
    *r = (struct pt_region){ 0 };
    int fd = openat(directory, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = map(r, fd);
    if (rc)
        close(fd);
    else
        r->fd = pt_fd_of(fd);
    return rc;
}

void pt_region_close(struct pt_region *r) {
    if (pt_fd_is_open(r->fd)) {
        unmap(r->at);
        (void)pt_fd_close(&r->fd);
    }
    *r = (struct pt_region){ 0 };
}

/* The guard replaces the missing part with zeros, even if the file has its size again. */
static bool is_there(const struct pt_region *r) {
    return pt_region_load(&r->at->header.magic) == PT_REGION_MAGIC;
}

bool pt_region_is_whole(const struct pt_region *r) {
    struct stat st;
    if (!is_there(r))
        return false;
    return !pt_fd_is_open(r->fd) ||
           (!fstat(pt_fd_get(r->fd), &st) && st.st_size == (off_t)sizeof *r->at);
}

bool pt_region_has_ended(const struct pt_region *r) {
    return pt_region_load(&r->at->header.has_ended) != 0;
}

/* Acquire: paired with the release by the thread that gave the block its memory. */
static bool is_ready(const struct pt_region *r, uint32_t block) {
    return __atomic_load_n(&r->is_ready[block], __ATOMIC_ACQUIRE) != 0;
}

static size_t take_from(struct pt_region_thread *t, uint32_t name_count,
                        struct pt_region_span_record *into, size_t capacity) {
    /* Acquire: paired with the release in pt_span_put_(). */
    uint64_t written = __atomic_load_n(&t->written, __ATOMIC_ACQUIRE);
    uint64_t read = pt_region_load(&t->read);
    size_t count = 0;
    if (written - read > PT_REGION_SPANS) /* invalid: start again */
        read = written;
    for (; read != written && count < capacity; read++) {
        into[count] = t->spans[read % PT_REGION_SPANS];
        uint32_t name = into[count].name;
        count += name > 0 && name < name_count;
    }
    /* Release: paired with the acquire in pt_span_put_(); the slots are free now. */
    __atomic_store_n(&t->read, read, __ATOMIC_RELEASE);
    return count;
}

static uint32_t count_below(const uint32_t *count, uint32_t limit) {
    uint32_t n = __atomic_load_n(count, __ATOMIC_ACQUIRE);
    return n < limit ? n : limit;
}

/* Round robin, so that a busy thread does not starve the others. */
size_t pt_region_take_spans(struct pt_region *r, struct pt_region_span_record *into,
                            size_t capacity) {
    size_t count = 0;
    for (uint32_t i = 0; i < PT_REGION_THREADS && count < capacity; i++) {
        uint32_t block = r->next_block++ % PT_REGION_THREADS;
        if (block == 0 || !is_ready(r, block))
            continue;
        uint32_t names = count_below(&r->at->header.name_count, PT_REGION_NAMES);
        count += take_from(&r->at->threads[block], names, into + count, capacity - count);
    }
    return count;
}

/* The thread may overwrite it at the same time: copied word by word, validated afterwards. Acquire:
 * paired with the release in pt_span_put_(); a reader of a new word also sees why it could be
 * written. */
static struct pt_region_span_record copy_span(const struct pt_region_span_record *from) {
    union pt_region_span_words copy;
    const uint64_t *words = (const uint64_t *)from;
    for (size_t i = 0; i < PT_COUNT(copy.words); i++)
        copy.words[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    return copy.span;
}

/* The first span that the thread has not begun to overwrite: it has not wrapped around to it, or
 * its slot was not released. */
static uint64_t first_safe(const struct pt_region_thread *t) {
    uint64_t written = pt_region_load(&t->written), read = pt_region_load(&t->read);
    uint64_t not_reached = written < PT_REGION_SPANS ? 0 : written - PT_REGION_SPANS + 1;
    return read < not_reached ? read : not_reached;
}

static size_t peek_into(const struct pt_region_thread *t, struct pt_region_cursor *cursor,
                        uint64_t *next, struct pt_region_span_record *into, size_t capacity) {
    /* Acquire: paired with the release in pt_span_put_(). */
    uint64_t written = __atomic_load_n(&t->written, __ATOMIC_ACQUIRE);
    uint64_t held = written - *next;
    if (held > PT_REGION_SPANS) { /* overtaken */
        cursor->lost += held - PT_REGION_SPANS;
        *next = written - PT_REGION_SPANS;
        held = PT_REGION_SPANS;
    }
    cursor->fullest = held > cursor->fullest ? held : cursor->fullest;
    size_t count = held < capacity ? (size_t)held : capacity;
    for (size_t i = 0; i < count; i++)
        into[i] = copy_span(&t->spans[(*next + i) % PT_REGION_SPANS]);
    uint64_t safe = first_safe(t), from = *next;
    *next += count;
    size_t gone = safe > from ? (size_t)(safe - from) : 0;
    gone = gone < count ? gone : count;
    cursor->lost += gone;
    memmove(into, into + gone, (count - gone) * sizeof *into);
    return count - gone;
}

static size_t keep_named(struct pt_region_span_record *spans, size_t count, uint32_t name_count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (spans[i].name > 0 && spans[i].name < name_count)
            spans[kept++] = spans[i];
    return kept;
}

size_t pt_region_peek_spans(const struct pt_region *r, struct pt_region_cursor *cursor,
                            struct pt_region_span_record *into, size_t capacity) {
    size_t count = 0;
    for (uint32_t i = 1; i < PT_REGION_THREADS && count < capacity; i++) {
        if (!is_ready(r, i))
            continue;
        size_t n =
            peek_into(&r->at->threads[i], cursor, &cursor->next[i], into + count, capacity - count);
        count +=
            keep_named(into + count, n, count_below(&r->at->header.name_count, PT_REGION_NAMES));
    }
    return count;
}

void pt_region_release_spans(struct pt_region *r, const struct pt_region_cursor *cursor) {
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++)
        /* Release: paired with the acquire in pt_span_put_(); the slots are free now. */
        if (is_ready(r, i))
            __atomic_store_n(&r->at->threads[i].read, cursor->next[i], __ATOMIC_RELEASE);
}

/* Of a few readings, the one taken in the shortest time. */
void pt_region_follow(struct pt_region *r) {
    uint64_t best = UINT64_MAX, ticks = 0;
    int64_t ns = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t before = pt_ticks_();
        int64_t mono_ns = pt_mono_ns();
        uint64_t took = pt_ticks_() - before;
        if (took >= best)
            continue;
        best = took;
        ticks = before + took / 2;
        ns = mono_ns;
    }
    pt_tick_clock_follow(&r->clock, ticks, ns);
}

int64_t pt_region_mono_ns(struct pt_region *r, uint64_t ticks) {
    return pt_tick_clock_ns(&r->clock, ticks);
}

static void copy_text(char *into, const char *from, size_t size) {
    memcpy(into, from, size);
    into[size - 1] = '\0';
}

void pt_region_copy_name(const struct pt_region *r, uint32_t name,
                         char into[sizeof((struct pt_region_name *)NULL)->text + 1]) {
    size_t capacity = sizeof r->at->names[0].text;
    size_t length = 0;
    if (name < PT_REGION_NAMES)
        length = count_below(&r->at->names[name].length, (uint32_t)capacity);
    if (length > 0)
        memcpy(into, r->at->names[name].text, length);
    into[length] = '\0';
}

uint32_t pt_region_owner(const struct pt_region *r, uint32_t block,
                         char name[PT_REGION_OWNER_NAME]) {
    if (block == 0 || block >= PT_REGION_THREADS || !is_ready(r, block))
        return 0;
    const struct pt_region_thread *t = &r->at->threads[block];
    /* Acquire: paired with the release by the owner, after it wrote its name. */
    uint32_t thread = __atomic_load_n(&t->thread, __ATOMIC_ACQUIRE);
    const uint64_t words[2] = { pt_region_load(&t->name[0]), pt_region_load(&t->name[1]) };
    copy_text(name, (const char *)words, PT_REGION_OWNER_NAME);
    return thread;
}

uint32_t pt_region_metric_count(const struct pt_region *r) {
    return count_below(&r->at->header.metric_count, PT_REGION_METRICS);
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void pt_region_find_blocks(const struct pt_region *r, struct pt_region_blocks *blocks) {
    blocks->count = 0;
    for (uint32_t i = 0; i < PT_REGION_THREADS; i++)
        if (is_ready(r, i))
            blocks->numbers[blocks->count++] = (uint8_t)i;
}

uint64_t pt_region_counter(const struct pt_region *r, const struct pt_region_blocks *blocks,
                           uint32_t slot) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < blocks->count; i++)
        total += pt_region_load(&r->at->threads[blocks->numbers[i]].counters[slot]);
    return total;
}

/* Four at a time: the compiler does not vectorize loads that may race with another process. */
static uint64_t add_octave(uint64_t *buckets, const uint64_t *from) {
    uint64_t counts[2] = { 0 };
    for (uint32_t i = 0; i < PT_BUCKETS_PER_OCTAVE; i += 4) {
        uint64_t a = pt_region_load(&from[i]), b = pt_region_load(&from[i + 1]);
        uint64_t c = pt_region_load(&from[i + 2]), d = pt_region_load(&from[i + 3]);
        buckets[i] += a;
        buckets[i + 1] += b;
        buckets[i + 2] += c;
        buckets[i + 3] += d;
        counts[0] += a + b;
        counts[1] += c + d;
    }
    return counts[0] + counts[1];
}

static uint64_t add_shard(uint64_t *buckets, struct pt_bucket_range *used, double *sum,
                          const struct pt_region_shard *shard) {
    uint64_t count = 0;
    uint32_t octave = pt_region_used_octave(shard, 0);
    if (octave == PT_OCTAVE_COUNT) /* most of the shared ones */
        return 0;
    for (uint32_t i = 0; i < PT_REGION_SUMS; i++)
        *sum += double_of(pt_region_load(&shard->sums[i]));
    for (; octave < PT_OCTAVE_COUNT; octave = pt_region_used_octave(shard, octave + 1)) {
        uint32_t first = octave * PT_BUCKETS_PER_OCTAVE;
        count += add_octave(buckets + first, shard->buckets + first);
        uint32_t end = first + PT_BUCKETS_PER_OCTAVE;
        used->first = used->end == 0 || first < used->first ? first : used->first;
        used->end = end > used->end ? end : used->end;
    }
    return count;
}

static bool has_shard(const struct pt_region *r, uint32_t index) {
    return index < PT_REGION_SHARDS && (!r->has_shard || pt_region_load(&r->has_shard[index]));
}

/* Shards below PT_REGION_HISTOGRAMS are shared: the histogram's own comes first. */
uint64_t pt_region_histogram(const struct pt_region *r, const struct pt_region_blocks *blocks,
                             uint32_t slot, uint64_t buckets[PT_BUCKET_COUNT],
                             struct pt_bucket_range *used, double *sum) {
    memset(buckets + used->first, 0, (used->end - used->first) * sizeof *buckets);
    *used = (struct pt_bucket_range){ 0 };
    *sum = 0;
    uint64_t count = has_shard(r, slot) ? add_shard(buckets, used, sum, &r->at->shards[slot]) : 0;
    for (uint32_t i = 0; i < blocks->count; i++) {
        const struct pt_region_thread *t = &r->at->threads[blocks->numbers[i]];
        uint32_t shard = __atomic_load_n(&t->shards[slot], __ATOMIC_ACQUIRE);
        if (shard > PT_REGION_HISTOGRAMS && has_shard(r, shard - 1))
            count += add_shard(buckets, used, sum, &r->at->shards[shard - 1]);
    }
    return count;
}

bool pt_region_describe_metric(const struct pt_region *r, uint32_t index,
                               struct pt_region_metric *into) {
    static const uint32_t ends[] = { [PT_REGION_COUNTER] = PT_REGION_COUNTERS,
                                     [PT_REGION_GAUGE] = UINT32_MAX,
                                     [PT_REGION_HISTOGRAM] = PT_REGION_HISTOGRAMS };
    if (index == 0 || index >= pt_region_metric_count(r))
        return false;
    const struct pt_region_metric *m = &r->at->metrics[index];
    *into = (struct pt_region_metric){ .kind = pt_region_load(&m->kind),
                                       .slot = pt_region_load(&m->slot) };
    copy_text(into->name, m->name, sizeof m->name);
    copy_text(into->unit, m->unit, sizeof m->unit);
    copy_text(into->help, m->help, sizeof m->help);
    copy_text(into->labels, m->labels, sizeof m->labels);
    return into->kind < PT_COUNT(ends) && into->slot < ends[into->kind];
}

bool pt_region_read_metric(const struct pt_region *r, uint32_t index, struct pt_region_value *v) {
    struct pt_region_metric m;
    v->value = v->sum = 0;
    v->count = 0;
    v->used = (struct pt_bucket_range){ 0 };
    if (!pt_region_describe_metric(r, index, &m))
        return false;
    v->kind = m.kind;
    memcpy(v->name, m.name, sizeof v->name);
    memcpy(v->unit, m.unit, sizeof v->unit);
    memcpy(v->help, m.help, sizeof v->help);
    memcpy(v->labels, m.labels, sizeof v->labels);
    struct pt_region_blocks blocks;
    pt_region_find_blocks(r, &blocks);
    if (m.kind == PT_REGION_COUNTER) {
        v->value = (double)pt_region_counter(r, &blocks, m.slot);
    } else if (m.kind == PT_REGION_GAUGE) {
        v->value = double_of(pt_region_load(&r->at->metrics[index].gauge));
    } else {
        v->used = pt_all_buckets; /* may hold anything */
        v->count = pt_region_histogram(r, &blocks, m.slot, v->buckets, &v->used, &v->sum);
    }
    return is_there(r); /* otherwise part of it may be zeros */
}

uint64_t pt_region_dropped(const struct pt_region *r) {
    const struct pt_region_header *h = &r->at->header;
    uint64_t total = pt_region_load(&h->dropped_names) + pt_region_load(&h->dropped_metrics) +
                     pt_region_load(&h->dropped_spans);
    for (uint32_t i = 1; i < PT_REGION_THREADS; i++)
        if (is_ready(r, i))
            total += pt_region_load(&r->at->threads[i].dropped);
    return total;
}
