/* Runs compared: known answers, false alarms on runs that are alike, slow-downs that are there. */
#include "tracks.h"

#include "analyze/compare.h"
#include "analyze/setting.h"
#include "base/buf.h"
#include "report/diff_text.h"

#include <jansson.h>

#define WINDOWS 240 /* a minute */
#define PAIRS   300
#define METRICS 5

/* Normal random numbers from a fixed seed: Box and Muller on a linear congruence. */
static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
    return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/* Each value resembles the one before by `memory`; a start-up of ten windows is slower. */
static void make_series(uint64_t *state, double mean, double noise, double memory, double *values) {
    double x = normal(state);
    for (int i = 0; i < WINDOWS; i++) {
        values[i] = mean * (1 + noise * x) * (i < 10 ? 0.5 + 0.05 * i : 1);
        x = memory * x + sqrt(1 - memory * memory) * normal(state);
    }
}

static void assert_close(double actual, double expected, double tolerance) {
    if (!(fabs(actual - expected) <= tolerance))
        fail_msg("%.9g is not %.9g", actual, expected);
}

static void students_distribution_is_that_of_tables(void **state) {
    (void)state;
    assert_close(pt_student_critical_95(10), 2.228, 0.01);
    assert_close(pt_student_critical_95(4), 2.776, 0.03);
    assert_close(pt_student_critical_95(1000), 1.962, 0.002);
    assert_close(pt_student_p_value(2.228, 10), 0.05, 0.001);
    assert_close(pt_student_p_value(3.169, 10), 0.01, 0.0005);
    assert_close(pt_student_p_value(0, 5), 1, 1e-12);
}

static void a_start_is_cut_off(void **state) {
    (void)state;
    double values[100];
    struct pt_steady steady;
    for (int i = 0; i < 100; i++)
        values[i] = i < 20 ? i * 5 : 100 + (i % 2);
    assert_true(pt_steady_find(values, 100, &steady));
    assert_int_equal(steady.warmup_count, 20);
    assert_close(steady.mean, 100.5, 1e-9);
    assert_false(pt_steady_find(values, PT_STEADY_MIN - 1, &steady));
}

static void the_error_of_independent_values_is_that_of_the_mean(void **state) {
    (void)state;
    uint64_t random = 7;
    double values[1000];
    struct pt_steady steady, again;
    for (int i = 0; i < 1000; i++)
        values[i] = 50 + 2 * normal(&random);
    assert_true(pt_steady_find(values, 1000, &steady));
    assert_close(steady.standard_error, 2 / sqrt((double)steady.count), 0.02);
    assert_true(pt_steady_find(values, 1000, &again));
    assert_memory_equal(&steady, &again, sizeof steady);
}

/* Of AR(1) with memory 0.8 it is sqrt(1.8 / 0.2) = 3 times that. */
static void the_error_grows_with_resemblance(void **state) {
    (void)state;
    uint64_t random = 11;
    double values[1000], x = 0;
    struct pt_steady steady;
    for (int i = 0; i < 1000; i++) {
        x = 0.8 * x + 0.6 * normal(&random);
        values[i] = 50 + x;
    }
    assert_true(pt_steady_find(values, 1000, &steady));
    assert_close(steady.standard_error, 3 / sqrt((double)steady.count), 0.035);
}

/* The values of a metric in one run. */
static void add_values(struct pt_comparisons *c, int side, const char *name, const double *values,
                       size_t count) {
    size_t i = 0;
    while (i < c->metric_count && strcmp(c->metrics[i].name, name) != 0)
        i++;
    if (i == c->metric_count) {
        pt_grow(&c->metrics, &c->metric_capacity, i + 1, sizeof *c->metrics);
        c->metrics[c->metric_count++] = (struct pt_comparison){ .name = pt_strdup(name) };
    }
    struct pt_side_value *v = &c->metrics[i].sides[side];
    pt_grow(&v->runs, &v->run_capacity, v->run_count + 1, sizeof *v->runs);
    assert_true(pt_steady_find(values, count, &v->runs[v->run_count++]));
}

/* How many pairs have a change told, and how many have one told as worse in the first metric. */
static void try_pairs(double slow_down, int *told, int *found) {
    uint64_t random = 42;
    *told = *found = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        struct pt_comparisons c;
        double values[WINDOWS];
        bool is_told = false;
        pt_comparisons_init(&c, 0.02);
        for (int side = 0; side < 2; side++)
            for (int m = 0; m < METRICS; m++) {
                char name[16];
                snprintf(name, sizeof name, "metric%d", m);
                double mean = side == 1 && m == 0 ? 100 * (1 - slow_down) : 100;
                make_series(&random, mean, 0.05 + 0.02 * m, 0.6, values);
                add_values(&c, side, name, values, WINDOWS);
            }
        pt_comparisons_finish(&c);
        for (size_t i = 0; i < c.metric_count; i++)
            is_told |= c.metrics[i].kind != PT_CHANGE_SAME;
        const struct pt_comparison *first = pt_comparisons_find(&c, "metric0");
        *found += first->kind != PT_CHANGE_SAME && first->change < 0;
        *told += is_told;
        pt_comparisons_release(&c);
    }
}

static void runs_that_are_alike_give_no_alarm(void **state) {
    (void)state;
    int told, found;
    try_pairs(0, &told, &found);
    print_message("# %d of %d pairs of like runs gave an alarm\n", told, PAIRS);
    assert_true(told <= PAIRS * 5 / 100);
}

static void a_slow_down_of_a_twentieth_is_found(void **state) {
    (void)state;
    int told, found;
    try_pairs(0.05, &told, &found);
    print_message("# %d of %d slow-downs of 5 %% were found\n", found, PAIRS);
    assert_true(found >= PAIRS * 90 / 100);
}

static void several_runs_show_how_much_runs_differ(void **state) {
    (void)state;
    static const double baselines[] = { 100, 112, 91, 105, 88 };
    uint64_t random = 3;
    double values[WINDOWS];
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    for (size_t i = 0; i < PT_COUNT(baselines); i++) {
        make_series(&random, baselines[i], 0.01, 0, values);
        add_values(&c, 0, "rate", values, WINDOWS);
    }
    make_series(&random, 93, 0.01, 0, values);
    add_values(&c, 1, "rate", values, WINDOWS);
    pt_comparisons_finish(&c);
    assert_int_equal(c.metrics[0].kind, PT_CHANGE_SAME);
    assert_true(c.metrics[0].ci_low < -0.05 && c.metrics[0].ci_high > 0);
    pt_comparisons_release(&c);
}

static void gates_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *metric;
        char direction;
        double limit;
    } good[] = { { "tokens_per_second<-3%", "tokens_per_second", '<', -0.03 },
                 { "cpu_time>+10%", "cpu_time", '>', 0.1 },
                 { "containers.cpu_time > 2.5 %", "containers.cpu_time", '>', 0.025 } };
    static const char *const bad[] = { "",    "cpu_time", "cpu_time>", "cpu_time>5",
                                       "<3%", "x<three%", "x<3%%" };
    struct pt_gate gate;
    struct pt_err err;
    for (size_t i = 0; i < PT_COUNT(good); i++) {
        assert_int_equal(pt_gate_parse(&gate, good[i].text, &err), 0);
        assert_string_equal(gate.metric, good[i].metric);
        assert_int_equal(gate.direction, good[i].direction);
        assert_close(gate.limit, good[i].limit, 1e-12);
    }
    for (size_t i = 0; i < PT_COUNT(bad); i++)
        assert_true(pt_gate_parse(&gate, bad[i], &err) < 0);
}

static void a_gate_fails_only_for_what_is_sure(void **state) {
    (void)state;
    static const struct {
        double change, low, high;
        enum pt_gate_result result;
    } cases[] = {
        { -0.05, -0.06, -0.04, PT_GATE_FAIL }, { -0.05, -0.12, 0.02, PT_GATE_UNSURE },
        { -0.01, -0.02, 0.00, PT_GATE_PASS },  { -0.01, -0.08, 0.06, PT_GATE_UNSURE },
        { 0.10, 0.05, 0.15, PT_GATE_PASS },    { -0.025, -0.04, -0.01, PT_GATE_PASS },
    };
    struct pt_gate gate = { "x", '<', -0.03 };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_comparison m = { .is_known = true,
                                   .change = cases[i].change,
                                   .ci_low = cases[i].low,
                                   .ci_high = cases[i].high };
        assert_int_equal(pt_gate_check(&gate, &m), cases[i].result);
    }
    assert_int_equal(pt_gate_check(&gate, NULL), PT_GATE_MISSING);
}

static void a_gate_can_ask_for_a_change(void **state) {
    (void)state;
    static const struct {
        double change, low, high;
        enum pt_gate_result result;
    } cases[] = {
        { 0.05, 0.04, 0.06, PT_GATE_PASS },
        { 0, -0.006, 0.006, PT_GATE_FAIL },
        { 0.02, 0.01, 0.025, PT_GATE_FAIL },
        { 0.02, 0.01, 0.04, PT_GATE_UNSURE },
    };
    struct pt_gate gate = { "x", '<', 0.03 };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_comparison m = { .is_known = true,
                                   .change = cases[i].change,
                                   .ci_low = cases[i].low,
                                   .ci_high = cases[i].high };
        assert_int_equal(pt_gate_check(&gate, &m), cases[i].result);
    }
}

static void add_tracks(struct pt_comparisons *c, int side, const struct track *list) {
    char path[] = "/tmp/pitot-diff-XXXXXX";
    struct track_set *set = pt_calloc(1, sizeof *set);
    struct pt_journal_reader reader = { 0 };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_err err = { "" };
    tracks_add(set, list);
    tracks_write(set, 30, 0.5, path);
    assert_int_equal(pt_journal_open(&reader, path, &err), 0);
    pt_windows_init(w, &reader.schema, pt_comparison_wants);
    assert_int_equal(pt_windows_read(w, &reader), 0);
    pt_comparisons_add(c, side, w);
    pt_windows_release(w);
    pt_free(w);
    pt_journal_reader_close(&reader);
    pt_free(set);
    unlink(path);
}

#define RUN(tokens, own, other)                                        \
    (const struct track[]) {                                           \
        { "engine", NULL, "tokens_generation_total", 'c', tokens, 0 }, \
            { "container", "/own", "cpu_time", 'c', own, 0 },          \
            { "container", "/own", "cIsRecorded", 'g', 1, 0 },         \
            { "container", "/other", "cpu_time", 'c', other, 0 },      \
            { "container", "/other", "cIsRecorded", 'g', 0, 0 },       \
            { "pressure", "cpu", "some_total", 'c', 1000, 0 }, {       \
            0                                                          \
        }                                                              \
    }

static void counters_are_compared_as_rates_of_the_recorded_rows(void **state) {
    (void)state;
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    add_tracks(&c, 0, RUN(500, 8e8, 1e8));
    add_tracks(&c, 1, RUN(450, 8e8, 9e8));
    pt_comparisons_finish(&c);
    const struct pt_comparison *m = pt_comparisons_find(&c, "containers.cpu_time");
    assert_non_null(m);
    assert_close(m->means[0], 8e8, 1);
    assert_int_equal(m->kind, PT_CHANGE_SAME);
    assert_non_null(pt_comparisons_find(&c, "pressure.some_total{cpu}"));
    pt_comparisons_release(&c);
}

static void fewer_tokens_are_worse(void **state) {
    (void)state;
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    add_tracks(&c, 0, RUN(500, 8e8, 1e8));
    add_tracks(&c, 1, RUN(450, 8e8, 9e8));
    pt_comparisons_finish(&c);
    const struct pt_comparison *m = pt_comparisons_find(&c, "tokens_per_second");
    assert_non_null(m);
    assert_close(m->change, -0.1, 1e-6);
    assert_int_equal(m->kind, PT_CHANGE_WORSE);
    pt_comparisons_release(&c);
}

static void json_of_a_difference_is_whole(void **state) {
    (void)state;
    static const struct pt_gate gates[] = { { "tokens_per_second", '<', -0.03 },
                                            { "nothing_like_it", '>', 0.1 } };
    struct pt_diff d = { .names = { "a", "b" }, .gates = gates, .gate_count = 2 };
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_comparisons_init(&d.comparisons, 0.02);
    add_tracks(&d.comparisons, 0, RUN(500, 8e8, 1e8));
    add_tracks(&d.comparisons, 1, RUN(450, 8e8, 1e8));
    pt_comparisons_finish(&d.comparisons);
    pt_settings_read(&d.settings[0], PT_STR("{\"uuid\": 1, \"host\": {\"kernel\": \"6.1\"}}"));
    pt_settings_read(&d.settings[1],
                     PT_STR("{\"uuid\": 2, \"host\": {\"kernel\": \"6.2\"}, \"x\": 1}"));
    pt_out_memory(&out, &text);
    pt_diff_print_json(&d, &out);
    assert_int_equal(pt_out_close(&out), 0);
    json_t *root = json_loadb((const char *)text.at, text.len, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "status")), "regression");
    json_t *config = json_object_get(root, "config");
    assert_int_equal(json_array_size(config), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(config, 0), "key")),
                        "host.kernel");
    assert_true(json_is_null(json_object_get(json_array_get(config, 1), "a")));
    json_t *gate = json_array_get(json_object_get(root, "gates"), 0);
    assert_string_equal(json_string_value(json_object_get(gate, "condition")),
                        "tokens_per_second<-3%");
    assert_string_equal(json_string_value(json_object_get(gate, "result")), "fail");
    gate = json_array_get(json_object_get(root, "gates"), 1);
    assert_string_equal(json_string_value(json_object_get(gate, "result")), "unsure");
    json_decref(root);
    pt_settings_release(&d.settings[0]);
    pt_settings_release(&d.settings[1]);
    pt_comparisons_release(&d.comparisons);
    pt_buf_release(&text);
}

static void the_adjusted_probability_is_never_smaller(void **state) {
    (void)state;
    uint64_t random = 5;
    struct pt_comparisons c;
    double values[WINDOWS];
    pt_comparisons_init(&c, 0);
    for (int side = 0; side < 2; side++)
        for (int m = 0; m < 20; m++) {
            char name[16];
            snprintf(name, sizeof name, "m%02d", m);
            make_series(&random, 100, 0.1, 0.3, values);
            add_values(&c, side, name, values, WINDOWS);
        }
    pt_comparisons_finish(&c);
    for (size_t i = 0; i < c.metric_count; i++) {
        assert_true(c.metrics[i].adjusted_p >= c.metrics[i].p * (1 - 1e-12));
        for (size_t k = 0; k < c.metric_count; k++)
            if (c.metrics[k].p > c.metrics[i].p)
                assert_true(c.metrics[k].adjusted_p >= c.metrics[i].adjusted_p * (1 - 1e-12));
    }
    pt_comparisons_release(&c);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        PT_TEST(students_distribution_is_that_of_tables,
                "Student's distribution is that of tables"),
        PT_TEST(a_start_is_cut_off, "C235: the start of a run is cut off until it is steady"),
        PT_TEST(
            the_error_of_independent_values_is_that_of_the_mean,
            "the bootstrap error of independent values is that of their mean, each time the same"),
        PT_TEST(the_error_grows_with_resemblance,
                "values that resemble their neighbours have a larger error"),
        PT_TEST(runs_that_are_alike_give_no_alarm,
                "C235: at most 5 % of 300 pairs of like runs give an alarm"),
        PT_TEST(a_slow_down_of_a_twentieth_is_found,
                "C235: at least 90 % of 300 slow-downs of 5 % are found"),
        PT_TEST(several_runs_show_how_much_runs_differ,
                "C235: a change that is within the variation of the baselines is not reported"),
        PT_TEST(gates_are_read, "gates are read, and what is not a gate is refused"),
        PT_TEST(a_gate_can_ask_for_a_change,
                "C235: a gate can ask for a change, and fails if it was surely not reached"),
        PT_TEST(a_gate_fails_only_for_what_is_sure,
                "C235: a gate fails for sure changes, and says when it cannot tell"),
        PT_TEST(counters_are_compared_as_rates_of_the_recorded_rows,
                "C235: counters are compared as rates, of the recorded rows"),
        PT_TEST(fewer_tokens_are_worse, "C235: fewer tokens per second are worse"),
        PT_TEST(json_of_a_difference_is_whole,
                "C235: the JSON has configuration, gates and metrics"),
        PT_TEST(the_adjusted_probability_is_never_smaller,
                "adjusting for many metrics never makes one surer"),
    };
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
