/* The text and the JSON of a heap profile: every sum, loss and line of it. */
#include "test.h"

#include "base/out.h"
#include "profile/heap/heap_report.h"

#define SECOND INT64_C(1000000000)

static const struct pt_profile_value_type types[] = {
    { "live", PT_PROFILE_BYTES },      { "live_count", PT_PROFILE_SAMPLES },
    { "peak", PT_PROFILE_BYTES },      { "peak_count", PT_PROFILE_SAMPLES },
    { "allocated", PT_PROFILE_BYTES }, { "allocated_count", PT_PROFILE_SAMPLES },
    { "temporary", PT_PROFILE_BYTES }, { "temporary_count", PT_PROFILE_SAMPLES },
};

static uint32_t add_stack(struct pt_profile *p, uint32_t parent, const char *name) {
    struct pt_profile_function f = { .name = pt_profile_string(p, pt_str_from(name)),
                                     .module = PT_PROFILE_NONE,
                                     .kind = PT_KIND_NATIVE };
    struct pt_profile_frame frame = { .function = pt_profile_function(p, f),
                                      .module = PT_PROFILE_NONE };
    return pt_profile_stack(p, parent, pt_profile_frame(p, frame));
}

/* Two stacks; nothing was lost. */
static void make_profile(struct pt_profile *p) {
    pt_profile_init(p, types, PT_COUNT(types));
    p->meta = (struct pt_profile_meta){ .title = "heap",
                                        .method = "1 sample per 512 KiB",
                                        .command = "serve --fast",
                                        .start_ns = 2 * SECOND,
                                        .end_ns = 10 * SECOND,
                                        .heap = { .taken = 40, .processes = 1 } };
    p->meta.heap.peak_bytes = 6 << 10;
    p->meta.heap.peak_ns = 5 * SECOND;
    uint32_t main = add_stack(p, PT_PROFILE_NONE, "main");
    struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE,
                                        .stack = add_stack(p, main, "load") };
    const int64_t load[] = { 3 << 10, 3, 4 << 10, 4, 8 << 10, 8, 1 << 10, 1 };
    const int64_t step[] = { 1 << 10, 1, 2 << 10, 5, 4 << 10, 40, 2 << 10, 20 };
    assert_true(pt_profile_sample(p, &sample, load));
    sample.stack = add_stack(p, main, "step");
    assert_true(pt_profile_sample(p, &sample, step));
}

static void assert_text(const struct pt_profile *p, const struct pt_heap_report *how,
                        const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_heap_report_print(p, how, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text), expected);
    pt_buf_release(&text);
}

static void test_text(void **state) {
    (void)state;
    struct pt_profile p;
    make_profile(&p);
    assert_text(&p, &(struct pt_heap_report){ .top_rows = 1 },
                "heap: 1 sample per 512 KiB\n"
                "samples: 40 of 1 process\n"
                "allocated  12.0 KiB in 48 blocks\n"
                "peak       6.0 KiB in 9 blocks, after 3 s\n"
                "not freed  4.0 KiB in 4 blocks\n"
                "live bytes by function:\n"
                "   self   total  function\n"
                " 75.0 %  75.0 %  load\n"
                "2 more functions\n");
    /* without tables; with errors */
    p.meta.heap.allocated_error = 1;
    p.meta.heap.peak_error = 1536;
    p.meta.heap.live_error = 512;
    p.meta.heap.processes = 2;
    p.meta.rooted = 3;
    p.meta.unwound = 4;
    p.meta.python_wanted = 8;
    p.meta.python_matched = 7;
    assert_text(&p, &(struct pt_heap_report){ .wants_leaks = true },
                "heap: 1 sample per 512 KiB\n"
                "samples: 40 of 2 processes; 75.0 % of the stacks reach the root\n"
                "python: 87.5 % of 8 stacks merged with certainty\n"
                "allocated  12.0 KiB +- 1 B in 48 blocks\n"
                "peak       6.0 KiB +- 1.5 KiB in 9 blocks, after 3 s\n"
                "not freed  4.0 KiB +- 512 B in 4 blocks\n"
                "leaks: unknown (the run was too short)\n");
    pt_profile_release(&p);
}

/* One of each is mentioned, none is not. */
static void test_losses(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_buf text = { 0 };
    struct pt_out out;
    make_profile(&p);
    pt_out_memory(&out, &text);
    pt_heap_report_print_losses(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_int_equal(text.len, 0);
    p.meta.lost = 1;
    p.meta.heap.taken = 3;
    p.meta.heap.thinned = 1;
    p.meta.heap.lost_frees = 1;
    p.meta.heap.untracked = 1;
    p.meta.heap.lost_stacks = 1;
    p.meta.heap.unknown_pythons = 1;
    pt_out_memory(&out, &text);
    pt_heap_report_print_losses(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text),
                  "samples arrived faster than they were read: 33.3 % were taken at a lower rate "
                  "than requested (sums are correct, with larger errors)\n"
                  "lost: 1 samples (25.0 %): the ring was full, so sums are too low by about that "
                  "share (use a larger --heap)\n"
                  "lost: 1 frees (their memory appears as live)\n"
                  "not tracked until freed: 1 allocations\n"
                  "without a stack: 1 allocations\n"
                  "python: frames of 1 processes cannot be read (unknown Python version)\n");
    pt_buf_release(&text);
    /* thinned, but of none: no share is known */
    p.meta = (struct pt_profile_meta){ .heap = { .thinned = 1 } };
    pt_out_memory(&out, &text);
    pt_heap_report_print_losses(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(strstr((char *)text.at, "were read: 0.0 % were") != NULL);
    pt_buf_release(&text);
    pt_profile_release(&p);
}

static void assert_last_line(const struct pt_profile *p, const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_heap_report_print(p, &(struct pt_heap_report){ 0 }, &out);
    assert_int_equal(pt_out_close(&out), 0);
    struct pt_str all = pt_buf_as_str(&text);
    size_t at = all.len - 1;
    while (at > 0 && all.at[at - 1] != '\n')
        at--;
    assert_str_eq(((struct pt_str){ all.at + at, all.len - at }), expected);
    pt_buf_release(&text);
}

/* Eighths of the highest value; above 64 steps the highest of several is shown. */
static void test_time_line(void **state) {
    (void)state;
    struct pt_profile p;
    make_profile(&p);
    const char *none = "not freed  4.0 KiB in 4 blocks\n";
    struct pt_profile_timeline *t = &p.timeline;
    *t = (struct pt_profile_timeline){ .step_ns = SECOND / 2, .values = { 5 }, .count = 1 };
    assert_last_line(&p, none);
    *t = (struct pt_profile_timeline){ .step_ns = SECOND / 2, .values = { 0, 0 }, .count = 2 };
    assert_last_line(&p, none);
    t->values[1] = 1;
    assert_last_line(&p, "live       ▁█ (0.5 s each)\n");
    const int64_t values[] = { 0, 99, 100, 200, 300, 400, 500, 600, 700, 799, 800 };
    memcpy(t->values, values, sizeof values);
    t->count = PT_COUNT(values);
    assert_last_line(&p, "live       ▁▁▂▃▄▅▆▇██"
                         "█ (0.5 s each)\n");
    /* 64 steps are shown one by one, 65 in pairs: the highest of each */
    for (size_t i = 0; i < 65; i++)
        t->values[i] = i % 2 ? 0 : 8;
    t->values[4] = 0;
    t->values[5] = 2;
    t->count = 64;
    assert_last_line(&p, "live       "
                         "█▁█▁▁▃█▁█▁█▁█▁█▁█▁█▁█▁█▁"
                         "█▁█▁█▁█▁█▁█▁█▁█▁█▁█▁█▁█▁"
                         "█▁█▁█▁█▁█▁█▁█▁█▁"
                         " (0.5 s each)\n");
    t->count = 65;
    assert_last_line(&p, "live       "
                         "██▃█████████████████████"
                         "█████████"
                         " (1 s each)\n");
    pt_profile_release(&p);
}

static void test_fits(void **state) {
    (void)state;
    struct pt_profile p;
    make_profile(&p);
    assert_true(pt_heap_report_fits(&p));
    p.type_count = 5; /* bytes without blocks are not a metric */
    assert_false(pt_heap_report_fits(&p));
    p.type_count = 6;
    assert_true(pt_heap_report_fits(&p));
    p.types[0].name = "cpu";
    assert_false(pt_heap_report_fits(&p));
    p.type_count = 0;
    assert_false(pt_heap_report_fits(&p));
    pt_profile_release(&p);
}

/* What nothing of is live has no table. */
static void test_empty(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, types, PT_COUNT(types));
    assert_text(&p, &(struct pt_heap_report){ .top_rows = 5, .wants_leaks = true },
                "heap: \n"
                "samples: 0 of 0 processes\n"
                "allocated  0 B in 0 blocks\n"
                "peak       0 B in 0 blocks, after 0 s\n"
                "not freed  0 B in 0 blocks\n"
                "live bytes by function: none (see --metric for others)\n"
                "leaks: unknown (the run was too short)\n");
    pt_profile_release(&p);
}

static void test_json(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_buf text = { 0 };
    struct pt_out out;
    make_profile(&p);
    p.meta.lost = 1;
    p.meta.heap.thinned = 2;
    p.meta.heap.lost_frees = 3;
    p.meta.heap.untracked = 4;
    p.meta.heap.lost_stacks = 5;
    p.meta.heap.unknown_pythons = 6;
    p.meta.heap.allocated_error = 7;
    p.meta.heap.peak_error = 8;
    p.meta.heap.live_error = 9;
    p.timeline =
        (struct pt_profile_timeline){ .step_ns = SECOND / 4, .values = { 10, 20 }, .count = 2 };
    pt_profile_growth(&p, &(struct pt_profile_growth){ .stack = p.samples.at[1].stack,
                                                       .slope = 11,
                                                       .slope_error = 12,
                                                       .bytes = 13,
                                                       .count = 14 });
    pt_out_memory(&out, &text);
    pt_heap_report_print_json(&p, 2, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text), "{\n"
                                        "  \"command\": \"serve --fast\",\n"
                                        "  \"way\": \"1 sample per 512 KiB\",\n"
                                        "  \"seconds\": 8,\n"
                                        "  \"samples\": 40,\n"
                                        "  \"processes\": 1,\n"
                                        "  \"metric\": \"live\",\n"
                                        "  \"lost\": {\n"
                                        "    \"samples\": 1,\n"
                                        "    \"thinned\": 2,\n"
                                        "    \"frees\": 3,\n"
                                        "    \"untracked\": 4,\n"
                                        "    \"stacks\": 5,\n"
                                        "    \"unknown_pythons\": 6\n"
                                        "  },\n"
                                        "  \"allocated\": {\n"
                                        "    \"bytes\": 12288,\n"
                                        "    \"error\": 7,\n"
                                        "    \"blocks\": 48\n"
                                        "  },\n"
                                        "  \"peak\": {\n"
                                        "    \"bytes\": 6144,\n"
                                        "    \"error\": 8,\n"
                                        "    \"blocks\": 9\n"
                                        "  },\n"
                                        "  \"live\": {\n"
                                        "    \"bytes\": 4096,\n"
                                        "    \"error\": 9,\n"
                                        "    \"blocks\": 4\n"
                                        "  },\n"
                                        "  \"temporary\": {\n"
                                        "    \"bytes\": 3072,\n"
                                        "    \"blocks\": 21\n"
                                        "  },\n"
                                        "  \"peak_seconds\": 3,\n"
                                        "  \"timeline\": {\n"
                                        "    \"step_seconds\": 0.25,\n"
                                        "    \"live_bytes\": [\n"
                                        "      10,\n"
                                        "      20\n"
                                        "    ]\n"
                                        "  },\n"
                                        "  \"leaks\": [\n"
                                        "    {\n"
                                        "      \"bytes_per_second\": 11,\n"
                                        "      \"error\": 12,\n"
                                        "      \"bytes\": 13,\n"
                                        "      \"blocks\": 14,\n"
                                        "      \"stack\": [\n"
                                        "        \"step\",\n"
                                        "        \"main\"\n"
                                        "      ]\n"
                                        "    }\n"
                                        "  ],\n"
                                        "  \"functions\": [\n"
                                        "    {\n"
                                        "      \"name\": \"load\",\n"
                                        "      \"self\": 3072,\n"
                                        "      \"total\": 3072\n"
                                        "    },\n"
                                        "    {\n"
                                        "      \"name\": \"step\",\n"
                                        "      \"self\": 1024,\n"
                                        "      \"total\": 1024\n"
                                        "    }\n"
                                        "  ]\n"
                                        "}\n");
    pt_buf_release(&text);
    pt_profile_release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_text, "C244: sums of a heap profile, with their errors, and its functions"),
        PT_TEST(test_losses,
                "C244: each loss of a heap profile is one line, none is not mentioned"),
        PT_TEST(test_time_line, "C244: live bytes over time in eighths of their maximum"),
        PT_TEST(test_fits, "C244: a heap profile has live and allocated bytes and blocks"),
        PT_TEST(test_empty, "C244: a heap profile without samples"),
        PT_TEST(test_json, "C244: a heap profile as JSON"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
