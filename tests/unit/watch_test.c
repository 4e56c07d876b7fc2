/* Rules of alerts: read from a text, watched row by row. */
#include "test.h"

#include "analyze/watch.h"

#include <math.h>

#define SECOND INT64_C(1000000000)

#define GPU_COLUMNS(X, t)                                           \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "")                 \
    X(t, use, "gUtilizationGpu", GAUGE, I64, PERCENT, 0, "")        \
    X(t, used, "gMemoryUsedMb", GAUGE, I64, MEBIBYTES, 0, "")       \
    X(t, total, "gMemoryTotalMb", GAUGE, I64, MEBIBYTES, 0, "")     \
    X(t, heat, "gTemperatureC", GAUGE, I64, CELSIUS, 0, "")         \
    X(t, errors, "gEccSingleBitErrors", COUNTER, I64, COUNT, 0, "") \
    X(t, name, "gName", INFO, STRING, NONE, 0, "")
PT_TABLE(gpu, PT_TABLE_FILE("gpus", NULL), "", GPU_COLUMNS, "GPU");
static const struct pt_table *const tables[] = { &gpu_table };
static const struct pt_schema schema = { tables, 1 };

struct fixture {
    struct pt_watch watch;
    char events[1024];
};

static void note_change(void *arg, const struct pt_watch_rule *rule,
                        const struct pt_watch_state *state, bool is_on) {
    struct fixture *f = arg;
    size_t used = strlen(f->events);
    snprintf(f->events + used, sizeof f->events - used, "%s%s %s %s", used > 0 ? ", " : "",
             rule->name, state->key, is_on ? "on" : "off");
}

/* One GPU at one second; heat, or -1 for no row at all. */
static void see(struct fixture *f, double seconds, int64_t use, int64_t used, int64_t heat,
                int64_t errors) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    s.mono_ns = (int64_t)(seconds * 1e9) + SECOND;
    for (int64_t gpu = heat < 0 ? 1 : 0; gpu < 2; gpu++) {
        struct pt_batch *b = &s.batches[0];
        pt_batch_add_row(b);
        pt_set_time(b, 0, s.mono_ns);
        pt_set_i64(b, gpu_index, gpu);
        pt_set_i64(b, gpu_use, gpu == 0 ? use : 50);
        pt_set_i64(b, gpu_used, gpu == 0 ? used : 100);
        pt_set_i64(b, gpu_total, 1000);
        pt_set_i64(b, gpu_heat, gpu == 0 ? heat : 40);
        pt_set_i64(b, gpu_errors, gpu == 0 ? errors : 0);
    }
    pt_watch_see(&f->watch, &s, note_change, f);
    pt_sample_release(&s);
}

static void parse(struct fixture *f, const char *text) {
    struct pt_err err = { "" };
    if (pt_watch_parse(&f->watch, pt_str_from(text), "rules", &err))
        fail_msg("%s", err.text);
    assert_int_equal(pt_watch_check(&f->watch, &schema, &err), 0);
}

static void the_defaults_are_the_four_of_gpus(void **state) {
    (void)state;
    struct fixture f = { 0 };
    struct pt_err err;
    pt_watch_add_defaults(&f.watch);
    assert_int_equal(pt_watch_check(&f.watch, &schema, &err), 0);
    for (int t = 0; t < 10; t++)
        see(&f, t, 95, 850, 90, 0);
    assert_string_equal(f.events, "");
    see(&f, 10, 95, 850, 90, 0);
    assert_string_equal(f.events, "gpu-saturated 0 on, gpu-memory 0 on, gpu-hot 0 on");
    f.events[0] = 0;
    for (int t = 11; t < 22; t++)
        see(&f, t, 5, 790, 84, 0); /* back, but for the heat not by the hysteresis */
    assert_string_equal(f.events, "gpu-saturated 0 off, gpu-underused 0 on");
    pt_watch_release(&f.watch);
}

/* On at 86, 91 and 801; off only when the value is back by 3 degrees or 5 percent. */
static void the_defaults_come_back_with_their_hysteresis(void **state) {
    (void)state;
    struct fixture f = { 0 };
    struct pt_err err;
    pt_watch_add_defaults(&f.watch);
    assert_int_equal(pt_watch_check(&f.watch, &schema, &err), 0);
    for (int t = 0; t <= 10; t++)
        see(&f, t, 90, 800, 85, 0); /* at the limits */
    for (int t = 11; t <= 21; t++)
        see(&f, t, 10, 800, 85, 0);
    assert_string_equal(f.events, "");
    for (int t = 22; t <= 32; t++)
        see(&f, t, 91, 801, 86, 0);
    assert_string_equal(f.events, "gpu-saturated 0 on, gpu-memory 0 on, gpu-hot 0 on");
    f.events[0] = 0;
    see(&f, 33, 86, 751, 83, 0);
    assert_string_equal(f.events, "");
    see(&f, 34, 85, 750, 82, 0);
    assert_string_equal(f.events, "gpu-saturated 0 off, gpu-memory 0 off, gpu-hot 0 off");
    f.events[0] = 0;
    for (int t = 35; t <= 45; t++)
        see(&f, t, 9, 0, 0, 0);
    see(&f, 46, 14, 0, 0, 0);
    assert_string_equal(f.events, "gpu-underused 0 on");
    see(&f, 47, 15, 0, 0, 0);
    assert_string_equal(f.events, "gpu-underused 0 on, gpu-underused 0 off");
    pt_watch_release(&f.watch);
}

static void a_rule_waits_and_comes_back_with_hysteresis(void **state) {
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "# heat\n[hot]\nmetric = gpu.gTemperatureC\nabove = 80\nfor = 2s\nhysteresis=5\n");
    see(&f, 0, 0, 0, 85, 0);
    see(&f, 1, 0, 0, 85, 0);
    assert_string_equal(f.events, "");
    see(&f, 2, 0, 0, 85, 0);
    assert_string_equal(f.events, "hot 0 on");
    see(&f, 3, 0, 0, 77, 0);
    assert_string_equal(f.events, "hot 0 on");
    see(&f, 4, 0, 0, 74, 0);
    assert_string_equal(f.events, "hot 0 on, hot 0 off");
    pt_watch_release(&f.watch);
}

static void a_counter_is_watched_by_its_growth(void **state) {
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "[errors]\nmetric = gpu.gEccSingleBitErrors\nabove = 9.5\nentity = 0\n");
    see(&f, 0, 0, 0, 40, 1000000);
    see(&f, 2, 0, 0, 40, 1000018); /* 9 a second */
    assert_string_equal(f.events, "");
    see(&f, 4, 0, 0, 40, 1000038);
    assert_string_equal(f.events, "errors 0 on");
    see(&f, 6, 0, 0, 40, 5); /* reset: unknown */
    assert_string_equal(f.events, "errors 0 on, errors 0 off");
    pt_watch_release(&f.watch);
}

/* The machine slept: 1000 errors in 100 s are not 10 a second now. */
static void a_gap_has_no_growth(void **state) {
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "[errors]\nmetric = gpu.gEccSingleBitErrors\nabove = 9.5\nentity = 0\n");
    for (int i = 0; i < 3; i++)
        see(&f, i, 0, 0, 40, 1000000);
    see(&f, 102, 0, 0, 40, 1001000);
    assert_string_equal(f.events, "");
    see(&f, 103, 0, 0, 40, 1001010);
    assert_string_equal(f.events, "errors 0 on");
    pt_watch_release(&f.watch);
}

static void a_figure_is_watched_in_its_base_unit(void **state) {
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "[idle]\nmetric = gpu.util\nbelow = 0.3\n[hot]\nmetric=gpu.temperature\nabove=80\n");
    see(&f, 0, 30, 0, 40, 0); /* the other one is at 50 % */
    assert_string_equal(f.events, "");
    see(&f, 1, 0, 0, 85, 0);
    assert_string_equal(f.events, "idle  on, hot  on");
    see(&f, 2, 90, 0, 40, 0);
    assert_string_equal(f.events, "idle  on, hot  on, idle  off, hot  off");
    pt_watch_release(&f.watch);
}

static void what_is_gone_is_off(void **state) {
    (void)state;
    struct fixture f = { 0 };
    parse(&f, "[hot]\nmetric = gpu.gTemperatureC\nabove = 80\n");
    see(&f, 0, 0, 0, 85, 0);
    see(&f, 1, 0, 0, -1, 0);
    assert_string_equal(f.events, "hot 0 on, hot 0 off");
    pt_watch_release(&f.watch);
}

static void what_is_no_rule_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        { "above = 3\n", "rules:1: " },
        { "[a]\nmetric = gpu\n", "rules:2: a metric is a figure or TABLE.COLUMN" },
        { "[a]\n\nabove = much\n", "rules:3: 'much' is not a number" },
        { "[a]\nabove = 1\nbelow = 2\n", "rules:3: a rule has only one limit" },
        { "[a]\ncolour = red\n", "rules:2: unknown key 'colour'" },
        { "[a]\nfor = soon\n", "rules:2: " },
        { "[a\n", "rules:1: not a [name]" },
        { "[a]\nmetric = gpu.gTemperatureC\n", "rules: rule a needs" },
        { "[a]\nmetric = gpu.gTemperatureC\nabove=1\nhysteresis=-1\n",
          "rules: rule a: hysteresis" },
        { "[a]\nmetric = gpu.util\nabove=1\nentity=0\n", "rules: rule a: 'of' and 'entity'" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_watch watch = { 0 };
        struct pt_err err = { "" };
        assert_true(pt_watch_parse(&watch, pt_str_from(cases[i].text), "rules", &err) < 0);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s is not in %s", cases[i].words, err.text);
    }
    struct pt_watch watch = { 0 };
    struct pt_err err = { "" };
    assert_int_equal(
        pt_watch_parse(&watch, PT_STR("[a]\nmetric = gpu.gName\nabove=1\n"), "rules", &err), 0);
    assert_true(pt_watch_check(&watch, &schema, &err) < 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        PT_TEST(the_defaults_are_the_four_of_gpus,
                "C150 C151 C152 C153: the default rules of a recording are the four of GPUs"),
        PT_TEST(the_defaults_come_back_with_their_hysteresis,
                "C154: a default alert ends when the value is clearly back"),
        PT_TEST(a_rule_waits_and_comes_back_with_hysteresis,
                "an alert waits for its duration and goes off by its hysteresis"),
        PT_TEST(a_counter_is_watched_by_its_growth, "a counter is watched by its growth a second"),
        PT_TEST(a_gap_has_no_growth, "a long time without samples is not growth"),
        PT_TEST(a_figure_is_watched_in_its_base_unit,
                "C317: a figure is watched by its name, in its base unit"),
        PT_TEST(what_is_gone_is_off, "C154: an alert of a row that is gone goes off"),
        PT_TEST(what_is_no_rule_is_refused_with_its_line,
                "what is not a rule is refused, with the line"),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
