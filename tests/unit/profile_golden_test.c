/* Three profiles of known numbers in every format, compared with tests/fixtures/profiles. To write
 * these files again: PITOT_GOLDEN_UPDATE=1 build/tests/unit/profile_golden_test. Check the
 * difference by hand before it is committed. */
#include "json_text.h"
#include "capture.h"
#include "test.h"

#include "base/proto_field.h"
#include "profile/model/profile_diff.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#define MS        INT64_C(1000000)
#define START_NS  (1000 * MS)
#define PERIOD_NS (10 * MS)
#define LONG_NAME "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f_of_a_name_that_is_too_long_for_its_box"
#define ODD_NAME  "a<b>&\"c\"\x01\x7f\xef\xbf\xbe!"
#define FIXTURES  "tests/fixtures/profiles/"
#define NO_THREAD PT_PROFILE_NONE
#define NO_MODULE PT_PROFILE_NONE
#define NO_PARENT (-1)
#define NO_STACK  (-1)
#define UNNAMED   NULL

static const struct {
    const char *path, *build_id;
} modules[] = {
    { "/bin/a.out", "00ff00ff" },
    { "/usr/lib/libm.so", "1234abcd" },
    { "[vdso]", "" },
    { "[kernel]", "" },
};

/* A stack is a frame and the number of the row of its caller. */
static const struct {
    int parent;
    const char *name, *file;
    uint32_t module, function_line, line, flags;
    uint64_t address;
    enum pt_profile_kind kind;
} stacks[] = {
    { NO_PARENT, "main", "a.c", 0, 1, 3, 0, 0x1000, PT_KIND_NATIVE },
    { 0, "step", "/src/train.py", NO_MODULE, 5, 7, 0, 0, PT_KIND_PYTHON },
    { 0, "step", "/src/train.py", NO_MODULE, 5, 9, 0, 0, PT_KIND_PYTHON },
    { 1, "matmul", "", 1, 0, 0, 0, 0x50, PT_KIND_NATIVE },
    { 3, "dot", "m", 1, 10, 12, PT_FRAME_INLINED, 0x50, PT_KIND_NATIVE },
    { 4, "fma", "m", 1, 20, 22, PT_FRAME_INLINED, 0x50, PT_KIND_NATIVE },
    { 2, UNNAMED, "", 1, 0, 0, 0, 0x99, PT_KIND_UNKNOWN },
    { 2, UNNAMED, "", 2, 0, 0, 0, 0x10, PT_KIND_UNKNOWN },
    { 2, UNNAMED, "", NO_MODULE, 0, 0, 0, 0x7f01, PT_KIND_UNKNOWN },
    { 0, "sys_read", "", 3, 0, 0, 0, 0x8000, PT_KIND_KERNEL },
    { NO_PARENT, "py::f", "", NO_MODULE, 0, 0, 0, 0x2000, PT_KIND_JIT },
    { NO_PARENT, "[stack cut short]", "", NO_MODULE, 0, 0, 0, 0, PT_KIND_MARKER },
    { 10, "", "x.c", 0, 0, 2, 0, 0x1100, PT_KIND_NATIVE },
    { 10, LONG_NAME, "", NO_MODULE, 0, 0, 0, 0x3000, PT_KIND_JIT },
    { 0, ODD_NAME, "", 0, 0, 0, 0, 0x1200, PT_KIND_NATIVE },
    { NO_PARENT, "tiny", "", NO_MODULE, 0, 0, 0, 0x4000, PT_KIND_NATIVE },
};

/* Thread 3 has no samples. The times of thread 1: three samples in a row (the second is the longest
 * pause that still counts as a row), a pause that is 1 ns longer, one before the start. */
static const struct {
    int stack;
    uint32_t thread;
    int64_t time_ns;
    enum pt_profile_state state;
    uint32_t gil;
    int64_t value;
} samples[] = {
    { 5, 0, 0, PT_STATE_ON_CPU, 0, 10 * MS },
    { 5, 0, 15 * MS, PT_STATE_ON_CPU, PT_GIL_CONTENDED, 10 * MS },
    { 6, 0, 20 * MS, PT_STATE_LOCK, 0, 20 * MS },
    { 3, 0, 35 * MS + 1, PT_STATE_ON_CPU, 0, 30 * MS },
    { 0, 1, 12 * MS + 345678, PT_STATE_IO, 0, 40 * MS },
    { 0, 1, -1234567, PT_STATE_ON_CPU, 0, 50 * MS },
    { 7, 2, 1, PT_STATE_GPU, 0, 60 * MS },
    { 8, 2, 999, PT_STATE_NETWORK, PT_GIL_KNOWN, 70 * MS },
    { 9, 1, 60 * MS, PT_STATE_IDLE, 0, 80 * MS },
    { 11, 1, 70 * MS, PT_STATE_COLLECTIVE, 0, 90 * MS },
    { 12, NO_THREAD, 80 * MS, PT_STATE_GIL, 0, 100 * MS },
    { 13, 0, 90 * MS, PT_STATE_ON_CPU, 0, 110 * MS },
    { 14, 0, 100 * MS, PT_STATE_ON_CPU, 0, 120 * MS },
    { 15, 0, 110 * MS, PT_STATE_ON_CPU, 0, MS / 10 },
    { NO_STACK, NO_THREAD, 120 * MS, PT_STATE_ON_CPU, 0, 130 * MS },
    { 5, 0, 130 * MS, PT_STATE_ON_CPU, 0, 10 * MS },
};

static uint32_t text(struct pt_profile *p, const char *words) {
    return pt_profile_string(p, pt_str_from(words));
}

static void add_stacks(struct pt_profile *p, uint32_t numbers[PT_COUNT(stacks)]) {
    for (size_t i = 0; i < PT_COUNT(modules); i++)
        assert_int_equal(
            pt_profile_module(p, (struct pt_profile_module){ text(p, modules[i].path),
                                                             text(p, modules[i].build_id) }),
            i);
    for (size_t i = 0; i < PT_COUNT(stacks); i++) {
        struct pt_profile_frame f = { PT_PROFILE_NONE, stacks[i].module, stacks[i].line,
                                      stacks[i].flags, stacks[i].address };
        if (stacks[i].name)
            f.function = pt_profile_function(
                p, (struct pt_profile_function){ text(p, stacks[i].name), f.module,
                                                 text(p, stacks[i].file), stacks[i].function_line,
                                                 stacks[i].kind });
        uint32_t parent =
            stacks[i].parent == NO_PARENT ? PT_PROFILE_NONE : numbers[stacks[i].parent];
        numbers[i] = pt_profile_stack(p, parent, pt_profile_frame(p, f));
    }
}

static void add_threads(struct pt_profile *p) {
    const struct pt_profile_thread threads[] = { { 7, 7, text(p, "a.out"), text(p, "a.out") },
                                                 { 7, 8, text(p, "w"), text(p, "a.out") },
                                                 { 9, 10, 0, 0 },
                                                 { 11, 11, text(p, "idle"), text(p, "idle") } };
    for (uint32_t i = 0; i < PT_COUNT(threads); i++)
        assert_int_equal(pt_profile_thread(p, threads[i]), i);
}

static void fill(struct pt_profile *p, const struct pt_profile_value_type *types, int64_t second) {
    uint32_t numbers[PT_COUNT(stacks)];
    pt_profile_init(p, types, 2);
    add_stacks(p, numbers);
    add_threads(p);
    p->meta.start_ns = START_NS;
    p->meta.end_ns = START_NS + 150 * MS;
    p->meta.start_wall_ns = INT64_C(1700000000123456789);
    for (size_t i = 0; i < PT_COUNT(samples); i++) {
        int stack = samples[i].stack;
        struct pt_profile_sample s = { .time_ns = START_NS + samples[i].time_ns,
                                       .thread = samples[i].thread,
                                       .stack =
                                           stack == NO_STACK ? PT_PROFILE_NONE : numbers[stack],
                                       .cpu = (uint16_t)i,
                                       .state = (uint16_t)samples[i].state,
                                       .gil = samples[i].gil };
        assert_true(pt_profile_sample(p, &s, (int64_t[]){ samples[i].value, second }));
    }
}

static void make_cpu(struct pt_profile *p) {
    static const struct pt_profile_value_type types[] = { { "cpu", PT_PROFILE_NANOSECONDS },
                                                          { "samples", PT_PROFILE_SAMPLES } };
    fill(p, types, 1);
    struct pt_profile_meta *m = &p->meta;
    m->title = "cpu";
    m->period_ns = PERIOD_NS;
    m->rate_hz = 100;
    m->lost = 3;
    m->dropped = 4;
    m->unwound = 5;
    m->rooted = 6;
    m->truncated = 7;
    m->python_wanted = 8;
    m->python_matched = 0;
    m->gil_known = 10;
    m->gil_held = 11;
    pt_str_copy(m->command, sizeof m->command, PT_STR("./a.out <x> & y"));
    pt_str_copy(m->method, sizeof m->method, PT_STR("p")); /* one letter is a comment too */
}

/* No period, no command, no title: a sample is all memory of one stack. */
static void make_heap(struct pt_profile *p) {
    static const struct pt_profile_value_type types[] = { { "live", PT_PROFILE_BYTES },
                                                          { "blocks", PT_PROFILE_SAMPLES } };
    fill(p, types, 70000);
    p->values.at[3] = -5; /* the column needs a sign */
    p->values.at[0] = INT64_C(1) << 33;
    p->meta.lost = -1;
    p->timeline = (struct pt_profile_timeline){ START_NS, 10, { 100, 70000, INT64_C(3) << 32 }, 3 };
    pt_profile_growth(p, &(struct pt_profile_growth){ 5, 0, 70, 7, 700, 2 });
    pt_profile_growth(p, &(struct pt_profile_growth){ 0, 0, 60, 6, 600, 1 });
}

/* From the first half of the CPU profile to the second, with half as many ns in all. */
static void make_diff(struct pt_profile *diff) {
    struct pt_profile before, after;
    make_cpu(&before);
    make_cpu(&after);
    size_t half = before.samples.count / 2;
    before.samples.count = half;
    for (size_t i = 0; i < half; i++)
        after.values.at[2 * i] = i % 3 == 0 ? after.values.at[2 * i] : 0;
    assert_int_equal(pt_profile_diff(&before, &after, diff, NULL), 0);
    pt_profile_release(&before);
    pt_profile_release(&after);
}

static char *written(const struct pt_profile *p,
                     void (*write)(const struct pt_profile *p, struct pt_out *out)) {
    struct pt_out out;
    memory_open(&out);
    write(p, &out);
    return memory_text(&out);
}

/* "pitot 1.2.3" becomes "pitot". */
static void hide_version(char *content) {
    const char version[] = "\"pitot " PITOT_VERSION "\"";
    size_t n = sizeof version - 1;
    for (char *found; (found = strstr(content, version));) {
        memcpy(found + n - 7, "\"pitot\"", 7);
        memset(found, ' ', n - 7);
    }
}

static char *read_golden(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail_msg("%s is missing", path);
    off_t size = lseek(fd, 0, SEEK_END);
    char *content = pt_malloc((size_t)size + 1);
    assert_int_equal(pread(fd, content, (size_t)size, 0), size);
    content[size] = 0;
    close(fd);
    return content;
}

static void assert_lines(const char *content, const char *golden, const char *path) {
    for (int line = 1; *content || *golden; line++) {
        size_t n = strcspn(content, "\n"), m = strcspn(golden, "\n");
        if (n != m || memcmp(content, golden, n) != 0)
            fail_msg("%s, line %d: \"%.*s\" instead of \"%.*s\"", path, line, (int)n, content,
                     (int)m, golden);
        content += n + (content[n] == '\n');
        golden += m + (golden[m] == '\n');
    }
}

/* Takes the content. */
static void assert_golden(char *content, const char *name) {
    char path[PATH_MAX];
    const char *source = getenv("PITOT_SOURCE");
    snprintf(path, sizeof path, "%s/" FIXTURES "%s", source ? source : ".", name);
    if (getenv("PITOT_GOLDEN_UPDATE")) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        assert_int_equal(write(fd, content, strlen(content)), strlen(content));
        close(fd);
    }
    char *golden = read_golden(path);
    assert_lines(content, golden, path);
    pt_free(golden);
    pt_free(content);
}

/* JSON with one value per line; it must be valid and have no key twice. */
static void assert_golden_json(char *content, const char *name) {
    hide_version(content);
    json_t *root = parsed(content);
    pt_free(content);
    char *lines = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    char *copy = pt_malloc(strlen(lines) + 1);
    memcpy(copy, lines, strlen(lines) + 1);
    free(lines);
    json_decref(root);
    assert_golden(copy, name);
}

static void test_cpu(void **state) {
    (void)state;
    struct pt_profile p;
    make_cpu(&p);
    assert_golden_json(written(&p, pt_chrome_trace_writer.write), "cpu.trace.json");
    assert_golden_json(written(&p, pt_firefox_writer.write), "cpu.firefox.json");
    assert_golden_json(written(&p, pt_speedscope_writer.write), "cpu.speedscope.json");
    assert_golden_json(written(&p, pt_profile_write_page_data), "cpu.flame.json");
    assert_golden(written(&p, pt_svg_writer.write), "cpu.svg");
    assert_golden(written(&p, pt_folded_writer.write), "cpu.folded");
    pt_profile_release(&p);
}

static void test_heap(void **state) {
    (void)state;
    struct pt_profile p;
    make_heap(&p);
    assert_golden_json(written(&p, pt_chrome_trace_writer.write), "heap.trace.json");
    assert_golden_json(written(&p, pt_firefox_writer.write), "heap.firefox.json");
    assert_golden_json(written(&p, pt_speedscope_writer.write), "heap.speedscope.json");
    assert_golden_json(written(&p, pt_profile_write_page_data), "heap.flame.json");
    assert_golden(written(&p, pt_svg_writer.write), "heap.svg");
    pt_profile_release(&p);
}

static void test_diff(void **state) {
    (void)state;
    struct pt_profile p;
    make_diff(&p);
    assert_golden_json(written(&p, pt_profile_write_page_data), "diff.flame.json");
    assert_golden(written(&p, pt_svg_writer.write), "diff.svg");
    assert_golden(written(&p, pt_folded_writer.write), "diff.folded");
    pt_profile_release(&p);
}

/* A pprof message as text: one field per line, nested messages indented. */
static void print_fields(struct pt_out *out, struct pt_str message, int depth, unsigned parent) {
    struct pt_bytes r = pt_bytes_of(message);
    struct pt_proto_field f;
    while (pt_proto_next(&r, &f)) {
        bool is_string = depth == 0 && f.number == 6;
        bool is_numbers = depth == 1 && parent == 2 && f.number <= 2;
        pt_out_printf(out, "%*s%u", 2 * depth, "", (unsigned)f.number);
        if (f.type != PT_PROTO_BYTES) {
            pt_out_printf(out, ": %llu\n", (unsigned long long)f.value);
        } else if (is_string) {
            pt_out_printf(out, ": \"%.*s\"\n", (int)f.bytes.len, f.bytes.at);
        } else if (is_numbers) {
            struct pt_bytes numbers = pt_bytes_of(f.bytes);
            while (numbers.at < numbers.end)
                pt_out_printf(out, " %llu", (unsigned long long)pt_bytes_varint(&numbers));
            pt_out_char(out, '\n');
        } else {
            pt_out_char(out, '\n');
            print_fields(out, f.bytes, depth + 1, (unsigned)f.number);
        }
    }
    assert_false(r.failed);
}

static void test_pprof(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_buf packed = { 0 }, message = { 0 };
    struct pt_out out;
    make_cpu(&p);
    pt_out_memory(&out, &packed);
    pt_pprof_writer.write(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    z_stream z = { .next_in = packed.at, .avail_in = (uInt)packed.len };
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    z.next_out = pt_buf_reserve(&message, 1 << 16);
    z.avail_out = 1 << 16;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    message.len = z.total_out;
    inflateEnd(&z);
    memory_open(&out);
    print_fields(&out, pt_buf_as_str(&message), 0, 0);
    assert_golden(memory_text(&out), "cpu.pprof.txt");
    pt_buf_release(&message);
    pt_buf_release(&packed);
    pt_profile_release(&p);
}

/* A chain of `depth` calls of one function. */
static void make_deep(struct pt_profile *p, uint32_t depth) {
    static const struct pt_profile_value_type type = { "cpu", PT_PROFILE_NANOSECONDS };
    pt_profile_init(p, &type, 1);
    p->meta.period_ns = PERIOD_NS;
    uint32_t frame = pt_profile_marker(p, PT_STR("f")), stack = PT_PROFILE_NONE;
    for (uint32_t i = 0; i < depth; i++)
        stack = pt_profile_stack(p, stack, frame);
    struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = stack };
    assert_true(pt_profile_sample(p, &s, &(int64_t){ 5 }));
}

static size_t occurrences(const char *content, const char *words) {
    size_t count = 0;
    for (const char *at = content; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* Traces keep 512 frames; collapsed stacks and speedscope 4096. */
static void test_deep(void **state) {
    (void)state;
    struct pt_profile p;
    static const uint32_t depths[] = { 511, 512, 513, 600, 4095, 4096, 4097 };
    for (size_t i = 0; i < PT_COUNT(depths); i++) {
        uint32_t depth = depths[i];
        make_deep(&p, depth);
        char *trace = written(&p, pt_chrome_trace_writer.write);
        assert_int_equal(occurrences(trace, "\"ph\":\"X\""), depth < 512 ? depth : 512);
        pt_free(trace);
        char *folded = written(&p, pt_folded_writer.write);
        assert_int_equal(occurrences(folded, "f"), depth < 4096 ? depth : 4096);
        pt_free(folded);
        json_t *root = parsed(trace = written(&p, pt_speedscope_writer.write));
        assert_int_equal(json_array_size(at(root, "profiles.0.samples.0")),
                         depth < 4096 ? depth : 4096);
        json_decref(root);
        pt_free(trace);
        pt_profile_release(&p);
    }
}

static json_t *page_data(const struct pt_profile *p) {
    char *content = written(p, pt_profile_write_page_data);
    json_t *root = parsed(content);
    pt_free(content);
    return root;
}

/* Columns 0 and `limit`, and what they are written as. */
static void test_column_types(void **state) {
    (void)state;
    static const struct {
        int64_t least, most;
        const char *type, *data;
    } cases[] = {
        { 0, 255, "u8", "AP8=" },
        { 0, 256, "u16", "AAAAAQ==" },
        { 0, 65535, "u16", "AAD//w==" },
        { 0, 65536, "u32", "AAAAAAAAAQA=" },
        { 0, UINT32_MAX, "u32", "AAAAAP////8=" },
        { 0, INT64_C(1) << 32, "f64", "AAAAAAAAAAAAAAAAAADwQQ==" },
        { -1, 0, "i32", "/////wAAAAA=" },
        { -1, INT32_MAX, "i32", "/////////38=" },
        { -1, INT64_C(1) << 31, "f64", "AAAAAAAA8L8AAAAAAADgQQ==" },
        { INT32_MIN, 0, "i32", "AAAAgAAAAAA=" },
        { INT64_C(-1) + INT32_MIN, 0, "f64", "AAAgAAAA4MEAAAAAAAAAAA==" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile p;
        static const struct pt_profile_value_type type = { "v", PT_PROFILE_SAMPLES };
        pt_profile_init(&p, &type, 1);
        struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = PT_PROFILE_NONE };
        assert_true(pt_profile_sample(&p, &s, &cases[i].least));
        assert_true(pt_profile_sample(&p, &s, &cases[i].most));
        json_t *root = page_data(&p);
        assert_number(root, "samples.values.0.count", 2);
        assert_text(root, "samples.values.0.type", cases[i].type);
        assert_text(root, "samples.values.0.data", cases[i].data);
        json_decref(root);
        pt_profile_release(&p);
    }
}

/* Times are microseconds, or tens of them where 32 bits are too few. */
static void test_time_steps(void **state) {
    (void)state;
    static const struct {
        int64_t last_ns;
        double step_ns;
    } cases[] = { { 1, 1000 },
                  { INT64_C(4294967295999), 1000 },
                  { INT64_C(4294967296000), 10000 },
                  { INT64_C(42949672960000), 100000 } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile p;
        make_deep(&p, 1);
        struct pt_profile_sample s = { .thread = PT_PROFILE_NONE,
                                       .stack = PT_PROFILE_NONE,
                                       .time_ns = cases[i].last_ns };
        assert_true(pt_profile_sample(&p, &s, &(int64_t){ 5 }));
        json_t *root = page_data(&p);
        assert_number(root, "samples.time_step_ns", cases[i].step_ns);
        json_decref(root);
        pt_profile_release(&p);
    }
    struct pt_profile empty;
    make_deep(&empty, 1);
    empty.samples.count = 0;
    json_t *root = page_data(&empty);
    assert_number(root, "samples.time_step_ns", 1000);
    assert_number(root, "samples.time.count", 0);
    assert_number(root, "samples.time.value", 0);
    json_decref(root);
    pt_profile_release(&empty);
}

/* One thread is enough for samples without one to be called [unknown]. */
static void test_unknown_process(void **state) {
    (void)state;
    struct pt_profile p;
    make_deep(&p, 2);
    char *folded = written(&p, pt_folded_writer.write);
    assert_string_equal(folded, "f;f 5\n");
    pt_free(folded);
    (void)pt_profile_thread(&p, (struct pt_profile_thread){ 7, 7, 0, text(&p, "a") });
    folded = written(&p, pt_folded_writer.write);
    assert_string_equal(folded, "[unknown];f;f 5\n");
    pt_free(folded);
    pt_profile_release(&p);
}

/* A box has no text below 28 pixels, and as many letters of 6.7 pixels as fit. */
static void test_labels(void **state) {
    (void)state;
    static const struct {
        int64_t value; /* of 1180000 in all: thousandths of a pixel */
        const char *label;
    } cases[] = {
        { 27999, "" },
        { 28000, ">01\xe2\x80\xa6<" },
        { 32799, ">01\xe2\x80\xa6<" },
        { 32801, ">012\xe2\x80\xa6<" },
        { 72999, ">01234567\xe2\x80\xa6<" },
        { 73001, ">0123456789<" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile p;
        static const struct pt_profile_value_type type = { "v", PT_PROFILE_SAMPLES };
        pt_profile_init(&p, &type, 1);
        uint32_t frame = pt_profile_marker(&p, PT_STR("0123456789"));
        struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = PT_PROFILE_NONE };
        assert_true(pt_profile_sample(&p, &s, &(int64_t){ 1180000 - cases[i].value }));
        s.stack = pt_profile_stack(&p, PT_PROFILE_NONE, frame);
        assert_true(pt_profile_sample(&p, &s, &cases[i].value));
        char *svg = written(&p, pt_svg_writer.write);
        assert_int_equal(occurrences(svg, "<text x=\"14.0\" y=\"89.0\""), cases[i].label[0] != 0);
        assert_non_null(strstr(svg, cases[i].label));
        assert_non_null(strstr(svg, ">all, 1180000 samples<"));
        pt_free(svg);
        pt_profile_release(&p);
    }
}

/* Boxes narrower than 0.4 pixels are left out, and do not make the picture higher. */
static void test_narrow_boxes(void **state) {
    (void)state;
    for (int64_t value = 399; value <= 400; value++) {
        struct pt_profile p;
        make_deep(&p, 3);
        p.values.at[0] = value;
        struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = PT_PROFILE_NONE };
        assert_true(pt_profile_sample(&p, &s, &(int64_t){ 1180000 - value }));
        char *svg = written(&p, pt_svg_writer.write);
        assert_int_equal(occurrences(svg, "<title>f "), value < 400 ? 0 : 3);
        assert_non_null(strstr(svg, value < 400 ? "height=\"86\"" : "height=\"140\""));
        pt_free(svg);
        pt_profile_release(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_cpu, "C241: a CPU profile is the same in every format as before"),
        PT_TEST(test_heap, "C244: a heap profile is the same in every format as before"),
        PT_TEST(test_diff, "C243: a difference is the same in every format as before"),
        PT_TEST(test_deep, "C241: deep stacks are cut off where readers would fail"),
        PT_TEST(test_column_types, "C241: a column has the narrowest type that holds it"),
        PT_TEST(test_time_steps, "C241: times of a long profile have longer steps"),
        PT_TEST(test_unknown_process, "C241: a collapsed stack begins with its process"),
        PT_TEST(test_labels, "C241: labels of the picture are cut to their boxes"),
        PT_TEST(test_narrow_boxes, "C241: boxes that cannot be seen are left out"),
        PT_TEST(test_pprof, "C241: every field of a pprof message has its number and value"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
