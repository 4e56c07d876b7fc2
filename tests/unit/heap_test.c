/* Heap profiles: the files of processes, what is made of them, and the library that writes them. */
#include "test.h"

#include "base/clock.h"
#include "base/fs.h"
#include "inside/preload/python_frame.h"
#include "profile/heap/heap.h"
#include "profile/heap/leaks.h"
#include "profile/sample/preload_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEAN 65536.0

/* A file in memory, written as the library would. */
struct made_file {
    uint8_t *at;
    size_t size;
    uint64_t position;
};

static struct pt_preload_header *header_of(const struct made_file *f) {
    return (struct pt_preload_header *)(void *)f->at;
}

static struct made_file make_file(uint64_t position) {
    struct made_file f = { .size = sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES,
                           .position = position };
    f.at = pt_calloc(1, f.size);
    *header_of(&f) = (struct pt_preload_header){ .magic = PT_PRELOAD_MAGIC,
                                                 .version = PT_PRELOAD_VERSION,
                                                 .header_size = sizeof(struct pt_preload_header),
                                                 .size = f.size,
                                                 .ring_offset = sizeof(struct pt_preload_header),
                                                 .ring_size = PT_PRELOAD_RING_BYTES,
                                                 .mean_bytes = (uint64_t)MEAN,
                                                 .start_mono_ns = 1000,
                                                 .pid = INT32_MAX,
                                                 .claimed = position,
                                                 .read = position };
    return f;
}

static void append(struct made_file *f, void *record, size_t size, enum pt_preload_kind kind,
                   unsigned flags) {
    struct pt_preload_record *r = record;
    uint8_t *ring = f->at + sizeof(struct pt_preload_header);
    *r = (struct pt_preload_record){ f->position ^ PT_PRELOAD_STAMP, (uint32_t)size, (uint16_t)kind,
                                     (uint16_t)flags };
    for (size_t i = 0; i < size; i++)
        ring[(f->position + i) % PT_PRELOAD_RING_BYTES] = ((uint8_t *)record)[i];
    f->position += size;
    header_of(f)->claimed = f->position;
}

static void append_allocation(struct made_file *f, int64_t time_ns, uint64_t address,
                              uint64_t bytes) {
    struct pt_preload_sample a = {
        .mono_ns = time_ns, .address = address, .bytes = bytes, .thread = 5, .name = "worker"
    };
    append(f, &a, sizeof a, PT_PRELOAD_ALLOCATION, 0);
}

static void append_free(struct made_file *f, int64_t time_ns, uint64_t address,
                        enum pt_preload_kind kind, unsigned flags) {
    struct pt_preload_free r = { .mono_ns = time_ns, .address = address };
    append(f, &r, sizeof r, kind, flags);
}

static struct pt_fs open_fs(void) {
    struct pt_fs fs;
    struct pt_err err;
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    return fs;
}

static void read_file(struct pt_heap *h, struct made_file *f, bool is_final) {
    struct pt_preload_source s;
    assert_int_equal(pt_preload_source_attach(&s, f->at, f->size), 0);
    uint32_t process = pt_heap_add_process(h, &s);
    pt_heap_read(h, process, &s, is_final, 0);
    pt_preload_source_close(&s);
}

/* As the library does at the end of a process. */
static void append_maps(struct made_file *f, const char *text) {
    struct {
        struct pt_preload_maps maps;
        char text[64];
    } r = { .maps = { .mono_ns = 3000, .thread = 5, .text_size = (uint32_t)strlen(text) } };
    assert_true(strlen(text) < sizeof r.text);
    memcpy(r.text, text, strlen(text));
    append(f, &r, sizeof r, PT_PRELOAD_MAPS, 0);
}

static void assert_near(double value, double expected) {
    if (fabs(value - expected) > 1e-9 * fabs(expected) + 1e-9)
        fail_msg("%g, expected %g", value, expected);
}

static void test_weight(void **state) {
    (void)state;
    struct pt_heap_sum w = pt_heap_weight(65536, 65536);
    assert_near(w.bytes, 65536 / (1 - exp(-1)));
    assert_near(w.count, 1 / (1 - exp(-1)));
    assert_near(w.variance, exp(-1) * w.bytes * w.bytes);
    w = pt_heap_weight(100 << 20, 65536);
    assert_near(w.bytes, 100 << 20);
    w = pt_heap_weight(16, 1 << 20); /* next to the mean itself */
    assert_true(fabs(w.bytes - (1 << 20)) < 16);
    w = pt_heap_weight(12345, 0);
    assert_near(w.bytes, 12345);
    assert_near(w.variance, 0);
    assert_near(pt_heap_weight(0, 65536).bytes, 0);
}

static void test_sums(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    /* the last record goes around the end of the ring */
    struct made_file f = make_file(PT_PRELOAD_RING_BYTES - 32 * 6 - 48);
    double one = pt_heap_weight(1000, MEAN).bytes, two = pt_heap_weight(2000, MEAN).bytes;
    append_allocation(&f, 1000, 0x1000, 1000);
    append_allocation(&f, 2000, 0x2000, 2000);
    append_free(&f, 3000, 0x1000, PT_PRELOAD_FREE, PT_PRELOAD_TEMPORARY);
    append_free(&f, 3000, 0x9000, PT_PRELOAD_FREE, 0); /* nobody knows it */
    append_allocation(&f, 4000, 0x1000, 1000);
    append_free(&f, 5000, 0x2000, PT_PRELOAD_FREE, 0);
    append_free(&f, 6000, 0x2000, PT_PRELOAD_RESTORE, 0);
    append_free(&f, 7000, 0x1000, PT_PRELOAD_FREE, 0);
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    assert_int_equal(h.sample_count, 3);
    assert_int_equal(h.group_count, 1);
    assert_near(h.total_allocated.bytes, 2 * one + two);
    assert_near(h.total_peak.bytes, one + two);
    assert_int_equal(h.peak_mono_ns, 2000);
    assert_near(h.groups[0].temporary.bytes, one);
    assert_near(h.groups[0].left.bytes, two);
    assert_true(fabs(h.total_live.bytes) < 1e-6);
    assert_int_equal(header_of(&f)->read, f.position);
    pt_heap_finish(&h, PT_HEAP_ALLOCATED);
    const struct pt_profile *p = &h.recording.profile;
    assert_string_equal(p->types[0].name, "allocated");
    assert_string_equal(p->types[2].name, "live");
    assert_int_equal(p->samples.count, 1);
    assert_int_equal(pt_profile_value(p, 0, 0), llround(2 * one + two));
    assert_int_equal(pt_profile_value(p, 0, 2), llround(two));
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

static void append_drawn(struct made_file *f, uint64_t address, uint64_t bytes, uint32_t shift) {
    struct pt_preload_sample a = {
        .mono_ns = 1000, .address = address, .bytes = bytes, .thread = 5, .mean_shift = shift
    };
    append(f, &a, sizeof a, PT_PRELOAD_ALLOCATION, 0);
}

static void test_thinned(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    append_drawn(&f, 0x1000, 1000, 0);
    append_drawn(&f, 0x2000, 1000, 3);
    append_drawn(&f, 0x3000, 1000, 1);
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    assert_near(h.total_allocated.bytes, pt_heap_weight(1000, MEAN).bytes +
                                             pt_heap_weight(1000, 8 * MEAN).bytes +
                                             pt_heap_weight(1000, 2 * MEAN).bytes);
    pt_heap_finish(&h, PT_HEAP_LIVE);
    const struct pt_profile_heap_meta *m = &h.recording.profile.meta.heap;
    assert_int_equal(m->taken, 3);
    assert_int_equal(m->thinned, 2);
    assert_int_equal(m->processes, 1);
    assert_int_equal(m->live_error, m->allocated_error);
    assert_int_equal(m->peak_error, m->allocated_error);
    assert_int_equal(m->allocated_error, llround(sqrt(h.total_allocated.variance)));
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

/* What was freed without a record ends where its address is used again. */
static void test_replaced(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    struct pt_heap_sum one = pt_heap_weight(1000, MEAN), two = pt_heap_weight(2000, MEAN);
    append_allocation(&f, 1000, 0x1000, 1000);
    append_allocation(&f, 2000, 0x1000, 2000);
    append_allocation(&f, 3000, 0, 3000);                 /* without an address: never live */
    append_free(&f, 4000, 0x1000, PT_PRELOAD_RESTORE, 0); /* was not freed */
    pt_heap_init(&h, &fs);
    read_file(&h, &f, false);
    assert_near(h.total_live.bytes, two.bytes);
    assert_near(h.total_live.count, two.count);
    assert_near(h.total_live.variance, two.variance);
    assert_near(h.total_peak.bytes, two.bytes);
    assert_int_equal(h.live.count, 1);
    assert_int_equal(h.sample_count, 3);
    append_free(&f, 5000, 0x1000, PT_PRELOAD_FREE, 0);
    append_allocation(&f, 6000, 0x1000, 1000);
    append_free(&f, 7000, 0x1000, PT_PRELOAD_RESTORE, 0); /* its place is taken */
    pt_heap_release(&h);
    pt_heap_init(&h, &fs);
    header_of(&f)->read = 0;
    read_file(&h, &f, false);
    assert_near(h.total_live.bytes, two.bytes); /* the entry is the restored one again */
    assert_near(h.total_allocated.bytes,
                2 * one.bytes + two.bytes + pt_heap_weight(3000, MEAN).bytes);
    assert_near(h.groups[0].temporary.bytes, 0);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

static void append_in_thread(struct made_file *f, int64_t time_ns, uint64_t address, uint64_t bytes,
                             uint32_t thread) {
    struct pt_preload_sample a = {
        .mono_ns = time_ns, .address = address, .bytes = bytes, .thread = thread
    };
    append(f, &a, sizeof a, PT_PRELOAD_ALLOCATION, 0);
}

/* At the peak each stack has what was live then, whatever came later. */
static void test_peaks(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    struct pt_heap_sum a = pt_heap_weight(100000, MEAN), b = pt_heap_weight(200000, MEAN),
                       c = pt_heap_weight(150000, MEAN);
    append_in_thread(&f, 1000, 0x1000, 100000, 5);
    append_in_thread(&f, 2000, 0x2000, 200000, 6);
    append_free(&f, 3000, 0x1000, PT_PRELOAD_FREE, 0);
    append_in_thread(&f, 4000, 0x3000, 150000, 6); /* the peak */
    append_free(&f, 5000, 0x2000, PT_PRELOAD_FREE, 0);
    append_in_thread(&f, 6000, 0x1000, 100000, 5); /* less */
    pt_heap_init(&h, &fs);
    read_file(&h, &f, false);
    assert_string_equal(h.recording.profile.meta.title, "heap");
    assert_int_equal(h.group_count, 2);
    assert_int_equal(h.peak_mono_ns, 4000);
    pt_heap_make(&h, PT_HEAP_PEAK);
    struct pt_profile *p = &h.recording.profile;
    assert_int_equal(p->samples.count, 2);
    /* peak, live, allocated, temporary: bytes and blocks of each */
    const double expected[2][8] = {
        { 0, 0, a.bytes, a.count, 2 * a.bytes, 2 * a.count, 0, 0 },
        { b.bytes + c.bytes, b.count + c.count, c.bytes, c.count, b.bytes + c.bytes,
          b.count + c.count, 0, 0 },
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 8; k++)
            assert_int_equal(pt_profile_value(p, i, k), llround(expected[i][k]));
    const struct pt_profile_heap_meta *m = &p->meta.heap;
    assert_int_equal(m->peak_bytes, llround(b.bytes + c.bytes));
    assert_int_equal(m->peak_error, llround(sqrt(b.variance + c.variance)));
    assert_int_equal(m->live_error, llround(sqrt(a.variance + c.variance)));
    assert_int_equal(m->allocated_error, llround(sqrt(2 * a.variance + b.variance + c.variance)));
    assert_int_equal(p->meta.end_ns, 6000);
    /* what is left of an ended process was not freed */
    pt_heap_release(&h);
    header_of(&f)->read = 0;
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    pt_heap_make(&h, PT_HEAP_LIVE);
    p = &h.recording.profile;
    assert_int_equal(pt_profile_value(p, 0, 0), llround(a.bytes));
    assert_int_equal(pt_profile_value(p, 0, 1), llround(a.count));
    assert_int_equal(pt_profile_value(p, 1, 0), llround(c.bytes));
    assert_int_equal(p->meta.heap.live_error, llround(sqrt(a.variance + c.variance)));
    assert_int_equal(h.live.count, 0);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

/* A profile may be made several times while its program runs. */
static void test_made_again(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    append_allocation(&f, 1000, 0x1000, 1000);
    pt_heap_init(&h, &fs);
    read_file(&h, &f, false);
    for (int i = 0; i < 3; i++)
        pt_heap_make(&h, PT_HEAP_LIVE);
    struct pt_profile *p = &h.recording.profile;
    assert_int_equal(p->samples.count, 1);
    assert_int_equal(p->samples.at[0].time_ns, 1000);
    assert_int_equal(p->samples.at[0].cpu, UINT16_MAX);
    assert_int_equal(p->meta.start_ns, 1000);
    assert_int_equal(p->meta.end_ns, 1000);
    assert_int_equal(p->meta.heap.peak_ns, 1000);
    assert_int_equal(p->meta.heap.peak_bytes, llround(pt_heap_weight(1000, MEAN).bytes));
    /* sums of weights are whole numbers of the profile, within its limits */
    static const struct {
        double sum;
        int64_t value;
    } wholes[] = { { 8e18, INT64_C(8000000000000000000) },
                   { 9e18, INT64_MAX },
                   { 1e30, INT64_MAX },
                   { 1.5, 2 },
                   { 0.4, 0 },
                   { 0, 0 },
                   { -7, 0 } };
    for (size_t i = 0; i < PT_COUNT(wholes); i++) {
        h.groups[0].allocated.bytes = wholes[i].sum;
        pt_heap_make(&h, PT_HEAP_ALLOCATED);
        assert_int_equal(pt_profile_value(p, 0, 0), wholes[i].value);
    }
    /* it goes on after a profile was made */
    struct made_file more = make_file(0);
    append_allocation(&more, 2000, 0x2000, 1000);
    read_file(&h, &more, false);
    pt_heap_make(&h, PT_HEAP_ALLOCATED);
    assert_int_equal(h.sample_count, 2);
    assert_int_equal(p->values.count, p->samples.count * p->type_count);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_free(more.at);
    pt_fs_close(&fs);
}

/* "größe" of Latin-1 in "a.py"; bytecode of 8 bytes is of line 12. */
static void append_code(struct made_file *f, uint32_t number) {
    struct {
        struct pt_preload_code code;
        char text[16];
    } r = { .code = { .number = number,
                      .first_line = 11,
                      .name_length = 5,
                      .name_width = 1,
                      .file_length = 4,
                      .file_width = 1,
                      .lines_size = 2,
                      .lines_form = PT_PYTHON_LNOTAB },
            .text = "gr\xf6\xdf"
                    "ea.py"
                    "\x00\x01" };
    append(f, &r, sizeof r, PT_PRELOAD_CODE, 0);
}

static void test_python(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    struct {
        struct pt_preload_sample a;
        struct pt_preload_python_frame frames[4];
    } r = {
        .a = { .mono_ns = 1000, .address = 0x1000, .bytes = 1000, .thread = 5, .python_count = 3 },
        .frames = { { 77, 4, PT_PYTHON_IS_LAST },
                    { 78, 0, PT_PYTHON_IS_LAST },
                    { UINT32_MAX, 0, PT_PYTHON_IS_LAST | PT_PYTHON_IS_SHIM } }
    };
    append_code(&f, 77); /* of 78 nothing is known */
    append(&f, &r, sizeof r, PT_PRELOAD_ALLOCATION, 0);
    r.a.python_count = 5; /* more than there are: not a record */
    append(&f, &r, sizeof r, PT_PRELOAD_ALLOCATION, 0);
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    assert_int_equal(h.sample_count, 1);
    for (int i = 0; i < 2; i++) {
        struct pt_str made = pt_heap_python_entries(
            &h, &h.processes[0], (struct pt_str){ (const char *)r.frames, sizeof r.frames - 1 });
        struct pt_python_entry entries[3];
        assert_int_equal(made.len, sizeof entries);
        memcpy(entries, made.at, sizeof entries);
        assert_int_equal(entries[0].code, 0);
        assert_int_equal(entries[0].instruction, 4);
        assert_int_equal(entries[1].code, UINT32_MAX);
        assert_int_equal(entries[2].code, UINT32_MAX);
        assert_int_equal(entries[2].flags, PT_PYTHON_IS_LAST | PT_PYTHON_IS_SHIM);
    }
    pt_heap_finish(&h, PT_HEAP_LIVE);
    const struct pt_profile *p = &h.recording.profile;
    assert_int_equal(p->samples.count, 1);
    uint32_t stack = p->samples.at[0].stack;
    while (pt_profile_frame_kind(p, p->stacks.at[stack].frame) != PT_KIND_PYTHON)
        stack = p->stacks.at[stack].parent;
    const struct pt_profile_frame *frame = &p->frames.at[p->stacks.at[stack].frame];
    const struct pt_profile_function *function = &p->functions.at[frame->function];
    assert_true(pt_str_eq(pt_profile_text(p, function->name), PT_STR("gr\xc3\xb6\xc3\x9f"
                                                                     "e")));
    assert_true(pt_str_eq(pt_profile_text(p, function->file), PT_STR("a.py")));
    assert_int_equal(frame->line, 12);
    assert_int_equal(function->kind, PT_KIND_PYTHON);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

/* 16 MiB every 10 ms for 5 s. */
static void test_timeline(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    for (int i = 1; i <= 500; i++)
        append_allocation(&f, i * INT64_C(10000000), 0x1000u * (unsigned)i, 16 << 20);
    pt_heap_init(&h, &fs);
    h.start_mono_ns = 1;
    read_file(&h, &f, false);
    pt_heap_advance(&h, INT64_C(5000000000) + 1);
    pt_heap_make(&h, PT_HEAP_LIVE);
    const struct pt_profile_timeline *t = &h.recording.profile.timeline;
    assert_int_equal(t->step_ns, 20000000);
    assert_int_equal(t->count, 250);
    assert_int_equal(t->values[0], 2 * (16 << 20)); /* each came just before 10 ms were over */
    for (size_t i = 1; i < t->count; i++)
        assert_int_equal(t->values[i] - t->values[i - 1], INT64_C(2) * (16 << 20));
    assert_int_equal(h.recording.profile.growth.count, 1);
    const struct pt_profile_growth *g = &h.recording.profile.growth.at[0];
    assert_int_equal(g->bytes, INT64_C(500) * (16 << 20));
    assert_true(llabs(g->slope - INT64_C(100) * (16 << 20)) < 16 << 20);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

static void test_metric(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    append_allocation(&f, 1000, 0x1000, 1000);
    append_free(&f, 3000, 0x1000, PT_PRELOAD_FREE, PT_PRELOAD_TEMPORARY);
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    pt_heap_finish(&h, PT_HEAP_LIVE);
    struct pt_profile *p = &h.recording.profile;
    int64_t weight = llround(pt_heap_weight(1000, MEAN).bytes);
    assert_true(pt_heap_put_first(p, PT_HEAP_TEMPORARIES));
    const char *const metrics[] = { "live", "peak", "allocated", "temporary" };
    for (size_t i = 0; i < PT_COUNT(metrics); i++)
        assert_string_equal(pt_heap_metric_name(i), metrics[i]);
    assert_null(pt_heap_metric_name(PT_COUNT(metrics)));
    const char *const names[] = { "temporary", "temporary_count", "live",      "live_count",
                                  "peak",      "peak_count",      "allocated", "allocated_count" };
    assert_int_equal(p->type_count, PT_COUNT(names));
    for (size_t i = 0; i < PT_COUNT(names); i++)
        assert_string_equal(p->types[i].name, names[i]);
    int64_t blocks = llround(pt_heap_weight(1000, MEAN).count);
    const int64_t values[] = { weight, blocks, 0, 0, weight, blocks, weight, blocks };
    for (size_t i = 0; i < PT_COUNT(values); i++)
        assert_int_equal(pt_profile_value(p, 0, i), values[i]);
    assert_true(pt_heap_put_first(p, PT_HEAP_LIVE));
    assert_int_equal(pt_profile_value(p, 0, 0), 0);
    assert_int_equal(pt_profile_value(p, 0, 2), weight);
    assert_string_equal(p->types[2].name, "temporary");
    p->type_count = 3; /* bytes without blocks */
    assert_false(pt_heap_put_first(p, PT_HEAP_TEMPORARIES));
    p->type_count = 2;
    assert_false(pt_heap_put_first(p, PT_HEAP_ALLOCATED)); /* it is none of memory */
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

static void test_torn(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct made_file f = make_file(0);
    append_allocation(&f, 1000, 0x1000, 1000);
    uint64_t torn = f.position;
    append_allocation(&f, 2000, 0x2000, 1000);
    append_allocation(&f, 3000, 0x3000, 1000);
    memset(f.at + sizeof(struct pt_preload_header) + torn, 0, 8); /* its writer was killed */
    pt_heap_init(&h, &fs);
    read_file(&h, &f, false);
    assert_int_equal(h.sample_count, 1);
    assert_int_equal(header_of(&f)->read, torn);
    read_file(&h, &f, true);
    assert_int_equal(h.sample_count, 2);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

static void test_garbage(void **state) {
    (void)state;
    struct pt_preload_source s;
    struct made_file f = make_file(0);
    header_of(&f)->magic = 0;
    assert_int_equal(pt_preload_source_attach(&s, f.at, f.size), -EAGAIN);
    header_of(&f)->magic = PT_PRELOAD_MAGIC;
    assert_int_equal(pt_preload_source_attach(&s, f.at, f.size - 1), -EINVAL);
    header_of(&f)->version++;
    assert_int_equal(pt_preload_source_attach(&s, f.at, f.size), -EINVAL);
    pt_free(f.at);
}

/* The reader has it mapped meanwhile. */
static void test_cut(void **state) {
    (void)state;
    char path[] = "/dev/shm/pitot-heap-test-XXXXXX";
    int fd = mkstemp(path);
    struct made_file f = make_file(0);
    struct pt_preload_source s;
    struct pt_preload_event e;
    append_allocation(&f, 1000, 0x1000, 1000);
    assert_int_equal(write(fd, f.at, f.size), f.size);
    assert_int_equal(pt_preload_source_open(&s, AT_FDCWD, path), 0);
    assert_int_equal(ftruncate(fd, 100), 0);
    uint64_t position = 0;
    assert_false(pt_preload_source_next(&s, &position, true, 0, &e));
    pt_preload_source_close(&s);
    close(fd);
    unlink(path);
    pt_free(f.at);
}

/* What the reader of a directory of files was called with. */
struct calls {
    struct {
        int32_t pid;
        bool is_last;
    } at[16];
    size_t count;
    uint32_t added;
};

static uint32_t add_called(void *state, const struct pt_preload_source *s) {
    struct calls *c = state;
    (void)s;
    return c->added++;
}

static void read_called(void *state, uint32_t process, struct pt_preload_source *s, bool is_last) {
    struct calls *c = state;
    (void)process;
    assert_true(c->count < PT_COUNT(c->at));
    c->at[c->count].pid = s->pid;
    c->at[c->count++].is_last = is_last;
}

static void put_file(const char *directory, const char *name, int32_t pid, int64_t start_wall_ns,
                     bool is_whole) {
    struct made_file f = make_file(0);
    char path[128];
    header_of(&f)->pid = (uint32_t)pid;
    header_of(&f)->start_wall_ns = start_wall_ns;
    if (!is_whole)
        header_of(&f)->magic = 0;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, f.at, f.size), f.size);
    close(fd);
    pt_free(f.at);
}

static void assert_calls(struct calls *c, size_t count, const int32_t *pids, const bool *is_last) {
    assert_int_equal(c->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(c->at[i].pid, pids[i]);
        assert_int_equal(c->at[i].is_last, is_last[i]);
    }
    c->count = 0;
}

/* Files come in the order of their times; one of an ended process, or of a process with a later
 * file, is read for the last time and removed. */
static void test_files(void **state) {
    (void)state;
    char directory[] = "/dev/shm/pitot-heap-test-XXXXXX", path[128];
    assert_non_null(mkdtemp(directory));
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int32_t own = getpid(), parent = getppid();
    struct calls c = { 0 };
    struct pt_preload_files files;
    struct pt_preload_files_reader reader = { add_called, read_called, &c };
    pt_preload_files_init(&files, fd, ".heap", reader);
    pt_preload_files_look(&files);
    pt_preload_files_read(&files, false);
    assert_int_equal(files.count, 0);
    put_file(directory, "9-200.heap", own, 77, true);
    put_file(directory, "1-1000.heap", INT32_MAX, 99, true); /* has ended */
    put_file(directory, "5-300.heap", parent, 88, true);
    put_file(directory, "5-50.heap", own, 0, false); /* is still being made */
    put_file(directory, "7-400.other", own, 1, true);
    pt_preload_files_look(&files);
    pt_preload_files_look(&files); /* they are known */
    assert_int_equal(files.count, 4);
    pt_preload_files_read(&files, false);
    assert_calls(&c, 3, (int32_t[]){ own, parent, INT32_MAX }, (bool[]){ false, false, true });
    assert_int_equal(files.seen_count, 3);
    assert_int_equal(files.own_malloc_count, 0);
    assert_int_equal(files.first_wall_ns, 77);
    assert_int_equal(c.added, 3);
    assert_int_equal(files.count, 3);
    snprintf(path, sizeof path, "%s/1-1000.heap", directory);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(pt_preload_files_fill(&files) == 0);
    /* a later file of the same process: it executed another program */
    put_file(directory, "9-500.heap", own, 0, true);
    pt_preload_files_look(&files);
    pt_preload_files_read(&files, false);
    pt_preload_files_read(&files, false);
    assert_calls(&c, 6, (int32_t[]){ own, parent, own, own, parent, own },
                 (bool[]){ false, false, false, true, false, false });
    assert_int_equal(files.count, 3);
    pt_preload_files_read(&files, true);
    assert_int_equal(files.count, 1); /* the one that was never whole */
    pt_preload_files_release(&files);
    snprintf(path, sizeof path, "%s/5-50.heap", directory);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/7-400.other", directory);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(directory), 0);
    close(fd);
}

/* Against an array that is searched from end to end. */
static void test_live(void **state) {
    (void)state;
    struct pt_heap_live l = { 0 };
    struct pt_heap_live_entry other;
    bool is_there[3000] = { false };
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint32_t n = (uint32_t)(random >> 33) % 3000;
        uint64_t address = (n / 2 + 1) * 16;
        struct pt_heap_live_entry e = { .address = address, .process = n % 2, .group = n };
        if (random >> 63) {
            assert_int_equal(pt_heap_live_put(&l, e, &other), is_there[n]);
            is_there[n] = true;
        } else {
            assert_int_equal(pt_heap_live_remove(&l, n % 2, address, &other), is_there[n]);
            assert_true(!is_there[n] || other.group == n);
            is_there[n] = false;
        }
    }
    size_t count = 0;
    for (int i = 0; i < 3000; i++)
        count += is_there[i];
    assert_int_equal(l.count, count);
    pt_heap_live_release(&l);
}

static void fill(float series[32], float (*f)(int)) {
    for (int i = 0; i < 32; i++)
        series[i] = f(i);
}

static float line(int i) {
    return 1000.0f + 500.0f * (float)i;
}

static float plateau(int i) {
    return i < 6 ? 3000.0f * (float)i : 18000.0f;
}

static float once(int i) {
    return i < 16 ? 0.0f : 1e6f;
}

static float saw(int i) {
    return 1000.0f * (float)(i % 7);
}

static void test_growth(void **state) {
    (void)state;
    float series[32];
    fill(series, line);
    struct pt_leak_growth g = pt_leak_growth(series, 32, 0.5, 0);
    assert_true(g.is_leak);
    assert_near(g.slope, 1000);
    assert_true(!pt_leak_growth(series, 32, 0.5, 20000).is_leak); /* less than its error */
    assert_true(!pt_leak_growth(series, 4, 0.5, 0).is_leak);
    assert_true(isnan(pt_leak_growth(series, 4, 0.5, 0).slope));
    float (*const others[])(int) = { plateau, once, saw };
    for (size_t i = 0; i < PT_COUNT(others); i++) {
        fill(series, others[i]);
        assert_true(!pt_leak_growth(series, 32, 0.5, 0).is_leak);
    }
}

/* Against the formulas of a textbook. What follows the series does not count. */
static void test_slope(void **state) {
    (void)state;
    const float series[] = { 3, 5, 4, 8, 7, 11, 9, 14, 13, 12, 1e9f };
    struct pt_leak_growth g = pt_leak_growth(series, 10, 0.5, 0);
    assert_near(g.slope, 2 * 97.0 / 82.5);
    assert_near(g.slope_error, 2 * sqrt(20.351515151515151 / 8 / 82.5));
    assert_true(g.is_leak);
    g = pt_leak_growth(series, 10, 2, 2.5); /* with the error of the last value */
    assert_near(g.slope, 97.0 / 82.5 / 2);
    assert_near(g.slope_error, hypot(sqrt(20.351515151515151 / 8 / 82.5), 0.25) / 2);
    assert_true(isnan(pt_leak_growth(series, 7, 0.5, 0).slope));
    assert_true(isfinite(pt_leak_growth(series, 8, 0.5, 0).slope));
    /* the means of the quarters rise by 8: less than three errors of 2.7, more than of 2.6 */
    const float steps[] = { 4, 4, 6, 6, 9, 9, 12, 12 };
    assert_true(pt_leak_growth(steps, 8, 1, 2.6).is_leak);
    assert_false(pt_leak_growth(steps, 8, 1, 2.7).is_leak);
    /* from quarter to quarter at least a twelfth of the whole rise: 1 of 12 */
    const float slow[] = { 0, 0, 1, 1, 6, 6, 12, 12 },
                slower[] = { 0, 0, 0.9f, 0.9f, 6, 6, 12, 12 };
    assert_true(pt_leak_growth(slow, 8, 1, 0).is_leak);
    assert_false(pt_leak_growth(slower, 8, 1, 0).is_leak);
    const float falling[] = { 8, 7, 6, 5, 4, 3, 2, 1 };
    assert_false(pt_leak_growth(falling, 8, 1, 0).is_leak);
}

static uint32_t named_stack(struct pt_profile *p, uint32_t parent, const char *name,
                            enum pt_profile_kind kind, uint32_t line) {
    struct pt_profile_function f = { .name = pt_profile_string(p, pt_str_from(name)),
                                     .module = PT_PROFILE_NONE,
                                     .kind = kind };
    struct pt_profile_frame frame = { .function = pt_profile_function(p, f),
                                      .module = PT_PROFILE_NONE,
                                      .line = line };
    return pt_profile_stack(p, parent, pt_profile_frame(p, frame));
}

/* Live bytes of a stack in a thread: `step` more in each of 16 windows. */
static struct pt_heap_group *add_group(struct pt_heap *h, uint32_t stack, uint32_t thread,
                                       float step) {
    uint32_t number = pt_heap_group_of(h, stack, thread);
    struct pt_heap_group *g = &h->groups[number];
    g->series.filled = 16;
    for (int i = 0; i < 16; i++)
        g->series.at[i] = step * (float)(i + 1);
    g->live.bytes = 16 * (double)step;
    g->live.count = 4;
    g->allocated = (struct pt_heap_sum){ 32 * (double)step, 8, 0 };
    return g;
}

static void assert_leaks_text(const struct pt_profile *p, size_t limit, const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_leaks_print(p, limit, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text), expected);
    pt_buf_release(&text);
}

static void test_leaks(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    pt_heap_init(&h, &fs);
    struct pt_profile *p = &h.recording.profile;
    assert_leaks_text(p, 9, "leaks: unknown (the run was too short)\n");
    p->timeline.count = 8;
    assert_leaks_text(p, 9, "leaks: none (no stack has live bytes that rise throughout the run)\n");
    uint32_t root = named_stack(p, PT_PROFILE_NONE, "main", PT_KIND_NATIVE, 0);
    uint32_t stacks[7];
    for (unsigned i = 0; i < 7; i++)
        stacks[i] = named_stack(p, root, (const char *[]){ "a", "b", "c", "d", "e", "f", "g" }[i],
                                PT_KIND_NATIVE, i);
    h.window_ns = 500000000;
    h.total_series.filled = 16;
    /* threads of one stack are one row, in whatever order they came */
    for (unsigned thread = 0; thread < 3; thread++)
        for (unsigned i = 4; i-- > 0;)
            (void)add_group(&h, stacks[i], thread, i < 2 ? 1000 : 2048);
    /* freed before the end: live bytes are those of the last eighth */
    add_group(&h, stacks[4], 0, 3000)->live = (struct pt_heap_sum){ 23999, 1, 0 };
    struct pt_heap_group *freed = add_group(&h, stacks[5], 0, 9000);
    freed->series.at[14] = freed->series.at[15] = 100;
    freed->live.bytes = 0;
    (void)add_group(&h, PT_PROFILE_NONE, 0, 7000);
    /* a part was freed near the end: more than half is left */
    struct pt_heap_group *partly = add_group(&h, stacks[6], 0, 1000);
    partly->series.at[14] = partly->series.at[15] = 10000;
    partly->live.bytes = 0;
    pt_leaks_find(&h);
    static const struct pt_profile_growth rows[] = {
        { 2, 0, 12288, 0, 98304, 12 }, { 3, 0, 12288, 0, 98304, 12 }, { 4, 0, 6000, 0, 48000, 4 },
        { 0, 0, 6000, 0, 48000, 12 },  { 1, 0, 6000, 0, 48000, 12 },
    };
    assert_int_equal(p->growth.count, PT_COUNT(rows) + 1);
    const struct pt_profile_growth *last = &p->growth.at[PT_COUNT(rows)];
    assert_int_equal(last->stack, stacks[6]);
    assert_int_equal(last->bytes, 10000);
    assert_int_equal(last->count, 3);         /* of 4000 bytes each: 2.5 */
    const size_t order[] = { 0, 1, 3, 4, 2 }; /* equally fast: in the order of their stacks */
    for (size_t i = 0; i < PT_COUNT(rows); i++) {
        const struct pt_profile_growth *g = &p->growth.at[i], *r = &rows[order[i]];
        assert_int_equal(g->stack, stacks[r->stack]);
        assert_int_equal(g->slope, r->slope);
        assert_int_equal(g->slope_error, 0);
        assert_int_equal(g->bytes, r->bytes);
        assert_int_equal(g->count, r->count);
    }
    assert_leaks_text(p, 2,
                      "stacks with live bytes that rise throughout the run (may be in use):\n"
                      "                      growth         live       blocks  allocated by\n"
                      "         12.0 KiB/s +- 0 B/s    96.0 KiB          12  c:2 < main\n"
                      "         12.0 KiB/s +- 0 B/s    96.0 KiB          12  d:3 < main\n");
    pt_heap_release(&h);
    pt_fs_close(&fs);
}

static void assert_stack_text(const struct pt_profile *p, uint32_t stack, size_t frames,
                              const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_leaks_print_stack(p, stack, frames, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text), expected);
    pt_buf_release(&text);
}

static void test_leak_texts(void **state) {
    (void)state;
    struct pt_profile p;
    const struct pt_profile_value_type type = { "live", PT_PROFILE_BYTES };
    pt_profile_init(&p, &type, 1);
    uint32_t main = named_stack(&p, PT_PROFILE_NONE, "main", PT_KIND_NATIVE, 0);
    uint32_t native = named_stack(&p, named_stack(&p, main, "load", PT_KIND_NATIVE, 7), "malloc",
                                  PT_KIND_NATIVE, 0);
    assert_stack_text(&p, native, 9, "malloc < load:7 < main");
    assert_stack_text(&p, native, 3, "malloc < load:7 < main");
    assert_stack_text(&p, native, 2, "malloc < load:7 < ...");
    uint32_t python = named_stack(&p, main, "train.py:step", PT_KIND_PYTHON, 41);
    uint32_t eval = named_stack(&p, python, "eval", PT_KIND_NATIVE, 0);
    uint32_t leaf = named_stack(&p, eval, "malloc", PT_KIND_NATIVE, 0);
    assert_stack_text(&p, leaf, 4, "malloc < train.py:step:41");
    assert_stack_text(&p, leaf, 1, "malloc < ...");
    assert_stack_text(&p, PT_PROFILE_NONE, 4, "");
    static const struct {
        double bytes;
        const char *text;
    } texts[] = { { 0, "0 B" },
                  { -0.4, "0 B" },
                  { 0.6, "1 B" },
                  { -3, "-3 B" },
                  { 1023, "1023 B" },
                  { 1024, "1.0 KiB" },
                  { -1536, "-1.5 KiB" },
                  { 1048576, "1.0 MiB" },
                  { 3221225472.0, "3.0 GiB" },
                  { 0x1p40, "1.0 TiB" },
                  { 0x1p50 * 1.25, "1.2 PiB" },
                  { 0x1p60, "1024.0 PiB" } };
    for (size_t i = 0; i < PT_COUNT(texts); i++) {
        char text[PT_LEAKS_BYTES_TEXT];
        assert_string_equal(pt_leaks_bytes_text(texts[i].bytes, text), texts[i].text);
    }
    pt_profile_release(&p);
}

/* The workload, with the library in it. */
static void run_workload(const char *directory, const char *story, const char *mean,
                         const char *seed) {
    const char *modules = getenv("PITOT_MODULES"), *workload = getenv("PITOT_HEAP_WORKLOAD");
    char library[4096];
    if (!modules || !workload || getenv("PITOT_EMULATED"))
        skip();
    snprintf(library, sizeof library, "%s/libpitot-heap.so", modules);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_PRELOAD", library, 1);
        setenv(PT_HEAP_DIRECTORY, directory, 1);
        setenv(PT_HEAP_MEAN, mean, 1);
        setenv(PT_HEAP_STACK, "1024", 1);
        setenv(PT_HEAP_SEED, seed, 1);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execl(workload, workload, story, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void take_files(const char *directory, struct pt_heap *h) {
    DIR *d = opendir(directory);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct pt_preload_source s;
        if (e->d_name[0] == '.')
            continue;
        assert_int_equal(pt_preload_source_open(&s, dirfd(d), e->d_name), 0);
        uint32_t process = pt_heap_add_process(h, &s);
        pt_heap_read(h, process, &s, true, 1000);
        pt_preload_source_close(&s);
        unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

static const struct pt_heap_group *group_with(const struct pt_heap *h, double count, double bytes) {
    for (size_t i = 0; i < h->group_count; i++)
        if (h->groups[i].allocated.count == count && h->groups[i].allocated.bytes == bytes)
            return &h->groups[i];
    fail_msg("no stack has %g blocks of %g bytes", count, bytes);
    return NULL;
}

static void assert_sum(const struct pt_heap_sum *sum, double bytes, double count) {
    assert_near(sum->bytes, bytes);
    assert_near(sum->count, count);
    assert_near(sum->variance, 0); /* nothing is estimated */
}

static void test_every(void **state) {
    (void)state;
    char directory[] = "/dev/shm/pitot-heap-test-XXXXXX";
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    assert_non_null(mkdtemp(directory));
    run_workload(directory, "exact", "0", "1");
    pt_heap_init(&h, &fs);
    take_files(directory, &h);
    rmdir(directory);
    const struct pt_heap_group *g = group_with(&h, 1000, 100000);
    assert_sum(&g->left, 100000, 1000);
    assert_sum(&g->peak, 100000, 1000);
    assert_sum(&g->live, 0, 0);
    assert_sum(&g->temporary, 0, 0);
    g = group_with(&h, 10, 10 << 20);
    assert_sum(&g->left, 10 << 20, 10);
    assert_sum(&g->peak, 10 << 20, 10);
    g = group_with(&h, 5000, 1500000);
    assert_sum(&g->left, 0, 0);
    assert_sum(&g->temporary, 1500000, 5000);
    double left = 0, peak = 0, allocated = 0, blocks = 0;
    for (size_t i = 0; i < h.group_count; i++) {
        left += h.groups[i].left.bytes;
        peak += h.groups[i].peak.count;
        allocated += h.groups[i].allocated.bytes;
        blocks += h.groups[i].allocated.count;
    }
    assert_near(h.total_allocated.bytes, allocated);
    assert_near(h.total_live.bytes, 0);
    assert_near(h.total_peak.count, peak);
    assert_true(h.total_peak.bytes >= left && h.total_peak.bytes <= allocated);
    assert_int_equal(h.sample_count, llround(blocks));
    pt_heap_make(&h, PT_HEAP_PEAK);
    const struct pt_profile_meta *m = &h.recording.profile.meta;
    assert_string_equal(h.recording.profile.types[0].name, "peak");
    assert_int_equal(m->heap.allocated_error + m->heap.peak_error + m->heap.live_error, 0);
    assert_int_equal(m->heap.peak_bytes, llround(h.total_peak.bytes));
    assert_int_equal(m->lost + m->heap.lost_frees + m->heap.lost_stacks, 0);
    assert_true(m->unwound > 0 && m->rooted <= m->unwound && m->truncated == 0);
    pt_heap_release(&h);
    pt_fs_close(&fs);
}

/* What the program allocates in all, known by counting every block. */
static double exact_bytes(const char *directory, const struct pt_fs *fs) {
    struct pt_heap h;
    pt_heap_init(&h, fs);
    run_workload(directory, "sampled", "0", "1");
    take_files(directory, &h);
    double bytes = h.total_allocated.bytes;
    assert_true(bytes >= 80080000 && bytes < 80080000 + 200000);
    pt_heap_release(&h);
    return bytes;
}

static void test_estimates(void **state) {
    (void)state;
    char directory[] = "/dev/shm/pitot-heap-test-XXXXXX", seed[16];
    struct pt_fs fs = open_fs();
    assert_non_null(mkdtemp(directory));
    double exact = exact_bytes(directory, &fs), sum = 0, squares = 0;
    int near = 0;
    for (int i = 1; i <= 100; i++) {
        struct pt_heap h;
        pt_heap_init(&h, &fs);
        snprintf(seed, sizeof seed, "%d", i);
        run_workload(directory, "sampled", "524288", seed);
        take_files(directory, &h);
        assert_int_equal(pt_preload_losses(&h).allocations, 0);
        assert_true(fabs(h.total_live.bytes) < 1e-3);
        double z = (h.total_allocated.bytes - exact) / sqrt(h.total_allocated.variance);
        near += fabs(z) <= 3;
        sum += z;
        squares += z * z;
        pt_heap_release(&h);
    }
    rmdir(directory);
    pt_fs_close(&fs);
    print_message("within 3 standard errors: %d of 100; mean %.3f, mean square %.3f\n", near,
                  sum / 100, squares / 100);
    assert_true(near >= 98);
    assert_true(fabs(sum / 100) < 0.4);                      /* its own error is 0.1 */
    assert_true(squares / 100 > 0.5 && squares / 100 < 1.7); /* the errors are what they say */
}

/* Its number is none that runs. */
static void test_last_maps(void **state) {
    (void)state;
    struct pt_fs fs = open_fs();
    struct pt_heap h;
    struct pt_preload_source s;
    struct made_file f = make_file(0);
    struct pt_preload_sample a = { .mono_ns = 2000, .address = 1, .bytes = 1000, .thread = 5 };
    for (int i = 0; i < PT_PRELOAD_REGISTERS; i++)
        a.registers[i] = 0x401001; /* leads nowhere */
    append_free(&f, 1000, 0x9000, PT_PRELOAD_FREE, 0);
    uint64_t before = f.position;
    append(&f, &a, sizeof a, PT_PRELOAD_ALLOCATION, 0);
    pt_heap_init(&h, &fs);
    assert_int_equal(pt_preload_source_attach(&s, f.at, f.size), 0);
    uint32_t process = pt_heap_add_process(&h, &s);
    pt_heap_read(&h, process, &s, false, 0);
    assert_int_equal(h.sample_count, 0); /* it waits */
    assert_int_equal(header_of(&f)->read, before);
    append_maps(&f, "400000-402000 r-xp 00000000 00:00 0 /nonexistent/late.so\n");
    pt_heap_read(&h, process, &s, false, 0);
    assert_int_equal(h.sample_count, 0);
    pt_heap_read(&h, process, &s, true, 0);
    assert_int_equal(h.sample_count, 1);
    assert_int_equal(header_of(&f)->read, f.position);
    pt_preload_source_close(&s);
    pt_heap_release(&h);
    pt_free(f.at);
    pt_fs_close(&fs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_weight, "C244: a sample stands for its size over its chance of being one"),
        PT_TEST(test_sums, "C244: live, peak, allocated and temporary bytes are summed by stack"),
        PT_TEST(test_thinned, "C244: a sample counts by the mean that it was drawn with"),
        PT_TEST(test_replaced, "C244: a block that is allocated again was freed in between"),
        PT_TEST(test_peaks, "C244: at the peak each stack has what was live then"),
        PT_TEST(test_files, "C244: files of processes are read in order and removed at the end"),
        PT_TEST(test_made_again, "C244: a profile that is made again has no more samples"),
        PT_TEST(test_python, "C244: frames of Python have the names and lines of their code"),
        PT_TEST(test_timeline, "C244: the time line has the live bytes at the end of each step"),
        PT_TEST(test_metric, "C244: any column of a profile can come first"),
        PT_TEST(test_torn, "C244: a record that its killed writer did not finish is stepped over"),
        PT_TEST(test_garbage, "C244: a file that is not whole is not read"),
        PT_TEST(test_cut, "C244: a program that cuts its file while it is read ends no reader"),
        PT_TEST(test_last_maps,
                "C244: what an ended process left waits for the maps it wrote last"),
        PT_TEST(test_live, "C244: the table of live blocks forgets what was freed, nothing else"),
        PT_TEST(test_growth, "C244: steady growth is a leak; warm-ups, steps and saws are none"),
        PT_TEST(test_slope, "C244: growth is the slope of the straight line, with its error"),
        PT_TEST(test_leaks, "C244: leaks are the rows of their stacks, fastest first"),
        PT_TEST(test_leak_texts, "C244: a leak is printed with its callers and readable numbers"),
        PT_TEST(test_every, "C244: counting every allocation, sums are exact"),
        PT_TEST(test_estimates,
                "C244: in 100 seeded runs the sampled total is the exact one within its error"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
