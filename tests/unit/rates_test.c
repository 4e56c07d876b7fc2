/* The one rule for numbers over time: counters, gauges, what is missing, late or too old. */
#include "test.h"

#include "derive/rates.h"

#include <math.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define MIB    1048576

#define LINK_COLUMNS(X, t)                                                          \
    X(t, name, "lName", KEY, STRING, NONE, 0, "")                                   \
    X(t, recorded, "lIsRecorded", INFO, I64, NONE, 0, "", .role = PT_ROLE_RECORDED) \
    X(t, sent, "lSent", COUNTER, I64, MEBIBYTES, 0, "")                             \
    X(t, busy, "lBusy", COUNTER, I64, CENTISECONDS, 1, "", .form = PT_FORM_SHARE)   \
    X(t, queue, "lQueue", GAUGE, I64, COUNT, 0, "")                                 \
    X(t, size, "lSize", GAUGE, I64, BYTES, 1, "", .lasts_s = 30)
PT_TABLE(link, PT_TABLE_FILE("links", NULL), "", LINK_COLUMNS, "often", "rarely");

#define MARK_COLUMNS(X, t) X(t, text, "mText", INFO, STRING, NONE, 0, "")
PT_TABLE(mark, PT_TABLE_ROWS(EVENTS, "marks", NULL), "", MARK_COLUMNS, "mark");

enum { LINK, MARK };
static const struct pt_table *const tables[] = { &link_table, &mark_table };
static const struct pt_schema schema = { tables, PT_COUNT(tables) };

static struct pt_rates rates;
static struct pt_sample sample;

static int begin(void **state) {
    (void)state;
    pt_rates_init(&rates, &schema, NULL, true);
    pt_sample_init(&sample, &schema);
    return 0;
}

static int end(void **state) {
    (void)state;
    pt_sample_release(&sample);
    pt_rates_release(&rates);
    return 0;
}

static void at(int64_t mono_ns) {
    pt_sample_clear(&sample);
    sample.mono_ns = mono_ns;
    sample.wall_ns = mono_ns + 1000 * SECOND;
}

/* A row whose sources were read at that time. */
static struct pt_batch *row_read_at(const char *name, int64_t read_ns) {
    struct pt_batch *b = &sample.batches[LINK];
    pt_batch_add_row(b);
    pt_set_time(b, 0, read_ns);
    pt_set_time(b, 1, read_ns);
    pt_set_str(b, link_name, pt_str_from(name));
    return b;
}

static struct pt_batch *row(const char *name) {
    return row_read_at(name, sample.mono_ns);
}

/* One row with one counter. */
static void add_sent(int64_t mono_ns, int64_t mib) {
    at(mono_ns);
    pt_set_i64(row("eth0"), link_sent, mib);
    pt_rates_add(&rates, &sample);
}

static double now(int column) {
    return pt_rates_rows(&rates, LINK)->row_count ? pt_rates_at(&rates, LINK, 0, column) : NAN;
}

static const struct pt_rate *sent(void) {
    return pt_rates_get(&rates, LINK, 0, link_sent);
}

static void a_counter_is_its_growth_per_second_in_base_units(void **state) {
    (void)state;
    add_sent(10 * SECOND, 100);
    assert_true(isnan(now(link_sent)));
    add_sent(12 * SECOND, 500);
    assert_float_equal(now(link_sent), 400 * MIB / 2.0, 0);
    assert_int_equal(sent()->from_ns, 10 * SECOND);
    assert_int_equal(sent()->to_ns, 12 * SECOND);
}

static void time_is_that_of_the_reads(void **state) {
    (void)state;
    at(10 * SECOND);
    pt_set_i64(row_read_at("eth0", 10 * SECOND), link_sent, 0);
    pt_rates_add(&rates, &sample);
    at(11 * SECOND);
    pt_set_i64(row_read_at("eth0", 10 * SECOND + 500 * MS), link_sent, 10);
    pt_rates_add(&rates, &sample);
    assert_float_equal(now(link_sent), 10 * MIB / 0.5, 1e-9);
    at(12 * SECOND); /* not read again: the rate still holds, but no time is added */
    pt_set_i64(row_read_at("eth0", 10 * SECOND + 500 * MS), link_sent, 10);
    pt_rates_add(&rates, &sample);
    assert_float_equal(now(link_sent), 10 * MIB / 0.5, 1e-9);
    assert_int_equal(sent()->from_ns, sent()->to_ns);
}

static void after_a_reset_the_growth_is_unknown_once(void **state) {
    (void)state;
    add_sent(10 * SECOND, 1000);
    add_sent(11 * SECOND, 3);
    assert_true(isnan(now(link_sent)));
    assert_int_equal(sent()->from_ns, sent()->to_ns);
    add_sent(12 * SECOND, 5);
    assert_float_equal(now(link_sent), 2 * MIB, 0);
}

static void an_interval_too_short_for_ticks_is_added_to_the_next(void **state) {
    (void)state;
    add_sent(10 * SECOND, 0);
    add_sent(10 * SECOND + 1 * MS, 7);
    assert_true(isnan(now(link_sent)));
    add_sent(11 * SECOND, 10);
    assert_float_equal(now(link_sent), 10 * MIB, 1e-9); /* nothing is lost or counted twice */
    assert_int_equal(sent()->from_ns, 10 * SECOND);
}

static void there_is_no_rate_across_a_gap(void **state) {
    (void)state;
    for (int i = 0; i <= 10; i++)
        add_sent((10 + i) * SECOND, 10 * i);
    add_sent(27 * SECOND, 1000); /* seven intervals later: the machine was asleep */
    assert_true(isnan(now(link_sent)));
    add_sent(28 * SECOND, 1010);
    assert_float_equal(now(link_sent), 10 * MIB, 0);
}

static void some_late_ticks_are_not_a_gap(void **state) {
    (void)state;
    for (int i = 0; i <= 10; i++)
        add_sent((10 + i) * SECOND, 10 * i);
    add_sent(24 * SECOND, 140);
    assert_float_equal(now(link_sent), 10 * MIB, 0);
}

static void a_missing_value_is_unknown_and_costs_no_growth(void **state) {
    (void)state;
    add_sent(10 * SECOND, 100);
    at(11 * SECOND);
    row("eth0");
    pt_rates_add(&rates, &sample);
    assert_true(isnan(now(link_sent)));
    add_sent(12 * SECOND, 300);
    assert_float_equal(now(link_sent), 200 * MIB / 2.0, 0);
}

static void a_value_is_unknown_when_it_is_too_old(void **state) {
    (void)state;
    at(10 * SECOND);
    struct pt_batch *b = row("eth0");
    pt_set_i64(b, link_queue, 4);
    pt_set_i64(b, link_size, 1 << 20);
    pt_rates_add(&rates, &sample);
    for (int i = 1; i <= 40; i++) { /* the rows are repeated, their sources are not read again */
        at((10 + i) * SECOND);
        b = row_read_at("eth0", 10 * SECOND);
        pt_set_i64(b, link_queue, 4);
        pt_set_i64(b, link_size, 1 << 20);
        pt_rates_add(&rates, &sample);
        assert_int_equal(isnan(now(link_queue)), i > 3); /* the default: three seconds */
        assert_int_equal(isnan(now(link_size)), i > 30); /* as its line says */
    }
}

static void a_row_that_is_left_out_is_gone(void **state) {
    (void)state;
    at(10 * SECOND);
    pt_set_i64(row("eth0"), link_size, 7);
    pt_rates_add(&rates, &sample);
    at(11 * SECOND);
    row("eth1");
    pt_rates_add(&rates, &sample);
    assert_int_equal(pt_rates_rows(&rates, LINK)->row_count, 1);
    assert_true(isnan(now(link_size)));
}

static void a_row_is_found_by_its_key_wherever_it_stands(void **state) {
    (void)state;
    at(10 * SECOND);
    pt_set_i64(row("a"), link_sent, 0);
    pt_set_i64(row("b"), link_sent, 1000);
    pt_rates_add(&rates, &sample);
    at(11 * SECOND);
    pt_set_i64(row("c"), link_sent, 5);
    pt_set_i64(row("b"), link_sent, 1001);
    pt_set_i64(row("a"), link_sent, 2);
    pt_rates_add(&rates, &sample);
    assert_true(isnan(pt_rates_at(&rates, LINK, 0, link_sent)));
    assert_float_equal(pt_rates_at(&rates, LINK, 1, link_sent), MIB, 0);
    assert_float_equal(pt_rates_at(&rates, LINK, 2, link_sent), 2 * MIB, 0);
}

static void only_rows_of_the_command_count_if_asked(void **state) {
    (void)state;
    at(10 * SECOND);
    pt_set_i64(row("others"), link_recorded, 0);
    pt_set_i64(row("own"), link_recorded, 1);
    row("unmarked");
    pt_rates_add(&rates, &sample);
    assert_int_equal(pt_rates_rows(&rates, LINK)->row_count, 2);
}

static void a_mark_between_samples_divides_no_time(void **state) {
    (void)state;
    add_sent(10 * SECOND, 0);
    at(10 * SECOND + 400 * MS);
    pt_batch_add_row(&sample.batches[MARK]);
    pt_set_str(&sample.batches[MARK], mark_text, PT_STR("here"));
    pt_rates_add(&rates, &sample);
    assert_int_equal(pt_rates_rows(&rates, MARK)->row_count, 1);
    add_sent(11 * SECOND, 10);
    assert_float_equal(now(link_sent), 10 * MIB, 0);
    assert_int_equal(rates.interval_ns, SECOND);
}

static void after_a_clear_everything_is_new(void **state) {
    (void)state;
    add_sent(10 * SECOND, 0);
    add_sent(11 * SECOND, 10);
    pt_rates_clear(&rates);
    assert_int_equal(pt_rates_rows(&rates, LINK)->row_count, 0);
    assert_int_equal(rates.mono_ns, 0);
    add_sent(12 * SECOND, 20);
    assert_true(isnan(now(link_sent)));
    assert_int_equal(rates.interval_ns, 0);
    add_sent(13 * SECOND, 50);
    assert_float_equal(now(link_sent), 30 * MIB, 0);
}

#define TEST(function, sentence) \
    { sentence, function, begin, end, NULL }

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST(a_counter_is_its_growth_per_second_in_base_units,
             "C315: a counter is its growth per second, in base units"),
        TEST(time_is_that_of_the_reads, "C315: the time of a growth is that of the reads"),
        TEST(after_a_reset_the_growth_is_unknown_once,
             "C315: after a reset the growth is unknown, once"),
        TEST(an_interval_too_short_for_ticks_is_added_to_the_next,
             "C315: an interval too short for ticks is added to the next one"),
        TEST(there_is_no_rate_across_a_gap, "C315: there is no rate across a gap"),
        TEST(some_late_ticks_are_not_a_gap, "C315: some late ticks are not a gap"),
        TEST(a_missing_value_is_unknown_and_costs_no_growth,
             "C315: a missing value is unknown, and its growth comes with the next one"),
        TEST(a_value_is_unknown_when_it_is_too_old, "C318: a value is unknown when it is too old"),
        TEST(a_row_that_is_left_out_is_gone, "C318: a row that a sample leaves out is gone"),
        TEST(a_row_is_found_by_its_key_wherever_it_stands,
             "C315: a row is found by its key, wherever it stands"),
        TEST(only_rows_of_the_command_count_if_asked,
             "C317: only rows of the command count, if asked"),
        TEST(a_mark_between_samples_divides_no_time, "C315: a mark divides no time"),
        TEST(after_a_clear_everything_is_new, "C315: after a clear everything is new"),
    };
    return cmocka_run_group_tests_name("rates", tests, NULL, NULL);
}
