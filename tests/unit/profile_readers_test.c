/* Files of profiles, written number by number: what is read from them, and what is refused. */
#include "test.h"

#include "base/crc32c.h"
#include "profile/files/profile_readers.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define TIME_MAX (INT64_C(1) << 61)

/* --- .pitotprof --- */

enum {
    TYPES = 1,
    META,
    STRINGS,
    MODULES,
    FUNCTIONS,
    FRAMES,
    STACKS,
    THREADS,
    SAMPLES,
    TIMELINE,
    GROWTH,
    GIL,
    SECTION_COUNT
};

/* The content of a section: numbers as they are in the file. Letters are numbers too. */
struct numbers {
    size_t count;
    uint64_t at[400];
};
#define COUNTED(...)                                              \
    {                                                             \
        sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), { \
            __VA_ARGS__                                           \
        }                                                         \
    }
#define ZIGZAG(value) ((uint64_t)(value) << 1 ^ (uint64_t)((int64_t)(value) >> 63))

/* Two functions, three frames, two stacks, one thread, two samples. */
static const struct numbers good[SECTION_COUNT] = {
    [TYPES] = COUNTED(3, 'c', 'p', 'u', 1, 1, 'v', 1),
    [META] = COUNTED(1, 'm', 2, 'c', 'd', ZIGZAG(5), ZIGZAG(-6), ZIGZAG(7), ZIGZAG(8), ZIGZAG(9)),
    [STRINGS] = COUNTED(3, 0, 1, 'a', 2, 'b', 'c'),
    [MODULES] = COUNTED(2, 1, 0, 1, 2),
    [FUNCTIONS] = COUNTED(2, 1, 0, 0, 0, 3, 2, 2, 1, 9, 1),
    [FRAMES] = COUNTED(3, 1, 0, 4, 0, 0, 2, 2, 5, 1, 300, 0, 1, 0, 0, 7),
    [STACKS] = COUNTED(2, 0, 0, 1, 2),
    [THREADS] = COUNTED(1, ZIGZAG(7), ZIGZAG(8), 1, 2),
    [SAMPLES] =
        COUNTED(2, ZIGZAG(100), 1, 2, 3, 1, ZIGZAG(40), ZIGZAG(-1), 0, 0, 65535, 7, ZIGZAG(2)),
    [TIMELINE] = COUNTED(ZIGZAG(-3), ZIGZAG(4), 2, ZIGZAG(-1), ZIGZAG(50)),
    [GROWTH] = COUNTED(1, 1, ZIGZAG(2), ZIGZAG(-3), ZIGZAG(4), ZIGZAG(5)),
    [GIL] = COUNTED(2, 7, 0),
};

static void put_section(struct pt_buf *content, uint64_t tag, const struct numbers *numbers) {
    struct pt_buf body = { 0 };
    for (size_t i = 0; i < numbers->count; i++)
        pt_buf_varint(&body, numbers->at[i]);
    pt_buf_varint(content, tag);
    pt_buf_lstr(content, pt_buf_as_str(&body));
    pt_buf_release(&body);
}

/* The good content with one section replaced, or left out if `other` is NULL. */
static int parse_with(uint64_t tag, const struct numbers *other, struct pt_profile_file *f,
                      struct pt_err *err) {
    struct pt_buf content = { 0 };
    for (uint64_t i = TYPES; i < SECTION_COUNT; i++)
        if (i != tag || other)
            put_section(&content, i, i == tag ? other : &good[i]);
    *f = (struct pt_profile_file){ 0 };
    int rc = pt_saved_parse(pt_buf_as_str(&content), f, err);
    pt_buf_release(&content);
    return rc;
}

static void test_saved_fields(void **state) {
    (void)state;
    struct pt_profile_file f;
    assert_int_equal(parse_with(0, NULL, &f, NULL), 0);
    const struct pt_profile *p = &f.profile;
    assert_string_equal(p->meta.title, "cpu");
    assert_int_equal(p->type_count, 1);
    assert_string_equal(p->types[0].name, "v");
    assert_int_equal(p->types[0].unit, PT_PROFILE_NANOSECONDS);
    assert_string_equal(p->meta.method, "m");
    assert_string_equal(p->meta.command, "cd");
    assert_int_equal(p->meta.start_ns, 5);
    assert_int_equal(p->meta.end_ns, -6);
    assert_int_equal(p->meta.start_wall_ns, 7);
    assert_int_equal(p->meta.rate_hz, 8);
    assert_int_equal(p->meta.period_ns, 9);
    assert_int_equal(p->meta.lost, 0); /* files of older versions end before */
    assert_int_equal(p->meta.gil_contended, 0);
    assert_int_equal(p->strings.count, 3);
    assert_str_eq(pt_profile_text(p, 2), "bc");
    static const struct pt_profile_module modules[] = { { 1, 0 }, { 1, 2 } };
    assert_int_equal(p->modules.count, 2);
    assert_memory_equal(p->modules.at, modules, sizeof modules);
    static const struct pt_profile_function functions[] = {
        { 1, PT_PROFILE_NONE, 0, 0, PT_KIND_PYTHON }, { 2, 1, 1, 9, PT_KIND_NATIVE }
    };
    assert_int_equal(p->functions.count, 2);
    assert_memory_equal(p->functions.at, functions, sizeof functions);
    static const struct pt_profile_frame frames[] = { { 0, PT_PROFILE_NONE, 4, 0, 0 },
                                                      { 1, 1, 5, 1, 300 },
                                                      { PT_PROFILE_NONE, 0, 0, 0, 7 } };
    assert_int_equal(p->frames.count, 3);
    assert_memory_equal(p->frames.at, frames, sizeof frames);
    static const struct pt_profile_stack stacks[] = { { PT_PROFILE_NONE, 0 }, { 0, 2 } };
    assert_int_equal(p->stacks.count, 2);
    assert_memory_equal(p->stacks.at, stacks, sizeof stacks);
    assert_int_equal(f.depths[0], 1);
    assert_int_equal(f.depths[1], 2);
    static const struct pt_profile_thread thread = { 7, 8, 1, 2 };
    assert_int_equal(p->threads.count, 1);
    assert_memory_equal(p->threads.at, &thread, sizeof thread);
    static const struct pt_profile_sample samples[] = { { 100, 0, 1, 3, PT_STATE_GPU, 7 },
                                                        { 99, PT_PROFILE_NONE, PT_PROFILE_NONE,
                                                          UINT16_MAX, PT_STATE_GIL, 0 } };
    assert_int_equal(p->samples.count, 2);
    assert_memory_equal(p->samples.at, samples, sizeof samples);
    assert_int_equal(pt_profile_value(p, 0, 0), 40);
    assert_int_equal(pt_profile_value(p, 1, 0), 2);
    assert_int_equal(p->timeline.start_ns, -3);
    assert_int_equal(p->timeline.step_ns, 4);
    assert_int_equal(p->timeline.count, 2);
    assert_int_equal(p->timeline.values[0], -1);
    assert_int_equal(p->timeline.values[1], 50);
    static const struct pt_profile_growth growth = { 1, 0, 2, -3, 4, 5 };
    assert_int_equal(p->growth.count, 1);
    assert_memory_equal(p->growth.at, &growth, sizeof growth);
    pt_profile_file_release(&f);
}

/* One number at its limit and one beyond. */
static void test_saved_limits(void **state) {
    (void)state;
    static const struct {
        uint64_t tag;
        size_t position; /* of the number that is changed */
        uint64_t accepted, refused;
    } cases[] = {
        { TYPES, 7, PT_PROFILE_BYTES, PT_PROFILE_BYTES + 1 },
        { TYPES, 4, 1, 0 },
        { META, 5, ZIGZAG(TIME_MAX - 1), ZIGZAG(TIME_MAX) },
        { META, 5, ZIGZAG(1 - TIME_MAX), ZIGZAG(-TIME_MAX) },
        { META, 6, ZIGZAG(TIME_MAX - 1), ZIGZAG(TIME_MAX) },
        { META, 6, ZIGZAG(1 - TIME_MAX), ZIGZAG(-TIME_MAX) },
        { META, 9, ZIGZAG(TIME_MAX - 1), ZIGZAG(TIME_MAX) },
        { META, 9, ZIGZAG(0), ZIGZAG(-1) },
        { STRINGS, 0, 3, 4 },
        { STRINGS, 4, 2, 3 },
        { MODULES, 1, 2, 3 },
        { MODULES, 4, 1, 3 },
        { MODULES, 4, 2, 0 }, /* twice the same */
        { MODULES, 0, 2, 3 },
        { FUNCTIONS, 1, 2, 3 },
        { FUNCTIONS, 2, 2, 3 },
        { FUNCTIONS, 3, 2, 3 },
        { FUNCTIONS, 4, UINT32_MAX, UINT64_C(1) << 32 },
        { FUNCTIONS, 5, PT_KIND_COUNT - 1, PT_KIND_COUNT },
        { FUNCTIONS, 0, 2, 3 },
        { FRAMES, 1, 2, 3 },
        { FRAMES, 2, 2, 3 },
        { FRAMES, 3, UINT32_MAX, UINT64_C(1) << 32 },
        { FRAMES, 4, UINT32_MAX, UINT64_C(1) << 32 },
        { FRAMES, 0, 3, 4 },
        { STACKS, 1, 0, 1 }, /* its own parent */
        { STACKS, 3, 1, 2 },
        { STACKS, 2, 2, 3 },
        { STACKS, 4, 2, 3 },
        { STACKS, 0, 2, 3 },
        { THREADS, 1, ZIGZAG(INT32_MAX), ZIGZAG(INT64_C(1) << 31) },
        { THREADS, 2, ZIGZAG(INT32_MIN), ZIGZAG(INT64_C(-1) - INT32_MAX - 1) },
        { THREADS, 3, 2, 3 },
        { THREADS, 4, 2, 3 },
        { THREADS, 0, 1, 2 },
        { SAMPLES, 1, ZIGZAG(TIME_MAX), ZIGZAG(TIME_MAX + 2) },
        { SAMPLES, 1, ZIGZAG(1 - TIME_MAX), ZIGZAG(-TIME_MAX) },
        { SAMPLES, 7, ZIGZAG(TIME_MAX - 100), ZIGZAG(INT64_MAX) },
        { SAMPLES, 2, 1, 2 },
        { SAMPLES, 3, 2, 3 },
        { SAMPLES, 4, 65535, 65536 },
        { SAMPLES, 5, PT_STATE_COUNT - 1, PT_STATE_COUNT },
        { SAMPLES, 6, ZIGZAG(0), ZIGZAG(-1) },
        { SAMPLES, 6, ZIGZAG(INT64_MAX - 2), ZIGZAG(INT64_MAX - 1) }, /* the sum */
        { SAMPLES, 0, 2, 3 },
        { TIMELINE, 0, ZIGZAG(INT64_MAX / 2), ZIGZAG(INT64_MAX / 2 + 1) },
        { TIMELINE, 0, ZIGZAG(-INT64_MAX / 2), ZIGZAG(-INT64_MAX / 2 - 1) },
        { TIMELINE, 1, ZIGZAG(INT64_C(1) << 50), ZIGZAG((INT64_C(1) << 50) + 1) },
        { TIMELINE, 1, ZIGZAG(1), ZIGZAG(0) },
        { TIMELINE, 1, ZIGZAG(1), ZIGZAG(-1) },
        { TIMELINE, 2, 2, 3 },
        { GROWTH, 1, 1, 2 },
        { GROWTH, 0, 1, 2 },
        { GIL, 1, PT_GIL_CONTENDED, PT_GIL_CONTENDED + 1 },
        { GIL, 0, 2, 1 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct numbers changed = good[cases[i].tag];
        struct pt_profile_file f;
        struct pt_err err = { "" };
        char words[32];
        changed.at[cases[i].position] = cases[i].accepted;
        if (parse_with(cases[i].tag, &changed, &f, &err))
            fail_msg("case %zu should be accepted: %s", i, err.text);
        pt_profile_file_release(&f);
        changed.at[cases[i].position] = cases[i].refused;
        if (parse_with(cases[i].tag, &changed, &f, &err) != -EBADMSG)
            fail_msg("case %zu should be refused", i);
        snprintf(words, sizeof words, "section %d ", (int)cases[i].tag);
        assert_non_null(strstr(err.text, words));
        pt_profile_file_release(&f);
    }
}

static void assert_parsed(const struct pt_buf *content, int expected) {
    struct pt_profile_file f = { 0 };
    struct pt_err err = { "" };
    assert_int_equal(pt_saved_parse(pt_buf_as_str(content), &f, &err), expected);
    assert_int_equal(err.text[0] != 0, expected != 0);
    pt_profile_file_release(&f);
}

static void test_saved_sections(void **state) {
    (void)state;
    struct pt_profile_file f;
    struct pt_err err;
    /* without a section the references to it are wrong; META and the last three can be missing */
    for (uint64_t tag = TYPES; tag < SECTION_COUNT; tag++) {
        bool is_needed = tag != META && tag < TIMELINE && tag != SAMPLES;
        int rc = parse_with(tag, NULL, &f, &err);
        /* GIL states are for the samples */
        assert_int_equal(rc, is_needed || tag == SAMPLES ? -EBADMSG : 0);
        pt_profile_file_release(&f);
    }
    struct pt_buf content = { 0 };
    assert_parsed(&content, -EBADMSG); /* nothing */
    put_section(&content, SECTION_COUNT, &good[GIL]);
    assert_parsed(&content, -EBADMSG); /* nothing that is known */
    put_section(&content, TYPES, &good[TYPES]);
    assert_parsed(&content, 0);
    put_section(&content, 1000, &good[GIL]); /* of a newer version */
    put_section(&content, STRINGS, &good[STRINGS]);
    assert_parsed(&content, 0);
    size_t whole = content.len;
    put_section(&content, META, &good[META]); /* in the wrong order */
    assert_parsed(&content, -EBADMSG);
    content.len = whole;
    put_section(&content, STRINGS, &good[STRINGS]);
    assert_parsed(&content, -EBADMSG);
    content.len = whole;
    put_section(&content, TYPES, &good[TYPES]);
    assert_parsed(&content, -EBADMSG);
    content.len = whole - 1; /* cut off */
    assert_parsed(&content, -EBADMSG);
    content.len = 0;
    put_section(&content, 0, &good[TYPES]);
    assert_parsed(&content, -EBADMSG);
    pt_buf_release(&content);
}

static void test_saved_counts(void **state) {
    (void)state;
    struct pt_buf content = { 0 };
    struct numbers numbers = COUNTED(0, PT_PROFILE_VALUES_MAX);
    for (size_t i = 0; i <= PT_PROFILE_VALUES_MAX; i++) { /* empty names, unit 0 */
        numbers.at[numbers.count++] = 0;
        numbers.at[numbers.count++] = 0;
    }
    put_section(&content, TYPES, &numbers);
    assert_parsed(&content, 0);
    content.len = 0;
    numbers.at[1]++;
    put_section(&content, TYPES, &numbers);
    assert_parsed(&content, -EBADMSG);
    for (uint64_t steps = PT_PROFILE_STEPS_MAX; steps <= PT_PROFILE_STEPS_MAX + 1; steps++) {
        numbers = (struct numbers){ 3 + steps, { 0, ZIGZAG(1), steps } };
        content.len = 0;
        put_section(&content, TYPES, &good[TYPES]);
        put_section(&content, TIMELINE, &numbers);
        assert_parsed(&content, steps == PT_PROFILE_STEPS_MAX ? 0 : -EBADMSG);
    }
    numbers = (struct numbers){ 3, { 0, 0, 0 } }; /* no steps need no length */
    content.len = 0;
    put_section(&content, TYPES, &good[TYPES]);
    put_section(&content, TIMELINE, &numbers);
    assert_parsed(&content, 0);
    pt_buf_release(&content);
}

/* The envelope: magic, version, checksum, size, zstd frame. */
static int read_envelope(uint32_t version, uint64_t size, size_t cut, const char *magic,
                         char words[256]) {
    struct pt_buf content = { 0 }, rest = { 0 }, file = { 0 };
    struct pt_profile_file f = { 0 };
    struct pt_err err = { "" };
    put_section(&content, TYPES, &good[TYPES]);
    pt_buf_u64(&rest, size ? size : content.len);
    size_t bound = ZSTD_compressBound(content.len);
    rest.len += ZSTD_compress(pt_buf_reserve(&rest, bound), bound, content.at, content.len, 1);
    rest.len -= cut;
    pt_buf_str(&file, pt_str_from(magic));
    pt_buf_u32(&file, version);
    pt_buf_u32(&file, pt_crc32c(0, rest.at, rest.len));
    pt_buf_bytes(&file, rest.at, rest.len);
    int rc = pt_saved_reader.read(pt_buf_as_str(&file), &f, &err);
    pt_str_copy(words, 256, pt_str_from(err.text));
    pt_profile_file_release(&f);
    pt_buf_release(&content);
    pt_buf_release(&rest);
    pt_buf_release(&file);
    return rc;
}

static void test_saved_envelope(void **state) {
    (void)state;
    char words[256];
    assert_int_equal(read_envelope(1, 0, 0, "pitotprf", words), 0);
    assert_int_equal(read_envelope(1, 0, 0, "pitotprF", words), -EBADMSG);
    assert_non_null(strstr(words, "not a Pitot profile"));
    assert_int_equal(read_envelope(2, 0, 0, "pitotprf", words), -EBADMSG);
    assert_non_null(strstr(words, "version 2 (this Pitot reads version 1)"));
    assert_int_equal(read_envelope(0, 0, 0, "pitotprf", words), -EBADMSG);
    assert_int_equal(read_envelope(1, 9, 0, "pitotprf", words), -EBADMSG);
    assert_non_null(strstr(words, "damaged"));
    assert_int_equal(read_envelope(1, 11, 0, "pitotprf", words), -EBADMSG);
    assert_int_equal(read_envelope(1, PT_PROFILE_CONTENT_MAX, 0, "pitotprf", words), -EBADMSG);
    assert_int_equal(read_envelope(1, PT_PROFILE_CONTENT_MAX + 1, 0, "pitotprf", words), -EFBIG);
    assert_non_null(strstr(words, "1 GiB"));
    assert_int_equal(read_envelope(1, 0, 1, "pitotprf", words), -EBADMSG);
}

/* --- stacks and samples of any reader --- */

static void test_deep_stacks(void **state) {
    (void)state;
    struct pt_profile_file f = { 0 };
    const struct pt_profile_file_type type = { PT_STR("samples"), PT_PROFILE_SAMPLES };
    pt_profile_file_init(&f, PT_STR("a title that is longer than its buffer"), &type, 1);
    assert_string_equal(f.profile.meta.title, "a title that is longer than its");
    assert_string_equal(f.profile.types[0].name, "samples");
    uint32_t frame = pt_profile_marker(&f.profile, PT_STR("x")), stack = PT_PROFILE_NONE, unused;
    assert_false(pt_profile_file_stack(&f, 0, frame, &unused));
    assert_false(pt_profile_file_stack(&f, PT_PROFILE_NONE, frame + 1, &unused));
    for (int depth = 1; depth <= PT_PROFILE_DEPTH_MAX; depth++)
        assert_true(pt_profile_file_stack(&f, stack, frame, &stack));
    assert_false(pt_profile_file_stack(&f, stack, frame, &unused));
    assert_int_equal(f.profile.stacks.count, PT_PROFILE_DEPTH_MAX);
    pt_profile_file_release(&f);
    assert_null(f.depths);
}

static void test_sample_limits(void **state) {
    (void)state;
    struct pt_profile_file f = { 0 };
    const struct pt_profile_file_type type = { PT_STR("samples"), PT_PROFILE_SAMPLES };
    pt_profile_file_init(&f, PT_STR("t"), &type, 1);
    const struct pt_profile_sample good_sample = { .thread = PT_PROFILE_NONE,
                                                   .stack = PT_PROFILE_NONE };
    struct pt_profile_sample s = good_sample;
    s.time_ns = TIME_MAX;
    assert_true(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s.time_ns = -TIME_MAX;
    assert_true(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s.time_ns = TIME_MAX + 1;
    assert_false(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s.time_ns = -TIME_MAX - 1;
    assert_false(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s = good_sample;
    s.state = PT_STATE_COUNT;
    assert_false(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s = good_sample;
    s.stack = 0;
    assert_false(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    s = good_sample;
    s.thread = 0;
    assert_false(pt_profile_file_sample(&f, &s, &(int64_t){ 0 }));
    assert_false(pt_profile_file_sample(&f, &good_sample, &(int64_t){ -1 }));
    assert_true(pt_profile_file_sample(&f, &good_sample, &(int64_t){ INT64_MAX }));
    assert_false(pt_profile_file_sample(&f, &good_sample, &(int64_t){ 1 }));
    assert_int_equal(f.profile.samples.count, 3);
    pt_profile_file_release(&f);
}

/* --- pprof --- */

static void put_number(struct pt_buf *b, unsigned field, uint64_t value) {
    pt_buf_varint(b, field << 3);
    pt_buf_varint(b, value);
}

static void put_text(struct pt_buf *b, unsigned field, const char *text) {
    pt_buf_varint(b, field << 3 | 2);
    pt_buf_lstr(b, pt_str_from(text));
}

/* A message of numbers: pairs of field and value, closed by field 0. */
static void put_message(struct pt_buf *b, unsigned field, const uint64_t *pairs) {
    struct pt_buf inner = { 0 };
    for (; pairs[0]; pairs += 2)
        put_number(&inner, (unsigned)pairs[0], pairs[1]);
    pt_buf_varint(b, field << 3 | 2);
    pt_buf_lstr(b, pt_buf_as_str(&inner));
    pt_buf_release(&inner);
}
#define PUT(b, field, ...) put_message(b, field, (const uint64_t[]){ __VA_ARGS__, 0 })

static void put_line(struct pt_buf *b, uint64_t function, uint64_t line) {
    PUT(b, 4, 1, function, 2, line);
}

static void put_location(struct pt_buf *b, const struct pt_buf *location) {
    pt_buf_varint(b, 4 << 3 | 2);
    pt_buf_lstr(b, pt_buf_as_str(location));
}

static const char *const strings[] = { "",        "cpu",          "milliseconds", "/bin/a.out",
                                       "abcd",    "[kernel] x",   "main",         "a.c",
                                       "step",    "train.py",     "sys_read",     "wall",
                                       "seconds", "microseconds", "bytes",        "nanoseconds",
                                       "count" };

/* Ids in no order; two value types; a location of two lines. */
static void put_profile(struct pt_buf *b) {
    struct pt_buf location = { 0 };
    PUT(b, 1, 1, 1, 2, 2);               /* cpu in milliseconds */
    PUT(b, 1, 1, 11, 2, 16);             /* wall, counted */
    PUT(b, 2, 1, 30, 1, 10, 2, 5, 2, 6); /* a sample: locations leaf first, values */
    PUT(b, 2, 1, 20, 1, 10, 2, 7, 2, 8);
    PUT(b, 3, 1, 9, 5, 5); /* mapping: id, file, build id */
    PUT(b, 3, 1, 2, 5, 3, 6, 4);
    PUT(b, 5, 1, 70, 2, 10); /* function: id, name, file, line */
    PUT(b, 5, 1, 60, 2, 8, 4, 9, 5, 12);
    PUT(b, 5, 1, 50, 2, 6, 4, 7, 5, UINT32_MAX);
    PUT(b, 4, 1, 30, 2, 9, 3, 0x77); /* location: id, mapping, address */
    put_number(&location, 1, 20);
    put_number(&location, 2, 9);
    put_line(&location, 70, 3); /* innermost first */
    put_line(&location, 60, UINT32_MAX + UINT64_C(1));
    put_location(b, &location);
    location.len = 0;
    put_number(&location, 1, 10);
    put_number(&location, 2, 2);
    put_number(&location, 3, 0x1000);
    put_line(&location, 50, 4);
    put_location(b, &location);
    for (size_t i = 0; i < PT_COUNT(strings); i++)
        put_text(b, 6, strings[i]);
    put_number(b, 9, 111);
    put_number(b, 10, 222);
    put_number(b, 12, 333);
    pt_buf_release(&location);
}

static void test_pprof_fields(void **state) {
    (void)state;
    struct pt_buf message = { 0 };
    struct pt_profile_file f = { 0 };
    put_profile(&message);
    assert_int_equal(pt_pprof_parse(pt_buf_as_str(&message), &f, NULL), 0);
    const struct pt_profile *p = &f.profile;
    assert_string_equal(p->meta.title, "imported");
    assert_int_equal(p->meta.start_wall_ns, 111);
    assert_int_equal(p->meta.end_ns, 222);
    assert_int_equal(p->meta.period_ns, 333);
    assert_int_equal(p->meta.lost, -1);
    assert_int_equal(p->meta.rooted, -1);
    assert_int_equal(p->meta.truncated, -1);
    assert_int_equal(p->meta.unwound, -1);
    assert_int_equal(p->type_count, 2);
    assert_string_equal(p->types[0].name, "cpu");
    assert_int_equal(p->types[0].unit, PT_PROFILE_NANOSECONDS);
    assert_string_equal(p->types[1].name, "wall");
    assert_int_equal(p->types[1].unit, PT_PROFILE_SAMPLES);
    assert_int_equal(p->samples.count, 2);
    assert_int_equal(pt_profile_value(p, 0, 0), 5000000);
    assert_int_equal(pt_profile_value(p, 0, 1), 6);
    assert_int_equal(pt_profile_value(p, 1, 0), 7000000);
    assert_int_equal(pt_profile_value(p, 1, 1), 8);
    assert_int_equal(p->samples.at[0].thread, PT_PROFILE_NONE);
    assert_int_equal(p->samples.at[0].cpu, UINT16_MAX);
    /* the root of both is main; the leaf of the first has only an address */
    uint32_t leaf = p->samples.at[0].stack, root = p->stacks.at[leaf].parent;
    assert_int_equal(p->stacks.at[root].parent, PT_PROFILE_NONE);
    const struct pt_profile_frame *frame = &p->frames.at[p->stacks.at[root].frame];
    const struct pt_profile_function *function = &p->functions.at[frame->function];
    assert_str_eq(pt_profile_text(p, function->name), "main");
    assert_str_eq(pt_profile_text(p, function->file), "a.c");
    assert_int_equal(function->line, UINT32_MAX);
    assert_int_equal(function->kind, PT_KIND_NATIVE);
    assert_int_equal(frame->line, 4);
    assert_int_equal(frame->address, 0x1000);
    assert_int_equal(frame->flags, 0);
    assert_str_eq(pt_profile_text(p, p->modules.at[frame->module].path), "/bin/a.out");
    assert_str_eq(pt_profile_text(p, p->modules.at[frame->module].build_id), "abcd");
    frame = &p->frames.at[p->stacks.at[leaf].frame];
    assert_int_equal(frame->function, PT_PROFILE_NONE);
    assert_int_equal(frame->address, 0x77);
    assert_str_eq(pt_profile_text(p, p->modules.at[frame->module].path), "[kernel] x");
    assert_int_equal(p->modules.at[frame->module].build_id, 0);
    /* the second: main, step (line too large), sys_read inlined into it */
    uint32_t inlined = p->samples.at[1].stack, outer = p->stacks.at[inlined].parent;
    assert_int_equal(p->stacks.at[outer].parent, root);
    frame = &p->frames.at[p->stacks.at[inlined].frame];
    function = &p->functions.at[frame->function];
    assert_str_eq(pt_profile_text(p, function->name), "sys_read");
    assert_int_equal(function->kind, PT_KIND_KERNEL);
    assert_int_equal(function->line, 0);
    assert_int_equal(frame->flags, PT_FRAME_INLINED);
    assert_int_equal(frame->line, 3);
    frame = &p->frames.at[p->stacks.at[outer].frame];
    function = &p->functions.at[frame->function];
    assert_str_eq(pt_profile_text(p, function->name), "step");
    assert_int_equal(function->kind, PT_KIND_PYTHON);
    assert_int_equal(function->line, 12);
    assert_int_equal(frame->flags, 0);
    assert_int_equal(frame->line, 0);
    pt_profile_file_release(&f);
    pt_buf_release(&message);
}

static void test_pprof_units(void **state) {
    (void)state;
    static const struct {
        uint64_t unit;
        enum pt_profile_unit expected;
        int64_t scale;
    } cases[] = { { 15, PT_PROFILE_NANOSECONDS, 1 },
                  { 13, PT_PROFILE_NANOSECONDS, 1000 },
                  { 2, PT_PROFILE_NANOSECONDS, 1000000 },
                  { 12, PT_PROFILE_NANOSECONDS, 1000000000 },
                  { 14, PT_PROFILE_BYTES, 1 },
                  { 16, PT_PROFILE_SAMPLES, 1 },
                  { 0, PT_PROFILE_SAMPLES, 1 },
                  { 1000, PT_PROFILE_SAMPLES, 1 } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_buf message = { 0 };
        struct pt_profile_file f = { 0 };
        PUT(&message, 1, 1, 1, 2, cases[i].unit);
        PUT(&message, 2, 2, 3);
        for (size_t k = 0; k < PT_COUNT(strings); k++)
            put_text(&message, 6, strings[k]);
        assert_int_equal(pt_pprof_parse(pt_buf_as_str(&message), &f, NULL), 0);
        assert_int_equal(f.profile.types[0].unit, cases[i].expected);
        assert_int_equal(pt_profile_value(&f.profile, 0, 0), 3 * cases[i].scale);
        assert_int_equal(f.profile.samples.at[0].stack, PT_PROFILE_NONE);
        pt_profile_file_release(&f);
        pt_buf_release(&message);
    }
}

/* Numbers of a sample may be packed; wrong ones are refused. */
static int parse_sample(const char *bytes, size_t size, size_t types, struct pt_profile_file *f) {
    struct pt_buf message = { 0 };
    for (size_t i = 0; i < types; i++)
        PUT(&message, 1, 1, 1);
    pt_buf_varint(&message, 2 << 3 | 2);
    pt_buf_lstr(&message, (struct pt_str){ bytes, size });
    PUT(&message, 4, 1, 1, 3, 5);
    for (size_t k = 0; k < PT_COUNT(strings); k++)
        put_text(&message, 6, strings[k]);
    *f = (struct pt_profile_file){ 0 };
    struct pt_err err = { "" };
    int rc = pt_pprof_parse(pt_buf_as_str(&message), f, &err);
    assert_int_equal(err.text[0] != 0, rc != 0);
    pt_buf_release(&message);
    return rc;
}
#define PARSE_SAMPLE(bytes, types, f) parse_sample(bytes, sizeof(bytes) - 1, types, f)

static void test_pprof_samples(void **state) {
    (void)state;
    struct pt_profile_file f;
    assert_int_equal(PARSE_SAMPLE("\x0a\x02\x01\x01\x12\x02\x07\x09", 2, &f), 0);
    assert_int_equal(pt_profile_value(&f.profile, 0, 0), 7);
    assert_int_equal(pt_profile_value(&f.profile, 0, 1), 9);
    assert_int_equal(f.profile.stacks.count, 2); /* a location that calls itself */
    pt_profile_file_release(&f);
    static const struct {
        const char *bytes;
        size_t size, types;
    } bad[] = {
        { "\x12\x01\x07", 3, 2 },                                  /* too few values */
        { "\x12\x02\x07\x09", 4, 1 },                              /* too many */
        { "\x12\x01\x87", 3, 1 },                                  /* a number without its end */
        { "\x0a\x01\x02\x12\x01\x07", 6, 1 },                      /* no such location */
        { "\x12\x01\x07\x0f", 4, 1 },                              /* no such type of field */
        { "\x10\x07", 2, 9 },                                      /* too many types */
        { "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 1 }, /* negative */
    };
    for (size_t i = 0; i < PT_COUNT(bad); i++) {
        assert_int_equal(parse_sample(bad[i].bytes, bad[i].size, bad[i].types, &f), -EBADMSG);
        pt_profile_file_release(&f);
    }
    assert_int_equal(pt_pprof_parse(PT_STR(""), &f, NULL), -EBADMSG); /* no types */
}

/* As many frames as a stack may have, packed and one by one. */
static void test_pprof_depth(void **state) {
    (void)state;
    for (int packed = 0; packed < 2; packed++)
        for (size_t extra = 0; extra < 2; extra++) {
            size_t depth = PT_PROFILE_DEPTH_MAX + extra;
            struct pt_buf sample = { 0 };
            struct pt_profile_file f;
            if (packed) {
                pt_buf_varint(&sample, 1 << 3 | 2);
                pt_buf_varint(&sample, depth);
            }
            for (size_t i = 0; i < depth; i++) {
                if (!packed)
                    pt_buf_varint(&sample, 1 << 3);
                pt_buf_varint(&sample, 1);
            }
            put_number(&sample, 2, 1);
            assert_int_equal(parse_sample((char *)sample.at, sample.len, 1, &f),
                             extra ? -EBADMSG : 0);
            pt_profile_file_release(&f);
            pt_buf_release(&sample);
        }
}

static void test_pprof_times(void **state) {
    (void)state;
    for (uint64_t beyond = 0; beyond < 2; beyond++) {
        uint64_t value = (UINT64_C(1) << 61) - 1 + beyond;
        struct pt_buf message = { 0 };
        struct pt_profile_file f = { 0 };
        PUT(&message, 1, 1, 1);
        put_number(&message, 9, UINT64_C(1) << 63 | 5);
        put_number(&message, 10, value);
        put_number(&message, 12, value);
        assert_int_equal(pt_pprof_parse(pt_buf_as_str(&message), &f, NULL), 0);
        assert_int_equal(f.profile.meta.start_wall_ns, 5);
        assert_int_equal(f.profile.meta.end_ns, beyond ? 0 : value);
        assert_int_equal(f.profile.meta.period_ns, beyond ? 0 : value);
        pt_profile_file_release(&f);
        pt_buf_release(&message);
    }
}

static void test_pprof_gzip(void **state) {
    (void)state;
    struct pt_buf message = { 0 }, packed = { 0 };
    struct pt_profile_file f = { 0 };
    struct pt_err err = { "" };
    put_profile(&message);
    for (int i = 0; i < 200000; i++) /* more than one step of the reader; unknown fields */
        put_number(&message, 99, (uint64_t)i * 7919);
    assert_int_equal(pt_pprof_reader.read(pt_buf_as_str(&message), &f, &err), 0); /* not packed */
    assert_int_equal(f.profile.samples.count, 2);
    pt_profile_file_release(&f);
    z_stream z = { .next_in = message.at, .avail_in = (uInt)message.len };
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = pt_buf_reserve(&packed, 2 * message.len);
    z.avail_out = (uInt)(2 * message.len);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.len = z.total_out;
    deflateEnd(&z);
    f = (struct pt_profile_file){ 0 };
    assert_int_equal(pt_pprof_reader.read(pt_buf_as_str(&packed), &f, &err), 0);
    assert_int_equal(f.profile.samples.count, 2);
    pt_profile_file_release(&f);
    packed.len -= 9;
    f = (struct pt_profile_file){ 0 };
    assert_int_equal(pt_pprof_reader.read(pt_buf_as_str(&packed), &f, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "gzip"));
    pt_profile_file_release(&f);
    pt_buf_release(&message);
    pt_buf_release(&packed);
}

/* --- collapsed stacks --- */

static void test_folded_frames(void **state) {
    (void)state;
    static const struct {
        const char *text, *name, *file;
        uint32_t line;
        enum pt_profile_kind kind;
    } cases[] = {
        { "f", "f", "", 0, PT_KIND_NATIVE },
        { "f_[k]", "f", "", 0, PT_KIND_KERNEL },
        { "f_[j]", "f", "", 0, PT_KIND_JIT },
        { "f_[i]", "f", "", 0, PT_KIND_NATIVE },
        { "_[k]", "_[k]", "", 0, PT_KIND_NATIVE },
        { "f.py", "f.py", "", 0, PT_KIND_PYTHON },
        { "f (a.py:3)", "f", "a.py", 3, PT_KIND_PYTHON },
        { "f (a.py:4294967295)", "f", "a.py", UINT32_MAX, PT_KIND_PYTHON },
        { "f (a.py:4294967296)", "f (a.py:4294967296)", "", 0, PT_KIND_PYTHON },
        { "f (a.py:3x)", "f (a.py:3x)", "", 0, PT_KIND_PYTHON },
        { "f (a.py:)", "f (a.py:)", "", 0, PT_KIND_PYTHON },
        { "f (a.py)", "f (a.py)", "", 0, PT_KIND_PYTHON },
        { "f (a.py:3", "f (a.py:3", "", 0, PT_KIND_PYTHON },
        { "f(a.py:3)", "f(a.py:3)", "", 0, PT_KIND_PYTHON },
        { " (a.py:3)", " (a.py:3)", "", 0, PT_KIND_PYTHON },
        { "a.py:3 (x)", "a.py:3 (x)", "", 0, PT_KIND_PYTHON },
        { "f.py (:3)", "f.py", "", 3, PT_KIND_PYTHON },
        { "f (a.c:3)", "f (a.c:3)", "", 0, PT_KIND_NATIVE },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char line[128];
        struct pt_profile_file f = { 0 };
        snprintf(line, sizeof line, "%s 12\n", cases[i].text);
        assert_int_equal(pt_folded_reader.read(pt_str_from(line), &f, NULL), 0);
        const struct pt_profile_function *function = &f.profile.functions.at[0];
        assert_str_eq(pt_profile_text(&f.profile, function->name), cases[i].name);
        assert_str_eq(pt_profile_text(&f.profile, function->file), cases[i].file);
        assert_int_equal(function->kind, cases[i].kind);
        assert_int_equal(function->module, PT_PROFILE_NONE);
        assert_int_equal(f.profile.frames.at[0].line, cases[i].line);
        assert_int_equal(f.profile.frames.at[0].module, PT_PROFILE_NONE);
        pt_profile_file_release(&f);
    }
}

static void test_folded_lines(void **state) {
    (void)state;
    struct pt_profile_file f = { 0 };
    struct pt_err err = { "" };
    char buffer[PT_PROFILE_NAME_BYTES];
    assert_int_equal(pt_folded_reader.read(PT_STR("a;;b 0\na 9223372036854775807"), &f, &err), 0);
    assert_string_equal(f.profile.meta.title, "imported");
    assert_string_equal(f.profile.types[0].name, "samples");
    assert_int_equal(f.profile.types[0].unit, PT_PROFILE_SAMPLES);
    assert_int_equal(f.profile.meta.lost, -1);
    assert_int_equal(f.profile.meta.rooted, -1);
    assert_int_equal(f.profile.meta.truncated, -1);
    assert_int_equal(f.profile.meta.unwound, -1);
    assert_int_equal(f.profile.samples.count, 2);
    assert_int_equal(f.profile.samples.at[0].thread, PT_PROFILE_NONE);
    assert_int_equal(f.profile.samples.at[0].cpu, UINT16_MAX);
    assert_int_equal(pt_profile_value(&f.profile, 1, 0), INT64_MAX);
    assert_str_eq(pt_profile_frame_name(&f.profile, 1, buffer), "[unknown]");
    pt_profile_file_release(&f);
    f = (struct pt_profile_file){ 0 };
    assert_int_equal(pt_folded_reader.read(PT_STR("a 1\n\n# b\nwrong\n"), &f, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "line 4 "));
    pt_profile_file_release(&f);
    f = (struct pt_profile_file){ 0 };
    assert_int_equal(pt_folded_reader.read(PT_STR("a 1\nb 2 \n"), &f, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "line 2 "));
    pt_profile_file_release(&f);
    f = (struct pt_profile_file){ 0 };
    assert_int_equal(pt_folded_reader.read(PT_STR("\n"), &f, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "no stacks"));
    pt_profile_file_release(&f);
}

/* --- files --- */

static void test_files(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-readers-XXXXXX", path[PATH_MAX], page[64];
    struct pt_profile_file f;
    struct pt_err err = { "" };
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.folded", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "a;b 3\n", 6), 6);
    assert_int_equal(pt_profile_file_read(&f, path, &err), 0);
    assert_int_equal(f.profile.samples.count, 1);
    assert_ptr_equal(f.profile.meta.title, f.title);
    unlink(path);
    snprintf(path, sizeof path, "%s/a.pitotprof", directory);
    assert_int_equal(pt_profile_write(&f.profile, path, &err), 0);
    pt_profile_file_release(&f);
    assert_int_equal(pt_profile_file_read(&f, path, &err), 0);
    assert_string_equal(f.profile.meta.title, "imported");
    assert_int_equal(pt_profile_value(&f.profile, 0, 0), 3);
    setenv("TZ", "UTC", 1);
    f.profile.meta.start_wall_ns = INT64_C(1700000000999999999);
    pt_profile_name_page(&f.profile, 42, page, sizeof page);
    assert_string_equal(page, "pitot-imported-20231114-221320-42.html");
    pt_profile_file_release(&f);
    assert_int_equal(truncate(path, 7), 0);
    assert_int_equal(pt_profile_file_read(&f, path, &err), -EBADMSG);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "not a Pitot profile"));
    pt_profile_file_release(&f);
    unlink(path);
    assert_int_equal(pt_profile_file_read(&f, path, &err), -ENOENT);
    assert_non_null(strstr(err.text, path));
    pt_profile_file_release(&f);
    rmdir(directory);
    close(fd);
}

/* The longest extension wins. */
static void test_extensions(void **state) {
    (void)state;
    struct pt_err err = { "" };
    assert_ptr_equal(pt_profile_writer_for("x.html"), &pt_html_writer);
    assert_ptr_equal(pt_profile_writer_for("x.svg"), &pt_svg_writer);
    assert_ptr_equal(pt_profile_writer_for("x.trace.json"), &pt_chrome_trace_writer);
    assert_ptr_equal(pt_profile_writer_for("x.firefox.json"), &pt_firefox_writer);
    assert_ptr_equal(pt_profile_writer_for("x.speedscope.json"), &pt_speedscope_writer);
    assert_ptr_equal(pt_profile_writer_for("x.pb.gz"), &pt_pprof_writer);
    assert_null(pt_profile_writer_for("x.json"));
    size_t count = 0;
    while (pt_profile_extension(count))
        count++;
    assert_int_equal(count, 8);
    assert_string_equal(pt_profile_extension(0), ".html");
    assert_int_equal(pt_profile_check_path("x.folded", &err), 0);
    assert_int_equal(pt_profile_check_path("x.gz", &err), -EINVAL);
    assert_non_null(strstr(err.text, "x.gz"));
    assert_non_null(strstr(err.text, ": .html, .svg, .folded, .speedscope.json, .pb.gz, "
                                     ".trace.json, .firefox.json, .pitotprof"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_saved_fields, "C242: every number of a saved profile has its place"),
        PT_TEST(test_saved_limits, "C242: a number beyond its limit makes its section invalid"),
        PT_TEST(test_saved_sections, "C242: sections come once and in order, unknown ones pass"),
        PT_TEST(test_saved_counts, "C242: types and steps have a largest number"),
        PT_TEST(test_saved_envelope, "C242: version, checksum and size of a saved profile count"),
        PT_TEST(test_deep_stacks, "C242: a stack has a largest depth"),
        PT_TEST(test_sample_limits, "C242: samples outside of their limits are refused"),
        PT_TEST(test_pprof_fields, "C242: pprof messages refer to each other in any order"),
        PT_TEST(test_pprof_units, "C242: units of pprof become those of the profile"),
        PT_TEST(test_pprof_samples, "C242: numbers of pprof may be packed, wrong ones are refused"),
        PT_TEST(test_pprof_depth, "C242: stacks of pprof have a largest depth"),
        PT_TEST(test_pprof_times, "C242: times of pprof that are too large are unknown"),
        PT_TEST(test_pprof_gzip, "C242: pprof may be packed, and must be complete"),
        PT_TEST(test_folded_frames, "C242: kinds, files and lines are part of a collapsed name"),
        PT_TEST(test_folded_lines, "C242: a wrong line of collapsed stacks is named"),
        PT_TEST(test_files, "C242: a profile is read by the extension of its file"),
        PT_TEST(test_extensions, "C241: the longest extension selects the format"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
