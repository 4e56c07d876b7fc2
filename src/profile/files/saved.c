/* .pitotprof: a complete profile, to be viewed, compared and symbolized later.
 *
 *     "pitotprf", version (u32), CRC-32C of the rest of the file (u32), size of the content (u64),
 *     content in a zstd frame
 *
 * The content is a list of sections, each a tag, a length and that many bytes. All numbers are
 * varints, signed ones zigzag; a reference is the number plus one, 0 is "none"; text is preceded by
 * its length. Sections are in the order of their tags, so references only point back. Readers skip
 * unknown sections. */
#include "base/crc32c.h"
#include "profile/files/profile_readers.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#define MAGIC      "pitotprf"
#define VERSION    1
#define ZSTD_LEVEL 3

enum section {
    SECTION_TYPES = 1, /* with the title */
    SECTION_META,
    SECTION_STRINGS,
    SECTION_MODULES,
    SECTION_FUNCTIONS,
    SECTION_FRAMES,
    SECTION_STACKS,
    SECTION_THREADS,
    SECTION_SAMPLES,
    SECTION_TIMELINE,
    SECTION_GROWTH,
    SECTION_GIL,
    SECTION_COUNT
};

static void put_ref(struct pt_buf *b, uint32_t number) {
    pt_buf_varint(b, (uint32_t)(number + 1)); /* NONE becomes 0 */
}

static void put_types(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_lstr(b, pt_str_from(p->meta.title ? p->meta.title : "cpu"));
    pt_buf_varint(b, p->type_count);
    for (size_t i = 0; i < p->type_count; i++) {
        pt_buf_lstr(b, pt_str_from(p->types[i].name));
        pt_buf_varint(b, p->types[i].unit);
    }
}

/* The numbers of the meta section, in the order of the file. New ones are added at the end. */
#define META_NUMBERS(X)     \
    X(start_ns)             \
    X(end_ns)               \
    X(start_wall_ns)        \
    X(rate_hz)              \
    X(period_ns)            \
    X(lost)                 \
    X(rooted)               \
    X(truncated)            \
    X(unwound)              \
    X(python_wanted)        \
    X(python_matched)       \
    X(dropped)              \
    X(heap.taken)           \
    X(heap.thinned)         \
    X(heap.processes)       \
    X(heap.unknown_pythons) \
    X(heap.allocated_error) \
    X(heap.peak_error)      \
    X(heap.live_error)      \
    X(heap.peak_bytes)      \
    X(heap.peak_ns)         \
    X(heap.lost_frees)      \
    X(heap.untracked)       \
    X(heap.lost_stacks)     \
    X(unnamed)              \
    X(gil_known)            \
    X(gil_held)             \
    X(gil_contended)        \
    X(own_cpu_ns)           \
    X(counted_ns)

#define PUT_NUMBER(name) pt_buf_zigzag(b, m->name);
#define GET_NUMBER(name) m->name = r->at < r->end ? pt_bytes_zigzag(r) : 0;

static void put_meta(const struct pt_profile *p, struct pt_buf *b) {
    const struct pt_profile_meta *m = &p->meta;
    pt_buf_lstr(b, pt_str_from(m->method));
    pt_buf_lstr(b, pt_str_from(m->command));
    META_NUMBERS(PUT_NUMBER)
}

static void put_strings(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->strings.count);
    for (uint32_t i = 0; i < p->strings.count; i++)
        pt_buf_lstr(b, pt_profile_text(p, i));
}

static void put_modules(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->modules.count);
    for (size_t i = 0; i < p->modules.count; i++) {
        pt_buf_varint(b, p->modules.at[i].path);
        pt_buf_varint(b, p->modules.at[i].build_id);
    }
}

static void put_functions(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->functions.count);
    for (size_t i = 0; i < p->functions.count; i++) {
        const struct pt_profile_function *f = &p->functions.at[i];
        pt_buf_varint(b, f->name);
        put_ref(b, f->module);
        pt_buf_varint(b, f->file);
        pt_buf_varint(b, f->line);
        pt_buf_varint(b, f->kind);
    }
}

static void put_frames(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->frames.count);
    for (size_t i = 0; i < p->frames.count; i++) {
        const struct pt_profile_frame *f = &p->frames.at[i];
        put_ref(b, f->function);
        put_ref(b, f->module);
        pt_buf_varint(b, f->line);
        pt_buf_varint(b, f->flags);
        pt_buf_varint(b, f->address);
    }
}

static void put_stacks(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->stacks.count);
    for (size_t i = 0; i < p->stacks.count; i++) {
        put_ref(b, p->stacks.at[i].parent);
        pt_buf_varint(b, p->stacks.at[i].frame);
    }
}

static void put_threads(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->threads.count);
    for (size_t i = 0; i < p->threads.count; i++) {
        pt_buf_zigzag(b, p->threads.at[i].pid);
        pt_buf_zigzag(b, p->threads.at[i].tid);
        pt_buf_varint(b, p->threads.at[i].name);
        pt_buf_varint(b, p->threads.at[i].process);
    }
}

/* Times are differences, most of them small. */
static void put_samples(const struct pt_profile *p, struct pt_buf *b) {
    int64_t last_ns = 0;
    pt_buf_varint(b, p->samples.count);
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct pt_profile_sample *s = &p->samples.at[i];
        pt_buf_zigzag(b, s->time_ns - last_ns);
        put_ref(b, s->thread);
        put_ref(b, s->stack);
        pt_buf_varint(b, s->cpu);
        pt_buf_varint(b, s->state);
        for (size_t type = 0; type < p->type_count; type++)
            pt_buf_zigzag(b, pt_profile_value(p, i, type));
        last_ns = s->time_ns;
    }
}

static void put_timeline(const struct pt_profile *p, struct pt_buf *b) {
    const struct pt_profile_timeline *t = &p->timeline;
    pt_buf_zigzag(b, t->start_ns);
    pt_buf_zigzag(b, t->step_ns);
    pt_buf_varint(b, t->count);
    for (size_t i = 0; i < t->count; i++)
        pt_buf_zigzag(b, t->values[i]);
}

static void put_growth(const struct pt_profile *p, struct pt_buf *b) {
    pt_buf_varint(b, p->growth.count);
    for (size_t i = 0; i < p->growth.count; i++) {
        const struct pt_profile_growth *g = &p->growth.at[i];
        pt_buf_varint(b, g->stack);
        pt_buf_zigzag(b, g->slope);
        pt_buf_zigzag(b, g->slope_error);
        pt_buf_zigzag(b, g->bytes);
        pt_buf_zigzag(b, g->count);
    }
}

/* For every sample, or for none. */
static void put_gil(const struct pt_profile *p, struct pt_buf *b) {
    bool has_gil = false;
    for (size_t i = 0; i < p->samples.count && !has_gil; i++)
        has_gil = p->samples.at[i].gil != 0;
    size_t count = has_gil ? p->samples.count : 0;
    pt_buf_varint(b, count);
    for (size_t i = 0; i < count; i++)
        pt_buf_varint(b, p->samples.at[i].gil);
}

void pt_saved_content(const struct pt_profile *p, struct pt_buf *content) {
    static void (*const sections[SECTION_COUNT])(const struct pt_profile *p, struct pt_buf *b) = {
        [SECTION_TYPES] = put_types,         [SECTION_META] = put_meta,
        [SECTION_STRINGS] = put_strings,     [SECTION_MODULES] = put_modules,
        [SECTION_FUNCTIONS] = put_functions, [SECTION_FRAMES] = put_frames,
        [SECTION_STACKS] = put_stacks,       [SECTION_THREADS] = put_threads,
        [SECTION_SAMPLES] = put_samples,     [SECTION_TIMELINE] = put_timeline,
        [SECTION_GROWTH] = put_growth,       [SECTION_GIL] = put_gil,
    };
    struct pt_buf section = { 0 };
    for (int tag = SECTION_TYPES; tag < SECTION_COUNT; tag++) {
        pt_buf_clear(&section);
        sections[tag](p, &section);
        pt_buf_varint(content, (uint64_t)tag);
        pt_buf_lstr(content, pt_buf_as_str(&section));
    }
    pt_buf_release(&section);
}

static void write_saved(const struct pt_profile *p, struct pt_out *out) {
    struct pt_buf content = { 0 }, header = { 0 }, rest = { 0 };
    pt_saved_content(p, &content);
    size_t bound = ZSTD_compressBound(content.len);
    pt_buf_u64(&rest, content.len);
    size_t n =
        ZSTD_compress(pt_buf_reserve(&rest, bound), bound, content.at, content.len, ZSTD_LEVEL);
    if (ZSTD_isError(n))
        pt_mem_exhausted(content.len); /* the only failure: the buffer is large enough */
    rest.len += n;
    pt_buf_str(&header, PT_STR(MAGIC));
    pt_buf_u32(&header, VERSION);
    pt_buf_u32(&header, pt_crc32c(0, rest.at, rest.len));
    pt_out_bytes(out, header.at, header.len);
    pt_out_bytes(out, rest.at, rest.len);
    pt_buf_release(&content);
    pt_buf_release(&header);
    pt_buf_release(&rest);
}

const struct pt_profile_writer pt_saved_writer = {
    ".pitotprof",
    "Pitot's own format: complete, can be read again",
    write_saved,
};

static bool get_types(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile_file_type types[PT_PROFILE_VALUES_MAX];
    struct pt_str title = pt_bytes_lstr(r);
    uint64_t count = pt_bytes_varint(r);
    if (count == 0 || count > PT_PROFILE_VALUES_MAX || f->profile.type_count > 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        types[i].name = pt_bytes_lstr(r);
        uint64_t unit = pt_bytes_varint(r);
        if (r->failed || unit > PT_PROFILE_BYTES)
            return false;
        types[i].unit = (enum pt_profile_unit)unit;
    }
    pt_profile_file_init(f, title, types, count);
    return true;
}

/* A number of elements; each takes at least one byte. */
static uint64_t get_count(struct pt_bytes *r) {
    uint64_t count = pt_bytes_varint(r);
    if (count > (uint64_t)(r->end - r->at))
        r->failed = true;
    return r->failed ? 0 : count;
}

/* Must be below `limit`. */
static uint32_t get_below(struct pt_bytes *r, uint64_t limit) {
    uint64_t number = pt_bytes_varint(r);
    if (number >= limit)
        r->failed = true;
    return r->failed ? 0 : (uint32_t)number;
}

static uint32_t get_ref(struct pt_bytes *r, uint64_t limit) {
    return get_below(r, limit + 1) - 1; /* 0 becomes NONE */
}

static uint32_t get_u32(struct pt_bytes *r) {
    return get_below(r, UINT64_C(1) << 32);
}

static int32_t get_i32(struct pt_bytes *r) {
    int64_t value = pt_bytes_zigzag(r);
    if (value < INT32_MIN || value > INT32_MAX)
        r->failed = true;
    return r->failed ? 0 : (int32_t)value;
}

static bool get_meta(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile_meta *m = &f->profile.meta;
    pt_str_copy(m->method, sizeof m->method, pt_bytes_lstr(r));
    pt_str_copy(m->command, sizeof m->command, pt_bytes_lstr(r));
    META_NUMBERS(GET_NUMBER)
    const int64_t limit = INT64_C(1) << 61; /* differences must not overflow */
    return m->start_ns < limit && m->start_ns > -limit && m->end_ns < limit && m->end_ns > -limit &&
           m->period_ns < limit && m->period_ns >= 0;
}

/* Equal elements have equal numbers, so a duplicate was not written by Pitot, and would shift all
 * numbers after it. */
static bool get_strings(struct pt_bytes *r, struct pt_profile_file *f) {
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++)
        if (pt_profile_string(&f->profile, pt_bytes_lstr(r)) != i)
            return false;
    return true;
}

static bool get_modules(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_module m;
        m.path = get_below(r, p->strings.count);
        m.build_id = get_below(r, p->strings.count);
        if (!r->failed && pt_profile_module(p, m) != i)
            return false;
    }
    return true;
}

static bool get_functions(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_function function;
        function.name = get_below(r, p->strings.count);
        function.module = get_ref(r, p->modules.count);
        function.file = get_below(r, p->strings.count);
        function.line = get_u32(r);
        function.kind = get_below(r, PT_KIND_COUNT);
        if (!r->failed && pt_profile_function(p, function) != i)
            return false;
    }
    return true;
}

static bool get_frames(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_frame frame;
        frame.function = get_ref(r, p->functions.count);
        frame.module = get_ref(r, p->modules.count);
        frame.line = get_u32(r);
        frame.flags = get_u32(r);
        frame.address = pt_bytes_varint(r);
        if (!r->failed && pt_profile_frame(p, frame) != i)
            return false;
    }
    return true;
}

static bool get_stacks(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        uint32_t parent = get_ref(r, p->stacks.count), frame = get_u32(r), stack;
        if (!r->failed && (!pt_profile_file_stack(f, parent, frame, &stack) || stack != i))
            return false;
    }
    return true;
}

static bool get_threads(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_thread t;
        t.pid = get_i32(r);
        t.tid = get_i32(r);
        t.name = get_below(r, p->strings.count);
        t.process = get_below(r, p->strings.count);
        if (!r->failed && pt_profile_thread(p, t) != i)
            return false;
    }
    return true;
}

static bool get_samples(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    int64_t time_ns = 0, values[PT_PROFILE_VALUES_MAX];
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_sample s = { 0 };
        if (__builtin_add_overflow(time_ns, pt_bytes_zigzag(r), &time_ns))
            return false;
        s.time_ns = time_ns;
        s.thread = get_ref(r, p->threads.count);
        s.stack = get_ref(r, p->stacks.count);
        s.cpu = (uint16_t)get_below(r, UINT16_MAX + 1);
        s.state = (uint16_t)get_below(r, PT_STATE_COUNT);
        for (size_t type = 0; type < p->type_count; type++)
            values[type] = pt_bytes_zigzag(r);
        if (!r->failed && !pt_profile_file_sample(f, &s, values))
            return false;
    }
    return true;
}

static bool get_timeline(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile_timeline *t = &f->profile.timeline;
    const int64_t limit = INT64_C(1) << 50; /* the total must not overflow */
    t->start_ns = pt_bytes_zigzag(r);
    t->step_ns = pt_bytes_zigzag(r);
    uint64_t count = get_count(r);
    if (count > PT_PROFILE_STEPS_MAX || t->step_ns < 0 || t->step_ns > limit ||
        t->start_ns > INT64_MAX / 2 || t->start_ns < -INT64_MAX / 2 ||
        (count > 0 && t->step_ns == 0))
        return false;
    for (t->count = 0; t->count < count; t->count++)
        t->values[t->count] = pt_bytes_zigzag(r);
    return true;
}

static bool get_growth(struct pt_bytes *r, struct pt_profile_file *f) {
    uint64_t count = get_count(r);
    for (uint64_t i = 0; i < count && !r->failed; i++) {
        struct pt_profile_growth g = { .stack = get_below(r, f->profile.stacks.count) };
        g.slope = pt_bytes_zigzag(r);
        g.slope_error = pt_bytes_zigzag(r);
        g.bytes = pt_bytes_zigzag(r);
        g.count = pt_bytes_zigzag(r);
        if (!r->failed)
            pt_profile_growth(&f->profile, &g);
    }
    return true;
}

/* Older files have no such section. */
static bool get_gil(struct pt_bytes *r, struct pt_profile_file *f) {
    struct pt_profile *p = &f->profile;
    uint64_t count = get_count(r);
    if (count > 0 && count != p->samples.count)
        return false;
    for (uint64_t i = 0; i < count && !r->failed; i++)
        p->samples.at[i].gil = get_below(r, PT_GIL_CONTENDED + 1);
    return true;
}

int pt_saved_parse(struct pt_str content, struct pt_profile_file *f, struct pt_err *err) {
    static bool (*const sections[SECTION_COUNT])(struct pt_bytes * r,
                                                 struct pt_profile_file * f) = {
        [SECTION_TYPES] = get_types,         [SECTION_META] = get_meta,
        [SECTION_STRINGS] = get_strings,     [SECTION_MODULES] = get_modules,
        [SECTION_FUNCTIONS] = get_functions, [SECTION_FRAMES] = get_frames,
        [SECTION_STACKS] = get_stacks,       [SECTION_THREADS] = get_threads,
        [SECTION_SAMPLES] = get_samples,     [SECTION_TIMELINE] = get_timeline,
        [SECTION_GROWTH] = get_growth,       [SECTION_GIL] = get_gil,
    };
    const uint8_t *at = (const uint8_t *)content.at;
    struct pt_bytes all = { at, at + content.len, false };
    uint64_t last = 0;
    while (all.at < all.end && !all.failed) {
        uint64_t tag = pt_bytes_varint(&all);
        struct pt_str bytes = pt_bytes_lstr(&all);
        if (all.failed || tag >= SECTION_COUNT)
            continue;
        const uint8_t *first = (const uint8_t *)bytes.at;
        struct pt_bytes r = { first, first + bytes.len, false };
        bool is_first = tag == SECTION_TYPES;
        if (tag <= last || (last == 0) != is_first || !sections[tag](&r, f) || r.failed)
            return pt_fail(err, -EBADMSG, "section %d of the profile is invalid", (int)tag);
        last = tag;
    }
    if (all.failed || last == 0)
        return pt_fail(err, -EBADMSG, "the profile is truncated");
    return 0;
}

/* The buffer grows with the output, so that a wrong size costs nothing. */
static int decompress(struct pt_str bytes, uint64_t size, struct pt_buf *into, struct pt_err *err) {
    ZSTD_DStream *stream = ZSTD_createDStream();
    if (!stream)
        pt_mem_exhausted((size_t)size);
    ZSTD_inBuffer in = { bytes.at, bytes.len, 0 };
    size_t hint = 1;
    bool has_failed = false, is_stuck = false;
    while (hint > 0 && !has_failed && !is_stuck && into->len <= size) {
        size_t room = ZSTD_DStreamOutSize();
        ZSTD_outBuffer out = { pt_buf_reserve(into, room), room, 0 };
        size_t before = in.pos;
        hint = ZSTD_decompressStream(stream, &out, &in);
        has_failed = ZSTD_isError(hint);
        is_stuck = in.pos == before && out.pos == 0;
        into->len += out.pos;
    }
    ZSTD_freeDStream(stream);
    if (has_failed || hint > 0 || into->len != size)
        return pt_fail(err, -EBADMSG, "the compressed data is damaged");
    return 0;
}

static int read_saved(struct pt_str bytes, struct pt_profile_file *f, struct pt_err *err) {
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct pt_bytes r = { at, at + bytes.len, false };
    struct pt_str magic = pt_bytes_take(&r, sizeof MAGIC - 1);
    uint32_t version = pt_bytes_u32(&r), crc = pt_bytes_u32(&r);
    if (r.failed || !pt_str_eq(magic, PT_STR(MAGIC)))
        return pt_fail(err, -EBADMSG, "not a Pitot profile");
    if (version != VERSION)
        return pt_fail(err, -EBADMSG, "unsupported format version %u (this Pitot reads version %d)",
                       version, VERSION);
    if (pt_crc32c(0, r.at, (size_t)(r.end - r.at)) != crc)
        return pt_fail(err, -EBADMSG, "the profile is damaged or incomplete");
    uint64_t size = pt_bytes_u64(&r);
    if (size > PT_PROFILE_CONTENT_MAX)
        return pt_fail(err, -EFBIG, "the profile is larger than 1 GiB");
    struct pt_buf content = { 0 };
    int rc = r.failed ? -EBADMSG
                      : decompress((struct pt_str){ (const char *)r.at, (size_t)(r.end - r.at) },
                                   size, &content, err);
    if (!rc)
        rc = pt_saved_parse(pt_buf_as_str(&content), f, err);
    pt_buf_release(&content);
    return rc;
}

const struct pt_profile_reader pt_saved_reader = { ".pitotprof", read_saved };
