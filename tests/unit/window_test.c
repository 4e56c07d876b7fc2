/* Windows of a run: where they begin and end, and what is in them. */
#include "test.h"

#include "analyze/window.h"
#include "base/mem.h"
#include "derive/bucket_rows.h"

#include <math.h>

#define MS        INT64_C(1000000)
#define FIRST_NS  (5000 * MS) /* CLOCK_MONOTONIC of the first sample */
#define WALL_NS   INT64_C(1700000000000000000)
#define TOLERANCE 1e-7 /* a first value weighs a nanosecond */

enum { KEY, NAME, OWN, COUNT, LEVEL, COLUMNS };

static const struct pt_column columns[COLUMNS] = {
    [KEY] = { "cId", "id", PT_KEY, PT_I64, PT_NONE, 0, "" },
    [NAME] = { "cName", "name", PT_INFO, PT_STRING, PT_NONE, 0, "" },
    [OWN] = { "cIsRecorded", "own", PT_INFO, PT_I64, PT_NONE, 0, "", .role = PT_ROLE_RECORDED },
    [COUNT] = { "count", "count", PT_COUNTER, PT_I64, PT_NONE, 1, "" },
    [LEVEL] = { "level", "level", PT_GAUGE, PT_F64, PT_NONE, 0, "" },
};
static const struct pt_column of_processes[] = {
    { "pIsRecorded", "own", PT_INFO, PT_I64, PT_NONE, 0, "", .role = PT_ROLE_RECORDED },
    { "level", "level", PT_GAUGE, PT_F64, PT_NONE, 0, "" },
};
static const char *const sources[] = { "sample", "counter" };
static const struct pt_table things = { .name = "things",
                                        .file = "things",
                                        .help = "",
                                        .columns = columns,
                                        .sources = sources,
                                        .column_count = COLUMNS,
                                        .source_count = 2 };
static const struct pt_table processes = { .name = "processes",
                                           .file = "processes",
                                           .help = "",
                                           .columns = of_processes,
                                           .sources = sources,
                                           .column_count = 2,
                                           .source_count = 1 };
#define BUCKET_COLUMNS(X, t)                      \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "")   \
    X(t, name, "hName", KEY, STRING, NONE, 0, "") \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL), "", BUCKET_COLUMNS,
         "test");
static const struct pt_table *const tables[] = { &things, &processes, &engine_histogram_table };
static const struct pt_schema schema = { .tables = tables, .table_count = PT_COUNT(tables) };

static bool wants_values(const struct pt_table *table, const struct pt_column *column) {
    (void)table;
    return strcmp(column->name, "count") == 0 || strcmp(column->name, "level") == 0 ||
           strcmp(column->name, "cId") == 0 || strcmp(column->name, "cName") == 0;
}

struct fixture {
    struct pt_windows *w;
    struct pt_sample sample;
};

static void begin(struct fixture *f) {
    f->w = pt_calloc(1, sizeof *f->w);
    pt_windows_init(f->w, &schema, wants_values);
    pt_sample_init(&f->sample, &schema);
}

static void end(struct fixture *f) {
    pt_windows_release(f->w);
    assert_int_equal(f->w->count, 0);
    pt_free(f->w);
    pt_sample_release(&f->sample);
}

static void at(struct fixture *f, int64_t ms) {
    pt_sample_clear(&f->sample);
    f->sample.mono_ns = FIRST_NS + ms * MS;
    f->sample.wall_ns = WALL_NS + ms * MS;
}

/* `read_ms`: when the counter was read. */
static struct pt_batch *row(struct fixture *f, int64_t key, int64_t count, int64_t read_ms,
                            double level) {
    struct pt_batch *b = &f->sample.batches[0];
    pt_batch_add_row(b);
    pt_set_time(b, 0, f->sample.mono_ns);
    pt_set_time(b, 1, FIRST_NS + read_ms * MS);
    pt_set_i64(b, KEY, key);
    pt_set_i64(b, COUNT, count);
    pt_set_f64(b, LEVEL, level);
    return b;
}

static void add(struct fixture *f, int64_t ms, int64_t count, double level) {
    at(f, ms);
    row(f, 1, count, ms, level);
    pt_windows_add(f->w, &f->sample);
}

static const struct pt_entity *entity(const struct fixture *f, const char *key) {
    size_t place = 0;
    for (const struct pt_entity *e; (e = pt_windows_next(f->w, 0, &place));)
        if (strcmp(e->key, key) == 0)
            return e;
    return NULL;
}

static double value(const struct fixture *f, const char *key, const char *column, size_t window) {
    const struct pt_entity *e = entity(f, key);
    assert_non_null(e);
    return pt_series_at(pt_windows_series(f->w, e, column), window);
}

static void assert_close(double found, double wanted) {
    if (isnan(found) != isnan(wanted) || fabs(found - wanted) > TOLERANCE * fmax(1, fabs(wanted)))
        fail_msg("%.12g instead of %.12g", found, wanted);
}

static void assert_window(const struct fixture *f, size_t window, int64_t from_ms, int64_t to_ms) {
    assert_int_equal(f->w->windows[window].start_ns, FIRST_NS + from_ms * MS);
    assert_int_equal(f->w->windows[window].end_ns, FIRST_NS + to_ms * MS);
}

static void a_window_lasts_a_fifth_of_a_second_or_a_tick(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i <= 10; i++)
        add(&f, i * 50, i * 10, i);
    assert_int_equal(f.w->count, 3);
    assert_window(&f, 0, 0, 200);
    assert_window(&f, 1, 200, 400);
    assert_window(&f, 2, 400, 500);
    assert_close(value(&f, "1", "level", 0), 2.5); /* 1 to 4: the first covers no time */
    assert_close(value(&f, "1", "level", 1), 6.5);
    assert_close(value(&f, "1", "count", 0), 200);
    assert_close(value(&f, "1", "count", 1), 200);
    assert_int_equal(f.w->first_mono_ns, FIRST_NS);
    assert_int_equal(f.w->first_wall_ns, WALL_NS);
    assert_int_equal(f.w->last_mono_ns, FIRST_NS + 500 * MS);
    end(&f);
    /* a tick that comes an eighth early still ends its window, one that comes earlier does not */
    begin(&f);
    add(&f, 0, 0, 0);
    add(&f, 175, 0, 0);
    add(&f, 349, 0, 0);
    add(&f, 400, 0, 0);
    assert_int_equal(f.w->count, 2);
    assert_window(&f, 0, 0, 175);
    assert_window(&f, 1, 175, 400);
    end(&f);
    /* ticks of a second are windows of a second; two samples of one time are in the same window */
    begin(&f);
    for (int i = 0; i <= 3; i++)
        add(&f, i * 1000, i, i);
    add(&f, 3000, 3, 7);
    add(&f, 2900, 3, 7);
    assert_int_equal(f.w->count, 3);
    assert_window(&f, 2, 2000, 3000);
    assert_close(value(&f, "1", "level", 2), 3);
    assert_int_equal(f.w->gaps.mean_interval_ns, 1000 * MS);
    add(&f, 4800, 3, 7);
    assert_int_equal(f.w->gaps.mean_interval_ns, 1100 * MS);
    end(&f);
}

/* The last of these samples is `after_ms` behind those that come every `every_ms`. */
static uint64_t gaps(int64_t every_ms, int64_t after_ms) {
    struct fixture f;
    begin(&f);
    for (int i = 0; i <= 10; i++)
        add(&f, i * every_ms, i * every_ms, 1);
    add(&f, 10 * every_ms + after_ms, 10 * every_ms + after_ms, 9);
    uint64_t count = f.w->gap_count;
    size_t last = f.w->count - 1;
    if (count > 0) {
        assert_close(f.w->gap_seconds, (double)after_ms / 1e3);
        assert_window(&f, last, 10 * every_ms + after_ms, 10 * every_ms + after_ms);
        assert_window(&f, last - 1, f.w->windows[last - 1].start_ns / MS - FIRST_NS / MS,
                      10 * every_ms);
        assert_close(value(&f, "1", "count", last), NAN);
        assert_close(value(&f, "1", "level", last), 9);
        /* from there on it grows again */
        add(&f, 10 * every_ms + after_ms + 1000, 10 * every_ms + after_ms + 3000, 9);
        assert_close(value(&f, "1", "count", last), 3000);
    } else {
        assert_close(value(&f, "1", "count", last), 1000);
        assert_close(f.w->gap_seconds, 0);
    }
    end(&f);
    return count;
}

static void a_gap_is_longer_than_two_seconds_and_five_ticks(void **state) {
    (void)state;
    assert_int_equal(gaps(100, 2000), 0);
    assert_int_equal(gaps(100, 2001), 1);
    assert_int_equal(gaps(1000, 5000), 0);
    assert_int_equal(gaps(1000, 5001), 1);
    /* of two samples alone it is not known what is usual */
    struct fixture f;
    begin(&f);
    add(&f, 0, 0, 1);
    add(&f, 90000, 90000, 1);
    assert_int_equal(f.w->gap_count, 0);
    assert_close(value(&f, "1", "count", 0), 1000);
    end(&f);
}

/* Read in the middle of the third window: it has grown since, evenly. */
static void a_counter_grows_between_its_own_reads(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 0, 100, 1);
    for (int i = 1; i <= 4; i++) {
        at(&f, i * 1000);
        row(&f, 1, i < 3 ? 100 : 600, i < 3 ? 0 : 2500, 1);
        pt_windows_add(f.w, &f.sample);
    }
    assert_int_equal(f.w->count, 4);
    for (size_t i = 0; i < 3; i++)
        assert_close(value(&f, "1", "count", i), 200);
    assert_close(value(&f, "1", "count", 3), NAN); /* not read again */
    const struct pt_window_series *s = pt_windows_series(f.w, entity(&f, "1"), "count");
    assert_close(s->points[2].weight, 0.5);
    assert_close(s->points[2].sum, 100);
    /* it stands still, falls and grows again */
    add(&f, 5000, 600, 1);
    assert_close(value(&f, "1", "count", 4), 0);
    add(&f, 6000, 50, 1);
    assert_close(value(&f, "1", "count", 5), NAN);
    add(&f, 7000, 60, 1);
    assert_close(value(&f, "1", "count", 6), 10);
    end(&f);
}

static void without_a_time_of_its_own_that_of_the_sample_counts(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i <= 2; i++) {
        at(&f, i * 1000);
        pt_set_time(row(&f, 1, 30 * i, 0, 1), 1, 0);
        pt_windows_add(f.w, &f.sample);
    }
    assert_close(value(&f, "1", "count", 0), 30);
    assert_close(value(&f, "1", "count", 1), 30);
    end(&f);
}

/* The 1025th window makes 512 of 1024. */
static void neighbours_are_merged_when_windows_are_many(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i <= 1024; i++)
        add(&f, i * 1000, (int64_t)i * i, i);
    assert_int_equal(f.w->count, 1024);
    assert_int_equal(f.w->width_ns, 200 * MS);
    add(&f, 1025000, 1025 * 1025, 1025);
    assert_int_equal(f.w->count, 513);
    assert_int_equal(f.w->width_ns, 400 * MS);
    assert_window(&f, 0, 0, 2000);
    assert_window(&f, 511, 1022000, 1024000);
    assert_window(&f, 512, 1024000, 1025000);
    assert_close(value(&f, "1", "level", 0), 1.5); /* 1 and 2: the first covers no time */
    assert_close(value(&f, "1", "level", 1), 3.5);
    assert_close(value(&f, "1", "level", 511), 1023.5);
    assert_close(value(&f, "1", "level", 512), 1025);
    for (size_t i = 0; i < 512; i++) /* the growth from 2 i to 2 i + 2 */
        assert_close(value(&f, "1", "count", i), 4 * (double)i + 2);
    assert_close(value(&f, "1", "count", 512), 2049);
    end(&f);
}

/* First tokens after 0.1 to 0.2 s, in the `seconds` before the sample. */
static void add_first_tokens(struct fixture *f, int64_t ms, int64_t count, double seconds) {
    struct pt_batch *b = &f->sample.batches[2];
    at(f, ms);
    row(f, 1, 0, ms, 0);
    pt_batch_add_row(b);
    pt_set_str(b, engine_histogram_url, PT_STR("u"));
    pt_set_str(b, engine_histogram_name, PT_STR("ttft"));
    pt_bucket_row_set(b, engine_histogram_above, 0.1, 0.2, count, seconds);
    pt_set_time(b, 0, f->sample.mono_ns);
    pt_windows_add(f->w, &f->sample);
}

static double first_tokens(const struct fixture *f, size_t window) {
    return pt_classic_histogram_count(&f->w->latencies[PT_LATENCY_TTFT][window]);
}

static void latencies_belong_to_the_windows_of_their_interval(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 0, 0, 0);
    add_first_tokens(&f, 1000, 8, 1);
    add(&f, 2000, 0, 0);
    add_first_tokens(&f, 3000, 6, 2); /* half of it in the window before */
    assert_int_equal(f.w->count, 3);
    assert_close(first_tokens(&f, 0), 8);
    assert_close(first_tokens(&f, 1), 3);
    assert_close(first_tokens(&f, 2), 3);
    assert_close(pt_windows_figure(f.w, PT_FIGURE_ENGINE_TTFT_P50, 0, 3), 0.15);
    assert_close(pt_windows_figure(f.w, PT_FIGURE_ENGINE_TTFT_P90, 0, 1), 0.19);
    assert_close(first_tokens(&f, 0), 8); /* looking changes nothing */
    end(&f);
}

static void latencies_of_neighbours_are_merged(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    add(&f, 0, 0, 0);
    for (int i = 1; i <= 1025; i++)
        add_first_tokens(&f, i * 1000, i, 1);
    assert_int_equal(f.w->count, 513);
    for (size_t i = 0; i < 512; i++)
        assert_close(first_tokens(&f, i), 4 * (double)i + 3); /* 2 i + 1 and 2 i + 2 */
    assert_close(first_tokens(&f, 512), 1025);
    end(&f);
}

/* Of a series that ends in an odd window, the last one has no neighbour. */
static void a_thing_that_vanished_keeps_its_values(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    for (int i = 0; i <= 1025; i++) {
        at(&f, i * 1000);
        row(&f, 1, i * 10, i * 1000, i);
        if (i <= 3)
            row(&f, 2, i * 70, i * 1000, 5 + i);
        pt_windows_add(f.w, &f.sample);
    }
    assert_close(value(&f, "2", "level", 0), 6.5);
    assert_close(value(&f, "2", "level", 1), 8);
    assert_close(value(&f, "2", "level", 2), NAN);
    assert_close(value(&f, "2", "count", 1), 70);
    end(&f);
}

static void rows_of_others_are_not_kept(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    at(&f, 0);
    pt_set_i64(row(&f, 1, 0, 0, 1), OWN, 0);
    pt_set_i64(row(&f, 2, 0, 0, 1), OWN, 1);
    row(&f, 3, 0, 0, 1); /* it is not said whose it is */
    pt_set_str(&f.sample.batches[0], NAME, PT_STR("first"));
    struct pt_batch *b = &f.sample.batches[1];
    for (int i = 0; i < 2; i++) {
        pt_batch_add_row(b);
        pt_set_time(b, 0, f.sample.mono_ns);
        pt_set_i64(b, 0, i);
        pt_set_f64(b, 1, 10 * i + 1);
    }
    pt_windows_add(f.w, &f.sample);
    at(&f, 1000);
    row(&f, 3, 0, 0, 1);
    pt_set_str(&f.sample.batches[0], NAME, PT_STR("a name that is longer than it may be"));
    pt_windows_add(f.w, &f.sample);
    assert_null(entity(&f, "1"));
    assert_non_null(entity(&f, "2"));
    assert_string_equal(entity(&f, "2")->name, "");
    assert_string_equal(entity(&f, "3")->name, "a name that is "); /* the latest */
    size_t place = 0;
    const struct pt_entity *e = pt_windows_next(f.w, 1, &place);
    assert_close(pt_series_at(pt_windows_series(f.w, e, "level"), 0), 11);
    assert_null(pt_windows_next(f.w, 1, &place));
    /* keys, texts and what was not wanted have no series */
    assert_null(pt_windows_series(f.w, entity(&f, "2"), "cId"));
    assert_null(pt_windows_series(f.w, entity(&f, "2"), "cName"));
    assert_null(pt_windows_series(f.w, entity(&f, "2"), "cIsRecorded"));
    assert_null(pt_windows_series(f.w, entity(&f, "2"), "none"));
    assert_true(isnan(pt_series_at(NULL, 0)));
    end(&f);
}

static void a_sample_without_rows_is_passed_over(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    at(&f, 0);
    pt_windows_add(f.w, &f.sample);
    assert_false(f.w->has_first);
    assert_int_equal(f.w->count, 0);
    add(&f, 1000, 0, 1);
    add(&f, 2000, 0, 1);
    at(&f, 3000);
    pt_windows_add(f.w, &f.sample);
    assert_int_equal(f.w->last_mono_ns, FIRST_NS + 2000 * MS);
    assert_int_equal(f.w->first_mono_ns, FIRST_NS + 1000 * MS);
    assert_int_equal(f.w->count, 1);
    end(&f);
}

/* 1024 things with two series each; what comes later is counted. */
static void things_beyond_a_thousand_are_counted(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    at(&f, 0);
    for (int i = 0; i < 1027; i++)
        row(&f, i, 0, 0, i);
    pt_windows_add(f.w, &f.sample);
    assert_int_equal(f.w->entity_count, 1024);
    assert_int_equal(f.w->series_count, 2048);
    assert_int_equal(f.w->dropped_count, 3);
    assert_close(value(&f, "1023", "level", 0), 1023);
    assert_null(entity(&f, "1024"));
    /* in another order each still finds its own */
    at(&f, 100);
    for (int i = 1023; i >= 0; i--)
        row(&f, i, 0, 0, i + 2);
    pt_windows_add(f.w, &f.sample);
    for (int i = 0; i < 1024; i += 11) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        assert_close(value(&f, key, "level", 0), i + 2);
    }
    end(&f);
}

#define MANY 5
static bool wants_all(const struct pt_table *table, const struct pt_column *column) {
    (void)table;
    (void)column;
    return true;
}

/* Five series each: 819 of them are 4,095, and one more does not fit into 4,096. */
static void series_are_limited_too(void **state) {
    (void)state;
    struct pt_column five[MANY + 1] = { { "key", "key", PT_KEY, PT_I64, PT_NONE, 0, "" } };
    static const char *const names[MANY] = { "a", "b", "c", "d", "e" };
    for (int i = 0; i < MANY; i++)
        five[i + 1] = (struct pt_column){ names[i], names[i], PT_GAUGE, PT_I64, PT_NONE, 0, "" };
    struct pt_table table = { .name = "five",
                              .file = "five",
                              .help = "",
                              .columns = five,
                              .sources = sources,
                              .column_count = MANY + 1,
                              .source_count = 1 };
    const struct pt_table *pointers[] = { &table };
    struct pt_schema own = { .tables = pointers, .table_count = 1 };
    struct pt_sample sample;
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    pt_windows_init(w, &own, wants_all);
    pt_sample_init(&sample, &own);
    pt_sample_clear(&sample);
    sample.mono_ns = FIRST_NS;
    for (int i = 0; i < 821; i++) {
        pt_batch_add_row(&sample.batches[0]);
        pt_set_i64(&sample.batches[0], 0, i);
    }
    pt_windows_add(w, &sample);
    assert_int_equal(w->entity_count, 819);
    assert_int_equal(w->series_count, 4095);
    assert_int_equal(w->dropped_count, 2);
    pt_windows_release(w);
    pt_free(w);
    pt_sample_release(&sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_window_lasts_a_fifth_of_a_second_or_a_tick,
                "a window lasts a fifth of a second, or as long as a tick"),
        PT_TEST(a_gap_is_longer_than_two_seconds_and_five_ticks,
                "a gap is longer than two seconds and than five ticks"),
        PT_TEST(a_counter_grows_between_its_own_reads,
                "a counter grows evenly between its own reads"),
        PT_TEST(without_a_time_of_its_own_that_of_the_sample_counts,
                "a counter without a time of its own has that of the sample"),
        PT_TEST(neighbours_are_merged_when_windows_are_many,
                "beyond 1024 windows neighbours are merged"),
        PT_TEST(latencies_belong_to_the_windows_of_their_interval,
                "C316: latencies belong to the windows of their interval"),
        PT_TEST(latencies_of_neighbours_are_merged,
                "C316: latencies are merged with their windows"),
        PT_TEST(a_thing_that_vanished_keeps_its_values,
                "something that vanished keeps its values when windows are merged"),
        PT_TEST(rows_of_others_are_not_kept, "rows of others are not kept"),
        PT_TEST(a_sample_without_rows_is_passed_over, "a sample without rows is ignored"),
        PT_TEST(things_beyond_a_thousand_are_counted, "things beyond 1024 are only counted"),
        PT_TEST(series_are_limited_too, "series beyond 4096 are not kept"),
    };
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
