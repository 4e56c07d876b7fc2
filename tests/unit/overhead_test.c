/* The governor of libpitot: what it decides, and that it does it. */
#include "own_process.h"
#include "scripted.h"

#include "base/attr.h"
#include "libpitot/budget.h"
#include "libpitot/calibrate.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/span_history.h"
#include "libpitot/overhead.h"
#include "inside/probe/probe.h"

#include <math.h>
#include <pitot/config.h>

#define LIMIT 0.05

/* A second of a program that uses one CPU. */
static struct pt_budget_window second(double spans, double histograms, double other) {
    return (struct pt_budget_window){
        .seconds = 1,
        .cpu_seconds = 1,
        .costs = { [PT_PART_SPANS] = spans, [PT_PART_HISTOGRAMS] = histograms },
        .other_cost = other,
    };
}

/* How many such seconds until something happens; 0: not in `limit`. */
static int wait_for(struct pt_budget *b, struct pt_budget_window window, int limit,
                    struct pt_budget_action *action) {
    for (int i = 1; i <= limit; i++)
        if (pt_budget_step(b, &window, action))
            return i;
    return 0;
}

static void test_below_the_limit(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    assert_int_equal(wait_for(&b, second(0.04, 0.005, 0.004), 1000, &action), 0);
    assert_true(fabs(b.mean - 0.049) < 1e-9);
}

static void test_dearest_goes_first(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    assert_int_equal(wait_for(&b, second(0.1, 0.2, 0), 10, &action), 3);
    assert_int_equal(action.part, PT_PART_HISTOGRAMS);
    assert_false(action.is_on);
    assert_int_equal(wait_for(&b, second(0.1, 0, 0), 10, &action), 3);
    assert_int_equal(action.part, PT_PART_SPANS);
    assert_int_equal(wait_for(&b, second(0, 0, 0.3), 1000, &action), 0); /* nothing is left */
}

static void test_one_bad_second(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    assert_int_equal(wait_for(&b, second(0.01, 0, 0), 30, &action), 0);
    assert_int_equal(wait_for(&b, second(0.9, 0, 0), 2, &action), 0);
    assert_int_equal(wait_for(&b, second(0.01, 0, 0), 300, &action), 0);
}

static void test_small_parts_stay(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    assert_int_equal(wait_for(&b, second(0.002, 0.001, 0.2), 100, &action), 0);
}

static void test_comes_back(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    for (int i = 0; i < 3; i++) {
        assert_true(wait_for(&b, second(0.1, 0, 0), 100, &action) > 0);
        assert_int_equal(action.part, PT_PART_SPANS);
        assert_false(action.is_on);
        int seconds = wait_for(&b, second(0, 0, 0), 200, &action);
        assert_true(seconds >= 60 && seconds < 100);
        assert_int_equal(action.part, PT_PART_SPANS);
        assert_true(action.is_on);
    }
    assert_true(wait_for(&b, second(0.1, 0, 0), 100, &action) > 0);
    assert_int_equal(wait_for(&b, second(0, 0, 0), 10000, &action), 0); /* three times, no more */
}

static void test_not_between_half_and_limit(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, true);
    assert_true(wait_for(&b, second(0.1, 0, 0), 10, &action) > 0);
    assert_int_equal(wait_for(&b, second(0, 0.03, 0), 1000, &action), 0);
}

static void test_only_reports(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    pt_budget_init(&b, LIMIT, false);
    assert_int_equal(wait_for(&b, second(0.5, 0, 0), 100, &action), 0);
    assert_true(fabs(b.mean - 0.5) < 1e-9);
}

static void test_program_that_sleeps(void **state) {
    (void)state;
    struct pt_budget b;
    struct pt_budget_action action;
    struct pt_budget_window idle = { .seconds = 1,
                                     .cpu_seconds = 0.0002,
                                     .costs = { [PT_PART_MEMORY] = 0.0001 },
                                     .other_cost = 0.0001 };
    pt_budget_init(&b, LIMIT, true);
    assert_int_equal(wait_for(&b, idle, 1000, &action), 0);
    assert_true(fabs(b.mean - 0.004) < 1e-9); /* 0.2 ms by 50 ms */
    idle.seconds = 0;
    assert_false(pt_budget_step(&b, &idle, &action));
}

static struct {
    char text[512];
    int level, count;
} logged;

static void take_log(void *arg, int level, const char *text) {
    (void)arg;
    logged.count++;
    logged.level = level;
    snprintf(logged.text, sizeof logged.text, "%s", text);
}

static void storm(int count) {
    for (int i = 0; i < count; i++) {
        PT_SPAN(span, "drop");
    }
}

static double value_of(const char *name, const char *labels) {
    static struct pt_region_value v;
    struct pt_region region;
    expect(pt_history_region(&region));
    for (uint32_t i = 1; i < pt_region_metric_count(&region); i++)
        if (pt_region_read_metric(&region, i, &v) && !strcmp(v.name, name) &&
            !strcmp(v.labels, labels))
            return v.value;
    return (double)NAN;
}

static bool has_span(const char *text) {
    static struct pt_history_span spans[4096];
    struct pt_region region;
    char name[61];
    uint64_t next = 0;
    expect(pt_history_region(&region));
    for (size_t n; (n = pt_history_read(next, spans, 4096, &next)) > 0;)
        for (size_t i = 0; i < n; i++) {
            pt_region_copy_name(&region, spans[i].name, name);
            if (!strcmp(name, text))
                return spans[i].start_ns == spans[i].end_ns;
        }
    return false;
}

static void begin(double threshold, bool may_act) {
    pt_config config;
    pt_set_log(take_log, NULL);
    pt_config_init(&config);
    config.enable_metrics = true;
    config.performance_threshold = threshold;
    config.auto_disable_on_slow = may_act;
    expect(pt_configure(&config) == 0);
}

static void spans_cost_too_much(void) {
    pt_overhead overhead;
    begin(0.0001, true);
    for (int i = 0; i < 100 && !logged.count; i++) {
        storm(20000);
        (void)pt_history_end(); /* frees space for the mark, which the ticker would put elsewhere */
        pt_overhead_look(NULL);
    }
    pt_overhead_get(&overhead);
    expect(!overhead.spans_on && overhead.histograms_on && overhead.memory_on && overhead.gpu_on);
    expect(overhead.actions == 1 && overhead.spans >= 60000);
    expect(overhead.fraction > 0.0001 && overhead.recent_fraction > 0.0001);
    expect(logged.count == 1 && logged.level == PT_LEVEL_WARNING);
    expect(strstr(logged.text, "pitot: spans off: overhead is ") == logged.text);
    expect(value_of("pitot_part_on", "part=\"spans\"") == 0);
    expect(has_span("pitot: spans off"));
    uint64_t before = pt_history_end();
    storm(1000);
    expect(pt_history_end() == before);
    pt_config config; /* setting other limits starts again */
    pt_config_get(&config);
    config.performance_threshold = 1;
    expect(pt_configure(&config) == 0);
    storm(10);
    expect(pt_history_end() == before + 10);
}

static void test_spans_go(void **state) {
    (void)state;
    run_child(spans_cost_too_much);
}

static void histograms_cost_too_much(void) {
    pt_overhead overhead;
    begin(0.0001, true);
    pt_histogram histogram = pt_histogram_new("h", "", "", NULL);
    for (int i = 0; i < 100 && !logged.count; i++) {
        for (int k = 0; k < 20000; k++)
            pt_histogram_record(histogram, k);
        pt_overhead_look(NULL);
    }
    pt_overhead_get(&overhead);
    expect(overhead.spans_on && !overhead.histograms_on);
    expect(overhead.observations >= 60000 && overhead.observations % 20000 == 0);
    expect(value_of("pitot_part_on", "part=\"histograms\"") == 0);
    uint64_t before = overhead.observations;
    pt_histogram_record(histogram, 1);
    pt_overhead_get(&overhead);
    expect(overhead.observations == before);
}

static void test_histograms_go(void **state) {
    (void)state;
    run_child(histograms_cost_too_much);
}

static void nothing_is_switched_off(void) {
    pt_overhead overhead;
    begin(0.0001, false);
    for (int i = 0; i < 10; i++) {
        storm(20000);
        pt_overhead_look(NULL);
    }
    pt_overhead_get(&overhead);
    expect(overhead.spans_on && overhead.actions == 0 && logged.count == 0);
    expect(overhead.recent_fraction > 0.0001);
    expect(isnan(value_of("pitot_part_on", "part=\"spans\"")));
}

static void test_auto_disable_off(void **state) {
    (void)state;
    run_child(nothing_is_switched_off);
}

static void calibrate(void) {
    struct pt_costs costs;
    pt_overhead overhead;
    pt_overhead_get(&overhead);
    expect(isnan(overhead.span_seconds) && isnan(overhead.fraction)); /* off: not known */
    expect(pt_start(NULL) == 0);
    pt_counter counter = pt_counter_new("c", "", "", NULL);
    pt_counter_add(counter, 5);
    storm(3);
    expect(pt_calibrate(&costs) == 0);
    expect(costs.span_seconds > 0 && costs.counter_seconds > 0 && costs.histogram_seconds > 0);
    expect(pt_history_end() == 3 && pt_counter_value(counter) == 5 && pt_dropped() == 0);
    pt_overhead_get(&overhead);
    expect(overhead.span_seconds > 0 && overhead.spans == 3);
    storm(2);
    expect(pt_history_end() == 5);
}

static void test_calibration(void **state) {
    (void)state;
    run_child(calibrate);
}

static void ask_gpu(void) {
    struct pt_gpu_now now;
    expect(pt_gpu_watch_start(100000000) == 0);
    while (pt_gpu_watch_cpu_ns() == 0)
        (void)pt_gpu_watch_read(&now);
    int64_t before = pt_gpu_watch_cpu_ns();
    pt_gpu_watch_slow(true);
    expect(pt_gpu_watch_read(&now) && now.utilization_percent == 5);
    pt_gpu_watch_slow(false);
    pt_gpu_watch_stop();
    expect(pt_gpu_watch_cpu_ns() >= before);
    expect(pt_gpu_watch_start(100000000) == 0); /* earlier ones count */
    expect(pt_gpu_watch_cpu_ns() >= before);
    pt_gpu_watch_stop();
}

static void test_gpu(void **state) {
    (void)state;
    play("PITOT_SCRIPTED_NVML", "devices 1\nnvmlDeviceGetUtilizationRates 0 5:0\n");
    run_child(ask_gpu);
}

static void child_of_fork(void) {
    pt_overhead overhead;
    begin(0.05, true);
    storm(1000);
    pt_overhead_look(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        storm(10);
        pt_overhead_look(NULL);
        pt_overhead_get(&overhead);
        _exit(overhead.spans != 10 || !(overhead.fraction < 1e6));
    }
    int status;
    expect(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_fork(void **state) {
    (void)state;
    run_child(child_of_fork);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_below_the_limit, "C183: what costs less than the limit stays"),
        PT_TEST(test_dearest_goes_first,
                "C229: above the limit the most expensive part is turned off, then the next"),
        PT_TEST(test_one_bad_second, "two bad seconds are not three"),
        PT_TEST(test_small_parts_stay, "a part that would save nothing stays"),
        PT_TEST(test_comes_back, "after a quiet minute a part comes back, three times at most"),
        PT_TEST(test_not_between_half_and_limit,
                "between half the limit and the limit nothing changes"),
        PT_TEST(test_only_reports, "C183: without auto_disable_on_slow nothing is switched off"),
        PT_TEST(test_program_that_sleeps, "a program that sleeps is not slowed down by little"),
        PT_TEST(test_spans_go,
                "C184 C229: a storm of spans switches them off, and says so in log and data"),
        PT_TEST(test_histograms_go, "C229: a storm of observations switches histograms off"),
        PT_TEST(test_auto_disable_off,
                "C183: a storm is only reported without auto_disable_on_slow"),
        PT_TEST(test_calibration, "costs of calls are measured, and nothing of it is recorded"),
        PT_TEST(test_gpu, "what it costs to ask the GPU is known, and it can be asked less often"),
        PT_TEST(test_fork, "a child of fork has costs of its own"),
    };
    return cmocka_run_group_tests(tests, NULL, stop_playing);
}
