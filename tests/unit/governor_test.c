/* The governor: pure arithmetic, told what Pitot used second by second. */
#include "test.h"

#include "base/attr.h"
#include "sampler/governor.h"

#define BUDGET 0.05

/* As the sampler makes them: switches first, what is kept last at the end. */
enum { PSS, COMMAND_LINES, FIXED, PRESSURE, PROCESSES, HOST, KNOB_COUNT };
static const struct pt_governor_knob knobs[KNOB_COUNT] = {
    [PSS] = { "pss", 1, 0 },
    [COMMAND_LINES] = { "command lines", 1, 0 },
    [FIXED] = { "fixed", 0, 0 },
    [PRESSURE] = { "pressure", 6, 1 },
    [PROCESSES] = { "processes", 6, 1 },
    [HOST] = { "host", 3, 2 },
};
static const double costs[KNOB_COUNT] = { 0.03, 0.02, 0.9, 0.02, 0.025, 0.5 };

static void init(struct pt_governor *g, double budget) {
    pt_governor_init(g, budget, knobs, KNOB_COUNT);
}

/* Runs for that many seconds at that share of a CPU; returns how many steps were taken. */
static int run(struct pt_governor *g, int seconds, double share, const double *cost,
               struct pt_governor_action *last) {
    int steps = 0;
    for (int i = 0; i < seconds; i++)
        steps += pt_governor_step(g, 1, share, cost, last);
    return steps;
}

static void a_cost_within_the_budget_changes_nothing(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_int_equal(run(&g, 600, BUDGET * 0.79, costs, &action), 0);
    for (int k = 0; k < KNOB_COUNT; k++)
        assert_int_equal(g.levels[k], 0);
}

static void take_step(struct pt_governor *g, const double *cost,
                      struct pt_governor_action *action) {
    int waited = 0;
    while (!pt_governor_step(g, 1, 1, cost, action))
        assert_true(++waited < 10);
}

/* Costs that do not shrink, so that a knob is turned to its end before the next one. */
static void steps_are_taken_in_the_documented_order(void **state) {
    (void)state;
    static const int order[] = { PSS, COMMAND_LINES, PROCESSES, PRESSURE, HOST };
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    for (size_t i = 0; i < PT_COUNT(order); i++)
        for (int level = 1; level <= knobs[order[i]].level_count; level++) {
            take_step(&g, costs, &action);
            assert_int_equal(action.knob, order[i]);
            assert_int_equal(action.level, level);
            assert_false(action.is_restored);
            assert_int_equal(g.levels[order[i]], level);
        }
    assert_int_equal(run(&g, 100, 1, costs, &action), 0); /* nothing is left to be done */
    assert_int_equal(g.levels[FIXED], 0);
}

static void the_most_expensive_collector_is_thinned_first(void **state) {
    (void)state;
    static const int order[] = { PROCESSES, PRESSURE, PROCESSES, PRESSURE };
    double cost[KNOB_COUNT] = { [PRESSURE] = 0.04, [PROCESSES] = 0.05 };
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    for (size_t i = 0; i < PT_COUNT(order); i++) {
        take_step(&g, cost, &action);
        assert_int_equal(action.knob, order[i]);
        cost[action.knob] /= 2;
    }
}

static void a_step_is_given_time_to_show(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_true(pt_governor_step(&g, 1, 1, costs, &action));
    assert_false(pt_governor_step(&g, 1, 1, costs, &action));
    assert_false(pt_governor_step(&g, 1, 1, costs, &action));
    assert_true(pt_governor_step(&g, 1, 1, costs, &action));
}

static void one_expensive_second_is_forgiven(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_int_equal(run(&g, 60, 0.01, costs, &action), 0);
    assert_int_equal(run(&g, 1, 0.2, costs, &action), 0);
    assert_int_equal(run(&g, 60, 0.01, costs, &action), 0);
}

static void a_knob_that_would_save_little_is_passed_over(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    const double cost[KNOB_COUNT] = { [PSS] = BUDGET * 0.04, [PRESSURE] = BUDGET * 0.5 };
    init(&g, BUDGET);
    assert_true(pt_governor_step(&g, 1, 1, cost, &action));
    assert_int_equal(action.knob, PRESSURE);
    assert_int_equal(g.levels[PSS], 0);
}

static void a_step_that_is_enough_stays_the_only_one(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_true(pt_governor_step(&g, 1, 1, costs, &action));
    assert_int_equal(run(&g, 30, BUDGET * 0.6, costs, &action), 0);
}

static void between_half_and_the_limit_nothing_moves(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_true(pt_governor_step(&g, 1, 1, costs, &action));
    assert_int_equal(run(&g, 3600, BUDGET * 0.6, costs, &action), 0);
}

static void a_quiet_minute_takes_the_last_step_back(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    const double cost[KNOB_COUNT] = { [HOST] = 1 };
    init(&g, BUDGET);
    assert_true(pt_governor_step(&g, 1, 0.1, cost, &action));
    int seconds = 0;
    while (!pt_governor_step(&g, 1, 0, cost, &action))
        assert_true(++seconds < 200);
    assert_true(seconds >= 59);
    assert_true(action.is_restored);
    assert_int_equal(action.knob, HOST);
    assert_int_equal(action.level, 0);
}

static void steps_are_taken_back_in_reverse(void **state) {
    (void)state;
    double cost[KNOB_COUNT] = { [PRESSURE] = 0.04, [PROCESSES] = 0.05 };
    struct pt_governor g;
    struct pt_governor_action action;
    int back[3];
    init(&g, BUDGET);
    take_step(&g, cost, &action); /* processes */
    cost[PROCESSES] = 0.01;
    take_step(&g, cost, &action); /* pressure */
    cost[PRESSURE] = 0;
    take_step(&g, cost, &action); /* processes again */
    for (size_t i = 0; i < PT_COUNT(back); i++) {
        int seconds = 0;
        while (!pt_governor_step(&g, 1, 0, cost, &action))
            assert_true(++seconds < 200);
        assert_true(action.is_restored);
        back[i] = action.knob;
    }
    assert_int_equal(back[0], PROCESSES);
    assert_int_equal(back[1], PRESSURE);
    assert_int_equal(back[2], PROCESSES);
    assert_int_equal(g.levels[PROCESSES] + g.levels[PRESSURE], 0);
}

/* A load that comes and goes must not make it swing for ever. */
static void steps_back_are_taken_three_times_at_most(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    int restored = 0;
    init(&g, BUDGET);
    for (int round = 0; round < 20; round++) {
        run(&g, 30, 1, costs, &action);
        for (int i = 0; i < 300; i++)
            restored += pt_governor_step(&g, 1, 0, costs, &action) && action.is_restored;
    }
    assert_int_equal(restored, 3);
}

static void a_budget_of_zero_switches_it_off(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, 0);
    assert_int_equal(run(&g, 600, 4, costs, &action), 0);
}

static void no_time_passed_is_no_step(void **state) {
    (void)state;
    struct pt_governor g;
    struct pt_governor_action action;
    init(&g, BUDGET);
    assert_false(pt_governor_step(&g, 0, 1, costs, &action));
    assert_true(g.mean == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_cost_within_the_budget_changes_nothing,
                "a cost within the budget changes nothing"),
        PT_TEST(steps_are_taken_in_the_documented_order,
                "over the budget, steps are taken in the documented order"),
        PT_TEST(the_most_expensive_collector_is_thinned_first,
                "the most expensive collector is thinned first"),
        PT_TEST(steps_are_taken_back_in_reverse, "steps are taken back in reverse"),
        PT_TEST(a_step_is_given_time_to_show, "a step is given time to show"),
        PT_TEST(one_expensive_second_is_forgiven, "one expensive second is forgiven"),
        PT_TEST(a_knob_that_would_save_little_is_passed_over,
                "a knob that would save little is passed over"),
        PT_TEST(a_step_that_is_enough_stays_the_only_one,
                "a step that is enough stays the only one"),
        PT_TEST(between_half_and_the_limit_nothing_moves,
                "between half the budget and its limit nothing moves"),
        PT_TEST(a_quiet_minute_takes_the_last_step_back, "a quiet minute takes the last step back"),
        PT_TEST(steps_back_are_taken_three_times_at_most,
                "steps back are taken three times at most"),
        PT_TEST(a_budget_of_zero_switches_it_off, "a budget of zero switches it off"),
        PT_TEST(no_time_passed_is_no_step, "without elapsed time there is no step"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
