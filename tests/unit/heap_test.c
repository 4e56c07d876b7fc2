/* Heap profiles: the files of processes, what is made of them, and the library that writes them. */
#include "test.h"

#include "base/clock.h"
#include "base/fs.h"
#include "inside/preload/python_frame.h"
#include "profile/heap/heap.h"
#include "profile/heap/leaks.h"

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
    pt_heap_init(&h, &fs);
    read_file(&h, &f, true);
    assert_near(h.total_allocated.bytes,
                pt_heap_weight(1000, MEAN).bytes + pt_heap_weight(1000, 8 * MEAN).bytes);
    pt_heap_finish(&h, PT_HEAP_LIVE);
    const struct pt_profile_heap_meta *m = &h.recording.profile.meta.heap;
    assert_int_equal(m->taken, 2);
    assert_int_equal(m->thinned, 1);
    assert_int_equal(m->allocated_error, llround(sqrt(h.total_allocated.variance)));
    pt_heap_release(&h);
    pt_free(f.at);
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
    const char *const names[] = { "temporary", "temporary_count", "live",     "live_count",
                                  "peak",      "peak_count",      "allocated" };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        assert_string_equal(p->types[i].name, names[i]);
    assert_int_equal(pt_profile_value(p, 0, 0), weight);
    assert_int_equal(pt_profile_value(p, 0, 2), 0);
    assert_int_equal(pt_profile_value(p, 0, 6), weight);
    assert_true(pt_heap_put_first(p, PT_HEAP_LIVE));
    assert_int_equal(pt_profile_value(p, 0, 0), 0);
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
        PT_TEST(test_estimates,
                "C244: in 100 seeded runs the sampled total is the exact one within its error"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
