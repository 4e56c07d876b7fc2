/* Timelines of GPUs: gaps, clocks, files of rocprofv3 and torch, and tables of them in a run. */
#include "test.h"

#include "store/journal_extend.h"
#include "gputrace/rocprof.h"
#include "gputrace/gpu_summary.h"
#include "gputrace/gpu_tables.h"
#include "gputrace/timeline_bytes.h"
#include "gputrace/torch.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static void add(struct pt_timeline *t, enum pt_timeline_kind kind, int device, int64_t start_ns,
                int64_t end_ns, const char *name) {
    struct pt_timeline_event e = pt_timeline_event_of(kind);
    e.device = device;
    e.start_ns = start_ns;
    e.duration_ns = end_ns - start_ns;
    e.name = pt_names_add(&t->names, pt_str_from(name));
    pt_timeline_add(t, &e);
}

static void assert_gap(const struct pt_timeline *t, size_t index, int device, int64_t start_ns,
                       int64_t duration_ns, int64_t copying_ns) {
    assert_true(index < t->gap_count);
    assert_int_equal(t->gaps[index].device, device);
    assert_int_equal(t->gaps[index].start_ns, start_ns);
    assert_int_equal(t->gaps[index].duration_ns, duration_ns);
    assert_int_equal(t->gaps[index].copying_ns, copying_ns);
}

static void kernels_side_by_side_leave_no_gap(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    add(&t, PT_TIMELINE_KERNEL, 0, 90, 100, "c");
    add(&t, PT_TIMELINE_KERNEL, 0, 10, 50, "a");
    add(&t, PT_TIMELINE_KERNEL, 0, 20, 30, "b"); /* within a */
    add(&t, PT_TIMELINE_KERNEL, 0, 50, 60, "b"); /* at its end */
    add(&t, PT_TIMELINE_KERNEL, 1, 65, 70, "b"); /* elsewhere */
    pt_timeline_finish(&t);
    assert_int_equal(t.gap_count, 1);
    assert_gap(&t, 0, 0, 60, 30, 0);
    assert_string_equal(t.names.list[t.gaps[0].before].at, "b");
    assert_string_equal(t.names.list[t.gaps[0].after].at, "c");
    pt_timeline_release(&t);
}

static void copies_in_gaps_count_once(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    int64_t starts[] = { 0, 100, 200 };
    for (size_t i = 0; i < 3; i++)
        for (int device = 0; device < 2; device++)
            add(&t, PT_TIMELINE_KERNEL, device, starts[i], starts[i] + 10, "k");
    add(&t, PT_TIMELINE_COPY, 0, 5, 30, "h");    /* 20 of it in the first gap */
    add(&t, PT_TIMELINE_COPY, 0, 20, 40, "h");   /* 10 more */
    add(&t, PT_TIMELINE_COPY, 0, 90, 130, "h");  /* 10 in the first, 20 in the second */
    add(&t, PT_TIMELINE_COPY, 1, 300, 400, "h"); /* behind all */
    pt_timeline_finish(&t);
    assert_int_equal(t.gap_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_gap(&t, i, t.gaps[i].device, i < 2 ? 10 : 110, 90,
                   t.gaps[i].device == 1 ? 0
                   : i < 2               ? 40
                                         : 20);
    pt_timeline_release(&t);
}

static void totals_and_devices(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_timeline_totals totals;
    struct pt_timeline_device devices[4];
    add(&t, PT_TIMELINE_KERNEL, 3, 0, 10, "short");
    add(&t, PT_TIMELINE_KERNEL, 3, 30, 100, "long");
    add(&t, PT_TIMELINE_KERNEL, 1, 30, 35, "short");
    add(&t, PT_TIMELINE_CALL, PT_TIMELINE_NONE, 0, 1000, "call");
    pt_timeline_finish(&t);
    pt_timeline_totals_make(&totals, &t, PT_TIMELINE_KERNEL);
    assert_int_equal(totals.count, 2);
    assert_int_equal(totals.total_ns, 85);
    assert_string_equal(t.names.list[totals.list[0].name].at, "long");
    assert_int_equal(totals.list[1].total_ns, 15);
    assert_int_equal(totals.list[1].count, 2);
    assert_int_equal(totals.list[1].longest_ns, 10);
    assert_int_equal(pt_timeline_devices(&t, devices, 4), 2);
    assert_int_equal(devices[0].device, 1);
    assert_int_equal(devices[0].idle_ns, 0);
    assert_int_equal(devices[1].device, 3);
    assert_int_equal(devices[1].last_ns - devices[1].first_ns, 100);
    assert_int_equal(devices[1].idle_ns, 20);
    pt_timeline_totals_release(&totals);
    pt_timeline_release(&t);
}

static void times_that_cannot_be(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    add(&t, PT_TIMELINE_KERNEL, 0, INT64_MAX - 5, INT64_MAX, "k");
    add(&t, PT_TIMELINE_KERNEL, 0, 0, INT64_C(1) << 60, "k");
    add(&t, PT_TIMELINE_KERNEL, 0, 10, 5, "k");
    add(&t, PT_TIMELINE_KERNEL, 0, 5, 10, "k");
    assert_int_equal(t.count, 1);
    assert_int_equal(t.left_out, 3);
    pt_timeline_move(&t, 0, INT64_MAX);
    assert_int_equal(t.count, 0);
    assert_int_equal(t.left_out, 4);
    pt_timeline_finish(&t);
    pt_timeline_release(&t);
}

static const struct pt_timeline_run run_of_ten = { .first_mono_ns = 1000,
                                                   .last_mono_ns = 2000,
                                                   .ahead_ns = 50000 };

static void clocks_meet_in_the_run(void **state) {
    (void)state;
    static const struct {
        enum pt_timeline_clock clock;
        int64_t start_ns, aligned_ns;
        bool is_aligned;
    } cases[] = {
        { PT_TIMELINE_WALL, 51500, 1500, true },
        { PT_TIMELINE_WALL, 99000, 1000, false }, /* another run */
        { PT_TIMELINE_MONOTONIC, 1500, 1500, true },
        { PT_TIMELINE_UNKNOWN_CLOCK, 1500, 1000, false },
        { PT_TIMELINE_UNKNOWN_CLOCK, 7, 1000, false },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_timeline t = { .clock = cases[i].clock };
        add(&t, PT_TIMELINE_KERNEL, 0, cases[i].start_ns, cases[i].start_ns + 1, "k");
        assert_int_equal(pt_timeline_align(&t, 0, &run_of_ten), cases[i].is_aligned);
        assert_int_equal(t.events[0].start_ns, cases[i].aligned_ns);
        pt_timeline_release(&t);
    }
}

static void files_are_aligned_one_by_one(void **state) {
    (void)state;
    struct pt_timeline t = { .clock = PT_TIMELINE_WALL };
    add(&t, PT_TIMELINE_KERNEL, 0, 51100, 51200, "k");
    assert_true(pt_timeline_align(&t, 0, &run_of_ten));
    t.clock = PT_TIMELINE_MONOTONIC;
    add(&t, PT_TIMELINE_KERNEL, 0, 1900, 1950, "k");
    assert_true(pt_timeline_align(&t, 1, &run_of_ten));
    assert_int_equal(t.events[0].start_ns, 1100);
    assert_int_equal(t.events[1].start_ns, 1900);
    assert_true(pt_timeline_align(&t, 2, &run_of_ten)); /* a file without events */
    pt_timeline_release(&t);
}

static struct pt_str name_of(const struct pt_timeline *t, size_t event) {
    return t->names.list[t->events[event].name];
}

static void rocprof_csv(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_str text =
        PT_STR("\"Start_Timestamp\",\"End_Timestamp\",\"Kernel_Name\",\"Agent_Id\","
               "\"Queue_Id\"\r\n"
               "100,150,\"f<int, \"\"x\"\">\",\"Agent 2\",7\r\n"
               "\n"
               "200,oops,g,3,1\n"
               "300,301,plain,5,");
    assert_int_equal(pt_rocprof_read(&t, text), 0);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.left_out, 1);
    assert_int_equal(t.clock, PT_TIMELINE_BOOTTIME);
    assert_string_equal(name_of(&t, 0).at, "f<int, \"x\">");
    assert_int_equal(t.events[0].duration_ns, 50);
    assert_int_equal(t.events[0].device, 2);
    assert_int_equal(t.events[0].stream, 7);
    assert_string_equal(name_of(&t, 1).at, "plain");
    assert_int_equal(t.events[1].stream, PT_TIMELINE_NONE);
    pt_timeline_release(&t);
}

static void what_rocprof_did_not_write(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "\n",
        "a,b,c\n1,2,3\n",
        "Start_Timestamp,Kernel_Name\n",
        "Start_Timestamp,End_Timestamp,Kernel_Name\n1,2,\"open",
        "Start_Timestamp,End_Timestamp,Kernel_Name\n1,2,\"a\"b\n"
    };
    for (size_t i = 0; i < PT_COUNT(texts); i++) {
        struct pt_timeline t = { 0 };
        assert_int_equal(pt_rocprof_read(&t, pt_str_from(texts[i])), -EBADMSG);
        pt_timeline_release(&t);
    }
}

static void torch_of_kineto(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_str text = PT_STR(
        "{\"schemaVersion\": 1, \"traceEvents\": [\n"
        "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 7, \"tid\": 8,"
        " \"ts\": 1.5, \"dur\": 2, \"args\": {\"Input Dims\": [[2, 3]]}},\n"
        "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm\\u00e9\\n\", \"pid\": 0, \"tid\": 9,"
        " \"ts\": 10.125, \"dur\": 0.25, \"args\": {\"device\": 1, \"stream\": 9,"
        " \"correlation\": 77, \"grid\": [4, 5, 6], \"block\": [32, 1, 1],"
        " \"registers per thread\": 40, \"shared memory\": 1024}},\n"
        "{\"ph\": \"s\", \"cat\": \"ac2g\", \"name\": \"ac2g\", \"id\": 77, \"ts\": 3},\n"
        "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy HtoD\", \"pid\": 1, \"tid\": "
        "9,"
        " \"ts\": 20, \"dur\": 1, \"args\": {\"device\": 1, \"stream\": 9, \"bytes\": 4096}},\n"
        "{\"ph\": \"X\", \"cat\": \"Trace\", \"name\": \"PyTorch Profiler\", \"ts\": 0, \"dur\": "
        "9}\n"
        "], \"baseTimeNanoseconds\": 1700000000000000000}");
    assert_int_equal(pt_torch_read(&t, text), 0);
    assert_int_equal(t.count, 3);
    assert_int_equal(t.clock, PT_TIMELINE_WALL);
    assert_int_equal(t.events[0].kind, PT_TIMELINE_RANGE);
    assert_int_equal(t.events[0].start_ns, INT64_C(1700000000000001500));
    assert_int_equal(t.events[0].pid, 7);
    assert_int_equal(t.events[0].thread, 8);
    const struct pt_timeline_event *kernel = &t.events[1];
    assert_string_equal(name_of(&t, 1).at, "gemm\xc3\xa9\n");
    assert_int_equal(kernel->start_ns, INT64_C(1700000000000010125));
    assert_int_equal(kernel->duration_ns, 250);
    assert_int_equal(kernel->device, 1);
    assert_int_equal(kernel->stream, 9);
    assert_int_equal(kernel->correlation, 77);
    assert_int_equal(kernel->registers, 40);
    assert_int_equal(kernel->shared_bytes, 1024);
    assert_string_equal(t.names.list[kernel->grid_plus_one - 1].at, "4x5x6");
    assert_int_equal(t.events[2].kind, PT_TIMELINE_COPY);
    assert_int_equal(t.events[2].bytes, 4096);
    pt_timeline_release(&t);
}

static void torch_with_our_clock(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_str text = PT_STR(
        "[{\"name\": \"pitot.clock 5000 42\", \"ph\": \"X\", \"ts\": 1, \"dur\": 1, \"tid\": 1,"
        " \"pid\": \"CPU functions\", \"args\": {}},"
        " {\"name\": \"aten::relu\", \"ph\": \"X\", \"ts\": 3, \"dur\": 2, \"tid\": 1,"
        " \"pid\": \"CPU functions\", \"args\": {}}]");
    assert_int_equal(pt_torch_read(&t, text), 0);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.clock, PT_TIMELINE_MONOTONIC);
    assert_int_equal(t.events[0].start_ns, 7000);
    assert_int_equal(t.events[0].pid, 42);
    pt_timeline_release(&t);
}

static void torch_without_any_clock(void **state) {
    (void)state;
    static const struct {
        const char *ts;
        enum pt_timeline_clock clock;
    } cases[] = { { "12", PT_TIMELINE_UNKNOWN_CLOCK }, { "1700000000000000", PT_TIMELINE_WALL } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_timeline t = { 0 };
        char text[256];
        snprintf(text, sizeof text,
                 "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":%s,"
                 "\"dur\":1}]}",
                 cases[i].ts);
        assert_int_equal(pt_torch_read(&t, pt_str_from(text)), 0);
        assert_int_equal(t.clock, cases[i].clock);
        pt_timeline_release(&t);
    }
    struct pt_timeline t = { 0 };
    assert_int_equal(pt_torch_read(&t, PT_STR("{\"a\": 1}")), -EBADMSG);
    assert_int_equal(pt_torch_read(&t, PT_STR("[{\"ph\": \"X\"")), -EBADMSG);
    pt_timeline_release(&t);
}

#define LOAD_COLUMNS(X, t) X(t, one, "lOne", GAUGE, I64, NONE, 0, "a number")
PT_TABLE(load, PT_TABLE_MAIN("load"), "load", LOAD_COLUMNS, "file");
static const struct pt_table *const run_tables[] = { &load_table };
static const struct pt_schema run_schema = { run_tables, 1 };
static const uint8_t uuid[16] = { 1, 2, 3 };
static char path[64];

/* A sample at 1000, 2000, ... ns, each with its number. */
static void write_run(int count, bool is_complete) {
    struct pt_journal j = { 0 };
    struct pt_sample s;
    snprintf(path, sizeof path, "/tmp/pitot-timeline-%d.pitot", (int)getpid());
    unlink(path);
    assert_int_equal(pt_journal_create(&j, path, uuid, &run_schema, NULL), 0);
    assert_int_equal(pt_journal_note(&j, PT_STR("command"), PT_STR("train")), 0);
    pt_sample_init(&s, &run_schema);
    for (int i = 1; i <= count; i++) {
        pt_sample_clear(&s);
        s.mono_ns = 1000 * i;
        s.wall_ns = s.mono_ns + 50000;
        pt_batch_add_row(&s.batches[0]);
        pt_set_i64(&s.batches[0], load_one, i);
        assert_int_equal(pt_journal_write(&j, &s), 0);
    }
    pt_sample_release(&s);
    assert_int_equal(pt_journal_note(&j, PT_STR("end"), PT_STR("it ended")), 0);
    off_t size = (off_t)j.byte_count;
    assert_int_equal(pt_journal_close(&j), 0);
    if (!is_complete)
        assert_int_equal(truncate(path, size), 0); /* without its last record, as if killed */
}

static int extend(struct pt_timeline *t, struct pt_err *err) {
    struct pt_timeline_cursor cursor = { .timeline = t };
    struct pt_journal_extension x = { pt_timeline_tables, PT_TIMELINE_TABLES, pt_timeline_fill,
                                      &cursor };
    pt_timeline_finish(t);
    return pt_journal_extend(path, &x, err);
}

struct seen {
    int64_t load_rows, kernel_rows, gap_rows, samples;
    int64_t kernels_at[8]; /* by second */
};

static struct seen read_run(void) {
    struct pt_journal_reader r = { 0 };
    struct pt_sample s;
    struct seen seen = { 0 };
    assert_int_equal(pt_journal_open(&r, path, NULL), 0);
    int load = pt_schema_find(&r.schema, "load"), kernels = pt_schema_find(&r.schema, "gpu_kernel"),
        gaps = pt_schema_find(&r.schema, "gpu_gap");
    assert_true(load >= 0 && kernels >= 0 && gaps >= 0);
    pt_sample_init(&s, &r.schema);
    while (pt_journal_next(&r, &s) > 0) {
        seen.samples++;
        seen.load_rows += s.batches[load].row_count;
        seen.kernel_rows += s.batches[kernels].row_count;
        seen.gap_rows += s.batches[gaps].row_count;
        seen.kernels_at[s.mono_ns / 1000 % 8] += s.batches[kernels].row_count;
    }
    assert_true(r.is_complete);
    assert_string_equal(pt_journal_note_find(&r, "command")->text, "train");
    assert_string_equal(pt_journal_note_find(&r, "end")->text, "it ended");
    pt_sample_release(&s);
    pt_journal_reader_close(&r);
    return seen;
}

static void rows_go_where_they_ended(void **state) {
    (void)state;
    struct pt_err err = { "" };
    write_run(4, true);
    for (int times = 0; times < 2; times++) { /* the second replaces the first */
        struct pt_timeline t = { 0 };
        add(&t, PT_TIMELINE_KERNEL, 0, 100, 900, "before the first sample");
        add(&t, PT_TIMELINE_KERNEL, 0, 1500, 2000, "at the second");
        add(&t, PT_TIMELINE_KERNEL, 0, 2100, 2900, "before the third");
        add(&t, PT_TIMELINE_KERNEL, 0, 5000, 9000, "after the last");
        assert_int_equal(extend(&t, &err), 0);
        pt_timeline_release(&t);
        struct seen seen = read_run();
        assert_int_equal(seen.load_rows, 4);
        assert_int_equal(seen.kernel_rows, 4);
        assert_int_equal(seen.gap_rows, 3);
        assert_int_equal(seen.samples, 5);
        assert_int_equal(seen.kernels_at[1], 1);
        assert_int_equal(seen.kernels_at[2], 1);
        assert_int_equal(seen.kernels_at[3], 1);
        assert_int_equal(seen.kernels_at[4], 1);
    }
    unlink(path);
}

static void many_rows_take_several_samples(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_err err = { "" };
    int64_t count = 3 * PT_TIMELINE_ROWS_AT_ONCE;
    write_run(3, true);
    for (int64_t i = 0; i < count; i++)
        add(&t, PT_TIMELINE_KERNEL, 0, 1100, 1200, "k");
    assert_int_equal(extend(&t, &err), 0);
    pt_timeline_release(&t);
    struct seen seen = read_run();
    assert_int_equal(seen.kernel_rows, count);
    assert_int_equal(seen.load_rows, 3);
    assert_int_equal(seen.samples, 5);
    unlink(path);
}

static void a_run_that_goes_on_is_left_alone(void **state) {
    (void)state;
    struct pt_timeline t = { 0 };
    struct pt_err err = { "" };
    struct pt_journal_span span;
    write_run(3, false);
    assert_int_equal(extend(&t, &err), -EBUSY);
    assert_non_null(strstr(err.text, "has not ended"));
    assert_int_equal(pt_journal_read_span(path, &span, &err), 0);
    assert_int_equal(span.first_mono_ns, 1000);
    assert_int_equal(span.last_mono_ns, 3000);
    assert_int_equal(span.ahead_ns, 50000);
    assert_false(span.is_complete);
    unlink(path);
}

/* A timeline with names and more events than one message holds. */
static void make_long(struct pt_timeline *t) {
    struct pt_timeline_event e = pt_timeline_event_of(PT_TIMELINE_KERNEL);
    *t = (struct pt_timeline){ .left_out = 3 };
    e.name = pt_names_add(&t->names, PT_STR("gemm"));
    e.grid_plus_one = pt_names_add(&t->names, PT_STR("256x1x1")) + 1;
    for (size_t i = 0; i < PT_TIMELINE_EVENTS_AT_ONCE + 5; i++) {
        e.start_ns = (int64_t)i;
        pt_timeline_add(t, &e);
    }
}

static void test_messages(void **state) {
    struct pt_timeline t, copy = { .count = 0 };
    struct pt_buf message = { 0 };
    size_t messages = 0;
    (void)state;
    make_long(&t);
    pt_timeline_put_names(&t, &message);
    assert_true(pt_timeline_get_names(&copy, pt_buf_as_str(&message)));
    for (size_t i = 0; i < t.count; messages++) {
        pt_buf_clear(&message);
        i += pt_timeline_put_events(&t, i, &message);
        assert_true(pt_timeline_get_events(&copy, pt_buf_as_str(&message)));
    }
    assert_int_equal(messages, 2);
    assert_int_equal(copy.left_out, 3);
    assert_int_equal(copy.names.count, 2);
    assert_str_eq(copy.names.list[1], "256x1x1");
    assert_int_equal(copy.count, t.count);
    assert_memory_equal(copy.events, t.events, t.count * sizeof *t.events);
    pt_timeline_release(&t);
    pt_timeline_release(&copy);
    pt_buf_release(&message);
}

static bool takes(const struct pt_timeline_event *e, size_t size) {
    struct pt_timeline t = { .count = 0 };
    (void)pt_names_add(&t.names, PT_STR("one"));
    bool is_taken = pt_timeline_get_events(&t, (struct pt_str){ (const char *)e, size });
    pt_timeline_release(&t);
    return is_taken;
}

static void test_invalid_messages(void **state) {
    struct pt_timeline_event good = pt_timeline_event_of(PT_TIMELINE_COPY), e = good;
    struct pt_timeline t = { .count = 0 };
    (void)state;
    assert_true(takes(&good, sizeof good));
    assert_false(takes(&good, sizeof good - 1));
    e.name = 1;
    assert_false(takes(&e, sizeof e));
    e = good;
    e.grid_plus_one = 2;
    assert_false(takes(&e, sizeof e));
    e = good;
    e.block_plus_one = 2;
    assert_false(takes(&e, sizeof e));
    e = good;
    e.kind = PT_TIMELINE_KINDS;
    assert_false(takes(&e, sizeof e));
    assert_false(pt_timeline_get_names(&t, PT_STR("\0\x01x\x01x"))); /* twice */
    assert_false(pt_timeline_get_names(&t, PT_STR("\0\x09y")));      /* too short */
    assert_false(pt_timeline_get_names(&t, PT_STR("")));
    pt_timeline_release(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_messages, "C323: a timeline passes whole from one process to another"),
        PT_TEST(test_invalid_messages, "C323: numbers of a timeline from elsewhere are checked"),
        PT_TEST(kernels_side_by_side_leave_no_gap, "C246: kernels side by side leave no gap"),
        PT_TEST(copies_in_gaps_count_once, "C246: copies in gaps count once"),
        PT_TEST(totals_and_devices, "C246: totals by name, and devices from first to last kernel"),
        PT_TEST(times_that_cannot_be, "C246: times that cannot be are left out and counted"),
        PT_TEST(clocks_meet_in_the_run, "C246: clocks of files meet that of the run"),
        PT_TEST(files_are_aligned_one_by_one,
                "C246: files of several processes are aligned one by one"),
        PT_TEST(rocprof_csv, "C246: CSV of rocprofv3"),
        PT_TEST(what_rocprof_did_not_write, "C246: what rocprofv3 did not write is refused"),
        PT_TEST(torch_of_kineto, "C246: a trace of torch with Kineto"),
        PT_TEST(torch_with_our_clock, "C246: a trace of torch in which Pitot marked the clock"),
        PT_TEST(torch_without_any_clock, "C246: a trace of torch without clock, and what is none"),
        PT_TEST(rows_go_where_they_ended, "C246: rows go into the sample in which they ended"),
        PT_TEST(many_rows_take_several_samples,
                "C246: more rows than a sample takes go into several"),
        PT_TEST(a_run_that_goes_on_is_left_alone, "C246: a run that goes on is left alone"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
