/* A small profile of known numbers in every format, read back by jansson, zlib and our own readers:
 *
 *     main (a.out) -> step (train.py:7) -> matmul (libm.so, inlined: dot)      3 samples, thread 1
 *     main         -> step (train.py:9) -> [libm.so+0x99]                      1 sample, waits
 *     main                                                                    2 samples, thread 2
 *     (no stack)                                                              1 sample
 */
#include "json_text.h"
#include "test.h"

#include "base/scan.h"
#include "profile/model/profile_diff.h"
#include "profile/model/lines.h"
#include "profile/files/profile_readers.h"
#include "profile/model/by_function.h"
#include "profile/files/profile_writers.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#define PERIOD_NS 10000000
#define HOSTILE   "</script><b>&\"';\n\x01\xff\xef\xbf\xbf!"

static const struct pt_profile_value_type types[] = { { "cpu", PT_PROFILE_NANOSECONDS },
                                                      { "samples", PT_PROFILE_SAMPLES } };

struct known {
    struct pt_profile profile;
    uint32_t main_stack, matmul_stack, nameless_stack;
};

static uint32_t text(struct pt_profile *p, const char *words) {
    return pt_profile_string(p, pt_str_from(words));
}

static uint32_t function(struct pt_profile *p, const char *name, uint32_t module, const char *file,
                         uint32_t line, enum pt_profile_kind kind) {
    return pt_profile_function(
        p, (struct pt_profile_function){ text(p, name), module, text(p, file), line, kind });
}

static uint32_t frame(struct pt_profile *p, uint32_t of, uint32_t module, uint32_t line,
                      uint32_t flags, uint64_t address) {
    return pt_profile_frame(p, (struct pt_profile_frame){ of, module, line, flags, address });
}

static void add(struct pt_profile *p, uint32_t thread, uint32_t stack, int64_t at_ns,
                enum pt_profile_state state) {
    struct pt_profile_sample s = { .time_ns = p->meta.start_ns + at_ns,
                                   .thread = thread,
                                   .stack = stack,
                                   .state = (uint16_t)state };
    assert_true(pt_profile_sample(p, &s, (int64_t[]){ PERIOD_NS, 1 }));
}

static void make_stacks(struct known *k, const char *leaf) {
    struct pt_profile *p = &k->profile;
    uint32_t program = pt_profile_module(
        p, (struct pt_profile_module){ text(p, "/bin/a.out"), text(p, "00ff00ff") });
    uint32_t library = pt_profile_module(
        p, (struct pt_profile_module){ text(p, "/usr/lib/libm.so"), text(p, "1234abcd") });
    uint32_t main = function(p, "main", program, "a.c", 1, PT_KIND_NATIVE);
    uint32_t step = function(p, "step", PT_PROFILE_NONE, "/src/train.py", 5, PT_KIND_PYTHON);
    uint32_t matmul = function(p, "matmul", library, "m.c", 40, PT_KIND_NATIVE);
    uint32_t dot = function(p, leaf, library, "m.c", 10, PT_KIND_NATIVE);
    k->main_stack = pt_profile_stack(p, PT_PROFILE_NONE, frame(p, main, program, 3, 0, 0x1000));
    uint32_t seven = pt_profile_stack(p, k->main_stack, frame(p, step, PT_PROFILE_NONE, 7, 0, 0));
    uint32_t nine = pt_profile_stack(p, k->main_stack, frame(p, step, PT_PROFILE_NONE, 9, 0, 0));
    uint32_t outer = pt_profile_stack(p, seven, frame(p, matmul, library, 44, 0, 0x50));
    k->matmul_stack =
        pt_profile_stack(p, outer, frame(p, dot, library, 12, PT_FRAME_INLINED, 0x50));
    k->nameless_stack = pt_profile_stack(p, nine, frame(p, PT_PROFILE_NONE, library, 0, 0, 0x99));
}

static void make_known(struct known *k, const char *leaf) {
    struct pt_profile *p = &k->profile;
    pt_profile_init(p, types, PT_COUNT(types));
    make_stacks(k, leaf);
    uint32_t process = text(p, "a.out");
    uint32_t one = pt_profile_thread(p, (struct pt_profile_thread){ 7, 7, process, process });
    uint32_t two =
        pt_profile_thread(p, (struct pt_profile_thread){ 7, 8, text(p, "worker"), process });
    p->meta.title = "cpu";
    p->meta.start_ns = 1000000000;
    p->meta.end_ns = p->meta.start_ns + 10 * PERIOD_NS;
    p->meta.start_wall_ns = INT64_C(1700000000000000000);
    p->meta.period_ns = PERIOD_NS;
    p->meta.rate_hz = 100;
    pt_str_copy(p->meta.command, sizeof p->meta.command, PT_STR("./a.out <x>"));
    pt_str_copy(p->meta.method, sizeof p->meta.method, PT_STR("by hand"));
    add(p, one, k->matmul_stack, 0, PT_STATE_ON_CPU);
    add(p, one, k->matmul_stack, PERIOD_NS, PT_STATE_ON_CPU);
    add(p, two, k->main_stack, PERIOD_NS, PT_STATE_ON_CPU);
    add(p, one, k->nameless_stack, 2 * PERIOD_NS, PT_STATE_LOCK);
    add(p, two, k->main_stack, 2 * PERIOD_NS, PT_STATE_ON_CPU);
    add(p, one, k->matmul_stack, 8 * PERIOD_NS, PT_STATE_ON_CPU); /* after a pause */
    add(p, PT_PROFILE_NONE, PT_PROFILE_NONE, 9 * PERIOD_NS, PT_STATE_ON_CPU);
}

static struct pt_buf written(const struct pt_profile_writer *writer, const struct pt_profile *p) {
    struct pt_buf bytes = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &bytes);
    writer->write(p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    return bytes;
}

static json_t *written_json(const struct pt_profile_writer *writer, const struct pt_profile *p) {
    struct pt_buf bytes = written(writer, p);
    pt_buf_u8(&bytes, 0);
    json_t *root = parsed((char *)bytes.at);
    pt_buf_release(&bytes);
    return root;
}

static void test_speedscope(void **state) {
    (void)state;
    struct known k;
    make_known(&k, "dot");
    json_t *root = written_json(&pt_speedscope_writer, &k.profile);
    assert_text(root, "$schema", "https://www.speedscope.app/file-format-schema.json");
    assert_int_equal(json_array_size(at(root, "profiles")), 3);
    assert_text(root, "profiles.0.name", "a.out (7/7)");
    assert_text(root, "profiles.0.unit", "nanoseconds");
    assert_int_equal(json_array_size(at(root, "profiles.0.samples")), 4);
    assert_int_equal(json_array_size(at(root, "profiles.0.weights")), 4);
    assert_number(root, "profiles.0.endValue", 4.0 * PERIOD_NS);
    /* from the root: main, step, matmul, dot */
    json_t *stack = at(root, "profiles.0.samples.0");
    assert_int_equal(json_array_size(stack), 4);
    json_t *frames = at(root, "shared.frames");
    const char *const names[] = { "main", "step", "matmul", "dot" };
    for (size_t i = 0; i < 4; i++) {
        json_t *f = json_array_get(frames, (size_t)json_integer_value(json_array_get(stack, i)));
        assert_text(f, "name", names[i]);
    }
    assert_int_equal(json_array_size(at(root, "profiles.2.samples.0")), 0);
    json_decref(root);
    pt_profile_release(&k.profile);
}

static void test_speedscope_types(void **state) {
    (void)state;
    struct known k;
    make_known(&k, "dot");
    k.profile.meta.period_ns = 0; /* as of a heap: columns instead of threads */
    json_t *root = written_json(&pt_speedscope_writer, &k.profile);
    assert_int_equal(json_array_size(at(root, "profiles")), 2);
    assert_text(root, "profiles.1.name", "samples");
    assert_text(root, "profiles.1.unit", "none");
    assert_number(root, "profiles.1.endValue", 7);
    json_decref(root);
    pt_profile_release(&k.profile);
}

/* The sum of the durations of all events of that name on that thread, in microseconds. */
static double trace_sum(json_t *root, const char *name, int tid, int *count) {
    double sum = 0;
    size_t i;
    json_t *event;
    *count = 0;
    json_array_foreach(at(root, "traceEvents"), i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0 ||
            strcmp(json_string_value(json_object_get(event, "name")), name) != 0 ||
            json_integer_value(json_object_get(event, "tid")) != tid)
            continue;
        sum += json_number_value(json_object_get(event, "dur"));
        ++*count;
    }
    return sum;
}

static void test_trace(void **state) {
    (void)state;
    struct known k;
    int count;
    make_known(&k, "dot");
    json_t *root = written_json(&pt_chrome_trace_writer, &k.profile);
    /* three samples in a row and, after a pause, one more */
    assert_true(trace_sum(root, "main", 7, &count) == 40000);
    assert_int_equal(count, 2);
    assert_true(trace_sum(root, "dot", 7, &count) == 30000);
    assert_int_equal(count, 2);
    assert_true(trace_sum(root, "[libm.so]", 7, &count) == 10000);
    assert_true(trace_sum(root, "main", 8, &count) == 20000);
    assert_int_equal(count, 1);
    json_decref(root);
    k.profile.meta.period_ns = 0;
    root = written_json(&pt_chrome_trace_writer, &k.profile);
    assert_true(trace_sum(root, "main", 7, &count) == 0);
    json_decref(root);
    pt_profile_release(&k.profile);
}

static void test_unordered(void **state) {
    (void)state;
    struct known k;
    int count;
    make_known(&k, "dot");
    k.profile.samples.count = k.profile.values.count = 0;
    for (int i = 5; i-- > 0;)
        add(&k.profile, 0, k.matmul_stack, i * PERIOD_NS, PT_STATE_ON_CPU);
    json_t *root = written_json(&pt_chrome_trace_writer, &k.profile);
    assert_true(trace_sum(root, "dot", 7, &count) == 50000);
    assert_int_equal(count, 1);
    json_decref(root);
    pt_profile_release(&k.profile);
}

/* Every column of a table has the length that the table says. */
static void check_columns(json_t *table) {
    const char *key;
    json_t *column;
    size_t length = (size_t)json_integer_value(at(table, "length"));
    json_object_foreach(table, key, column) if (json_is_array(column))
        assert_int_equal(json_array_size(column), length);
}

static void check_below(json_t *thread, const char *column, const char *length) {
    size_t i;
    json_t *value;
    json_array_foreach(at(thread, column), i, value) assert_true(
        json_is_null(value) || json_integer_value(value) < json_integer_value(at(thread, length)));
}

static void test_firefox(void **state) {
    (void)state;
    struct known k;
    make_known(&k, "dot");
    json_t *root = written_json(&pt_firefox_writer, &k.profile), *thread;
    size_t i;
    assert_number(root, "meta.preprocessedProfileVersion", 48);
    assert_number(root, "meta.interval", 10);
    assert_int_equal(json_array_size(at(root, "threads")), 3);
    json_array_foreach(at(root, "threads"), i, thread) {
        static const char *const tables[] = { "samples",   "stackTable",    "frameTable",
                                              "funcTable", "resourceTable", "nativeSymbols",
                                              "markers" };
        for (size_t j = 0; j < PT_COUNT(tables); j++)
            check_columns(at(thread, tables[j]));
        check_below(thread, "samples.stack", "stackTable.length");
        check_below(thread, "stackTable.frame", "frameTable.length");
        check_below(thread, "stackTable.prefix", "stackTable.length");
        check_below(thread, "frameTable.func", "funcTable.length");
        assert_true(json_is_string(at(thread, "pid")));
    }
    assert_number(root, "threads.0.samples.length", 4);
    assert_text(root, "threads.1.name", "worker");
    /* the worker has one frame, main, and its stack no prefix */
    assert_number(root, "threads.1.stackTable.length", 1);
    assert_null_at(root, "threads.1.stackTable.prefix.0");
    assert_text(root, "threads.1.stringArray.0", "main");
    json_decref(root);
    pt_profile_release(&k.profile);
}

static void test_html(void **state) {
    (void)state;
    struct known k;
    make_known(&k, HOSTILE);
    struct pt_buf page = written(&pt_html_writer, &k.profile);
    pt_buf_u8(&page, 0);
    char *data = strstr((char *)page.at, "type=\"application/json\">");
    assert_non_null(data);
    data = strchr(data, '>') + 1;
    char *end = strchr(data, '<'); /* no name can open or close an element */
    assert_int_equal(strncmp(end, "</script>", 9), 0);
    *end = 0;
    json_t *root = parsed(data);
    assert_text(root, "format", "pitot-flame");
    assert_text(root, "labels.names.3", "</script><b>&\"';\n\x01\xef\xbf\xbd\xef\xbf\xbf!");
    assert_text(root, "meta.command", "./a.out <x>");
    assert_number(root, "samples.node.count", 7);
    assert_text(root, "samples.node.type", "i32");
    /* the fourth sample waits for a lock */
    assert_text(root, "samples.state.data", "AAAAAwAAAA==");
    assert_number(root, "samples.values.0.value", PERIOD_NS);
    assert_text(root, "samples.time.data", "AAAAABAnAAAQJwAAIE4AACBOAACAOAEAkF8BAA==");
    assert_text(root, "samples.time.type", "u32");
    assert_number(root, "samples.time_step_ns", 1000);
    json_decref(root);
    pt_buf_release(&page);
    pt_profile_release(&k.profile);
}

static void test_svg(void **state) {
    (void)state;
    struct known k;
    make_known(&k, HOSTILE);
    struct pt_buf picture = written(&pt_svg_writer, &k.profile);
    pt_buf_u8(&picture, 0);
    const char *svg = (const char *)picture.at;
    assert_non_null(strstr(svg, "./a.out &lt;x&gt;"));
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "<b>"));
    assert_non_null(strstr(
        svg, "&lt;/script&gt;&lt;b&gt;&amp;\"';\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd!"));
    assert_non_null(strstr(svg, "main \xe2\x80\x93 0.060 s, 85.71 %"));
    assert_non_null(strstr(svg, "step \xe2\x80\x93 0.040 s, 57.14 %"));
    pt_buf_release(&picture);
    pt_profile_release(&k.profile);
}

static void gunzip(const struct pt_buf *from, struct pt_buf *into) {
    z_stream z = { .next_in = from->at, .avail_in = (uInt)from->len };
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    z.next_out = pt_buf_reserve(into, 1 << 20);
    z.avail_out = 1 << 20;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    into->len = z.total_out;
    inflateEnd(&z);
}

/* What a reader gives back: names from the root to the leaf of a sample, with ';' in between. */
static void assert_stack(const struct pt_profile *p, size_t sample, const char *expected) {
    const char *names[16];
    char buffers[16][PT_PROFILE_NAME_BYTES], joined[512] = "";
    size_t depth = 0;
    for (uint32_t s = p->samples.at[sample].stack; s != PT_PROFILE_NONE;
         s = p->stacks.at[s].parent, depth++) {
        char buffer[PT_PROFILE_NAME_BYTES];
        names[depth] = pt_str_copy(buffers[depth], sizeof buffers[depth],
                                   pt_profile_frame_name(p, p->stacks.at[s].frame, buffer));
    }
    while (depth-- > 0)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
                 joined[0] ? ";" : "", names[depth]);
    assert_string_equal(joined, expected);
}

static void test_pprof(void **state) {
    (void)state;
    struct known k;
    struct pt_profile_file file = { 0 };
    struct pt_err err;
    struct pt_buf message = { 0 };
    make_known(&k, "dot");
    struct pt_buf packed = written(&pt_pprof_writer, &k.profile);
    gunzip(&packed, &message);
    assert_int_equal(pt_pprof_parse(pt_buf_as_str(&message), &file, &err), 0);
    const struct pt_profile *p = &file.profile;
    assert_int_equal(p->samples.count, 4); /* summed by thread, state and stack */
    assert_stack(p, 0, "main;step;matmul;dot");
    assert_int_equal(pt_profile_value(p, 0, 0), 3 * PERIOD_NS);
    assert_int_equal(pt_profile_value(p, 0, 1), 3);
    assert_stack(p, 2, "main;step;libm.so+0x99");
    assert_stack(p, 3, "");
    uint32_t leaf = p->stacks.at[p->samples.at[0].stack].frame;
    assert_int_equal(p->frames.at[leaf].flags, PT_FRAME_INLINED);
    assert_int_equal(p->frames.at[leaf].line, 12);
    assert_int_equal(p->frames.at[leaf].address, 0x50);
    assert_true(pt_str_eq(pt_profile_text(p, p->modules.at[1].build_id), PT_STR("1234abcd")));
    assert_int_equal(p->meta.period_ns, PERIOD_NS);
    assert_int_equal(p->meta.start_wall_ns, INT64_C(1700000000000000000));
    pt_profile_file_release(&file);
    pt_buf_release(&message);
    pt_buf_release(&packed);
    pt_profile_release(&k.profile);
}

static void test_saved(void **state) {
    (void)state;
    struct known k;
    struct pt_profile_file file = { 0 };
    struct pt_err err;
    make_known(&k, "dot");
    k.profile.samples.at[1].gil = PT_GIL_CONTENDED;
    k.profile.meta.gil_known = 6;
    k.profile.timeline = (struct pt_profile_timeline){ 5, 10, { 100, -3, 300 }, 3 };
    struct pt_profile_growth growth = {
        .stack = 1, .slope = 70, .slope_error = 7, .bytes = 700, .count = 2
    };
    pt_profile_growth(&k.profile, &growth);
    k.profile.meta.heap.peak_bytes = 12345;
    struct pt_buf bytes = written(&pt_saved_writer, &k.profile);
    assert_int_equal(pt_saved_reader.read(pt_buf_as_str(&bytes), &file, &err), 0);
    assert_memory_equal(&file.profile.timeline, &k.profile.timeline, sizeof k.profile.timeline);
    assert_int_equal(file.profile.growth.count, 1);
    assert_memory_equal(file.profile.growth.at, &growth, sizeof growth);
    assert_int_equal(file.profile.meta.heap.peak_bytes, 12345);
    struct pt_buf again = written(&pt_saved_writer, &file.profile);
    assert_true(pt_str_eq(pt_buf_as_str(&bytes), pt_buf_as_str(&again)));
    assert_string_equal(file.profile.meta.method, "by hand");
    assert_stack(&file.profile, 0, "main;step;matmul;dot");
    assert_int_equal(file.profile.samples.at[3].state, PT_STATE_LOCK);
    assert_int_equal(file.profile.samples.at[1].gil, PT_GIL_CONTENDED);
    assert_int_equal(file.profile.samples.at[2].gil, 0);
    assert_int_equal(file.profile.meta.gil_known, 6);
    /* and it can grow as one that was recorded */
    assert_int_equal(pt_profile_string(&file.profile, PT_STR("matmul")),
                     text(&k.profile, "matmul"));
    pt_profile_file_release(&file);
    pt_buf_release(&again);
    pt_buf_release(&bytes);
    pt_profile_release(&k.profile);
}

static void assert_unreadable(struct pt_buf *bytes, const char *words) {
    struct pt_profile_file file = { 0 };
    struct pt_err err = { "" };
    assert_int_equal(pt_saved_reader.read(pt_buf_as_str(bytes), &file, &err), -EBADMSG);
    assert_non_null(strstr(err.text, words));
    pt_profile_file_release(&file);
}

static void test_damaged(void **state) {
    (void)state;
    struct known k;
    make_known(&k, "dot");
    struct pt_buf bytes = written(&pt_saved_writer, &k.profile);
    bytes.at[bytes.len / 2] ^= 1;
    assert_unreadable(&bytes, "damaged");
    bytes.at[bytes.len / 2] ^= 1;
    bytes.at[8] = 9;
    assert_unreadable(&bytes, "version 9");
    bytes.at[8] = 1;
    bytes.len -= 5;
    assert_unreadable(&bytes, "damaged");
    bytes.len = 5;
    assert_unreadable(&bytes, "not a Pitot profile");
    pt_buf_release(&bytes);
    pt_profile_release(&k.profile);
}

static void test_folded_read(void **state) {
    (void)state;
    struct pt_profile_file file = { 0 };
    struct pt_err err;
    assert_int_equal(pt_folded_reader.read(PT_STR("# comment\n"
                                                  "a;b (x.py:3);copy_[k] 12\n"
                                                  "\n"
                                                  "a;operator new(unsigned long) 7\n"),
                                           &file, &err),
                     0);
    assert_int_equal(file.profile.samples.count, 2);
    assert_stack(&file.profile, 0, "a;b;copy");
    assert_int_equal(file.profile.frames.at[1].line, 3);
    assert_true(pt_str_eq(pt_profile_text(&file.profile, file.profile.functions.at[1].file),
                          PT_STR("x.py")));
    assert_stack(&file.profile, 1, "a;operator new(unsigned long)");
    assert_int_equal(pt_profile_value(&file.profile, 0, 0), 12);
    const uint32_t *kinds = (uint32_t[]){ PT_KIND_NATIVE, PT_KIND_PYTHON, PT_KIND_KERNEL };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(file.profile.functions.at[i].kind, kinds[i]);
    pt_profile_file_release(&file);
}

static void test_folded_refused(void **state) {
    (void)state;
    const char *const bad[] = { "a;b 1\na;b\n",
                                "a;b -1\n",
                                "",
                                "a;b 1x\n",
                                "# only this\n",
                                " 5\n",
                                "a;b 99999999999999999999\n",
                                "a 9223372036854775807\nb 1\n" };
    for (size_t i = 0; i < PT_COUNT(bad); i++) {
        struct pt_profile_file file = { 0 };
        struct pt_err err;
        assert_int_equal(pt_folded_reader.read(pt_str_from(bad[i]), &file, &err), -EBADMSG);
        pt_profile_file_release(&file);
    }
}

static void test_read_by_name(void **state) {
    (void)state;
    struct pt_profile_file file;
    struct pt_err err;
    assert_int_equal(pt_profile_file_read(&file, "profile.html", &err), -EINVAL);
    assert_non_null(strstr(err.text, ".pitotprof, .folded, .pb.gz"));
    pt_profile_file_release(&file);
    assert_int_equal(pt_profile_file_read(&file, "/nonexistent/x.folded", &err), -ENOENT);
    pt_profile_file_release(&file);
}

static void test_diff(void **state) {
    (void)state;
    struct known before, after;
    struct pt_profile diff;
    struct pt_err err;
    make_known(&before, "dot");
    make_known(&after, "dot_fast");
    assert_int_equal(pt_profile_diff(&before.profile, &after.profile, &diff, &err), 0);
    assert_true(pt_profile_is_diff(&diff));
    assert_false(pt_profile_is_diff(&before.profile));
    struct pt_buf folded = written(&pt_folded_writer, &diff);
    assert_true(
        pt_str_eq(pt_buf_as_str(&folded), PT_STR("main 20000000 20000000\n"
                                                 "main;step;matmul;dot 30000000 0\n"
                                                 "main;step;[libm.so] 10000000 10000000\n"
                                                 "[unknown] 10000000 10000000\n"
                                                 "main;step;matmul;dot_fast 0 30000000\n")));
    struct pt_buf table = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &table);
    pt_profile_diff_print(&diff, 10, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(
        pt_str_eq(pt_buf_as_str(&table), PT_STR(" before   after   change  function (self, of the "
                                                "whole)\n"
                                                " 42.9 %   0.0 %  -42.9 %  dot\n"
                                                "  0.0 %  42.9 %  +42.9 %  dot_fast\n")));
    pt_buf_release(&table);
    pt_buf_release(&folded);
    pt_profile_release(&diff);
    pt_profile_release(&before.profile);
    pt_profile_release(&after.profile);
}

static void test_diff_scale(void **state) {
    (void)state;
    struct pt_profile_file before = { 0 }, after = { 0 };
    struct pt_profile diff;
    assert_int_equal(pt_folded_reader.read(PT_STR("a;b 10\na;c 10\n"), &before, NULL), 0);
    assert_int_equal(pt_folded_reader.read(PT_STR("a;b 30\na;d 10\n"), &after, NULL), 0);
    assert_int_equal(pt_profile_diff(&before.profile, &after.profile, &diff, NULL), 0);
    struct pt_buf folded = written(&pt_folded_writer, &diff);
    assert_true(pt_str_eq(pt_buf_as_str(&folded), PT_STR("a;b 20 30\n"
                                                         "a;c 20 0\n"
                                                         "a;d 0 10\n")));
    pt_buf_release(&folded);
    pt_profile_release(&diff);
    pt_profile_file_release(&before);
    pt_profile_file_release(&after);
}

static void test_diff_refused(void **state) {
    (void)state;
    struct known k;
    struct pt_profile_file folded = { 0 };
    struct pt_profile diff;
    struct pt_err err;
    make_known(&k, "dot");
    assert_int_equal(pt_folded_reader.read(PT_STR("a;b 10\n"), &folded, NULL), 0);
    assert_int_equal(pt_profile_diff(&folded.profile, &k.profile, &diff, &err), -EINVAL);
    assert_non_null(strstr(err.text, "one profile counts samples, the other nanoseconds"));
    k.profile.types[0].unit = PT_PROFILE_SAMPLES;
    assert_int_equal(pt_profile_diff(&folded.profile, &k.profile, &diff, &err), -EINVAL);
    assert_non_null(strstr(err.text, "modules"));
    pt_profile_file_release(&folded);
    pt_profile_release(&k.profile);
}

static void test_top(void **state) {
    (void)state;
    struct known k;
    struct pt_top top;
    struct pt_buf table = { 0 };
    struct pt_out out;
    make_known(&k, "dot");
    pt_top_make(&top, &k.profile);
    pt_out_memory(&out, &table);
    pt_top_print(&top, &k.profile, 2, &(struct pt_top_style){ 0 }, &out);
    pt_top_print(&top, &k.profile, 1, &(struct pt_top_style){ .columns = 20, .has_colors = true },
                 &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(pt_str_eq(pt_buf_as_str(&table), PT_STR("   self   total  function\n"
                                                        " 42.9 %  42.9 %  dot  (libm.so)\n"
                                                        " 28.6 %  85.7 %  main  (a.out)\n"
                                                        "3 more functions\n"
                                                        "   self   total  function\n"
                                                        " 42.9 %  42.9 %  \x1b[36mdot\x1b[0m\n"
                                                        "4 more functions\n")));
    pt_buf_release(&table);
    pt_top_release(&top);
    pt_profile_release(&k.profile);
}

static void test_lines(void **state) {
    (void)state;
    struct known k;
    struct pt_buf page = { 0 };
    struct pt_out out;
    struct pt_err err;
    make_known(&k, "dot");
    pt_out_memory(&out, &page);
    assert_int_equal(pt_lines_print(&k.profile, "train.py:step", &out, &err), 0);
    assert_int_equal(pt_lines_print(&k.profile, "rain.py:step", &out, &err), -ENODATA);
    assert_int_equal(pt_lines_print(&k.profile, "nothing", &out, &err), -ENODATA);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(pt_str_eq(pt_buf_as_str(&page), PT_STR("/src/train.py (cannot be read)\n"
                                                       "   self    total     line\n"
                                                       "           42.9 %      7  \n"
                                                       "           14.3 %      9  \n")));
    pt_buf_release(&page);
    pt_profile_release(&k.profile);
}

static void test_lines_of_source(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_buf page = { 0 };
    struct pt_out out;
    char path[] = "/tmp/pitot-lines-XXXXXX";
    const char source[] = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, source, sizeof source - 1), sizeof source - 1);
    pt_profile_init(&p, types, PT_COUNT(types));
    uint32_t f = function(&p, "pkg::Class::run", PT_PROFILE_NONE, path, 1, PT_KIND_NATIVE);
    uint32_t stack = pt_profile_stack(&p, PT_PROFILE_NONE, frame(&p, f, PT_PROFILE_NONE, 2, 0, 1));
    add(&p, PT_PROFILE_NONE, stack, 0, PT_STATE_ON_CPU);
    stack = pt_profile_stack(&p, stack, frame(&p, f, PT_PROFILE_NONE, 9, 0, 2));
    add(&p, PT_PROFILE_NONE, stack, 0, PT_STATE_ON_CPU);
    pt_out_memory(&out, &page);
    assert_int_equal(pt_lines_print(&p, "Class::run", &out, NULL), 0);
    assert_int_equal(pt_out_close(&out), 0);
    const char *text_after_path = (const char *)page.at + strlen(path);
    page.at[page.len - 1] = 0;
    assert_string_equal(text_after_path, "\n   self    total     line\n"
                                         "                       1  one\n"
                                         "  50.0 %  100.0 %      2  two\n"
                                         "                       3  three\n"
                                         "                       4  four\n"
                                         "                         ...\n"
                                         "                       7  seven\n"
                                         "                       8  eight\n"
                                         "  50.0 %   50.0 %      9  nine");
    pt_buf_release(&page);
    pt_profile_release(&p);
    close(fd);
    unlink(path);
}

/* Lines are left out behind the first one too, and none where none is between. */
static void test_lines_left_out(void **state) {
    (void)state;
    static const struct {
        uint32_t lines[2];
        const char *shown;
    } cases[] = {
        { { 1, 12 }, "1 2 3 ... 10 11 12" },
        { { 1, 6 }, "1 2 3 4 5 6" },
        { { 1, 7 }, "1 2 3 ... 5 6 7" },
        { { 4, 6 }, "2 3 4 5 6" },
    };
    char path[] = "/tmp/pitot-lines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 0; i < 12; i++)
        assert_int_equal(write(fd, "x\n", 2), 2);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile p;
        struct pt_buf page = { 0 };
        struct pt_out out;
        char shown[128] = "";
        pt_profile_init(&p, types, PT_COUNT(types));
        uint32_t f = function(&p, "run", PT_PROFILE_NONE, path, 1, PT_KIND_NATIVE);
        for (int k = 0; k < 2; k++)
            add(&p, PT_PROFILE_NONE,
                pt_profile_stack(&p, PT_PROFILE_NONE,
                                 frame(&p, f, PT_PROFILE_NONE, cases[i].lines[k], 0, (uint32_t)k)),
                0, PT_STATE_ON_CPU);
        pt_out_memory(&out, &page);
        assert_int_equal(pt_lines_print(&p, "run", &out, NULL), 0);
        assert_int_equal(pt_out_close(&out), 0);
        struct pt_scan rows = pt_scan_of(pt_buf_as_str(&page)), line;
        assert_true(pt_scan_line(&rows, &line) && pt_scan_line(&rows, &line)); /* head */
        while (pt_scan_line(&rows, &line)) {
            struct pt_str rest = pt_str_skip(pt_scan_rest(&line), 18);
            while (rest.len > 0 && rest.at[0] == ' ')
                rest = pt_str_skip(rest, 1);
            const char *end = memchr(rest.at, ' ', rest.len);
            snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%.*s",
                     shown[0] ? " " : "", end ? (int)(end - rest.at) : (int)rest.len, rest.at);
        }
        assert_string_equal(shown, cases[i].shown);
        pt_buf_release(&page);
        pt_profile_release(&p);
    }
    close(fd);
    unlink(path);
}

/* Without a sum on one side there is nothing to scale by. */
static void test_diff_of_nothing(void **state) {
    (void)state;
    static const struct {
        const char *before, *after, *expected;
    } cases[] = {
        { "a;b 0\n", "a;b 30\n", "a;b 0 30\n" },
        { "a;b 30\n", "a;b 0\n", "a;b 30 0\n" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile_file before = { 0 }, after = { 0 };
        struct pt_profile diff;
        assert_int_equal(pt_folded_reader.read(pt_str_from(cases[i].before), &before, NULL), 0);
        assert_int_equal(pt_folded_reader.read(pt_str_from(cases[i].after), &after, NULL), 0);
        assert_int_equal(pt_profile_diff(&before.profile, &after.profile, &diff, NULL), 0);
        struct pt_buf folded = written(&pt_folded_writer, &diff);
        pt_buf_u8(&folded, 0);
        assert_string_equal((const char *)folded.at, cases[i].expected);
        pt_buf_release(&folded);
        pt_profile_release(&diff);
        pt_profile_file_release(&before);
        pt_profile_file_release(&after);
    }
}

/* What no sampler makes, and every writer must survive. */
static void test_empty(void **state) {
    (void)state;
    for (size_t i = 0; pt_profile_writers[i]; i++) {
        struct pt_profile p;
        pt_profile_init(&p, types, PT_COUNT(types));
        struct pt_buf bytes = written(pt_profile_writers[i], &p);
        pt_buf_release(&bytes);
        pt_profile_release(&p);
    }
}

static void test_full_disk(void **state) {
    (void)state;
    struct known k;
    make_known(&k, "dot");
    for (size_t i = 0; pt_profile_writers[i]; i++) {
        struct pt_out out;
        int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
        pt_out_borrow(&out, fd);
        pt_profile_writers[i]->write(&k.profile, &out);
        assert_int_equal(pt_out_close(&out), -ENOSPC);
        close(fd);
    }
    pt_profile_release(&k.profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_lines_left_out, "C243: lines far from those of a profile are left out"),
        PT_TEST(test_diff_of_nothing, "C243: a comparison with nothing is not scaled"),
        PT_TEST(test_speedscope, "C241: speedscope gets a profile for each thread, root first"),
        PT_TEST(test_speedscope_types, "C244: what is not of time is one profile for each column"),
        PT_TEST(test_trace, "C241: slices span samples in a row and end at a pause"),
        PT_TEST(test_unordered, "C241: samples that come late still stand in the order of time"),
        PT_TEST(test_firefox, "C241: the tables of the Firefox profiler fit together"),
        PT_TEST(test_html, "C241: no name can leave the data of the page"),
        PT_TEST(test_svg, "C241: the picture has the numbers, and names are escaped"),
        PT_TEST(test_pprof, "C241: pprof keeps lines, inlined functions, build ids and values"),
        PT_TEST(test_saved, "C242: a saved profile comes back the same"),
        PT_TEST(test_damaged, "C242: a damaged profile is refused with words"),
        PT_TEST(test_folded_read, "C242: collapsed stacks of others can be read"),
        PT_TEST(test_folded_refused, "C242: what is not a collapsed stack is refused"),
        PT_TEST(test_read_by_name, "C242: an unknown extension lists the known ones"),
        PT_TEST(test_diff, "C243: a difference has each stack once, with both values"),
        PT_TEST(test_diff_scale, "C243: a difference compares shares, not lengths of runs"),
        PT_TEST(test_diff_refused, "C243: profiles that cannot be compared are refused"),
        PT_TEST(test_top, "C243: the table has self and total, and fits the terminal"),
        PT_TEST(test_lines, "C243: lines of a function without its source"),
        PT_TEST(test_lines_of_source, "C243: lines of source, those around what took time"),
        PT_TEST(test_empty, "C241: a profile without samples is a file too"),
        PT_TEST(test_full_disk, "C241: a full disk is an error in every format"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
