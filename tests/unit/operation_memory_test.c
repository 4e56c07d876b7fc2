/* Memory in operation profiles, against readings of our own. Not among the tests of threads: under
 * TSan memory has its shadow beside it. */
#include "operation_fixture.h"
#include "own_process.h"

#include <math.h>
#include <unistd.h>

static bool can_reset(void) {
    return access("/proc/self/clear_refs", W_OK) == 0;
}

static void peak_is_what_was_resident_at_most(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    pt_profiler *profiler = plain_profiler();
    give_mb(take_mb(200), 200); /* a higher mark from before */
    pt_operation *op = pt_operation_begin(profiler, "burst");
    give_mb(take_mb(64), 64); /* gone before any sample */
    pt_operation_end(op, true);
    pt_performance p = get(profiler, NULL);
    double own_mb = own_rss_mb();
    assert_true(fabs(p.memory.final_ram_mb - own_mb) < 4);
    assert_true(fabs(p.memory.initial_ram_mb - own_mb) < 4);
    if (can_reset()) {
        assert_true(p.memory.is_peak_exact);
        assert_true(fabs(p.memory.peak_ram_mb - p.memory.initial_ram_mb - 64) < 4);
    }
    pt_profiler_free(profiler);
}

static void nested_operations_have_peaks_of_their_own(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    if (!can_reset())
        skip();
    pt_profiler *profiler = plain_profiler(), *another = plain_profiler();
    pt_operation *outer = pt_operation_begin(profiler, "outer");
    give_mb(take_mb(96), 96);
    pt_operation *inner = pt_operation_begin(another, "inner");
    give_mb(take_mb(32), 32);
    pt_operation_end(inner, true);
    pt_operation *late = pt_operation_begin(profiler, "late"); /* ends after the outer one */
    pt_operation_end(outer, true);
    give_mb(take_mb(48), 48);
    pt_operation_end(late, true);
    const pt_performance results[] = { get(profiler, "outer"), get(another, "inner"),
                                       get(profiler, "late") };
    const double expected_mb[] = { 96, 32, 48 };
    for (int i = 0; i < 3; i++) {
        double rise_mb = results[i].memory.peak_ram_mb - results[i].memory.initial_ram_mb;
        assert_true(fabs(rise_mb - expected_mb[i]) < 4);
        assert_true(results[i].memory.is_peak_exact);
    }
    pt_profiler_free(profiler);
    pt_profiler_free(another);
}

static void the_mark_can_be_left_alone(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    pt_profiler_options options = plain();
    options.exact_peak = false;
    pt_profiler *profiler = pt_profiler_new(&options);
    give_mb(take_mb(100), 100);
    double mark_kb = own_value("/proc/self/status", "VmHWM:");
    pt_operation *op = pt_operation_begin(profiler, "low");
    give_mb(take_mb(20), 20);
    pt_operation_end(op, true);
    assert_true(own_value("/proc/self/status", "VmHWM:") >= mark_kb);
    pt_performance p = get(profiler, NULL);
    assert_false(p.memory.is_peak_exact); /* the mark says nothing of it */
    assert_true(p.memory.peak_ram_mb < p.memory.initial_ram_mb + 24);
    op = pt_operation_begin(profiler, "high");
    size_t high_mb = (size_t)(mark_kb / 1024) + 50;
    give_mb(take_mb(high_mb), high_mb);
    pt_operation_end(op, true);
    p = get(profiler, NULL);
    assert_true(p.memory.is_peak_exact); /* it rose meanwhile */
    assert_true(fabs(p.memory.peak_ram_mb - p.memory.initial_ram_mb - (double)high_mb) < 4);
    pt_profiler_free(profiler);
}

#define STEPS 40

static pt_performance run_steps(bool is_detailed, bool leaks) {
    void *taken[STEPS] = { 0 };
    pt_profiler_options options = plain();
    options.detailed_memory = is_detailed;
    options.memory_interval = 3600;
    pt_profiler *profiler = pt_profiler_new(&options);
    pt_operation *op = pt_operation_begin(profiler, "steps");
    for (int i = 0; i < STEPS; i++) {
        taken[i] = take_mb(2);
        if (!leaks)
            give_mb(taken[i], 2);
        pt_operation_step(op);
    }
    pt_operation_end(op, true);
    pt_performance p = get(profiler, "steps");
    for (int i = 0; i < STEPS && leaks; i++)
        give_mb(taken[i], 2);
    pt_profiler_free(profiler);
    return p;
}

static void a_leak_is_found_by_steps(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    pt_performance p = run_steps(true, true);
    assert_int_equal(p.memory.memory_leak_detected, PT_LEAK_YES);
    assert_true(fabs(p.memory.growth_mb_per_step - 2) < 0.1);
    assert_true(p.memory.growth_error_mb < 0.1);
    assert_true(isnan(p.memory.growth_mb_per_second));
    assert_int_equal(p.memory.steps, STEPS);
    p = run_steps(true, false);
    assert_int_equal(p.memory.memory_leak_detected, PT_LEAK_NO);
    p = run_steps(false, true);
    assert_int_equal(p.memory.memory_leak_detected, PT_LEAK_UNKNOWN);
    assert_true(isnan(p.memory.growth_mb_per_step));
}

/* As in the source document: many repetitions in one operation, and nothing says so. */
static void a_leak_is_found_by_samples(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    enum { COUNT = 30 };
    void *taken[COUNT];
    double seconds[512], mb[512];
    pt_profiler_options options = plain();
    options.detailed_memory = true;
    options.memory_interval = 0.01;
    pt_profiler *profiler = pt_profiler_new(&options);
    pt_operation *op = pt_operation_begin(profiler, "memory_leak_check");
    for (size_t i = 0; i < COUNT; i++) {
        size_t before = pt_profiler_memory_samples(profiler, NULL, seconds, mb, 512);
        taken[i] = take_mb(2);
        while (pt_profiler_memory_samples(profiler, NULL, seconds, mb, 512) == before)
            usleep(1000);
    }
    pt_operation_end(op, true);
    pt_performance p = get(profiler, NULL);
    assert_int_equal(p.memory.memory_leak_detected, PT_LEAK_YES);
    assert_true(p.memory.growth_mb_per_second > 3 * p.memory.growth_error_mb);
    assert_true(isnan(p.memory.growth_mb_per_step));
    size_t count = pt_profiler_memory_samples(profiler, "memory_leak_check", seconds, mb, 512);
    assert_in_range(count, COUNT + 1, 512);
    assert_true(seconds[0] == 0 && mb[0] == p.memory.initial_ram_mb);
    assert_true(fabs(mb[count - 1] - mb[0] - 2 * COUNT) < 8);
    for (size_t i = 1; i < count; i++)
        assert_true(seconds[i] > seconds[i - 1]);
    for (size_t i = 0; i < COUNT; i++)
        give_mb(taken[i], 2);
    pt_profiler_free(profiler);
}

static void memory_now_is_that_of_the_kernel(void **state) {
    (void)state;
    skip_if_emulated(); /* memory is that of the emulator */
    double before = own_rss_mb();
    assert_true(fabs(pt_current_memory_mb() - before) < 4);
    void *at = take_mb(50);
    assert_true(fabs(pt_current_memory_mb() - before - 50) < 4);
    give_mb(at, 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(peak_is_what_was_resident_at_most,
                "C295 C296 C299: initial, peak and final memory, also of a short burst"),
        PT_TEST(nested_operations_have_peaks_of_their_own,
                "C295: operations that overlap have peaks of their own"),
        PT_TEST(the_mark_can_be_left_alone, "C295: the kernel's highest mark can be left alone"),
        PT_TEST(a_leak_is_found_by_steps, "C274 C298: a leak is found by steps"),
        PT_TEST(a_leak_is_found_by_samples,
                "C287 C293 C298: a leak is found by samples at short intervals"),
        PT_TEST(memory_now_is_that_of_the_kernel, "C281: memory now is what the kernel says"),
    };
    return cmocka_run_group_tests_name("operation_memory", tests, NULL, NULL);
}
