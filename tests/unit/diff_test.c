/* Runs compared: known answers, false alarms on runs that are alike, slow-downs that are there. */
#include "tracks.h"

#include "analyze/compare.h"
#include "analyze/setting.h"
#include "base/buf.h"
#include "cmd/command.h"
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

/* At most half is cut: all of a start that is just as long, and none of one that is longer. */
static void at_most_half_is_cut_off(void **state) {
    (void)state;
    struct pt_steady steady;
    double values[41];
    for (size_t count = 40; count <= 41; count++)
        for (size_t start = 19; start <= 20; start++) {
            for (size_t i = 0; i < count; i++)
                values[i] = i < start ? 50 : 10;
            assert_true(pt_steady_find(values, count, &steady));
            assert_int_equal(steady.warmup_count, start);
            assert_close(steady.mean, 10, 0);
        }
    for (size_t i = 0; i < 40; i++)
        values[i] = i < 21 ? 50 : 10;
    assert_true(pt_steady_find(values, 40, &steady));
    assert_int_not_equal(steady.warmup_count, 21);
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

/* A period of eleven; levels of six; a start that falls; neighbours that differ more than levels
 * of ten, of which only the bootstrap knows. */
static double value_of_case(int number, int i) {
    const double ripple = (i * 7 % 11) / 10.0;
    switch (number) {
    case 0:
        return 10 + ripple;
    case 1:
        return 10 + (i / 6 % 2 ? 3 : 0) + (i * 5 % 7) / 10.0;
    case 2:
        return (i < 12 ? 40 - i : 20) + ripple;
    default:
        return 10 + i / 10 % 2 + i % 2 * 1.25;
    }
}

/* Computed by an independent program. */
static void means_have_known_errors(void **state) {
    (void)state;
    static const struct {
        size_t warmup_count, count, block_length;
        double mean, degrees_of_freedom, standard_error;
    } expected[] = {
        { 0, 60, 4, 630.1 / 60, 14, 0.0414764017493269 },
        { 0, 60, 7, 11.795, 53.0 / 7, 0.354917227253184 },
        { 12, 48, 4, 20.5125, 11, 0.0458010847218941 },
        { 0, 60, 4, 11.125, 14, 0.120490001078214 },
    };
    for (int n = 0; n < (int)PT_COUNT(expected); n++) {
        struct pt_steady found;
        double values[60];
        for (int i = 0; i < 60; i++)
            values[i] = value_of_case(n, i);
        assert_true(pt_steady_find(values, 60, &found));
        assert_int_equal(found.warmup_count, expected[n].warmup_count);
        assert_int_equal(found.count, expected[n].count);
        assert_int_equal(found.block_length, expected[n].block_length);
        assert_close(found.mean, expected[n].mean, 1e-12);
        assert_close(found.degrees_of_freedom, expected[n].degrees_of_freedom, 1e-12);
        assert_close(found.standard_error, expected[n].standard_error, 1e-12);
    }
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

/* What only one side has did not change; all are in the order of their names. */
static void a_metric_of_one_side_has_not_changed(void **state) {
    (void)state;
    static const char *const names[] = { "rate", "before", "after", "alpha" };
    double values[WINDOWS];
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    for (int i = 0; i < WINDOWS; i++)
        values[i] = 10 + i % 2;
    for (size_t i = 0; i < PT_COUNT(names); i++)
        for (int side = 0; side < 2; side++)
            if (i != (side ? 1 : 2))
                add_values(&c, side, names[i], values, WINDOWS);
    for (size_t i = 0; i < c.metric_count; i++) /* of no earlier use */
        c.metrics[i].means[0] = c.metrics[i].means[1] = 7;
    pt_comparisons_finish(&c);
    static const char *const sorted[] = { "after", "alpha", "before", "rate" };
    for (size_t i = 0; i < PT_COUNT(sorted); i++)
        assert_string_equal(c.metrics[i].name, sorted[i]);
    const struct pt_comparison *before = pt_comparisons_find(&c, "before");
    assert_close(before->means[0], 10.5, 1e-9);
    assert_true(isnan(before->means[1]) && isnan(before->change));
    assert_false(before->is_known);
    const struct pt_comparison *after = pt_comparisons_find(&c, "after");
    assert_true(isnan(after->means[0]));
    assert_close(after->means[1], 10.5, 1e-9);
    assert_true(pt_comparisons_find(&c, "rate")->is_known);
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

/* A gate against growth is the same as one against a fall, with all signs turned round. */
static void check_gate(double limit, double change, double low, double high,
                       enum pt_gate_result result) {
    struct pt_gate gate = { "x", '<', limit };
    struct pt_comparison m = { .is_known = true, .change = change, .ci_low = low, .ci_high = high };
    assert_int_equal(pt_gate_check(&gate, &m), result);
    gate = (struct pt_gate){ "x", '>', -limit };
    m = (struct pt_comparison){
        .is_known = true, .change = -change, .ci_low = -high, .ci_high = -low
    };
    assert_int_equal(pt_gate_check(&gate, &m), result);
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
        { -0.05, -0.1, 0, PT_GATE_UNSURE },    { -0.03, -0.04, -0.02, PT_GATE_PASS },
        { -0.02, -0.0625, 0, PT_GATE_UNSURE }, { -0.02, -0.05, 0.005, PT_GATE_PASS },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        check_gate(-0.03, cases[i].change, cases[i].low, cases[i].high, cases[i].result);
    struct pt_gate gate = { "x", '<', -0.03 };
    assert_int_equal(pt_gate_check(&gate, NULL), PT_GATE_MISSING);
    struct pt_comparison unknown = { .is_known = false, .change = -1 };
    assert_int_equal(pt_gate_check(&gate, &unknown), PT_GATE_MISSING);
    unknown = (struct pt_comparison){ .is_known = true, .change = NAN };
    assert_int_equal(pt_gate_check(&gate, &unknown), PT_GATE_MISSING);
    check_gate(0, -0.01, -0.02, -0.005, PT_GATE_FAIL); /* any fall */
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
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        check_gate(0.03, cases[i].change, cases[i].low, cases[i].high, cases[i].result);
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
            { "container", "/own", "cCpuTime", 'c', own, 0 },          \
            { "container", "/own", "cIsRecorded", 'g', 1, 0 },         \
            { "container", "/other", "cCpuTime", 'c', other, 0 },      \
            { "container", "/other", "cIsRecorded", 'g', 0, 0 },       \
            { "pressure", "cpu", "psiSomeTotal", 'c', 1000, 0 }, {     \
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
    const struct pt_comparison *m = pt_comparisons_find(&c, "containers.cCpuTime");
    assert_non_null(m);
    assert_close(m->means[0], 8e8, 1);
    assert_int_equal(m->kind, PT_CHANGE_SAME);
    assert_non_null(pt_comparisons_find(&c, "pressure.psiSomeTotal{cpu}"));
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
    assert_ptr_equal(m, pt_comparisons_find(&c, "engine.tokens"));
    assert_string_equal(m->title, "Tokens generated");
    assert_int_equal(m->form, PT_FORM_PER_S);
    assert_close(m->means[1], pt_comparisons_figure(&c, 1, PT_FIGURE_ENGINE_TOKENS), 1e-6);
    assert_null(pt_comparisons_find(&c, "gpu.util")); /* no run has it */
    pt_comparisons_release(&c);
}

/* Every table of the program with one row, in which every gauge has that level and every counter
 * grows by it per second. */
static void fill_all(struct pt_sample *s, double level, double seconds) {
    for (uint32_t t = 0; t < s->schema->table_count; t++) {
        struct pt_batch *b = &s->batches[t];
        pt_batch_add_row(b);
        for (int source = 0; source < b->table->source_count; source++)
            pt_set_time(b, source, s->mono_ns);
        for (int c = 0; c < b->table->column_count; c++) {
            const struct pt_column *column = &b->table->columns[c];
            double value = column->kind == PT_COUNTER ? 1000 + level * seconds : level;
            if (column->type == PT_STRING)
                pt_set_str(b, c, PT_STR("x"));
            else if (column->type == PT_F64)
                pt_set_f64(b, c, pt_column_is_drawn(column) ? value : 1);
            else
                pt_set_i64(b, c, pt_column_is_drawn(column) ? (int64_t)value : 1);
        }
    }
}

static void add_all(struct pt_comparisons *c, int side, double level) {
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_sample sample;
    pt_windows_init(w, pt_known_schema(), pt_comparison_wants);
    pt_sample_init(&sample, pt_known_schema());
    for (int i = 0; i < 60; i++) {
        pt_sample_clear(&sample);
        sample.mono_ns = (1 + i) * INT64_C(500000000);
        fill_all(&sample, level, i / 2.0);
        pt_windows_add(w, &sample);
    }
    pt_comparisons_add(c, side, w);
    pt_sample_release(&sample);
    pt_windows_release(w);
    pt_free(w);
}

static const struct pt_comparison *comparison_of(const struct pt_comparisons *c,
                                                 const struct pt_table *t, int column) {
    char name[128];
    const char *short_name = t->columns[column].short_name;
    bool is_unique = strcmp(t->columns[column].name, short_name) == 0;
    bool is_keyed = pt_column_combine(&t->columns[column]) == PT_COMBINE_NONE;
    const char *key = strcmp(t->columns[0].name, "gGpuIndex") == 0 ? "1" : "x";
    if (*t->file && is_keyed)
        snprintf(name, sizeof name, "%s.%s{%s}", t->file, short_name, key);
    else if (*t->file)
        snprintf(name, sizeof name, "%s.%s", t->file, short_name);
    else
        snprintf(name, sizeof name, "%s%s%s", is_unique ? "" : t->name, is_unique ? "" : "_",
                 short_name);
    return pt_comparisons_find(c, name);
}

/* A tenth less of everything, for every column that is compared. */
static void every_column_is_judged_by_its_own_direction(void **state) {
    (void)state;
    static const enum pt_change_kind less[] = {
        [PT_NO_DIRECTION] = PT_CHANGE_OTHER,
        [PT_LOWER_IS_BETTER] = PT_CHANGE_BETTER,
        [PT_HIGHER_IS_BETTER] = PT_CHANGE_WORSE,
    };
    static const struct {
        const char *name;
        enum pt_change_kind kind;
    } known[] = {
        { "mem_used", PT_CHANGE_BETTER },         { "mem_unused", PT_CHANGE_WORSE },
        { "mem_free", PT_CHANGE_WORSE },          { "mem_swap_free", PT_CHANGE_WORSE },
        { "mem_total", PT_CHANGE_OTHER },         { "gpus.memory_free", PT_CHANGE_WORSE },
        { "gpus.memory_used", PT_CHANGE_BETTER }, { "tokens_generation_total", PT_CHANGE_WORSE },
        { "cache_prefix_hits", PT_CHANGE_WORSE }, { "net_rx_errors", PT_CHANGE_BETTER },
        { "net_rx_bytes", PT_CHANGE_OTHER },      { "pressure.some_total{x}", PT_CHANGE_BETTER },
        { "energy.energy{x}", PT_CHANGE_BETTER },
    };
    /* what repeats other columns or tables, and Pitot itself */
    static const char *const absent[] = {
        "pressure.some_avg10{x}", "cpus.time",
        "disks.read_bytes",       "engines.latency_ttft_s_p50_width",
        "collectors.cpu",         "containers.memory_limit",
        "disk_sectors_read",      "latency_ttft_s_p99"
    };
    const struct pt_schema *schema = pt_known_schema();
    struct pt_comparisons c;
    size_t count = 0;
    pt_comparisons_init(&c, 0.02);
    add_all(&c, 0, 1000);
    add_all(&c, 1, 900);
    pt_comparisons_finish(&c);
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (int i = 0; i < schema->tables[t]->column_count; i++) {
            const struct pt_column *column = &schema->tables[t]->columns[i];
            if (!pt_comparison_wants(schema->tables[t], column))
                continue;
            const struct pt_comparison *m = comparison_of(&c, schema->tables[t], i);
            if (!m || m->kind != less[column->better])
                fail_msg("%s.%s: %s", schema->tables[t]->name, column->name,
                         m ? "judged wrongly" : "not compared");
            count++;
        }
    assert_int_equal(c.metric_count, count);
    for (size_t i = 0; i < PT_COUNT(known); i++)
        if (!pt_comparisons_find(&c, known[i].name) ||
            pt_comparisons_find(&c, known[i].name)->kind != known[i].kind)
            fail_msg("%s is judged wrongly", known[i].name);
    for (size_t i = 0; i < PT_COUNT(absent); i++)
        if (pt_comparisons_find(&c, absent[i]))
            fail_msg("%s is compared", absent[i]);
    pt_comparisons_release(&c);
}

/* Of several rows, as their columns say. */
static void rows_are_put_together_as_their_column_says(void **state) {
    (void)state;
    static const struct track list[] = {
        { "gpu", "0", "gTemperatureC", 'g', 60, 0 },
        { "gpu", "1", "gTemperatureC", 'g', 80, 0 },
        { "gpu", "0", "gPcieTxBytes", 'c', 100, 0 },
        { "gpu", "1", "gPcieTxBytes", 'c', 300, 0 },
        { "gpu", "0", "gUtilizationGpu", 'g', 20, 0 },
        { "gpu", "1", "gUtilizationGpu", 'g', 40, 0 },
        { "gpu", "0", "gRemapPending", 'g', 0, 0 },
        { "gpu", "1", "gRemapPending", 'g', 1, 0 },
        { "gpu", "0", "gPcieGeneration", 'g', 3, 0 },
        { "gpu", "1", "gPcieGeneration", 'g', 5, 0 },
        { 0 },
    };
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        { "gpus.gTemperatureC", 80 },     { "gpus.gPcieTxBytes", 400 },
        { "gpus.gUtilizationGpu", 30 },   { "gpus.gRemapPending", 1 },
        { "gpus.gPcieGeneration{0}", 3 }, { "gpus.gPcieGeneration{1}", 5 },
    };
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    add_tracks(&c, 0, list);
    add_tracks(&c, 1, list);
    pt_comparisons_finish(&c);
    for (size_t i = 0; i < PT_COUNT(expected); i++) {
        const struct pt_comparison *m = pt_comparisons_find(&c, expected[i].name);
        if (!m)
            fail_msg("no %s", expected[i].name);
        assert_close(m->means[0], expected[i].value, 1e-6);
    }
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
    size_t i;
    json_t *figure, *tokens = NULL;
    json_array_foreach(json_object_get(root, "figures"), i, figure) {
        const char *name = json_string_value(json_object_get(figure, "name"));
        assert_int_equal(pt_figures[pt_figure_find(name)].importance, PT_HEADLINE);
        if (strcmp(name, "engine.tokens") == 0)
            tokens = figure;
    }
    assert_non_null(tokens);
    assert_close(json_number_value(json_object_get(tokens, "a")), 500, 1e-6);
    assert_close(json_number_value(json_object_get(tokens, "b")), 450, 1e-6);
    assert_close(json_number_value(json_object_get(tokens, "change")), -0.1, 1e-9);
    json_decref(root);
    pt_settings_release(&d.settings[0]);
    pt_settings_release(&d.settings[1]);
    pt_comparisons_release(&d.comparisons);
    pt_buf_release(&text);
}

static void a_figure_of_a_side_is_the_mean_of_its_runs(void **state) {
    (void)state;
    struct pt_comparisons c;
    pt_comparisons_init(&c, 0.02);
    add_tracks(&c, 0, RUN(500, 8e8, 1e8));
    add_tracks(&c, 0, RUN(300, 8e8, 1e8));
    assert_close(pt_comparisons_figure(&c, 0, PT_FIGURE_ENGINE_TOKENS), 400, 1e-6);
    assert_true(isnan(pt_comparisons_figure(&c, 0, PT_FIGURE_GPU_UTIL)));
    assert_true(isnan(pt_comparisons_figure(&c, 1, PT_FIGURE_ENGINE_TOKENS)));
    pt_comparisons_release(&c);
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
        PT_TEST(at_most_half_is_cut_off, "C235: at most half of a run is cut off"),
        PT_TEST(a_metric_of_one_side_has_not_changed,
                "C235: a metric of one side has not changed; all are sorted by name"),
        PT_TEST(
            the_error_of_independent_values_is_that_of_the_mean,
            "the bootstrap error of independent values is that of their mean, each time the same"),
        PT_TEST(means_have_known_errors, "C235: means and their errors have known answers"),
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
        PT_TEST(
            every_column_is_judged_by_its_own_direction,
            "C235 C314: every column is judged by its own direction: less free memory is worse"),
        PT_TEST(rows_are_put_together_as_their_column_says,
                "C314: rows are put together as their column says"),
        PT_TEST(json_of_a_difference_is_whole,
                "C235 C317: the JSON has configuration, gates, figures and metrics"),
        PT_TEST(a_figure_of_a_side_is_the_mean_of_its_runs,
                "C317: a figure of a side is the mean of its runs, and unknown without any"),
        PT_TEST(the_adjusted_probability_is_never_smaller,
                "adjusting for many metrics never makes one surer"),
    };
    pt_schema_install(pt_known_schema());
    return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
