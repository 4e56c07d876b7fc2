#include "inside/region/tick_clock.h"
#include "test.h"

#include <math.h>

#define RATE 0.37 /* ns a tick */

static struct pt_tick_clock clock_;
static uint64_t seed;

/* -1 to 1 */
static double random_part(void) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int32_t)(seed >> 32) / 2147483648.0;
}

static uint64_t ticks_at(double ns) {
    return 1000000000u + (uint64_t)(ns / RATE);
}

/* A reading that is up to `error` ns off. */
static void follow(double ns, double error) {
    pt_tick_clock_follow(&clock_, ticks_at(ns), 5000000 + (int64_t)(ns + error * random_part()));
}

static void begin(void) {
    seed = 1;
    pt_tick_clock_begin(&clock_, ticks_at(0), 5000000);
}

static void test_exact(void **state) {
    (void)state;
    begin();
    for (double ns = 1e4; ns < 1e12; ns += ns < 1e9 ? ns / 10 : 1e8) {
        follow(ns, 0);
        assert_true(llabs(pt_tick_clock_ns(&clock_, ticks_at(ns)) - 5000000 - (int64_t)ns) <= 2);
    }
}

/* Ten minutes of looks every 20 ms; between two of them some instants are asked for. */
static void test_order(void **state) {
    (void)state;
    int64_t last = 0;
    double worst = 0;
    begin();
    for (double ns = 3e4; ns < 6e11; ns += 2e7) {
        follow(ns, 200);
        for (int i = 20; i >= 0; i--) {
            double at = ns - i * 1e3;
            int64_t said = pt_tick_clock_ns(&clock_, ticks_at(at));
            assert_true(said >= last);
            last = said;
            worst = fmax(worst, fabs((double)said - 5e6 - at));
        }
    }
    assert_true(worst < 2000);
}

static void test_same_again(void **state) {
    (void)state;
    static int64_t said[3000];
    begin();
    for (int i = 0; i < 3000; i++) {
        double ns = 1e5 + i * 2e7; /* a minute */
        follow(ns, 500);
        said[i] = pt_tick_clock_ns(&clock_, ticks_at(ns - 1000));
        for (int k = 0; k <= i; k += 97)
            assert_int_equal(pt_tick_clock_ns(&clock_, ticks_at(1e5 + k * 2e7 - 1000)), said[k]);
    }
}

static void test_nonsense(void **state) {
    (void)state;
    pt_tick_clock_begin(&clock_, UINT64_MAX, INT64_MAX);
    assert_int_equal(pt_tick_clock_ns(&clock_, 7), 0);
    pt_tick_clock_follow(&clock_, 5, INT64_MIN);
    pt_tick_clock_follow(&clock_, 5, INT64_MAX);
    (void)pt_tick_clock_ns(&clock_, UINT64_MAX / 2);
    begin();
    follow(1e6, 0);
    (void)pt_tick_clock_ns(&clock_, UINT64_MAX);
    assert_int_equal(pt_tick_clock_ns(&clock_, UINT64_MAX / 2), 0);
    follow(1e9, 0);
    assert_true(pt_tick_clock_ns(&clock_, ticks_at(1e6)) > 5000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_exact, "exact readings give exact times"),
        PT_TEST(test_order, "readings with errors keep the order, near the truth"),
        PT_TEST(test_same_again, "an instant has the same time whenever it is asked for"),
        PT_TEST(test_nonsense, "nonsense has no time"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
