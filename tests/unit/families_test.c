/* Samples as families of metrics: names, units, labels, and what several processes say. */
#include "test.h"

#include "sampler/sampler.h"
#include "model/metric.h"
#include "inside/region/bucket_text.h"
#include "report/overview.h"
#include "format/metrics/families.h"
#include "format/metrics/exposition.h"
#include "format/metrics/label.h"
#include "support/promcheck.h"

#define THING_COLUMNS(X, t)                                                \
    X(t, id, "tId", KEY, STRING, NONE, 0, "Which")                         \
    X(t, kind, "tKind", INFO, STRING, NONE, 0, "What it is")               \
    X(t, time, "tTime", COUNTER, I64, CENTISECONDS, 0, "CPU time")         \
    X(t, read_bytes, "tRead", COUNTER, I64, BYTES, 0, "Bytes read")        \
    X(t, wait_ms, "tWait", COUNTER, I64, MILLISECONDS, 0, "Time waited")   \
    X(t, percent, "tPercent", GAUGE, F64, PERCENT, 0, "Part of it in use") \
    X(t, word, "tWord", GAUGE, STRING, NONE, 0, "A text that is not a metric")

PT_TABLE(thing, PT_TABLE_FILE("things", NULL), "Things", THING_COLUMNS, "nowhere");

#define PROCESS_COLUMNS(X, t)                     \
    X(t, id, "pId", KEY, I64, NONE, 0, "Process") \
    X(t, threads, "pThreads", GAUGE, I64, COUNT, 0, "")

PT_TABLE(proc, PT_TABLE_ROWS(PROCESSES, "procs", NULL), "Processes", PROCESS_COLUMNS, "nowhere");

#define EVENT_COLUMNS(X, t) X(t, took, "eTook", GAUGE, I64, NANOSECONDS, 0, "How long")

PT_TABLE(event, PT_TABLE_ROWS(EVENTS, "events", NULL), "Events", EVENT_COLUMNS, "nowhere");

#define APP_COLUMNS(X, t)                                               \
    X(t, pid, "aPid", KEY, I64, NONE, 0, "", .role = PT_ROLE_PROCESS)   \
    X(t, name, "aName", KEY, STRING, NONE, 0, "", .role = PT_ROLE_NAME) \
    X(t, labels, "aLabels", KEY, STRING, NONE, 0, "")                   \
    X(t, kind, "aKind", INFO, STRING, NONE, 0, "")                      \
    X(t, unit, "aUnit", INFO, STRING, NONE, 0, "")                      \
    X(t, value, "aValue", GAUGE, F64, NONE, 0, "")                      \
    X(t, count, "aCount", COUNTER, I64, COUNT, 0, "")                   \
    X(t, sum, "aSum", COUNTER, F64, NONE, 0, "")                        \
    X(t, buckets, "aBuckets", INFO, STRING, NONE, 0, "")

PT_TABLE(app, PT_TABLE_ROWS(METRICS, "apps", NULL), "Metrics", APP_COLUMNS, "nowhere");

static const struct pt_table *const tables[] = { &thing_table, &proc_table, &event_table,
                                                 &app_table };
static const struct pt_schema schema = { tables, PT_COUNT(tables) };

static struct pt_sample sample;
static struct pt_buf written;

static int set_up(void **state) {
    (void)state;
    pt_sample_init(&sample, &schema);
    sample.wall_ns = 1000000000;
    sample.mono_ns = 500;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    pt_sample_release(&sample);
    pt_buf_release(&written);
    return 0;
}

static void put_family(void *user, const struct pt_family *family) {
    pt_exposition_family(user, family);
}

/* Behind `offset` other bytes, which are not in what it returns. */
static const char *render_with(struct pt_families *f, enum pt_exposition_format format,
                               size_t offset) {
    struct pt_exposition e;
    struct pt_out out;
    pt_buf_release(&written);
    pt_out_memory(&out, &written);
    for (size_t i = 0; i < offset; i++)
        pt_out_char(&out, '.');
    pt_exposition_begin(&e, &out, format);
    pt_families_each(f, &sample, put_family, &e);
    pt_exposition_end(&e);
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&written, 0);
    return (const char *)written.at + offset;
}

static const char *render(enum pt_exposition_format format, bool has_processes) {
    struct pt_families f;
    pt_families_init(&f, &schema, &(struct pt_families_options){ .has_processes = has_processes });
    const char *text = render_with(&f, format, 0);
    pt_families_release(&f);
    return text;
}

static void check(const char *text, bool is_openmetrics) {
    struct pt_err err = { "" };
    if (pt_promcheck_text(pt_str_from(text), is_openmetrics, &err))
        fail_msg("%s in:\n%s", err.text, text);
}

static void set_text(struct pt_batch *b, int column, const char *text) {
    pt_set_str(b, column, pt_str_from(text));
}

static void names_have_base_units(void **state) {
    (void)state;
    struct pt_batch *b = &sample.batches[0];
    pt_batch_add_row(b);
    set_text(b, thing_id, "a\"b\\c\nd\xff");
    set_text(b, thing_kind, "kind");
    pt_set_i64(b, thing_time, 12345);
    pt_set_i64(b, thing_read_bytes, INT64_MAX);
    pt_set_i64(b, thing_wait_ms, 7);
    pt_set_f64(b, thing_percent, 12.5);
    set_text(b, thing_word, "no");
    const char *text = render(PT_PROMETHEUS, false);
    check(text, false);
    assert_string_equal(
        text,
        "# HELP pitot_thing_time_seconds_total CPU time\n"
        "# TYPE pitot_thing_time_seconds_total counter\n"
        "pitot_thing_time_seconds_total{id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 123.45\n"
        "# HELP pitot_thing_read_bytes_total Bytes read\n"
        "# TYPE pitot_thing_read_bytes_total counter\n"
        "pitot_thing_read_bytes_total{id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 9223372036854775807\n"
        "# HELP pitot_thing_wait_seconds_total Time waited\n"
        "# TYPE pitot_thing_wait_seconds_total counter\n"
        "pitot_thing_wait_seconds_total{id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 0.007\n"
        "# HELP pitot_thing_ratio Part of it in use\n"
        "# TYPE pitot_thing_ratio gauge\n"
        "pitot_thing_ratio{id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 0.125\n"
        "# HELP pitot_thing_info Things\n"
        "# TYPE pitot_thing_info gauge\n"
        "pitot_thing_info{id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\",kind=\"kind\"} 1\n");
    check(render(PT_OPENMETRICS, false), true);
}

static void null_is_left_out(void **state) {
    (void)state;
    struct pt_batch *b = &sample.batches[0];
    for (int i = 0; i < 2; i++) {
        pt_batch_add_row(b);
        set_text(b, thing_id, i ? "b" : "a");
    }
    pt_set_i64(b, thing_wait_ms, 0);
    const char *text = render(PT_PROMETHEUS, false);
    assert_null(strstr(text, "pitot_thing_time"));
    assert_null(strstr(text, "pitot_thing_wait_seconds_total{id=\"a\"}"));
    assert_non_null(strstr(text, "pitot_thing_wait_seconds_total{id=\"b\"} 0\n"));
}

/* The buffer of the output is full within each part of the first exposition once. */
static void texts_are_the_same_every_time(void **state) {
    (void)state;
    static const enum pt_exposition_format formats[] = { PT_PROMETHEUS, PT_OPENMETRICS };
    struct pt_batch *b = &sample.batches[0];
    pt_batch_add_row(b);
    set_text(b, thing_id, "a");
    pt_set_i64(b, thing_time, 12345);
    pt_set_f64(b, thing_percent, 12.5);
    for (size_t i = 0; i < PT_COUNT(formats); i++) {
        char *expected = pt_strdup(render(formats[i], false));
        for (size_t room = 0; room < strlen(expected); room++) {
            struct pt_families f;
            pt_families_init(&f, &schema, &(struct pt_families_options){ 0 });
            for (int k = 0; k < 3; k++) {
                size_t offset = k == 0 ? PT_OUT_BUFFER - room : 0;
                assert_string_equal(render_with(&f, formats[i], offset), expected);
                assert_string_not_equal(render_with(&f, formats[1 - i], 0), expected);
            }
            pt_families_release(&f);
        }
        pt_free(expected);
    }
}

static void pids_and_events_are_left_out(void **state) {
    (void)state;
    pt_batch_add_row(&sample.batches[1]);
    pt_set_i64(&sample.batches[1], proc_id, 42);
    pt_set_i64(&sample.batches[1], proc_threads, 3);
    pt_batch_add_row(&sample.batches[2]);
    pt_set_i64(&sample.batches[2], event_took, 5);
    assert_string_equal(render(PT_PROMETHEUS, false), "");
    const char *text = render(PT_PROMETHEUS, true);
    assert_non_null(strstr(text, "pitot_proc_threads{id=\"42\"} 3\n"));
    assert_null(strstr(text, "event"));
}

static void add_app(int64_t pid, const char *name, const char *labels, const char *kind,
                    double value) {
    struct pt_batch *b = &sample.batches[3];
    pt_batch_add_row(b);
    pt_set_i64(b, app_pid, pid);
    set_text(b, app_name, name);
    set_text(b, app_labels, labels);
    set_text(b, app_kind, kind);
    set_text(b, app_unit, "");
    pt_set_f64(b, app_value, value);
}

static void processes_are_taken_together(void **state) {
    (void)state;
    add_app(2, "served_total", "model=\"a\"", "counter", 5);
    add_app(1, "heat", "", "gauge", 40);
    add_app(1, "served_total", "model=\"a\"", "counter", 3);
    add_app(1, "served_total", "model=\"b\"", "counter", 1);
    add_app(2, "heat", "", "gauge", 60);
    add_app(2, "alone", "", "gauge", -1.5);
    add_app(3, "alone", "", "counter", 9); /* of another kind: it cannot have that name too */
    const char *text = render(PT_PROMETHEUS, false);
    check(text, false);
    assert_string_equal(text, "# TYPE alone_total counter\n"
                              "alone_total 9\n"
                              "# TYPE heat gauge\n"
                              "heat{pid=\"1\"} 40\n"
                              "heat{pid=\"2\"} 60\n"
                              "# TYPE served_total counter\n"
                              "served_total{model=\"a\"} 8\n"
                              "served_total{model=\"b\"} 1\n");
}

static void add_histogram(int64_t pid, const double *values, size_t count) {
    uint64_t buckets[PT_BUCKET_COUNT] = { 0 };
    struct pt_buf text = { 0 };
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        buckets[pt_bucket_of(values[i])]++;
        sum += values[i];
    }
    pt_bucket_text_write(buckets, pt_all_buckets, &text);
    add_app(pid, "took_seconds", "", "histogram", (double)NAN);
    struct pt_batch *b = &sample.batches[3];
    pt_set_i64(b, app_count, (int64_t)count);
    pt_set_f64(b, app_sum, sum);
    pt_set_str(b, app_buckets, pt_buf_as_str(&text));
    pt_buf_release(&text);
}

static void histograms_are_summed(void **state) {
    (void)state;
    add_histogram(1, (double[]){ 0.001, 0.03 }, 2);
    add_histogram(2, (double[]){ 0.03, 20 }, 2);
    for (int i = 0; i < 2; i++) { /* the memory of the first is used again */
        const char *text = render(PT_PROMETHEUS, false);
        check(text, false);
        assert_non_null(strstr(text, "took_seconds_bucket{le=\"0.005\"} 1\n"));
        assert_non_null(strstr(text, "took_seconds_bucket{le=\"0.05\"} 3\n"));
        assert_non_null(strstr(text, "took_seconds_bucket{le=\"+Inf\"} 4\n"));
        assert_non_null(strstr(text, "took_seconds_sum 20.061\n"));
    }
}

static void bucket_text_is_read_back(void **state) {
    (void)state;
    uint64_t from[PT_BUCKET_COUNT] = { [0] = 1, [5] = 2, [6] = UINT64_MAX - 7, [2559] = 9 };
    uint64_t to[PT_BUCKET_COUNT] = { 0 };
    struct pt_bucket_range used = { 0 };
    struct pt_buf text = { 0 };
    pt_bucket_text_write(from, pt_all_buckets, &text);
    assert_true(pt_str_eq(pt_buf_as_str(&text), PT_STR("0:1,5:2,1:18446744073709551608,2553:9")));
    assert_true(pt_bucket_text_add(pt_buf_as_str(&text), to, &used));
    assert_memory_equal(from, to, sizeof from);
    assert_int_equal(used.first, 0);
    assert_int_equal(used.end, PT_BUCKET_COUNT);
    pt_buf_release(&text);
    static const char *const wrong[] = {
        ",", "1", "1:", "1:2,", "2560:1", "1:2;3:4", "2000:1,600:1", "1:99999999999999999999"
    };
    for (size_t i = 0; i < PT_COUNT(wrong); i++)
        assert_false(pt_bucket_text_add(pt_str_from(wrong[i]), to, &used));
}

/* Of all tables there are. */
static void all_names_are_unique(void **state) {
    (void)state;
    const struct pt_table *all[PT_SAMPLER_TABLES];
    uint32_t table_count = pt_sampler_tables(all);
    static struct pt_metric metrics[2048];
    size_t count = 0;
    for (uint32_t t = 0; t < table_count; t++)
        for (int c = 0; c < all[t]->column_count; c++)
            count += pt_metric_of(all[t], c, &metrics[count]);
    assert_in_range(count, 300, PT_COUNT(metrics));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strspn(metrics[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_"),
                         strlen(metrics[i].name));
        assert_in_range(strlen(metrics[i].name), 8, PT_METRIC_NAME_BYTES - 2); /* is not cut */
        for (size_t j = 0; j < i; j++)
            if (strcmp(metrics[i].name, metrics[j].name) == 0)
                fail_msg("two metrics are called %s", metrics[i].name);
    }
}

static bool is_metric(const struct pt_str name) {
    const struct pt_table *all[PT_SAMPLER_TABLES];
    uint32_t table_count = pt_sampler_tables(all);
    struct pt_metric metric;
    for (uint32_t t = 0; t < table_count; t++)
        for (int c = 0; c < all[t]->column_count; c++) {
            if (!pt_metric_of(all[t], c, &metric))
                continue;
            struct pt_str family = metric.is_counter ? pt_counter_family(name) : name;
            bool has_suffix = family.len < name.len;
            if (pt_str_eq(family, pt_str_from(metric.name)) && has_suffix == metric.is_counter)
                return true;
        }
    return false;
}

static void overview_names_metrics(void **state) {
    (void)state;
    for (size_t i = 0; i < pt_overview_count; i++) {
        const char *at = pt_overviews[i].expression;
        while ((at = strstr(at, "pitot_"))) {
            struct pt_str name = { at, strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_") };
            if (!is_metric(name))
                fail_msg("there is no %.*s", (int)name.len, name.at);
            at += name.len;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C257: names have base units, counters _total", names_have_base_units, set_up, tear_down,
          NULL },
        { "an unknown value is not a series", null_is_left_out, set_up, tear_down, NULL },
        { "C257: an exposition is the same every time", texts_are_the_same_every_time, set_up,
          tear_down, NULL },
        { "single processes are shown when asked for, events never", pids_and_events_are_left_out,
          set_up, tear_down, NULL },
        { "counters of processes are summed, gauges keep their pid", processes_are_taken_together,
          set_up, tear_down, NULL },
        { "histograms of processes are summed", histograms_are_summed, set_up, tear_down, NULL },
        { "buckets as text are read back", bucket_text_is_read_back, NULL, NULL, NULL },
        { "no two columns have one name", all_names_are_unique, NULL, NULL, NULL },
        { "rules and dashboard ask for metrics that there are", overview_names_metrics, NULL, NULL,
          NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
