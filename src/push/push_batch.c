#include "push/push_batch.h"

#include "base/clock.h"

#define MISSING_NS (60 * PT_NS_PER_SECOND) /* how long a family may be skipped */

void pt_push_batch_init(struct pt_push_batch *b, const struct pt_push_naming *naming) {
    *b = (struct pt_push_batch){ .naming = *naming };
}

static void free_str(struct pt_str s) {
    pt_free((void *)(uintptr_t)s.at);
}

static struct pt_str copy_str(struct pt_str s) {
    return (struct pt_str){ pt_strndup(s), s.len };
}

static void clear_points(struct pt_push_series *s) {
    for (size_t i = 0; i < s->point_count; i++)
        pt_free((void *)(uintptr_t)s->points[i].histogram);
    s->point_count = 0;
}

static void release_series(struct pt_push_series *s) {
    clear_points(s);
    free_str(s->key);
    free_str(s->identity);
    pt_free(s->points);
}

void pt_push_batch_release(struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++)
        release_series(&b->series[i]);
    for (size_t i = 0; i < b->family_count; i++) {
        free_str(b->families[i].name);
        free_str(b->families[i].help);
        free_str(b->families[i].unit);
    }
    pt_free(b->series);
    pt_free(b->families);
    pt_intern_release(&b->series_index);
    pt_intern_release(&b->family_index);
    pt_buf_release(&b->key);
    pt_buf_release(&b->identity);
    *b = (struct pt_push_batch){ 0 };
}

void pt_push_batch_begin(struct pt_push_batch *b, int64_t wall_ns) {
    if (b->point_count == 0)
        b->first_ns = wall_ns;
    b->step_ns = b->sample_count > 0 ? wall_ns - b->last_ns : 0;
    b->last_ns = wall_ns;
    b->guess = 0;
    b->sample_count++;
}

static bool is_family(const void *owner, uint32_t number, const void *key) {
    const struct pt_push_batch *b = owner;
    return pt_str_eq(b->families[number].name, *(const struct pt_str *)key);
}

static uint32_t find_family(struct pt_push_batch *b, const struct pt_family *family) {
    uint32_t next = (uint32_t)b->family_count;
    uint32_t number =
        pt_intern_find(&b->family_index, pt_intern_hash(family->name.at, family->name.len),
                       is_family, b, &family->name, next);
    if (number < next)
        return number;
    pt_grow(&b->families, &b->family_capacity, b->family_count + 1, sizeof *b->families);
    b->families[b->family_count++] = (struct pt_push_family){
        .name = copy_str(family->name),
        .help = copy_str(family->help),
        .unit = copy_str(family->unit),
        .kind = family->kind,
    };
    return number;
}

static bool is_series(const void *owner, uint32_t number, const void *key) {
    const struct pt_push_batch *b = owner;
    return pt_str_eq(b->series[number].key, *(const struct pt_str *)key);
}

/* A series of the family being added. */
struct member {
    const struct pt_family *family;
    uint32_t family_number;
    struct pt_str suffix, labels, bound;
};

static struct pt_str key_of(struct pt_push_batch *b, const struct member *m) {
    pt_buf_clear(&b->key);
    pt_buf_str(&b->key, m->family->name);
    pt_buf_str(&b->key, m->suffix);
    pt_buf_u8(&b->key, 0);
    pt_buf_str(&b->key, m->labels);
    pt_buf_u8(&b->key, 0);
    pt_buf_str(&b->key, m->bound);
    return pt_buf_as_str(&b->key);
}

static struct pt_push_series *add_series(struct pt_push_batch *b, const struct member *m,
                                         struct pt_str key) {
    pt_grow(&b->series, &b->series_capacity, b->series_count + 1, sizeof *b->series);
    pt_buf_clear(&b->identity);
    b->naming.identify(b->naming.user, m->family, m->suffix, m->labels, m->bound, &b->identity);
    struct pt_push_series *s = &b->series[b->series_count++];
    *s = (struct pt_push_series){ .key = copy_str(key),
                                  .identity = copy_str(pt_buf_as_str(&b->identity)),
                                  .family = m->family_number };
    return s;
}

/* Removes `part` from the start of `key`. */
static bool take_part(struct pt_str *key, struct pt_str part) {
    if (!pt_str_starts(*key, part))
        return false;
    *key = pt_str_skip(*key, part.len);
    return true;
}

/* Same result as comparing with key_of(), without building it. */
static bool is_member(const struct pt_push_series *s, const struct member *m) {
    static const struct pt_str zero = { "", 1 };
    struct pt_str key = s->key;
    return take_part(&key, m->family->name) && take_part(&key, m->suffix) &&
           take_part(&key, zero) && take_part(&key, m->labels) && take_part(&key, zero) &&
           pt_str_eq(key, m->bound);
}

/* NULL: too many series. */
static struct pt_push_series *look_up_series(struct pt_push_batch *b, const struct member *m) {
    struct pt_str key = key_of(b, m);
    bool is_full = b->series_count >= PT_PUSH_SERIES_MAX;
    uint32_t next = is_full ? PT_INTERN_NONE : (uint32_t)b->series_count;
    uint32_t number =
        pt_intern_find(&b->series_index, pt_intern_hash(key.at, key.len), is_series, b, &key, next);
    if (number < next)
        return &b->series[number];
    if (!is_full)
        return add_series(b, m, key);
    b->refused_points++;
    return NULL;
}

static struct pt_push_series *find_series(struct pt_push_batch *b, const struct member *m) {
    if (b->guess < b->series_count && is_member(&b->series[b->guess], m))
        return &b->series[b->guess++];
    struct pt_push_series *s = look_up_series(b, m);
    b->guess = s ? (size_t)(s - b->series) + 1 : 0;
    return s;
}

static int64_t in_steps(const struct pt_push_batch *b, int64_t time_ns) {
    return time_ns / b->naming.resolution_ns;
}

static void add_point(struct pt_push_batch *b, struct pt_push_series *s, struct pt_point point) {
    pt_grow(&s->points, &s->point_capacity, s->point_count + 1, sizeof *s->points);
    point.start_ns = s->start_ns;
    s->points[s->point_count++] = point;
    s->last_ns = point.time_ns;
    b->point_count++;
}

/* A counter that decreased was reset after its last point. */
static void see_start(const struct pt_push_batch *b, struct pt_push_series *s, int64_t time_ns,
                      double value) {
    if (s->last_ns == 0)
        s->start_ns = b->naming.has_start ? time_ns : 0;
    else if (value < s->last_value)
        s->start_ns = s->last_ns;
    s->last_value = value;
}

/* True: `time_ns` is newer than the last point of the series. */
static bool see(struct pt_push_batch *b, struct pt_push_series *s, int64_t time_ns) {
    s->seen = b->sample_count;
    s->has_ended = false;
    return in_steps(b, time_ns) > in_steps(b, s->last_ns);
}

static void add_number(struct pt_push_batch *b, const struct member *m, int64_t time_ns,
                       double value) {
    struct pt_push_series *s = find_series(b, m);
    if (!s || !see(b, s, time_ns))
        return;
    if (m->family->kind != PT_FAMILY_GAUGE)
        see_start(b, s, time_ns, value);
    add_point(b, s, (struct pt_point){ .time_ns = time_ns, .value = value });
}

static const struct pt_native *copy_native(const struct pt_distribution *d) {
    struct pt_native native = pt_native_of(d);
    size_t bytes =
        native.first < native.end ? (native.end - native.first) * sizeof *native.counts : 0;
    struct pt_native *copy = pt_malloc(sizeof *copy + bytes);
    *copy = native;
    if (bytes > 0)
        memcpy(copy + 1, native.counts, bytes);
    copy->counts = (const uint64_t *)(copy + 1);
    return copy;
}

static void add_native(struct pt_push_batch *b, const struct member *m, int64_t time_ns,
                       const struct pt_distribution *d) {
    struct pt_push_series *s = find_series(b, m);
    if (!s || !see(b, s, time_ns))
        return;
    s->is_native = true;
    see_start(b, s, time_ns, (double)d->count);
    add_point(b, s, (struct pt_point){ .time_ns = time_ns, .histogram = copy_native(d) });
}

static void add_classic(struct pt_push_batch *b, struct member m, int64_t time_ns,
                        const struct pt_distribution *d) {
    uint64_t at_or_below[PT_BOUNDS_MAX];
    pt_bounds_count(d->bounds, d->buckets, d->used, at_or_below);
    m.suffix = PT_STR("_bucket");
    for (size_t i = 0; i < d->bounds->count; i++) {
        /* The text of a bound, without the end of its exposition line. */
        struct pt_str text = { d->bounds->ends[i].text, d->bounds->ends[i].length };
        const char *quote = memchr(text.at, '"', text.len);
        m.bound = (struct pt_str){ text.at, quote ? (size_t)(quote - text.at) : text.len };
        add_number(b, &m, time_ns, (double)at_or_below[i]);
    }
    m.bound = PT_STR("+Inf");
    add_number(b, &m, time_ns, (double)d->count);
    m.bound = PT_STR("");
    m.suffix = PT_STR("_count");
    add_number(b, &m, time_ns, (double)d->count);
    m.suffix = PT_STR("_sum");
    add_number(b, &m, time_ns, d->sum);
}

void pt_push_batch_add(struct pt_push_batch *b, const struct pt_family *family) {
    struct member m = { family, find_family(b, family), PT_STR(""), PT_STR(""), PT_STR("") };
    b->families[m.family_number].seen = b->sample_count;
    if (family->kind == PT_FAMILY_COUNTER)
        m.suffix = PT_STR("_total");
    for (size_t i = 0; i < family->series_count; i++) {
        const struct pt_series *s = &family->series[i];
        int64_t time_ns = s->time_ns > 0 ? s->time_ns : b->last_ns;
        m.labels = s->labels;
        if (!s->distribution)
            add_number(b, &m, time_ns, s->is_integer ? (double)s->integer : s->value);
        else if (b->naming.has_native)
            add_native(b, &m, time_ns, s->distribution);
        else
            add_classic(b, m, time_ns, s->distribution);
    }
}

static void end_series(struct pt_push_batch *b, struct pt_push_series *s, int64_t time_ns) {
    int64_t later_ns = s->last_ns + b->naming.resolution_ns;
    struct pt_point end = { .time_ns = time_ns > later_ns ? time_ns : later_ns, .is_stale = true };
    if (s->is_native)
        end.histogram = pt_calloc(1, sizeof *end.histogram);
    s->has_ended = true;
    add_point(b, s, end);
}

void pt_push_batch_end(struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++) {
        struct pt_push_series *s = &b->series[i];
        bool is_skipped =
            b->families[s->family].seen != b->sample_count && b->last_ns - s->last_ns < MISSING_NS;
        if (s->seen != b->sample_count && !s->has_ended && !is_skipped)
            end_series(b, s, b->last_ns);
    }
}

void pt_push_batch_end_all(struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++)
        if (!b->series[i].has_ended)
            end_series(b, &b->series[i], b->last_ns);
}

static void forget_ended(struct pt_push_batch *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->series_count; i++) {
        if (b->series[i].has_ended)
            release_series(&b->series[i]);
        else
            b->series[kept++] = b->series[i];
    }
    if (kept == b->series_count)
        return;
    b->series_count = 0;
    pt_intern_clear(&b->series_index);
    for (; b->series_count < kept; b->series_count++) {
        struct pt_str key = b->series[b->series_count].key;
        pt_intern_find(&b->series_index, pt_intern_hash(key.at, key.len), is_series, b, &key,
                       (uint32_t)b->series_count);
    }
}

void pt_push_batch_clear(struct pt_push_batch *b) {
    for (size_t i = 0; i < b->series_count; i++)
        clear_points(&b->series[i]);
    b->point_count = 0;
    forget_ended(b);
}
