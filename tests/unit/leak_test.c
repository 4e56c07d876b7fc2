/* Does memory grow without end? Series with known answers. */
#include "test.h"

#include "libpitot/leak_check.h"
#include "libpitot/memory_series.h"

#include <math.h>

#define COUNT 120

static double x[COUNT], mb[COUNT];

/* -1 to 1, the same in each run. */
static double noise(void) {
    static uint64_t seed = 1;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 33) / (double)(1u << 30) - 1;
}

static struct pt_leak_result test_of(double (*at)(int i), size_t count) {
    for (int i = 0; i < COUNT; i++) {
        x[i] = i;
        mb[i] = at(i);
    }
    return pt_leak_test(x, mb, count);
}

static double linear(int i) {
    return 100 + 0.5 * i;
}
static double linear_with_noise(int i) {
    return 100 + 0.5 * i + 6 * noise();
}
static double staircase(int i) {
    return 100 + 4 * floor(i / 8.0); /* an allocator takes memory in pieces */
}
static double teeth_on_a_slope(int i) {
    return 100 + 0.5 * i + 2 * (i % 10);
}
static double flat(int i) {
    (void)i;
    return 100;
}
static double plateau(int i) {
    return i < 30 ? 100 + 5 * i : 250;
}
static double slowing(int i) {
    return 300 - 200 * exp(-i / 25.0);
}
static double sawtooth(int i) {
    return 100 + 3 * (i % 20);
}
static double long_teeth(int i) {
    return 100 + 2 * ((i + 20) % 75); /* mostly a rise, but it comes back down */
}
static double only_noise(int i) {
    (void)i;
    return 100 + 20 * noise();
}
static double one_step(int i) {
    return i < 80 ? 100 : 200;
}
static double falling(int i) {
    return 200 - 0.5 * i;
}
static double below_the_floor(int i) {
    return 1000 + 0.05 * i; /* 4 MB of 1 GB */
}

static void assert_verdict(double (*at)(int i), enum pt_leak verdict) {
    assert_int_equal(test_of(at, COUNT).verdict, verdict);
}

static void growth_that_goes_on_is_a_leak(void **state) {
    (void)state;
    struct pt_leak_result leak = test_of(linear, COUNT);
    assert_int_equal(leak.verdict, PT_LEAK_YES);
    assert_true(fabs(leak.slope - 0.5) < 1e-9);
    assert_true(leak.slope_error < 1e-9);
    assert_verdict(staircase, PT_LEAK_YES);
    assert_verdict(teeth_on_a_slope, PT_LEAK_YES);
}

static void noise_does_not_hide_a_leak(void **state) {
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct pt_leak_result leak = test_of(linear_with_noise, COUNT);
        assert_int_equal(leak.verdict, PT_LEAK_YES);
        assert_true(fabs(leak.slope - 0.5) < 5 * leak.slope_error);
    }
}

static void what_ends_or_comes_back_is_none(void **state) {
    (void)state;
    assert_verdict(flat, PT_LEAK_NO);
    assert_verdict(plateau, PT_LEAK_NO);
    assert_verdict(slowing, PT_LEAK_NO);
    assert_verdict(sawtooth, PT_LEAK_NO);
    assert_verdict(long_teeth, PT_LEAK_NO);
    assert_verdict(one_step, PT_LEAK_NO);
    assert_verdict(falling, PT_LEAK_NO);
    assert_verdict(below_the_floor, PT_LEAK_NO);
}

static void noise_is_no_leak(void **state) {
    (void)state;
    int found = 0;
    for (int i = 0; i < 2000; i++)
        found += test_of(only_noise, COUNT).verdict == PT_LEAK_YES;
    assert_in_range(found, 0, 1);
}

static void few_values_say_nothing(void **state) {
    (void)state;
    struct pt_leak_result leak = test_of(linear, 16);
    assert_int_equal(leak.verdict, PT_LEAK_UNKNOWN);
    assert_true(isnan(leak.slope) && isnan(leak.slope_error));
    assert_int_equal(test_of(linear, 17).verdict, PT_LEAK_YES);
    assert_int_equal(pt_leak_test(NULL, NULL, 0).verdict, PT_LEAK_UNKNOWN);
}

static void a_series_is_thinned_evenly(void **state) {
    (void)state;
    struct pt_memory_series s = { 0 };
    for (int i = 0; i < 100000; i++)
        if (pt_memory_series_wants(&s))
            pt_memory_series_add(&s, i, 2 * i);
    assert_in_range(s.count, PT_MEMORY_SERIES_MAX / 2, PT_MEMORY_SERIES_MAX);
    for (size_t i = 0; i < s.count; i++) {
        assert_true(s.x[i] == (double)i * 256); /* the next power of two of 100000 / 512 */
        assert_true(s.mb[i] == 2 * s.x[i]);
    }
    pt_memory_series_release(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(growth_that_goes_on_is_a_leak, "C298: growth that goes on is a leak"),
        PT_TEST(noise_does_not_hide_a_leak, "C298: noise does not hide a leak"),
        PT_TEST(what_ends_or_comes_back_is_none,
                "C298: a plateau, a step and the sawtooth of a collector are not a leak"),
        PT_TEST(noise_is_no_leak, "C298: noise is not a leak"),
        PT_TEST(few_values_say_nothing, "C274: few values say nothing of a leak"),
        PT_TEST(a_series_is_thinned_evenly, "C287: a long series is thinned evenly"),
    };
    return cmocka_run_group_tests_name("leak", tests, NULL, NULL);
}
