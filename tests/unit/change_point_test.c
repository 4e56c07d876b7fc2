/* Changes of level: known answers, how often noise is taken for one, how small ones are found. */
#include "test.h"

#include "analyze/change_point.h"
#include "base/attr.h"

#include <math.h>

#define RUNS  200
#define STEPS 2000

static uint64_t seed;

static double random_part(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double random_normal(void) {
    return sqrt(-2 * log(random_part())) * cos(6.283185307179586 * random_part());
}

/* Step times of 100 ms with noise of `spread`, of which `memory` is left in the next step; every
 * hundredth takes four times as long. From `at` on they are `factor` times as long. */
struct noise {
    double spread, memory, last;
    size_t at;
    double factor;
};

static double next_time(struct noise *n, size_t i) {
    n->last = n->memory * n->last + sqrt(1 - n->memory * n->memory) * random_normal();
    double time = 0.1 * exp(n->spread * n->last) * (i % 100 == 99 ? 4 : 1);
    return n->at > 0 && i >= n->at ? time * n->factor : time;
}

/* The number of the step at which the first change is reported, and the change. 0: none. */
static size_t run(struct noise noise, size_t steps, enum pt_shift *shift,
                  struct pt_change_point *change) {
    struct pt_shift_watch w = { 0 };
    for (size_t i = 0; i < steps; i++) {
        *shift = pt_shift_add(&w, next_time(&noise, i), change);
        if (*shift)
            return i + 1;
    }
    return 0;
}

/* Eight below and eight above: U is 64 at its largest, and p = 2 exp(-6 * 64^2 / (16^3 + 16^2)). */
static void the_test_has_known_answers(void **state) {
    (void)state;
    const double values[] = { 1, 3, 2, 4, 1.5, 2.5, 3.5, 0.5, 9, 7, 8, 6, 7.5, 8.5, 6.5, 9.5 };
    struct pt_change_point found = pt_change_point_find(values, 16);
    assert_int_equal(found.at, 8);
    assert_float_equal(found.before, 2.25, 1e-12);
    assert_float_equal(found.after, 7.75, 1e-12);
    double p = 2 * exp(-6 * 64.0 * 64 / (4096 + 256)); /* neighbours do not resemble each other */
    assert_float_equal(found.p, p, 1e-9);
}

/* assert_float_equal() compares floats. */
static void assert_close(double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

/* Computed by an independent program: place, p-value, medians. Neighbours that resemble each other,
 * ties, values that alternate, and a resemblance so large that nothing is certain. */
static void neighbours_that_resemble_each_other_say_less(void **state) {
    (void)state;
    static const struct {
        double values[16];
        size_t count, at;
        double p, before, after;
    } cases[] = {
        { { 1, 2, 3, 4, 3, 2, 9, 10, 11, 12, 11, 10 }, 12, 6, 0.6958779875211486, 2.5, 10.5 },
        { { 1, 2, 4, 7, 11, 12, 13, 14, 15, 16 }, 10, 5, 0.40206926898202866, 4, 14 },
        { { 5, 1, 5, 1, 9, 5, 9, 5 }, 8, 4, 0.44626032029685964, 3, 7 },
        { { 1, 2, 3, 4, 5, 6, 7, 8, 20, 19, 18, 17, 16, 15, 14, 13 }, 16, 8, 1, 4.5, 16.5 },
        { { 1, 2 }, 2, 1, 1, 1, 2 },
        { { 2, 1, 1 }, 3, 1, 1, 2, 1 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_change_point found = pt_change_point_find(cases[i].values, cases[i].count);
        assert_int_equal(found.at, cases[i].at);
        assert_close(found.p, cases[i].p);
        assert_close(found.before, cases[i].before);
        assert_close(found.after, cases[i].after);
    }
}

/* Blocks of four: an outlier each, which the median leaves out. The level is 1, then `level`. */
static size_t find_step(size_t at, double level, enum pt_shift *shift,
                        struct pt_change_point *change, struct pt_shift_watch *w) {
    *w = (struct pt_shift_watch){ 0 };
    for (size_t block = 0; block < 200; block++)
        for (int i = 0; i < PT_SHIFT_BLOCK; i++) {
            double value = block < at ? 1 : level;
            *shift = pt_shift_add(w, i == 1 ? 50 * value : value, change);
            if (*shift)
                return block * PT_SHIFT_BLOCK + (size_t)i + 1;
        }
    return 0;
}

/* There is a look at blocks 24, 32, 40 and so on; p is below 1e-5 at the 40th only. */
static void a_step_is_found_at_the_first_look_that_is_certain(void **state) {
    (void)state;
    enum pt_shift shift;
    struct pt_change_point change;
    struct pt_shift_watch w;
    assert_int_equal(find_step(20, 1.031, &shift, &change, &w), 40 * 4);
    assert_int_equal(shift, PT_SHIFT_ROSE);
    assert_int_equal(change.at, 20 * 4);
    assert_close(change.before, 1);
    assert_close(change.after, 1.031);
    double p = 2 * exp(-6 * 400.0 * 400 / (64000 + 1600) * 39 / 41);
    assert_close(change.p, p);
    assert_int_equal(w.count, 20); /* what was before is forgotten */
    assert_int_equal(w.seen, 160);
    assert_close(w.medians[0], 1.031);
    /* changes of 3 %, up and down */
    assert_int_equal(find_step(20, 1.0301, &shift, &change, &w), 40 * 4);
    assert_int_equal(find_step(20, 1.0299, &shift, &change, &w), 0);
    assert_int_equal(find_step(20, 1 / 1.0301, &shift, &change, &w), 40 * 4);
    assert_int_equal(shift, PT_SHIFT_FELL);
    assert_int_equal(find_step(20, 1 / 1.0299, &shift, &change, &w), 0);
    /* p-values of 0.97e-5 and 1.1e-5 at that look */
    assert_int_equal(find_step(15, 2, &shift, &change, &w), 40 * 4);
    assert_int_equal(find_step(124, 2, &shift, &change, &w), 152 * 4);
}

static void only_the_newest_blocks_are_remembered(void **state) {
    (void)state;
    struct pt_shift_watch w = { 0 };
    struct pt_change_point change;
    for (int i = 0; i < 4 * 300; i++)
        assert_int_equal(pt_shift_add(&w, 1 + 1e-6 * (i / 4), &change), PT_SHIFT_NONE);
    assert_int_equal(w.count, 256);
    assert_close(w.medians[0], 1 + 1e-6 * 44);
    assert_close(w.medians[255], 1 + 1e-6 * 299);
    assert_int_equal(pt_shift_add(&w, 0, &change), PT_SHIFT_NONE);
    assert_int_equal(pt_shift_add(&w, INFINITY, &change), PT_SHIFT_NONE);
    assert_int_equal(w.seen, 1200);
    assert_int_equal(w.block_fill, 0);
}

static void equal_values_have_no_change(void **state) {
    (void)state;
    const double values[] = { 5, 5, 5, 5, 5, 5 };
    assert_float_equal(pt_change_point_find(values, 6).p, 1, 0);
    struct pt_shift_watch w = { 0 };
    struct pt_change_point change;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(pt_shift_add(&w, 0.1, &change), PT_SHIFT_NONE);
    assert_int_equal(w.seen, 10000);
    assert_int_equal(pt_shift_add(&w, NAN, &change), PT_SHIFT_NONE);
    assert_int_equal(pt_shift_add(&w, -1, &change), PT_SHIFT_NONE);
    assert_int_equal(w.seen, 10000);
}

static int count_alarms(double spread, double memory) {
    int alarms = 0;
    for (int i = 0; i < RUNS; i++) {
        enum pt_shift shift;
        struct pt_change_point change;
        seed = 1000003u * (uint64_t)(i + 1);
        alarms +=
            run((struct noise){ .spread = spread, .memory = memory }, STEPS, &shift, &change) > 0;
    }
    print_message("# noise of %.0f %%, %.1f of it left in the next step: %d of %d runs of %d steps "
                  "had a false alarm\n",
                  spread * 100, memory, alarms, RUNS, STEPS);
    return alarms;
}

static void steady_noise_is_no_change(void **state) {
    (void)state;
    assert_true(count_alarms(0.05, 0) <= RUNS / 100);
    assert_true(count_alarms(0.2, 0) <= RUNS / 100);
    assert_true(count_alarms(0.05, 0.5) <= RUNS / 100);
    assert_true(count_alarms(0.05, 0.8) <= RUNS / 50);
    assert_true(count_alarms(0.05, 0.95) <= RUNS / 20);
}

static int count_found(double spread, double memory, double factor) {
    int found = 0;
    double delay = 0;
    for (int i = 0; i < RUNS; i++) {
        enum pt_shift shift;
        struct pt_change_point change;
        const size_t at = 1000 + (size_t)i * 7;
        seed = 7919u * (uint64_t)(i + 1);
        struct noise noise = { .spread = spread, .memory = memory, .at = at, .factor = factor };
        size_t told = run(noise, at + 2000, &shift, &change);
        bool is_right = told > at && shift == (factor > 1 ? PT_SHIFT_ROSE : PT_SHIFT_FELL) &&
                        fabs(change.after / change.before / factor - 1) < 0.02 + spread;
        found += is_right;
        delay += is_right ? (double)(told - at) : 0;
    }
    print_message("# a change of %+.0f %% in noise of %.0f %% (%.1f): %d of %d found, after %.0f "
                  "steps\n",
                  (factor - 1) * 100, spread * 100, memory, found, RUNS,
                  found > 0 ? delay / found : 0);
    return found;
}

static void changes_of_5_percent_are_found(void **state) {
    (void)state;
    assert_true(count_found(0.03, 0, 1.05) >= RUNS * 99 / 100);
    assert_true(count_found(0.05, 0, 1.05) >= RUNS * 99 / 100);
    assert_true(count_found(0.05, 0.5, 1.05) >= RUNS * 95 / 100);
    assert_true(count_found(0.05, 0, 0.95) >= RUNS * 99 / 100);
    assert_true(count_found(0.1, 0, 1.2) >= RUNS * 99 / 100);
}

static void the_place_of_the_change_is_told(void **state) {
    (void)state;
    enum pt_shift shift;
    struct pt_change_point change;
    seed = 11;
    struct noise noise = { .spread = 0.02, .at = 1500, .factor = 1.1 };
    size_t told = run(noise, 3000, &shift, &change);
    assert_int_equal(shift, PT_SHIFT_ROSE);
    assert_true(labs((long)(told - change.at) - 1500) <= 2 * PT_SHIFT_BLOCK);
    assert_float_equal(change.before, 0.1, 0.001);
    assert_float_equal(change.after, 0.11, 0.001);
    assert_true(change.p < PT_SHIFT_P);
}

/* After a change the new level is the one to compare with. */
static void a_change_is_told_once(void **state) {
    (void)state;
    struct pt_shift_watch w = { 0 };
    struct noise noise = { .spread = 0.03, .at = 1000, .factor = 1.2 };
    int counts[3] = { 0 };
    seed = 5;
    for (size_t i = 0; i < 8000; i++) {
        struct pt_change_point change;
        double time = next_time(&noise, i);
        counts[pt_shift_add(&w, i >= 4000 ? time / 1.2 : time, &change)]++;
    }
    assert_int_equal(counts[PT_SHIFT_ROSE], 1);
    assert_int_equal(counts[PT_SHIFT_FELL], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(the_test_has_known_answers, "C235: the test for a change has known answers"),
        PT_TEST(neighbours_that_resemble_each_other_say_less,
                "C235: neighbours that resemble each other make a change less certain"),
        PT_TEST(a_step_is_found_at_the_first_look_that_is_certain,
                "C235: a step of 3 % is found at the first look that is certain"),
        PT_TEST(only_the_newest_blocks_are_remembered,
                "C235: only the newest 256 blocks are remembered"),
        PT_TEST(equal_values_have_no_change, "C235: equal values have no change"),
        PT_TEST(steady_noise_is_no_change,
                "C235: steady noise is not a change, also with autocorrelation"),
        PT_TEST(changes_of_5_percent_are_found, "C235: changes of 5 % are found"),
        PT_TEST(the_place_of_the_change_is_told, "C235: the step of the change is reported"),
        PT_TEST(a_change_is_told_once, "C235: a change is reported once, and so is its reversal"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
