/* Expositions of every engine against known answers; histograms, intervals, several engines. */
#include "capture.h"

#include "base/fs.h"
#include "source/engine/bucket_growth.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

static int open_directory(const char *path) {
    const char *source = getenv("PITOT_SOURCE");
    char *full = pt_asprintf("%s/%s", source ? source : ".", path);
    int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pt_free(full);
    return fd;
}

static void parse(struct pt_str body, struct pt_engine_reading *reading) {
    struct pt_engine_parser parser = { 0 };
    struct pt_err err = { "" };
    if (pt_engine_parse(&parser, body, reading, &err))
        fail_msg("%s", err.text);
    pt_engine_parser_release(&parser);
}

static void parse_text(const char *text, struct pt_engine_reading *reading) {
    parse(pt_str_from(text), reading);
}

static void parse_file(int directory, const char *path, struct pt_engine_reading *reading) {
    struct pt_text memory = { 0 };
    struct pt_scan text;
    if (pt_fs_read(directory, path, &memory, &text))
        fail_msg("cannot read %s", path);
    parse(pt_scan_rest(&text), reading);
    pt_text_release(&memory);
}

static bool is_close(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void assert_field(const struct pt_engine_reading *r, enum pt_engine_field field,
                         double expected, const char *where) {
    const char *name = pt_engine_fields[field].name;
    if (!pt_engine_has(r, field))
        fail_msg("%s: %s is absent", where, name);
    if (!is_close(r->values[field], expected))
        fail_msg("%s: %s is %.17g, not %.17g", where, name, r->values[field], expected);
}

struct expected_field {
    enum pt_engine_field field;
    double value;
};

#define NO_FIELD PT_ENGINE_FIELD_COUNT

/* All fields that are expected, and no other. */
static void assert_fields(const struct pt_engine_reading *r, const struct expected_field *expected,
                          const char *where) {
    uint64_t present = 0;
    for (; expected->field != NO_FIELD; expected++) {
        assert_field(r, expected->field, expected->value, where);
        present |= UINT64_C(1) << expected->field;
    }
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++)
        if ((r->present & ~present) >> i & 1)
            fail_msg("%s: %s should be absent, is %g", where, pt_engine_fields[i].name,
                     r->values[i]);
}

static const struct {
    const char *path;
    enum pt_engine_kind kind;
    struct expected_field fields[28];
} expositions[] = {
    { "vllm-0.4-v0.prom",
      PT_ENGINE_VLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 3 },
        { PT_ENGINE_REQUESTS_WAITING, 1 },
        { PT_ENGINE_KV_USAGE, 0.375 },
        { PT_ENGINE_PREEMPTIONS, 2 },
        { PT_ENGINE_TOKENS_PROMPT, 120 },
        { PT_ENGINE_TOKENS_GENERATION, 48 },
        { PT_ENGINE_REQUESTS_FINISHED, 4 },
        { PT_ENGINE_INTER_TOKEN_SUM, 0.75 },
        { PT_ENGINE_INTER_TOKEN_COUNT, 44 },
        { NO_FIELD, 0 } } },
    { "vllm-0.8-v1.prom",
      PT_ENGINE_VLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 2 },
        { PT_ENGINE_REQUESTS_WAITING, 0 },
        { PT_ENGINE_KV_USAGE, 0.25 },
        { PT_ENGINE_PREFIX_QUERIES, 400 },
        { PT_ENGINE_PREFIX_HITS, 100 },
        { PT_ENGINE_REQUESTS_FINISHED, 5 },
        { PT_ENGINE_REQUESTS_FAILED, 1 },
        { PT_ENGINE_ITERATIONS, 9 },
        { PT_ENGINE_ITERATION_TOKENS, 99 },
        { PT_ENGINE_QUEUE_SUM, 0.5 },
        { PT_ENGINE_QUEUE_COUNT, 5 },
        { NO_FIELD, 0 } } },
    { "vllm-0.11.prom",
      PT_ENGINE_VLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 10 },
        { PT_ENGINE_REQUESTS_WAITING, 1 },
        { PT_ENGINE_KV_USAGE, 0.5 }, /* the fuller of 0.25 and 0.5 */
        { PT_ENGINE_SLEEP_STATE, 1 },
        { PT_ENGINE_PREFIX_HITS, 30 },
        { PT_ENGINE_PREFIX_QUERIES, 200 },
        { PT_ENGINE_MULTIMODAL_HITS, 2 },
        { PT_ENGINE_MULTIMODAL_QUERIES, 8 },
        { PT_ENGINE_REQUESTS_CORRUPTED, 1 },
        { PT_ENGINE_TOKENS_PROMPT, 1500 },
        { PT_ENGINE_INTER_TOKEN_SUM, 2 },
        { PT_ENGINE_INTER_TOKEN_COUNT, 30 },
        { PT_ENGINE_TPOT_SUM, 88 }, /* per request */
        { PT_ENGINE_TPOT_COUNT, 88 },
        { NO_FIELD, 0 } } },
    { "vllm-0.17.om",
      PT_ENGINE_VLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 7 },
        { PT_ENGINE_REQUESTS_WAITING, 5 },
        { PT_ENGINE_REQUESTS_WAITING_CAPACITY, 4 },
        { PT_ENGINE_REQUESTS_WAITING_DEFERRED, 1 },
        { PT_ENGINE_KV_USAGE, 0.125 },
        { PT_ENGINE_TOKENS_CACHED, 1000 },
        { PT_ENGINE_FLOPS, 1e15 },
        { PT_ENGINE_TOKENS_PROMPT, 3000 },
        { PT_ENGINE_TOKENS_GENERATION, 600 },
        { PT_ENGINE_REQUESTS_FINISHED, 9 },
        { PT_ENGINE_TTFT_SUM, 1.25 },
        { PT_ENGINE_TTFT_COUNT, 9 },
        { NO_FIELD, 0 } } },
    { "ray-serve.prom",
      PT_ENGINE_VLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 5 },
        { PT_ENGINE_KV_USAGE, 0.4 },
        { PT_ENGINE_TOKENS_PROMPT, 100 },
        { PT_ENGINE_TOKENS_GENERATION, 9 },
        { PT_ENGINE_TTFT_SUM, 0.8 },
        { PT_ENGINE_TTFT_COUNT, 4 },
        { NO_FIELD, 0 } } },
    { "sglang-ranks.prom",
      PT_ENGINE_SGLANG,
      { { PT_ENGINE_REQUESTS_RUNNING, 15 }, /* 10 once, and the higher of 4 and 5 */
        { PT_ENGINE_REQUESTS_WAITING, 3 },
        { PT_ENGINE_KV_USAGE, 0.5 },
        { PT_ENGINE_REQUESTS_FINISHED, 30 },
        { PT_ENGINE_REQUESTS_FAILED, 2 },
        { PT_ENGINE_PREFIX_HITS, 64 },
        { PT_ENGINE_TOKENS_CACHED, 64 },
        { PT_ENGINE_TTFT_SUM, 5 },
        { PT_ENGINE_TTFT_COUNT, 30 },
        { PT_ENGINE_PREFILL_SUM, 1.5 },
        { PT_ENGINE_PREFILL_COUNT, 3 },
        { PT_ENGINE_DECODE_SUM, 6.5 },
        { PT_ENGINE_DECODE_COUNT, 3 },
        { NO_FIELD, 0 } } },
    { "tgi.prom",
      PT_ENGINE_TGI,
      { { PT_ENGINE_REQUESTS_RUNNING, 8 },
        { PT_ENGINE_REQUESTS_WAITING, 4 },
        { PT_ENGINE_REQUESTS_FINISHED, 23 },
        { PT_ENGINE_REQUESTS_FAILED, 3 },
        { PT_ENGINE_TOKENS_PROMPT, 640 },
        { PT_ENGINE_TOKENS_GENERATION, 320 },
        { PT_ENGINE_E2E_SUM, 12.5 },
        { PT_ENGINE_E2E_COUNT, 20 },
        { PT_ENGINE_BATCH_PREFILL_SUM, 0.4 },
        { PT_ENGINE_BATCH_PREFILL_COUNT, 4 },
        { PT_ENGINE_BATCH_DECODE_SUM, 1.8 },
        { PT_ENGINE_BATCH_DECODE_COUNT, 90 },
        { NO_FIELD, 0 } } },
    { "trtllm-serve.prom",
      PT_ENGINE_TRTLLM,
      { { PT_ENGINE_REQUESTS_RUNNING, 6 },
        { PT_ENGINE_REQUESTS_WAITING, 2 },
        { PT_ENGINE_KV_USAGE, 0.75 },
        { PT_ENGINE_HIT_BLOCKS, 30 },
        { PT_ENGINE_QUERY_BLOCKS, 40 },
        { PT_ENGINE_REQUESTS_FINISHED, 12 },
        { PT_ENGINE_TOKENS_PROMPT, 1200 },
        { PT_ENGINE_TOKENS_GENERATION, 360 },
        { PT_ENGINE_INTER_TOKEN_SUM, 1.75 },
        { PT_ENGINE_INTER_TOKEN_COUNT, 120 },
        { PT_ENGINE_PREFILL_SUM, 0.6 },
        { PT_ENGINE_PREFILL_COUNT, 12 },
        { NO_FIELD, 0 } } },
    { "triton-trtllm.prom",
      PT_ENGINE_TRITON,
      { { PT_ENGINE_REQUESTS_RUNNING, 8 },
        { PT_ENGINE_REQUESTS_WAITING, 3 }, /* the backend knows better than the server */
        { PT_ENGINE_KV_USAGE, 0.0625 },
        { PT_ENGINE_REQUESTS_FINISHED, 43 },
        { PT_ENGINE_REQUESTS_FAILED, 3 },
        { PT_ENGINE_TOKENS_PROMPT, 4000 },
        { PT_ENGINE_TOKENS_GENERATION, 2500 },
        { PT_ENGINE_TTFT_SUM, 3 },
        { PT_ENGINE_TTFT_COUNT, 40 },
        { PT_ENGINE_E2E_SUM, 80 },
        { PT_ENGINE_E2E_COUNT, 40 },
        { PT_ENGINE_QUEUE_SUM, 2 },
        { PT_ENGINE_QUEUE_COUNT, 40 },
        { PT_ENGINE_INFERENCE_SUM, 70 },
        { NO_FIELD, 0 } } },
    { "llamacpp.prom",
      PT_ENGINE_LLAMACPP,
      { { PT_ENGINE_REQUESTS_RUNNING, 2 },
        { PT_ENGINE_REQUESTS_WAITING, 1 },
        { PT_ENGINE_TOKENS_PROMPT, 21850 },
        { PT_ENGINE_TOKENS_GENERATION, 8132 },
        { PT_ENGINE_BATCH_PREFILL_SUM, 235.743 },
        { PT_ENGINE_DECODE_SUM, 279.178 },
        { PT_ENGINE_BUSY, 514.921 },
        { PT_ENGINE_ITERATIONS, 9000 },
        { NO_FIELD, 0 } } },
};

static void every_engine_gives_the_same_fields(void **state) {
    (void)state;
    int directory = open_directory("tests/fixtures/engines");
    assert_true(directory >= 0);
    struct pt_engine_reading r = { 0 };
    for (size_t i = 0; i < PT_COUNT(expositions); i++) {
        parse_file(directory, expositions[i].path, &r);
        assert_string_equal(pt_engine_kind_name(r.kind), pt_engine_kind_name(expositions[i].kind));
        assert_fields(&r, expositions[i].fields, expositions[i].path);
    }
    pt_engine_reading_release(&r);
    close(directory);
}

/* A cell of EXPECTED.md. */
static struct pt_str next_cell(struct pt_scan *line) {
    struct pt_str cell = pt_scan_until(line, '|');
    while (cell.len > 0 && cell.at[0] == ' ')
        cell = pt_str_skip(cell, 1);
    while (cell.len > 0 && cell.at[cell.len - 1] == ' ')
        cell.len--;
    return cell;
}

static void check_captured(int directory, struct pt_scan *line, const char *path) {
    static const enum pt_engine_field columns[] = {
        PT_ENGINE_REQUESTS_RUNNING,  PT_ENGINE_REQUESTS_WAITING, PT_ENGINE_KV_USAGE,
        PT_ENGINE_REQUESTS_FINISHED, PT_ENGINE_TOKENS_PROMPT,    PT_ENGINE_TOKENS_GENERATION,
        PT_ENGINE_TTFT_SUM,          PT_ENGINE_TTFT_COUNT,       PT_ENGINE_E2E_SUM,
        PT_ENGINE_E2E_COUNT,
    };
    struct pt_engine_reading r = { 0 };
    parse_file(directory, path, &r);
    struct pt_str family = next_cell(line);
    bool is_none = pt_str_eq(family, PT_STR("none"));
    if (is_none && r.kind == PT_ENGINE_DYNAMO) { /* the list is older than our names of Dynamo */
        pt_engine_reading_release(&r);
        return;
    }
    assert_str_eq(is_none ? PT_STR("unknown") : family, pt_engine_kind_name(r.kind));
    struct pt_scan series = pt_scan_of(next_cell(line));
    assert_int_equal(r.series_count, pt_scan_u64(&series));
    for (size_t i = 0; i < PT_COUNT(columns); i++) {
        struct pt_str cell = next_cell(line);
        if (!pt_str_eq(cell, PT_STR("null"))) {
            struct pt_scan number = pt_scan_of(cell);
            assert_field(&r, columns[i], pt_scan_f64(&number), path);
            assert_false(number.failed);
        } else if (pt_engine_has(&r, columns[i])) {
            fail_msg("%s: %s must be absent", path, pt_engine_fields[columns[i]].name);
        }
    }
    assert_false(line->failed);
    assert_true(!is_none || r.present == 0);
    pt_engine_reading_release(&r);
}

/* Returns how many pages EXPECTED.md names. */
static int check_captured_pages(const char *root) {
    int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory >= 0);
    struct pt_text memory = { 0 };
    struct pt_scan text, line;
    assert_int_equal(pt_fs_read(directory, "EXPECTED.md", &memory, &text), 0);
    int cases = 0;
    while (pt_scan_line(&text, &line)) {
        if (!pt_scan_take(&line, PT_STR("|")))
            continue;
        struct pt_str cell = next_cell(&line);
        if (!pt_str_ends(cell, PT_STR(".prom")))
            continue;
        char path[128];
        check_captured(directory, &line, pt_str_copy(path, sizeof path, cell));
        cases++;
    }
    pt_text_release(&memory);
    close(directory);
    return cases;
}

static void captured_expositions_give_the_published_values(void **state) {
    (void)state;
    char path[PATH_MAX];
    find_capture(OURS "promtext", path);
    assert_int_equal(check_captured_pages(path), 5);
    if (find_capture(THEIRS "engines", path))
        assert_int_equal(check_captured_pages(path), 14);
}

static void assert_bucket(const struct pt_engine_histogram *h, size_t index, double le,
                          double cumulative) {
    assert_true(index < h->count);
    assert_true(h->buckets[index].le == le);
    assert_true(h->buckets[index].cumulative == cumulative);
}

static void buckets_of_several_series_are_summed_by_edge(void **state) {
    (void)state;
    int directory = open_directory("tests/fixtures/engines");
    struct pt_engine_reading r = { 0 };
    parse_file(directory, "vllm-0.11.prom", &r);
    const struct pt_engine_histogram *h = &r.latencies[PT_ENGINE_INTER_TOKEN];
    assert_int_equal(h->count, 3);
    assert_bucket(h, 0, 0.01, 15);
    assert_bucket(h, 1, 0.025, 29);
    assert_bucket(h, 2, INFINITY, 30);
    parse_file(directory, "triton-trtllm.prom", &r);
    h = &r.latencies[PT_ENGINE_TTFT];
    assert_int_equal(h->count, 3);
    assert_bucket(h, 0, 0.1, 35); /* edges in milliseconds */
    assert_bucket(h, 1, 0.5, 40);
    pt_engine_reading_release(&r);
    close(directory);
}

static void series_with_other_edges_meet_where_they_can(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("vllm:time_to_first_token_seconds_bucket{m=\"a\",le=\"1\"} 2\n"
               "vllm:time_to_first_token_seconds_bucket{m=\"a\",le=\"2.0\"} 4\n"
               "vllm:time_to_first_token_seconds_bucket{m=\"a\",le=\"+Inf\"} 5\n"
               "vllm:time_to_first_token_seconds_bucket{m=\"b\",le=\"1.0\"} 10\n"
               "vllm:time_to_first_token_seconds_bucket{m=\"b\",le=\"5e0\"} 20\n"
               "vllm:time_to_first_token_seconds_bucket{m=\"b\",le=\"+Inf\"} 21\n",
               &r);
    const struct pt_engine_histogram *h = &r.latencies[PT_ENGINE_TTFT];
    assert_int_equal(h->count, 2);
    assert_bucket(h, 0, 1, 12);
    assert_bucket(h, 1, INFINITY, 26);
    pt_engine_reading_release(&r);
}

static void the_count_stands_in_for_a_missing_last_bucket(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("trtllm:e2e_request_latency_seconds_bucket{le=\"0.5\"} 25\n"
               "trtllm:e2e_request_latency_seconds_count 150\n",
               &r);
    assert_int_equal(r.latencies[PT_ENGINE_E2E].count, 2);
    assert_bucket(&r.latencies[PT_ENGINE_E2E], 1, INFINITY, 150);
    parse_text("trtllm:e2e_request_latency_seconds_bucket{le=\"0.5\"} 25\n", &r);
    assert_int_equal(r.latencies[PT_ENGINE_E2E].count, 1);
    pt_engine_reading_release(&r);
}

static void fill(struct pt_engine_histogram *h, const double (*buckets)[2], size_t count) {
    pt_engine_histogram_clear(h);
    for (size_t i = 0; i < count; i++)
        pt_engine_histogram_add(h, buckets[i][0], buckets[i][1]);
    pt_engine_histogram_finish(h, NAN);
}

#define FILL(h, ...)                                         \
    do {                                                     \
        static const double buckets_[][2] = { __VA_ARGS__ }; \
        fill(h, buckets_, PT_COUNT(buckets_));               \
    } while (0)

static struct pt_quantile quantile(const struct pt_engine_histogram *before,
                                   const struct pt_engine_histogram *now, double which) {
    struct pt_classic_histogram growth = { 0 };
    pt_engine_histogram_growth(before, now, &growth);
    struct pt_quantile q = pt_classic_histogram_quantile(&growth, which);
    pt_classic_histogram_release(&growth);
    return q;
}

static void assert_quantile(struct pt_quantile q, double value, double width) {
    assert_true(is_close(q.value, value));
    assert_true(is_close(q.width, width));
}

static void assert_quantile_of(const struct pt_classic_histogram *h, double which, double value,
                               double width) {
    assert_quantile(pt_classic_histogram_quantile(h, which), value, width);
}

/* Bounds and counts of the whole histogram, without those of zero. */
static void assert_growth(const struct pt_classic_histogram *h, const double (*expected)[3],
                          size_t count) {
    size_t found = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (h->buckets[i].count == 0)
            continue;
        assert_true(found < count);
        assert_true((i > 0 ? h->buckets[i - 1].le : -INFINITY) == expected[found][0]);
        assert_true(h->buckets[i].le == expected[found][1]);
        assert_true(h->buckets[i].count == expected[found][2]);
        found++;
    }
    assert_int_equal(found, count);
}

#define ASSERT_GROWTH(h, ...)                                 \
    do {                                                      \
        static const double expected_[][3] = { __VA_ARGS__ }; \
        assert_growth(h, expected_, PT_COUNT(expected_));     \
    } while (0)

static void growth_has_the_buckets_that_changed(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    struct pt_classic_histogram growth = { 0 };
    FILL(&before, { 0.1, 7 }, { 0.2, 9 }, { 0.5, 9 }, { 1, 9 }, { INFINITY, 10 });
    FILL(&now, { 0.1, 9 }, { 0.2, 11 }, { 0.5, 14 }, { 1, 14 }, { INFINITY, 19 });
    pt_engine_histogram_growth(&before, &now, &growth);
    ASSERT_GROWTH(&growth, { 0, 0.1, 2 }, { 0.2, 0.5, 3 }, { 1, INFINITY, 4 });
    pt_engine_histogram_growth(&now, &now, &growth);
    assert_int_equal(growth.count, 0);
    pt_engine_histogram_growth(&now, &before, &growth); /* a reset */
    assert_int_equal(growth.count, 0);
    FILL(&now, { INFINITY, 12 });
    pt_engine_histogram_growth(&before, &now, &growth); /* only the number is known */
    ASSERT_GROWTH(&growth, { -INFINITY, INFINITY, 2 });
    FILL(&now, { 0.1, 9 }, { 0.2, 9.4 }, { INFINITY, 12.6 }); /* never fractions */
    pt_engine_histogram_growth(&before, &now, &growth);
    ASSERT_GROWTH(&growth, { 0, 0.1, 2 }, { 0.1, 0.2, -2 }, { 0.2, INFINITY, 3 });
    pt_classic_histogram_release(&growth);
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

/* The memory of a cleared histogram still has its old edges behind the last one. */
static void edges_of_an_older_scrape_are_gone(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    struct pt_classic_histogram growth = { 0 };
    FILL(&before, { 0.1, 1 }, { 0.2, 2 }, { 0.5, 3 }, { 1, 3 }, { 2, 9 }, { INFINITY, 9 });
    FILL(&now, { 0.1, 1 }, { 0.2, 1 }, { INFINITY, 1 });
    FILL(&now, { 0.1, 2 }, { INFINITY, 10 });
    FILL(&before, { 0.1, 1 }, { 0.2, 2 }, { INFINITY, 9 });
    assert_false(pt_engine_histogram_was_reset(&before, &now));
    pt_engine_histogram_growth(&before, &now, &growth);
    ASSERT_GROWTH(&growth, { 0, 0.1, 1 });
    FILL(&before, { 0.1, 1 }, { 5, 2 });
    FILL(&now, { 0.1, 2 }, { 5, 3 });
    FILL(&now, { 0.1, 2 });
    assert_false(pt_engine_histogram_was_reset(&before, &now));
    FILL(&now, { 0.1, 2 }, { 5, 1 });
    FILL(&now, { 0.1, 2 });
    assert_false(pt_engine_histogram_was_reset(&before, &now)); /* not by the old edge */
    pt_classic_histogram_release(&growth);
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

static void buckets_without_an_edge_or_a_count_are_left_out(void **state) {
    (void)state;
    struct pt_engine_histogram h = { 0 };
    FILL(&h, { NAN, 5 }, { 1, INFINITY }, { 2, NAN }, { 4, 7 }, { INFINITY, 8 });
    assert_int_equal(h.count, 2);
    assert_bucket(&h, 0, 4, 7);
    assert_bucket(&h, 1, INFINITY, 8);
    pt_engine_histogram_release(&h);
}

/* In the interval 10 events up to 0.1, 20 up to 0.2, 10 up to 0.5, 10 above. */
static void quantiles_are_interpolated_from_what_is_new(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    FILL(&before, { 0.1, 1000 }, { 0.2, 1000 }, { 0.5, 1000 }, { INFINITY, 1000 });
    FILL(&now, { 0.1, 1010 }, { 0.2, 1030 }, { 0.5, 1040 }, { INFINITY, 1050 });
    assert_quantile(quantile(&before, &now, 0.1), 0.05, 0.1);  /* rank 5 of 10 in 0..0.1 */
    assert_quantile(quantile(&before, &now, 0.2), 0.1, 0.1);   /* rank 10: the whole bucket */
    assert_quantile(quantile(&before, &now, 0.5), 0.175, 0.1); /* rank 25: 15 of 20 in 0.1..0.2 */
    assert_quantile(quantile(&before, &now, 0.7), 0.35, 0.3);  /* rank 35: 5 of 10 in 0.2..0.5 */
    struct pt_quantile above = quantile(&before, &now, 0.99);
    assert_true(above.value == 0.5 && isinf(above.width));
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

static void no_traffic_or_a_reset_is_no_quantile(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 }, empty = { 0 };
    FILL(&before, { 0.1, 5 }, { INFINITY, 7 });
    assert_true(isnan(quantile(&before, &before, 0.5).value));
    assert_true(isnan(quantile(&before, &empty, 0.5).value));
    assert_true(isnan(quantile(&empty, &empty, 0.5).value));
    FILL(&now, { 0.1, 3 }, { INFINITY, 9 });
    assert_true(pt_engine_histogram_was_reset(&before, &now));
    assert_true(isnan(quantile(&before, &now, 0.5).value));
    FILL(&now, { 0.1, 9 });
    assert_true(isnan(quantile(&before, &now, 0.5).value)); /* nobody counted the rest */
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

static void scrapes_with_other_edges_are_compared_at_common_ones(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    FILL(&before, { 0.1, 0 }, { 0.3, 0 }, { 1, 0 }, { INFINITY, 0 });
    FILL(&now, { 0.2, 1 }, { 0.3, 2 }, { 1, 4 }, { INFINITY, 4 });
    assert_quantile(quantile(&before, &now, 0.5), 0.3, 0.3);
    assert_quantile(quantile(&before, &now, 0.75), 0.65, 0.7);
    FILL(&before, { 7, 0 }, { INFINITY, 0 });
    assert_true(isnan(quantile(&before, &now, 0.5).value));
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

/* Scrapes are not atomic: 4 events up to 0.2, but only 3 up to 0.5. */
static void buckets_that_lag_behind_do_no_harm(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    FILL(&before, { 0.2, 10 }, { 0.5, 11 }, { 1, 11 }, { INFINITY, 11 });
    FILL(&now, { 0.2, 14 }, { 0.5, 14 }, { 1, 19 }, { INFINITY, 19 });
    assert_quantile(quantile(&before, &now, 0.5), 0.2, 0.2);
    assert_quantile(quantile(&before, &now, 0.75), 0.75, 0.5); /* rank 6: 2 of 4 in 0.5..1 */
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

static void negative_edges_are_handled(void **state) {
    (void)state;
    struct pt_engine_histogram before = { 0 }, now = { 0 };
    FILL(&before, { -1, 0 }, { 1, 0 }, { INFINITY, 0 });
    FILL(&now, { -1, 2 }, { 1, 4 }, { INFINITY, 4 });
    assert_quantile(quantile(&before, &now, 0.25), -1, 0);
    assert_quantile(quantile(&before, &now, 0.75), 0, 2);
    pt_engine_histogram_release(&before);
    pt_engine_histogram_release(&now);
}

static void an_interval_has_its_own_histograms(void **state) {
    (void)state;
    struct pt_engine_reading before = { 0 }, now = { 0 };
    struct pt_engine_delta d = { 0 };
    parse_text("vllm:num_requests_running 3\nvllm:prompt_tokens_total 100\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 0\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 0\n"
               "vllm:time_to_first_token_seconds_sum 0\n",
               &before);
    parse_text("vllm:num_requests_running 1\nvllm:prompt_tokens_total 350\n"
               "vllm:generation_tokens_total 9\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 4\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 4\n"
               "vllm:time_to_first_token_seconds_sum 0.2\n",
               &now);
    before.mono_ns = 1000000000;
    now.mono_ns = 1500000000;
    pt_engine_delta(&before, &now, &d);
    assert_true(d.seconds == 0.5 && !d.was_reset);
    const struct pt_classic_histogram *ttft = &d.latencies[PT_ENGINE_TTFT];
    ASSERT_GROWTH(ttft, { 0, 0.1, 4 });
    assert_quantile_of(ttft, pt_engine_quantiles[PT_ENGINE_P50], 0.05, 0.1);
    assert_quantile_of(ttft, pt_engine_quantiles[PT_ENGINE_P90], 0.09, 0.1);
    assert_quantile_of(ttft, pt_engine_quantiles[PT_ENGINE_P95], 0.095, 0.1);
    assert_quantile_of(ttft, pt_engine_quantiles[PT_ENGINE_P99], 0.099, 0.1);
    assert_int_equal(d.latencies[PT_ENGINE_E2E].count, 0);
    pt_engine_delta_release(&d);
    pt_engine_reading_release(&before);
    pt_engine_reading_release(&now);
}

#define E2E_BUCKETS(up_to_one, all)                                        \
    "vllm:e2e_request_latency_seconds_bucket{le=\"1.0\"} " #up_to_one "\n" \
    "vllm:e2e_request_latency_seconds_bucket{le=\"+Inf\"} " #all "\n"

/* The histogram of each interval between texts of one engine, in order. */
static void a_histogram_starts_with_its_first_event(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double up_to_one, above;
    } scrapes[] = {
        { "vllm:prompt_tokens_total 5\n", 0, 0 }, /* the first scrape is where to start */
        { "vllm:prompt_tokens_total 6\n" E2E_BUCKETS(2, 3), 2, 1 },
        { "vllm:prompt_tokens_total 7\n" E2E_BUCKETS(6, 7), 4, 0 },
        { "vllm:prompt_tokens_total 8\n", 0, 0 },
        { "vllm:prompt_tokens_total 9\n" E2E_BUCKETS(8, 9), 0, 0 }, /* since when is unknown */
        { "vllm:prompt_tokens_total 9\n" E2E_BUCKETS(9, 11), 1, 1 },
        { "vllm:prompt_tokens_total 1\n" E2E_BUCKETS(9, 11), 0, 0 }, /* a restart */
        { "vllm:prompt_tokens_total 2\n" E2E_BUCKETS(9, 12), 0, 1 },
    };
    struct pt_engine_reading readings[2] = { { 0 }, { 0 } };
    struct pt_engine_delta d = { 0 };
    for (size_t i = 0; i < PT_COUNT(scrapes); i++) {
        double expected[][3] = { { 0, 1, scrapes[i].up_to_one },
                                 { 1, INFINITY, scrapes[i].above } };
        size_t first = expected[0][2] == 0, count = 2 - first - (expected[1][2] == 0);
        parse_text(scrapes[i].text, &readings[i % 2]);
        pt_engine_delta(&readings[(i + 1) % 2], &readings[i % 2], &d);
        assert_growth(&d.latencies[PT_ENGINE_E2E], expected + first, count);
    }
    pt_engine_delta_release(&d);
    pt_engine_reading_release(&readings[0]);
    pt_engine_reading_release(&readings[1]);
}

/* What grew in an interval, one bucket of each latency given. */
static void set_growth(struct pt_engine_delta *d, double seconds, double ttft, double e2e) {
    d->seconds = seconds;
    pt_classic_histogram_clear(&d->latencies[PT_ENGINE_TTFT]);
    pt_classic_histogram_clear(&d->latencies[PT_ENGINE_E2E]);
    pt_classic_histogram_add(&d->latencies[PT_ENGINE_TTFT], 0.1, 0.2, ttft);
    pt_classic_histogram_add(&d->latencies[PT_ENGINE_E2E], 5, INFINITY, e2e);
}

static void assert_waiting(const struct pt_bucket_growth *g, uint32_t engine,
                           enum pt_engine_latency latency, double above, double le, int64_t count,
                           double seconds, int64_t mono_ns) {
    assert_int_equal(g->engine, engine);
    assert_int_equal(g->latency, latency);
    assert_true(g->above == above && g->le == le);
    assert_int_equal(g->count, count);
    assert_true(is_close(g->seconds, seconds));
    assert_int_equal(g->mono_ns, mono_ns);
}

static void growth_that_nobody_takes_is_not_lost(void **state) {
    (void)state;
    const int64_t second = 1000000000;
    struct pt_bucket_growths g = { 0 };
    struct pt_engine_delta d = { 0 };
    set_growth(&d, 1, 2, 0);
    pt_bucket_growths_add(&g, 0, &d, 10 * second, 3);
    set_growth(&d, 1, 3, 4);
    pt_bucket_growths_add(&g, 1, &d, 10 * second, 3);
    assert_int_equal(g.count, 3);
    assert_waiting(&g.list[0], 0, PT_ENGINE_TTFT, 0.1, 0.2, 2, 1, 10 * second);
    assert_waiting(&g.list[1], 1, PT_ENGINE_TTFT, 0.1, 0.2, 3, 1, 10 * second);
    assert_waiting(&g.list[2], 1, PT_ENGINE_E2E, 5, INFINITY, 4, 1, 10 * second);
    set_growth(&d, 2, 5, 6); /* at the limit: the known bucket has grown since its interval began */
    pt_bucket_growths_add(&g, 0, &d, 12 * second, 3);
    assert_int_equal(g.count, 4);
    assert_waiting(&g.list[0], 0, PT_ENGINE_TTFT, 0.1, 0.2, 7, 3, 12 * second);
    assert_waiting(&g.list[1], 1, PT_ENGINE_TTFT, 0.1, 0.2, 3, 1, 10 * second);
    assert_waiting(&g.list[3], 0, PT_ENGINE_E2E, 5, INFINITY, 6, 2, 12 * second);
    pt_bucket_growths_clear(&g);
    pt_bucket_growths_add(&g, 0, &d, 12 * second, 3);
    assert_int_equal(g.count, 2);
    pt_bucket_growths_release(&g);
    pt_engine_delta_release(&d);
}

static void a_restarted_engine_has_no_interval(void **state) {
    (void)state;
    struct pt_engine_reading before = { 0 }, now = { 0 };
    struct pt_engine_delta d = { 0 };
    parse_text("vllm:prompt_tokens_total 100\nvllm:generation_tokens_total 5\n", &before);
    parse_text("vllm:prompt_tokens_total 7\nvllm:generation_tokens_total 6\n", &now);
    now.mono_ns = 1000000000;
    pt_engine_delta(&before, &now, &d);
    assert_true(d.was_reset);
    pt_engine_reading_release(&before);
    pt_engine_reading_release(&now);
}

static bool is_reset_between(const char *first, const char *second) {
    struct pt_engine_reading before = { 0 }, now = { 0 };
    struct pt_engine_delta d = { 0 };
    parse_text(first, &before);
    parse_text(second, &now);
    now.mono_ns = 1000000000;
    pt_engine_delta(&before, &now, &d);
    bool was_reset = d.was_reset;
    pt_engine_delta_release(&d);
    pt_engine_reading_release(&before);
    pt_engine_reading_release(&now);
    return was_reset;
}

static void only_what_a_restart_does_is_a_restart(void **state) {
    (void)state;
    /* sums of fractions may differ by their rounding */
    assert_false(is_reset_between("vllm:time_to_first_token_seconds_sum 1000000000\n",
                                  "vllm:time_to_first_token_seconds_sum 999999999.01\n"));
    assert_true(is_reset_between("vllm:time_to_first_token_seconds_sum 1000000000\n",
                                 "vllm:time_to_first_token_seconds_sum 999999998.9\n"));
    assert_true(is_reset_between("vllm:prompt_tokens_total 5\n", "vllm:prompt_tokens_total 4\n"));
    assert_false(is_reset_between("vllm:prompt_tokens_total 5\n", "vllm:prompt_tokens_total 5\n"));
    assert_false(is_reset_between("vllm:prompt_tokens_total 0\n", "vllm:prompt_tokens_total 0\n"));
    /* a gauge falls and a counter may go away */
    assert_false(is_reset_between("vllm:num_requests_running 5\nvllm:prompt_tokens_total 5\n",
                                  "vllm:num_requests_running 4\n"));
    /* another engine has the port */
    assert_true(is_reset_between("vllm:prompt_tokens_total 5\n", "sglang:prompt_tokens_total 6\n"));
    assert_true(is_reset_between("vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 4\n",
                                 "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 3\n"));
    assert_false(is_reset_between("vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 4\n",
                                  "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 4\n"));
}

/* Series `from` to `to`, the number also as a label; the order of the labels can be turned. */
static void add_series(struct pt_buf *text, int from, int to, bool is_turned, int value) {
    for (int i = from; i < to; i++) {
        char line[128];
        snprintf(line, sizeof line,
                 is_turned ? "vllm:num_requests_running{b=\"x\",a=\"%d\"} %d\n"
                           : "vllm:num_requests_running{a=\"%d\",b=\"x\"} %d\n",
                 i, value);
        pt_buf_str(text, pt_str_from(line));
    }
}

static void copies_are_found_among_thousands_of_series(void **state) {
    (void)state;
    static const int counts[] = { 511, 512, 513, 1024, 5000 };
    struct pt_engine_parser parser = { 0 };
    struct pt_engine_reading r = { 0 };
    struct pt_buf text = { 0 };
    for (size_t i = 0; i < PT_COUNT(counts); i++) {
        pt_buf_clear(&text);
        add_series(&text, 0, counts[i], false, 2);
        add_series(&text, 0, counts[i], true, i % 2 ? 3 : 1); /* the higher one counts */
        assert_int_equal(pt_engine_parse(&parser, pt_buf_as_str(&text), &r, NULL), 0);
        assert_field(&r, PT_ENGINE_REQUESTS_RUNNING, counts[i] * (i % 2 ? 3 : 2), "copies");
        assert_int_equal(r.series_count, 2 * counts[i]);
        assert_int_equal(parser.entry_count, counts[i]);
    }
    pt_buf_release(&text);
    pt_engine_parser_release(&parser);
    pt_engine_reading_release(&r);
}

static void several_engines_are_combined_by_the_rules(void **state) {
    (void)state;
    struct pt_engine_reading a = { 0 }, b = { 0 }, both = { 0 };
    parse_text("vllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0.5\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"0.1\"} 1\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"0.2\"} 2\n"
               "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} 3\n"
               "vllm:engine_sleep_state{sleep_state=\"awake\"} 1\n",
               &a);
    parse_text("sglang:num_running_reqs 4\nsglang:token_usage 0.1\nsglang:prompt_tokens_total 9\n"
               "sglang:time_to_first_token_seconds_bucket{le=\"0.1\"} 10\n"
               "sglang:time_to_first_token_seconds_bucket{le=\"+Inf\"} 20\n",
               &b);
    a.mono_ns = 5;
    b.mono_ns = 9;
    const struct pt_engine_reading *readings[] = { &a, &b };
    pt_engine_combine(readings, 2, &both);
    assert_int_equal(both.kind, PT_ENGINE_UNKNOWN);
    assert_int_equal(both.engine_count, 2);
    assert_true(both.mono_ns == 9);
    static const struct expected_field expected[] = { { PT_ENGINE_REQUESTS_RUNNING, 7 },
                                                      { PT_ENGINE_KV_USAGE, 0.5 },
                                                      { PT_ENGINE_TOKENS_PROMPT, 9 },
                                                      { PT_ENGINE_SLEEP_STATE, 0 },
                                                      { NO_FIELD, 0 } };
    assert_fields(&both, expected, "combined");
    struct pt_engine_reading one = { 0 };
    pt_engine_combine(readings, 1, &one);
    assert_int_equal(one.kind, PT_ENGINE_VLLM);
    assert_int_equal(one.series_count, 6);
    assert_int_equal(both.series_count, 11);
    assert_true(one.mono_ns == 5);
    pt_engine_combine(readings, 0, &one);
    assert_true(one.present == 0 && one.engine_count == 0);
    assert_int_equal(one.kind, PT_ENGINE_UNKNOWN);
    assert_true(one.mono_ns == 0 && one.series_count == 0);
    pt_engine_reading_release(&a);
    pt_engine_reading_release(&b);
    pt_engine_reading_release(&both);
    pt_engine_reading_release(&one);
}

static void odd_values_are_absent_and_copies_count_once(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("vllm:num_requests_running NaN\n"
               "vllm:num_requests_waiting{a=\"1\",b=\"2\"} 5\n"
               "vllm:num_requests_waiting{b=\"2\",a=\"1\"} 5\n"
               "vllm:prompt_tokens{a=\"1\"} 70\n"
               "vllm:prompt_tokens_total{a=\"1\"} 80\n"
               "vllm:prompt_tokens_created{a=\"1\"} 1e9\n",
               &r);
    static const struct expected_field expected[] = { { PT_ENGINE_REQUESTS_WAITING, 5 },
                                                      { PT_ENGINE_TOKENS_PROMPT, 80 },
                                                      { NO_FIELD, 0 } };
    assert_fields(&r, expected, "odd values");
    pt_engine_reading_release(&r);
}

static bool has_info(const struct pt_engine_reading *r, const char *family, const char *key,
                     const char *value) {
    for (size_t i = 0; i < r->info_count; i++) {
        struct pt_engine_info info = pt_engine_info(r, i);
        if (pt_str_eq(info.family, pt_str_from(family)) && pt_str_eq(info.key, pt_str_from(key)) &&
            pt_str_eq(info.value, pt_str_from(value)))
            return true;
    }
    return false;
}

static void labels_that_describe_the_engine_are_kept(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("python_info{version=\"3.12\"} 1\n"
               "nv_inference_count{model=\"x\"} 1\n"
               "nv_inference_request_success{model=\"x\"} 1\n"
               "vllm:cache_config_info{block_size=\"16\",path=\"a\\\\b\"} 1.0\n"
               "vllm:lora_requests_info{running=\"l\"} 1726839815.5\n"
               "vllm:num_requests_running{model_name=\"m1\"} 1\n"
               "vllm:num_requests_running{model_name=\"m2\"} 1\n"
               "vllm:num_requests_waiting{model_name=\"m1\"} 1\n",
               &r);
    assert_int_equal(r.kind, PT_ENGINE_VLLM);
    assert_int_equal(r.info_count, 4);
    assert_true(has_info(&r, "cache_config", "block_size", "16"));
    assert_true(has_info(&r, "cache_config", "path", "a\\b"));
    assert_true(has_info(&r, "", "model_name", "m1"));
    assert_true(has_info(&r, "", "model_name", "m2"));
    pt_engine_reading_release(&r);
}

struct raw_series {
    int count;
    char last[256];
};

static void note_raw(void *user, struct pt_str name, struct pt_str labels, double value) {
    struct raw_series *raw = user;
    raw->count++;
    snprintf(raw->last, sizeof raw->last, "%.*s{%.*s} %g", (int)name.len, name.at, (int)labels.len,
             labels.at, value);
}

static void series_that_no_field_takes_are_handed_out(void **state) {
    (void)state;
    struct raw_series raw = { 0 };
    struct pt_engine_parser parser = { .raw = note_raw, .raw_user = &raw };
    struct pt_engine_reading r = { 0 };
    assert_int_equal(pt_engine_parse(&parser,
                                     PT_STR("vllm:num_requests_running 1\nup 1\n"
                                            "vllm:lora{a=\"1\",b=\"x\\\"\"} 2.5\n"),
                                     &r, NULL),
                     0);
    assert_int_equal(raw.count, 2);
    assert_string_equal(raw.last, "vllm:lora{a=\"1\",b=\"x\\\"\"} 2.5");
    pt_engine_parser_release(&parser);
    pt_engine_reading_release(&r);
}

static void a_bad_line_is_counted_and_the_others_are_kept(void **state) {
    (void)state;
    struct pt_engine_parser parser = { 0 };
    struct pt_engine_reading r = { 0 };
    struct pt_err err = { "" };
    assert_int_equal(pt_engine_parse(&parser,
                                     PT_STR("vllm:prompt_tokens_total 5\nvllm:x{ 1\n"
                                            "vllm:num_requests_running 2\nvllm:y 1 2 3\n"
                                            "vllm:num_requests_waiting{a=\"b\"} 3\n"),
                                     &r, &err),
                     0);
    assert_int_equal(r.bad_line_count, 2);
    assert_string_equal(r.first_bad.text,
                        "line 2, column 9: a label must start with a letter or _");
    assert_int_equal(r.series_count, 3);
    assert_field(&r, PT_ENGINE_TOKENS_PROMPT, 5, "page");
    assert_field(&r, PT_ENGINE_REQUESTS_RUNNING, 2, "page");
    assert_field(&r, PT_ENGINE_REQUESTS_WAITING, 3, "page");
    parse_text("vllm:prompt_tokens_total 5\n", &r); /* the next page is whole again */
    assert_int_equal(r.bad_line_count, 0);
    assert_string_equal(r.first_bad.text, "");
    pt_engine_parser_release(&parser);
    pt_engine_reading_release(&r);
}

static void a_total_beside_its_parts_counts_once(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("sglang:num_running_reqs{model_name=\"m\",priority=\"\"} 12\n"
               "sglang:num_running_reqs{model_name=\"m\",priority=\"0\"} 8\n"
               "sglang:num_running_reqs{model_name=\"m\",priority=\"1\"} 4\n"
               "sglang:num_queue_reqs{priority=\"0\"} 2\nsglang:num_queue_reqs{priority=\"1\"} 3\n",
               &r);
    assert_field(&r, PT_ENGINE_REQUESTS_RUNNING, 12, "total");
    assert_field(&r, PT_ENGINE_REQUESTS_WAITING, 5, "without a total");
    pt_engine_reading_release(&r);
}

static void engines_without_pages_of_their_own_here_are_known_by_name(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum pt_engine_kind kind;
        enum pt_engine_field field;
        double value;
    } cases[] = {
        { "lmdeploy:num_requests_running 3\n", PT_ENGINE_LMDEPLOY, PT_ENGINE_REQUESTS_RUNNING, 3 },
        { "lmdeploy:iter_token_latency_sum 2\n", PT_ENGINE_LMDEPLOY, PT_ENGINE_INTER_TOKEN_SUM, 2 },
        { "dynamo_frontend_queued_requests{model=\"m\"} 4\n", PT_ENGINE_DYNAMO,
          PT_ENGINE_REQUESTS_WAITING, 4 },
        { "dynamo_component_gpu_cache_usage_percent 0.5\n", PT_ENGINE_DYNAMO, PT_ENGINE_KV_USAGE,
          0.5 },
        { "request_predict_seconds_sum{model_name=\"m\"} 7\n", PT_ENGINE_KSERVE,
          PT_ENGINE_INFERENCE_SUM, 7 },
        { "num_requests_running{model_name=\"m\"} 2\nprompt_tokens_total 9\n", PT_ENGINE_NIM,
          PT_ENGINE_TOKENS_PROMPT, 9 },
        { "vllm:num_requests_running 1\nlmcache:num_hit_tokens_total 64\n", PT_ENGINE_VLLM,
          PT_ENGINE_EXTERNAL_HITS, 64 },
        { "vllm:num_requests_waiting_by_reason{reason=\"capacity\"} 6\n", PT_ENGINE_VLLM,
          PT_ENGINE_REQUESTS_WAITING_CAPACITY, 6 },
        { "vllm:spec_decode_num_accepted_tokens_total 8\n", PT_ENGINE_VLLM, PT_ENGINE_ACCEPTED, 8 },
        { "vllm:nixl_bytes_transferred_sum 1e9\n", PT_ENGINE_VLLM, PT_ENGINE_TRANSFER_BYTES, 1e9 },
        { "vllm:estimated_flops_per_gpu_total 1e15\n", PT_ENGINE_VLLM, PT_ENGINE_FLOPS, 1e15 },
        { "sglang:num_requests_running 5\n", PT_ENGINE_SGLANG, PT_ENGINE_REQUESTS_RUNNING, 5 },
        { "sglang:cached_tokens_total{cache_source=\"host\"} 5\n", PT_ENGINE_SGLANG,
          PT_ENGINE_OFFLOAD_HITS, 5 },
        { "sglang:kv_transfer_total_mb_sum 3\n", PT_ENGINE_SGLANG, PT_ENGINE_TRANSFER_BYTES, 3e6 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_engine_reading r = { 0 };
        parse_text(cases[i].text, &r);
        assert_int_equal(r.kind, cases[i].kind);
        assert_field(&r, cases[i].field, cases[i].value, cases[i].text);
        pt_engine_reading_release(&r);
    }
}

static void lines_may_end_with_a_carriage_return(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("# TYPE vllm:prompt_tokens_total counter\r\nvllm:prompt_tokens_total 5\r\n\r\n"
               "vllm:num_requests_running{a=\"x\ry\"} 2\r\n",
               &r);
    assert_int_equal(r.bad_line_count, 0);
    assert_field(&r, PT_ENGINE_TOKENS_PROMPT, 5, "page");
    assert_field(&r, PT_ENGINE_REQUESTS_RUNNING, 2, "page");
    pt_engine_reading_release(&r);
}

static void a_text_that_is_not_metrics_or_was_cut_gives_an_empty_reading(void **state) {
    (void)state;
    struct pt_engine_parser parser = { 0 };
    struct pt_engine_reading r = { 0 };
    struct pt_err err = { "" };
    assert_int_equal(
        pt_engine_parse(&parser, PT_STR("<html>\n<p>see\nvllm:prompt_tokens_total 5\n"), &r, &err),
        -EINVAL);
    assert_string_equal(err.text, "line 1, column 1: a name must start with a letter, _ or :");
    assert_int_equal(r.kind, PT_ENGINE_UNKNOWN);
    assert_true(r.present == 0);
    assert_int_equal(r.bad_line_count, 0);
    assert_int_equal(pt_engine_parse(&parser,
                                     PT_STR("vllm:cache_config_info{block_size=\"16\"} 1\n"
                                            "vllm:num_requests_running{model_name=\"m\"} 1\n<"),
                                     &r, &err),
                     -EINVAL);
    assert_int_equal(r.info_count, 0);
    assert_int_equal(r.info_text.len, 0);
    assert_int_equal(r.series_count, 0);
    assert_int_equal(r.engine_count, 1);
    parser.limits.sample_count = 1;
    assert_int_equal(pt_engine_parse(&parser, PT_STR("a 1\nb 2\n"), &r, &err), -E2BIG);
    parser.content_type = PT_STR("application/openmetrics-text; version=1.0.0");
    assert_int_equal(pt_engine_parse(&parser, PT_STR("a 1\n"), &r, &err), -EINVAL);
    assert_non_null(strstr(err.text, "no # EOF"));
    pt_engine_parser_release(&parser);
    pt_engine_reading_release(&r);
}

static void a_steady_scrape_allocates_nothing(void **state) {
    (void)state;
    int directory = open_directory("tests/fixtures/engines");
    struct pt_text memory = { 0 };
    struct pt_scan text;
    assert_int_equal(pt_fs_read(directory, "vllm-0.11.prom", &memory, &text), 0);
    struct pt_engine_parser parser = { 0 };
    struct pt_engine_reading r = { 0 };
    uint64_t before = 0;
    for (int i = 0; i < 3; i++) {
        before = pt_mem_allocation_count();
        assert_int_equal(pt_engine_parse(&parser, pt_scan_rest(&text), &r, NULL), 0);
    }
    assert_true(pt_mem_allocation_count() == before);
    pt_engine_parser_release(&parser);
    pt_engine_reading_release(&r);
    pt_text_release(&memory);
    close(directory);
}

static void expected_fields_that_are_missing_are_named(void **state) {
    (void)state;
    struct pt_engine_reading r = { 0 };
    parse_text("tgi_queue_size 1\ntgi_batch_current_size 1\ntgi_request_success 1\n"
               "tgi_request_input_length_sum 1\n",
               &r);
    assert_true(pt_engine_missing(&r) == UINT64_C(1)
                                             << PT_ENGINE_TOKENS_GENERATION); /* TGI has no KV */
    parse_text("up 1\n", &r);
    assert_true(pt_engine_missing(&r) == 0);
    pt_engine_reading_release(&r);
}

/* Rows of one name must stand together, targets be in range, and names be without what the shape
 * adds. */
static void the_table_of_aliases_is_sound(void **state) {
    (void)state;
    size_t count;
    const struct pt_engine_alias *rows = pt_engine_aliases(&count);
    for (size_t i = 0; i < count; i++) {
        bool is_histogram = rows[i].shape == PT_ENGINE_HISTOGRAM;
        assert_true(rows[i].target <
                    (is_histogram ? (int)PT_ENGINE_LATENCY_COUNT : (int)PT_ENGINE_FIELD_COUNT));
        assert_true(rows[i].kind != PT_ENGINE_UNKNOWN);
        assert_false(pt_str_ends(rows[i].name, PT_STR("_total")));
        for (size_t j = i + 2; j < count; j++)
            if (rows[i].kind == rows[j].kind && pt_str_eq(rows[i].name, rows[j].name))
                assert_true(pt_str_eq(rows[j - 1].name, rows[j].name));
    }
    assert_string_equal(pt_engine_fields[PT_ENGINE_TTFT_SUM].name, "latency_ttft_s_sum");
    assert_string_equal(pt_engine_fields[PT_ENGINE_INTER_TOKEN_COUNT].name,
                        "latency_inter_token_s_count");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(every_engine_gives_the_same_fields,
                "C117 C118 C119 C120 C121 C122 C123 C124 C127 C129: every engine and version gives "
                "the same fields"),
        PT_TEST(captured_expositions_give_the_published_values,
                "C117 C118 C119 C120 C121 C122 C123 C124 C127: captured expositions give the "
                "published values"),
        PT_TEST(buckets_of_several_series_are_summed_by_edge,
                "C129: buckets of several series are summed by edge"),
        PT_TEST(series_with_other_edges_meet_where_they_can,
                "C129: series with other edges are summed where they meet"),
        PT_TEST(the_count_stands_in_for_a_missing_last_bucket,
                "C129: the count stands in for a missing +Inf bucket"),
        PT_TEST(quantiles_are_interpolated_from_what_is_new,
                "C129: quantiles are interpolated from what is new since the last scrape"),
        PT_TEST(no_traffic_or_a_reset_is_no_quantile,
                "C129: without traffic, or after a reset, there is no quantile"),
        PT_TEST(scrapes_with_other_edges_are_compared_at_common_ones,
                "C129: scrapes with other edges are compared at common ones"),
        PT_TEST(buckets_that_lag_behind_do_no_harm, "C129: buckets that lag behind do no harm"),
        PT_TEST(negative_edges_are_handled, "C129: negative edges are handled"),
        PT_TEST(growth_has_the_buckets_that_changed,
                "C316: growth of a histogram has the buckets that changed, with both bounds"),
        PT_TEST(buckets_without_an_edge_or_a_count_are_left_out,
                "C316: buckets without an edge or a count are left out"),
        PT_TEST(edges_of_an_older_scrape_are_gone,
                "C316: edges that an older scrape had are not compared"),
        PT_TEST(an_interval_has_its_own_histograms,
                "C129 C316: an interval has its own histograms and their quantiles"),
        PT_TEST(a_histogram_starts_with_its_first_event,
                "C316: a histogram starts with its first event, and again after a restart"),
        PT_TEST(growth_that_nobody_takes_is_not_lost, "C316: growth that nobody takes is not lost"),
        PT_TEST(a_restarted_engine_has_no_interval, "C127: a restarted engine has no interval"),
        PT_TEST(only_what_a_restart_does_is_a_restart,
                "C129: a rounding error, a gauge that fell or a missing counter is not a restart"),
        PT_TEST(copies_are_found_among_thousands_of_series,
                "C129: copies of a series are found among thousands of series"),
        PT_TEST(several_engines_are_combined_by_the_rules,
                "C127: several engines are combined by the rules of the fields"),
        PT_TEST(odd_values_are_absent_and_copies_count_once,
                "C127: NaN is absent, a series shown twice counts once"),
        PT_TEST(labels_that_describe_the_engine_are_kept,
                "C129: labels that describe the engine are kept"),
        PT_TEST(series_that_no_field_takes_are_handed_out,
                "C125: series that no field takes are handed out"),
        PT_TEST(a_bad_line_is_counted_and_the_others_are_kept,
                "C126: a bad line is counted, its reason kept, and the other lines are read"),
        PT_TEST(a_total_beside_its_parts_counts_once,
                "C127: a total beside its parts by priority counts once"),
        PT_TEST(engines_without_pages_of_their_own_here_are_known_by_name,
                "C127: names of further engines and fields are known"),
        PT_TEST(lines_may_end_with_a_carriage_return, "C126: lines may end with CRLF"),
        PT_TEST(a_text_that_is_not_metrics_or_was_cut_gives_an_empty_reading,
                "C126: a text that is not metrics, or was cut, gives an empty reading"),
        PT_TEST(a_steady_scrape_allocates_nothing, "C125: a steady scrape allocates nothing"),
        PT_TEST(expected_fields_that_are_missing_are_named,
                "C127: expected fields that are missing are named"),
        PT_TEST(the_table_of_aliases_is_sound, "C127: the table of aliases is sound"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
