/* Columns that are percentiles: live, in the steps of a history, in the charts of a report. Half of
 * the scrapes see nine fast requests, the others a slow one:
 *
 *     seen           p50     p99
 *     nine in 0.1 s  0.05    0.099
 *     one in 1 s     0.95    0.999
 *     all ten        0.0556  0.99     and not 0.5 and 0.549, which are means of the percentiles
 */
#include "json_text.h"
#include "tree_fixture.h"

#include "derive/bucket_rows.h"
#include "derive/rates.h"
#include "report/charts.h"
#include "serve/history_route.h"
#include "store/segments.h"

#include <math.h>

#define SECOND                 INT64_C(1000000000)
#define assert_near(got, want) assert_true(fabs((got) - (want)) < 1e-6)

#define LATENCY_COLUMNS(X, t)                                                        \
    X(t, p50, "latency_ttft_s_p50", GAUGE, F64, SECONDS, 0, "", .percentile = 50,    \
      .histogram = "engine_histogram ttft", .better = PT_LOWER_IS_BETTER)            \
    X(t, p99, "latency_ttft_s_p99", GAUGE, F64, SECONDS, 0, "", .percentile = 99,    \
      .histogram = "engine_histogram ttft", .better = PT_LOWER_IS_BETTER)            \
    X(t, queue, "latency_queue_s_p50", GAUGE, F64, SECONDS, 0, "", .percentile = 50, \
      .histogram = "engine_histogram queue", .better = PT_LOWER_IS_BETTER)
PT_TABLE(engine, PT_TABLE_MAIN("vllm"), "totals", LATENCY_COLUMNS, "scrape");

#define EACH_COLUMNS(X, t)                      \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "") \
    LATENCY_COLUMNS(X, t)
PT_TABLE(engines, PT_TABLE_PARTS("engine", "engines", NULL), "engines", EACH_COLUMNS, "scrape");

#define HISTOGRAM_COLUMNS(X, t)                                         \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "")                         \
    X(t, name, "hName", KEY, STRING, NONE, 0, "", .role = PT_ROLE_NAME) \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL), "", HISTOGRAM_COLUMNS,
         "scrape");

enum { ENGINE, EACH, HISTOGRAM, TABLE_COUNT };
static const struct pt_table *const tables[] = { &engine_table, &engines_table,
                                                 &engine_histogram_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };
static const struct pt_schema without = { tables, HISTOGRAM }; /* as in 0.1 */

static void put_bucket(struct pt_sample *s, const char *url, const char *name, double above,
                       double le, int64_t count) {
    struct pt_batch *b = &s->batches[HISTOGRAM];
    pt_batch_add_row(b);
    pt_set_time(b, 0, s->mono_ns);
    pt_set_str(b, engine_histogram_url, pt_str_from(url));
    pt_set_str(b, engine_histogram_name, pt_str_from(name));
    pt_bucket_row_set(b, engine_histogram_above, above, le, count, 1);
}

static void put_percentiles(struct pt_batch *b, int first, double p50, double p99) {
    pt_set_f64(b, first, p50);
    pt_set_f64(b, first + 1, p99);
    pt_set_f64(b, first + 2, p50);
}

/* Engine a has the requests of above, engine b one of 0.5 s per scrape. */
static void fill(struct pt_sample *s, int seconds) {
    bool is_slow = seconds % 2 == 1;
    pt_sample_clear(s);
    s->mono_ns = seconds * SECOND;
    s->wall_ns = 1000 * SECOND + s->mono_ns;
    pt_batch_add_row(&s->batches[ENGINE]);
    pt_set_time(&s->batches[ENGINE], 0, s->mono_ns);
    put_percentiles(&s->batches[ENGINE], 0, is_slow ? 0.95 : 0.05, is_slow ? 0.999 : 0.099);
    for (int i = 0; i < 2; i++) {
        pt_batch_add_row(&s->batches[EACH]);
        pt_set_time(&s->batches[EACH], 0, s->mono_ns);
        pt_set_str(&s->batches[EACH], engines_url, i == 0 ? PT_STR("a") : PT_STR("b"));
        put_percentiles(&s->batches[EACH], engines_p50, is_slow ? 0.95 : 0.05,
                        is_slow ? 0.999 : 0.099);
    }
    if (s->schema->table_count <= HISTOGRAM)
        return;
    put_bucket(s, "a", "ttft", is_slow ? 0.9 : 0, is_slow ? 1 : 0.1, is_slow ? 1 : 9);
    put_bucket(s, "a", "queue", 2, 4, 1);
    put_bucket(s, "b", "ttft", 0.4, 0.6, 1);
}

static void live_rows_have_the_percentile_of_what_grew(void **state) {
    (void)state;
    struct pt_rates r;
    struct pt_sample s;
    pt_rates_init(&r, &schema, NULL, false);
    pt_sample_init(&s, &schema);
    for (int i = 0; i < 2; i++) {
        fill(&s, i + 1);
        pt_set_f64(&s.batches[EACH], engines_p50, 7); /* of b: what the column says is not used */
        pt_rates_add(&r, &s);
        assert_near(pt_rates_at(&r, EACH, 0, engines_p50), i == 0 ? 0.95 : 0.05);
        assert_near(pt_rates_at(&r, EACH, 0, engines_p99), i == 0 ? 0.999 : 0.099);
        assert_near(pt_rates_at(&r, EACH, 0, engines_queue), 3);
        assert_near(pt_rates_at(&r, EACH, 1, engines_p50), 0.5);
        assert_true(isnan(pt_rates_at(&r, EACH, 1, engines_queue)));
        /* several rows together: engines are scraped at different times */
        assert_near(pt_rates_at(&r, ENGINE, 0, engine_p50), i == 0 ? 0.95 : 0.05);
    }
    for (int i = 3; i < 8; i++) { /* nothing grows any more: true for three seconds */
        fill(&s, i);
        pt_batch_clear(&s.batches[HISTOGRAM]);
        pt_rates_add(&r, &s);
        assert_int_equal(isnan(pt_rates_at(&r, EACH, 0, engines_p50)), i > 5);
    }
    pt_sample_release(&s);
    pt_rates_release(&r);
}

static void write_history(const struct pt_schema *with) {
    struct pt_segments segments;
    struct pt_segments_options o = { tree.root, 8 << 20, 0 };
    struct pt_sample s;
    assert_int_equal(pt_segments_open(&segments, &o, with, NULL), 0);
    pt_sample_init(&s, with);
    for (int i = 10; i < 30; i++) {
        fill(&s, i);
        assert_int_equal(pt_segments_write(&segments, &s), 0);
    }
    pt_sample_release(&s);
    pt_segments_close(&segments);
}

static json_t *ask(const char *table, const char *step) {
    struct pt_history_query q;
    struct pt_err err = { "" };
    struct pt_buf text = { 0 };
    struct pt_history_texts texts = {
        .table = table, .from = "1010000", .to = "1029000", .step = step
    };
    if (pt_history_parse(&q, &texts, &schema, 2001 * SECOND, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pt_history_write(&q, &schema, tree.root, SECOND, &text), 0);
    pt_buf_u8(&text, 0);
    json_t *read = parsed((const char *)text.at);
    pt_buf_release(&text);
    return read;
}

static double step_of(json_t *answer, int thing, const char *column, const char *statistic) {
    char path[96];
    snprintf(path, sizeof path, "things.%d.columns.%s.%s.1", thing, column, statistic);
    return json_number_value(at(answer, path));
}

static void a_step_has_the_percentile_of_its_histogram(void **state) {
    (void)state;
    write_history(&schema);
    json_t *a = ask("engines", "2s");
    int slow = strcmp(json_string_value(at(a, "things.0.key")), "a") == 0 ? 0 : 1;
    assert_near(step_of(a, slow, "latency_ttft_s_p50", "mean"), 0.1 * 5 / 9);
    assert_near(step_of(a, slow, "latency_ttft_s_p99", "mean"), 0.99);
    assert_near(step_of(a, slow, "latency_ttft_s_p50", "min"), 0.05);
    assert_near(step_of(a, slow, "latency_ttft_s_p50", "max"), 0.95);
    assert_near(step_of(a, slow, "latency_queue_s_p50", "mean"), 3);
    assert_near(step_of(a, 1 - slow, "latency_ttft_s_p99", "mean"), 0.598);
    json_decref(a);
    a = ask("engine", "2s"); /* twelve requests: two of b, each 0.5 s */
    assert_near(step_of(a, 0, "latency_ttft_s_p50", "mean"), 0.1 * 6 / 9);
    json_decref(a);
}

static void without_histograms_the_worst_of_a_step_counts(void **state) {
    (void)state;
    write_history(&without);
    json_t *a = ask("engines", "2s");
    assert_near(step_of(a, 0, "latency_ttft_s_p50", "mean"), 0.95);
    assert_near(step_of(a, 0, "latency_ttft_s_p99", "mean"), 0.999);
    json_decref(a);
}

/* The charts of a run of ten samples in five time slots, as the page gets them. */
static json_t *draw(const struct pt_schema *with, int table, struct pt_curve *curve) {
    struct pt_charts c;
    struct pt_sample s;
    struct pt_curve_axis axis = { .start_ns = 10 * SECOND, .end_ns = 20 * SECOND - 1, .count = 5 };
    struct pt_blob blob = { 0 };
    struct pt_out out;
    struct pt_json j = { .out = &out };
    pt_sample_init(&s, with);
    pt_charts_init(&c, with, with->tables[table]);
    for (int i = 10; i < 20; i++) {
        fill(&s, i);
        pt_charts_survey(&c, &s, (uint32_t)table);
    }
    pt_charts_choose(&c);
    pt_charts_begin(&c, &axis);
    for (uint32_t i = 10; i < 20; i++) {
        fill(&s, (int)i);
        pt_charts_add(&c, &s, (uint32_t)table, (i - 10) / 2);
    }
    pt_charts_end(&c);
    memory_open(&out);
    pt_charts_write(&c, &j, &blob);
    char *text = memory_text(&out);
    json_t *read = parsed(text);
    int first = table == EACH ? engines_p50 : engine_p50;
    for (int column = 0; column < 2; column++) { /* of the first entity: a */
        size_t bytes = 2 * axis.count * sizeof(double);
        curve[column] = (struct pt_curve){ .values = pt_malloc(bytes), .count = axis.count };
        memcpy(curve[column].values,
               c.curves[(uint32_t)(first + column) * c.entities.chosen_count].values, bytes);
    }
    pt_free(text);
    pt_blob_release(&blob);
    pt_charts_release(&c);
    pt_sample_release(&s);
    return read;
}

static void a_chart_has_the_percentile_of_each_time_slot(void **state) {
    (void)state;
    struct pt_curve curve[2];
    for (int table = ENGINE; table <= EACH; table++) {
        json_t *a = draw(&schema, table, curve);
        double p50 = 0.1 * (table == EACH ? 5 : 6) / 9;
        double p99 = table == EACH ? 0.99 : 0.9 + 0.1 * (0.99 * 12 - 11);
        for (int i = 0; i < 10; i++) {
            assert_near(curve[0].values[i], p50);
            assert_near(curve[1].values[i], p99);
        }
        /* the page finds the histogram of any part of the run */
        int column = 0;
        assert_near(json_number_value(at(a, "columns.1.level")), 0.99);
        json_t *series = json_array_get(
            json_object_get(json_array_get(json_object_get(a, "columns"), (size_t)column),
                            "series"),
            0);
        char path[64];
        snprintf(path, sizeof path, "histograms.%d",
                 (int)json_integer_value(json_object_get(series, "histogram")));
        assert_int_equal(json_array_size(at(a, path)), table == EACH ? 2 : 3);
        json_decref(a);
        pt_curve_release(&curve[0]);
        pt_curve_release(&curve[1]);
    }
}

static void without_histograms_a_chart_has_the_scrapes(void **state) {
    (void)state;
    struct pt_curve curve[2];
    json_t *a = draw(&without, EACH, curve);
    assert_near(curve[0].values[0], 0.05);
    assert_near(curve[0].values[1], 0.95);
    assert_int_equal(json_object_size(at(a, "histograms")), 0);
    json_decref(a);
    pt_curve_release(&curve[0]);
    pt_curve_release(&curve[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(live_rows_have_the_percentile_of_what_grew,
                "C316: live rows have the percentile of what grew"),
        WITH_TREE(a_step_has_the_percentile_of_its_histogram,
                  "C316: a step of the history has the percentile of its histogram"),
        WITH_TREE(without_histograms_the_worst_of_a_step_counts,
                  "C316: without histograms the worst percentile of a step counts"),
        PT_TEST(a_chart_has_the_percentile_of_each_time_slot,
                "C316: a chart has the percentile of each time slot"),
        PT_TEST(without_histograms_a_chart_has_the_scrapes,
                "C316: without histograms a chart has the percentiles of the scrapes"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
