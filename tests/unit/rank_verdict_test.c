/* Several ranks: how far their clocks are apart, and what is said of all of them. */
#include "test.h"

#include "analyze/clock_match.h"
#include "analyze/rank_verdict.h"
#include "base/mem.h"
#include "derive/span_role.h"

#include <math.h>

#define TOLERANCE 1e-9

/* Clocks */

static void add(struct pt_clock_events *e, uint32_t name, int64_t number, int64_t time_ns) {
    pt_clock_events_add(e, &(struct pt_clock_event){ name, number, time_ns });
}

/* Differences of 1000 to 1000 + 10 * (count - 1), in no order, beside events of one side. */
static bool match(int count, struct pt_clock_offset *offset) {
    struct pt_clock_events reference = { 0 }, other = { 0 };
    for (int i = count; i-- > 0;) {
        int place = i * 7 % count;
        add(&reference, 1 + (uint32_t)i % 2, i, 50000 + i + 1000 + 10 * place);
        add(&reference, 1 + (uint32_t)i % 2, 1000 + i, 1);
        add(&reference, 0, i, 2);
    }
    for (int i = 0; i < count; i++) {
        add(&other, 1 + (uint32_t)i % 2, i, 50000 + i);
        add(&other, 3, i, 3);
        add(&other, 1, -1 - i, 4);
    }
    bool is_found = pt_clock_match(&reference, &other, offset);
    pt_clock_events_release(&reference);
    pt_clock_events_release(&other);
    assert_int_equal(reference.count, 0);
    return is_found;
}

static void clocks_differ_by_the_median_of_their_pairs(void **state) {
    (void)state;
    struct pt_clock_offset offset = { 0 };
    assert_false(match(2, &offset));
    assert_int_equal(offset.pair_count, 0);
    assert_true(match(3, &offset));
    assert_int_equal(offset.offset_ns, 1010);
    assert_int_equal(offset.error_ns, 10);
    assert_int_equal(offset.pair_count, 3);
    /* of 19 the whole range, of 20 without the outermost of each side */
    assert_true(match(19, &offset));
    assert_int_equal(offset.offset_ns, 1090);
    assert_int_equal(offset.error_ns, 90);
    assert_true(match(20, &offset));
    assert_int_equal(offset.offset_ns, 1100);
    assert_int_equal(offset.error_ns, 85);
    assert_int_equal(offset.pair_count, 20);
}

/* Half of an odd range is rounded up; of two events of one number the first ones are a pair. */
static void the_error_is_not_rounded_down(void **state) {
    (void)state;
    struct pt_clock_events reference = { 0 }, other = { 0 };
    struct pt_clock_offset offset;
    static const int64_t differences[] = { 5, 6, 10 };
    for (int i = 0; i < 3; i++) {
        add(&other, 1, i, 100);
        add(&reference, 1, i, 100 + 900);
        add(&reference, 1, i, 100 + differences[i]);
    }
    assert_true(pt_clock_match(&reference, &other, &offset));
    assert_int_equal(offset.offset_ns, 6);
    assert_int_equal(offset.error_ns, 3);
    pt_clock_events_release(&reference);
    pt_clock_events_release(&other);
}

static void events_beyond_65536_are_left_out(void **state) {
    (void)state;
    struct pt_clock_events e = { 0 };
    for (int i = 0; i < 65540; i++)
        add(&e, 1, i, i);
    assert_int_equal(e.count, 65536);
    pt_clock_events_release(&e);
}

static void names_of_collectives_are_known_in_any_spelling(void **state) {
    (void)state;
    static const char *const names[] = { "AllReduce",  "all-gather",       "reduce_scatter",
                                         "ALL TO ALL", "c10d::broadcast_", "barrier",
                                         "ncclKernel" };
    for (size_t i = 0; i < PT_COUNT(names); i++)
        assert_int_equal(pt_span_role(pt_str_from(names[i])), PT_SPAN_COLLECTIVE);
    assert_int_equal(pt_span_role(PT_STR("reduce")), PT_SPAN_OTHER);
    assert_int_equal(pt_span_role(PT_STR("")), PT_SPAN_OTHER);
    /* the first 63 letters count */
    char text[128];
    snprintf(text, sizeof text, "%056dbarrier", 0);
    assert_int_equal(pt_span_role(pt_str_from(text)), PT_SPAN_COLLECTIVE);
    snprintf(text, sizeof text, "%057dbarrier", 0);
    assert_int_equal(pt_span_role(pt_str_from(text)), PT_SPAN_OTHER);
}

/* Verdicts */

static const struct pt_schema no_schema = { 0 };

static bool wants_none(const struct pt_table *table, const struct pt_column *column) {
    (void)table;
    (void)column;
    return false;
}

/* One window, in which so much of the quota periods was throttled. */
static void explain_throttled(struct pt_explanation *x, const struct pt_rank_explanation *ranks,
                              size_t count, const struct pt_stragglers *stragglers,
                              double throttled) {
    static const struct pt_stragglers none = { .table = -1 };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_signals workers;
    pt_windows_init(w, &no_schema, wants_none);
    pt_signals_make(&workers, w, NAN);
    workers.count = 1; /* one value is allocated for it */
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        workers.values[id][0] = NAN;
    workers.values[PT_FIGURE_OWN_THROTTLED][0] = throttled;
    pt_explain_ranks(x, ranks, count, stragglers ? stragglers : &none, &workers);
    pt_signals_release(&workers);
    pt_windows_release(w);
    pt_free(w);
}

static void explain(struct pt_explanation *x, const struct pt_rank_explanation *ranks, size_t count,
                    const struct pt_stragglers *stragglers) {
    explain_throttled(x, ranks, count, stragglers, NAN);
}

static struct pt_verdict verdict(const char *id, double confidence, double share) {
    return (
        struct pt_verdict){ .rule = pt_rule_find(id), .confidence = confidence, .share = share };
}

static const struct pt_verdict *find(const struct pt_explanation *x, const char *id) {
    for (int i = 0; i < x->verdict_count; i++)
        if (strcmp(x->verdicts[i].rule->id, id) == 0)
            return &x->verdicts[i];
    return NULL;
}

static bool is_unchecked(const struct pt_explanation *x, const char *id) {
    for (int i = 0; i < x->not_checked_count; i++)
        if (strcmp(x->not_checked[i], id) == 0)
            return true;
    return false;
}

static void what_ranks_have_in_common_is_reported_once(void **state) {
    (void)state;
    static struct pt_rank_explanation ranks[3];
    static struct pt_explanation x;
    static const double seconds[] = { 10, 30, 20 };
    for (int i = 0; i < 3; i++)
        ranks[i] = (struct pt_rank_explanation){
            .label = i == 0   ? "0"
                     : i == 1 ? "1"
                              : "2",
            .explanation = { .seconds = seconds[i], .window_count = (size_t)(10 * (3 - i)) }
        };
    /* all have the first, two the second, one the third; the strongest is reported */
    for (int i = 0; i < 3; i++)
        ranks[i].explanation.verdicts[ranks[i].explanation.verdict_count++] =
            verdict("cpu-bound", i == 1 ? 0.9 : 0.95, i == 1 ? 1 : 0.5);
    ranks[0].explanation.verdicts[ranks[0].explanation.verdict_count++] =
        verdict("disk-bound", 0.7, 1);
    ranks[2].explanation.verdicts[ranks[2].explanation.verdict_count++] =
        verdict("disk-bound", 0.7, 2);
    ranks[1].explanation.verdicts[ranks[1].explanation.verdict_count++] =
        verdict("swapping", 0.3, 1);
    ranks[0].explanation.not_checked[ranks[0].explanation.not_checked_count++] = "gpu-starved";
    for (int i = 0; i < 3; i++)
        ranks[i].explanation.not_checked[ranks[i].explanation.not_checked_count++] = "queue-bound";
    explain(&x, ranks, 3, NULL);
    assert_int_equal(x.status, PT_EXPLAIN_BOUND);
    assert_true(x.seconds == 30);
    assert_int_equal(x.window_count, 30);
    assert_int_equal(x.verdict_count, 3);
    assert_string_equal(find(&x, "cpu-bound")->entity, "all ranks");
    assert_true(find(&x, "cpu-bound")->confidence == 0.9);
    assert_string_equal(find(&x, "disk-bound")->entity, "ranks 0, 2");
    assert_true(find(&x, "disk-bound")->share == 1); /* a share above 1 weighs no more */
    assert_string_equal(find(&x, "swapping")->entity, "rank 1");
    assert_true(is_unchecked(&x, "queue-bound"));
    assert_false(is_unchecked(&x, "gpu-starved"));
    assert_false(is_unchecked(&x, "cpu-bound"));
    /* what it is about is kept, if it says so itself */
    pt_str_copy(ranks[1].explanation.verdicts[1].entity,
                sizeof ranks[1].explanation.verdicts[1].entity, PT_STR("sda"));
    explain(&x, ranks, 3, NULL);
    assert_string_equal(find(&x, "swapping")->entity, "sda");
}

static void weak_signs_are_inconclusive(void **state) {
    (void)state;
    static struct pt_rank_explanation ranks[1] = { { .label = "0" } };
    static struct pt_explanation x;
    ranks[0].explanation.verdicts[0] = verdict("cpu-bound", 0.3, 1);
    ranks[0].explanation.verdicts[1] = verdict("swapping", 0.5, 1);
    ranks[0].explanation.verdict_count = 2;
    explain(&x, ranks, 1, NULL);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_int_equal(x.verdict_count, 2);
    assert_string_equal(x.verdicts[0].rule->id, "swapping"); /* the stronger one first */
    assert_non_null(strstr(x.because, "swapping"));
}

static void why_nothing_is_known_is_told_by_a_rank(void **state) {
    (void)state;
    static struct pt_rank_explanation ranks[2] = { { .label = "0" }, { .label = "1" } };
    static struct pt_explanation x;
    ranks[0].explanation.status = PT_EXPLAIN_NOTHING;
    ranks[1].explanation.status = PT_EXPLAIN_INCONCLUSIVE;
    pt_str_copy(ranks[1].explanation.because, sizeof ranks[1].explanation.because,
                PT_STR("too short"));
    explain(&x, ranks, 2, NULL);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_string_equal(x.because, "rank 1: too short");
    assert_false(is_unchecked(&x, "cpu-bound")); /* the other one was looked at */
    ranks[0].explanation = ranks[1].explanation;
    explain(&x, ranks, 2, NULL);
    assert_string_equal(x.because, "rank 0: too short");
    assert_true(is_unchecked(&x, "cpu-bound"));
    /* a verdict of another rank is an answer */
    ranks[0].explanation.verdicts[0] = verdict("swapping", 0.9, 1);
    ranks[0].explanation.verdict_count = 1;
    explain(&x, ranks, 2, NULL);
    assert_int_equal(x.status, PT_EXPLAIN_BOUND);
    assert_string_equal(x.because, "");
}

static void a_straggler_is_told_with_its_rank_and_step(void **state) {
    (void)state;
    for (int is_collective = 0; is_collective < 2; is_collective++) {
        struct pt_rank_explanation ranks[2] = { { .label = "0" }, { .label = "1" } };
        static struct pt_explanation x;
        struct pt_stragglers s = { .table = -1 };
        ranks[0].explanation.seconds = 12;
        for (int i = 0; i < 10; i++)
            for (int rank = 0; rank < 2; rank++)
                pt_stragglers_add_span(
                    &s, rank ? PT_STR("1") : PT_STR("0"),
                    is_collective ? PT_STR("barrier") : PT_STR("step"),
                    &(struct pt_rank_span){ .start_ns = i, .duration_ns = rank ? 130 : 100 });
        pt_stragglers_finish(&s);
        explain(&x, ranks, 2, &s);
        const struct pt_verdict *v = find(&x, "straggler");
        assert_non_null(v);
        assert_string_equal(v->entity, is_collective ? "rank 0, in barrier" : "rank 1, in step");
        assert_true(fabs(v->confidence - (is_collective ? 0.7 : 0.75)) < TOLERANCE);
        assert_true(v->share == 1);
        assert_int_equal(v->signal_count, 2);
        assert_int_equal(v->signals[0].signal, PT_FIGURE_RANK_PACE);
        assert_true(fabs(v->signals[0].value - (is_collective ? 1 / 1.3 : 1.3)) < TOLERANCE);
        assert_int_equal(v->signals[1].signal, PT_FIGURE_RANK_SLOWEST);
        assert_true(v->signals[1].value == 1);
        for (int i = 0; i < 2; i++)
            assert_true(v->signals[i].from == 0 && v->signals[i].to == 12);
        /* a quota that stops it now and then is another reason to be slow */
        explain_throttled(&x, ranks, 2, &s, 0.5);
        v = find(&x, "straggler");
        assert_true(fabs(v->confidence - 0.4 * (is_collective ? 0.7 : 0.75)) < TOLERANCE);
        pt_stragglers_release(&s);
    }
}

/* Steps were compared and nobody is behind: that was looked at, whatever the ranks say. */
static void even_ranks_were_looked_at(void **state) {
    (void)state;
    struct pt_rank_explanation ranks[1] = { { .label = "0" } };
    static struct pt_explanation x;
    struct pt_stragglers s = { .table = -1, .count = 0 };
    ranks[0].explanation.not_checked[ranks[0].explanation.not_checked_count++] = "straggler";
    explain(&x, ranks, 1, &s);
    assert_true(is_unchecked(&x, "straggler"));
    for (int i = 0; i < 10; i++) {
        pt_stragglers_add_span(&s, PT_STR("0"), PT_STR("step"), &(struct pt_rank_span){ 0 });
        pt_stragglers_add_span(&s, PT_STR("1"), PT_STR("step"), &(struct pt_rank_span){ 0 });
    }
    pt_stragglers_finish(&s);
    assert_int_equal(s.count, 1);
    explain(&x, ranks, 1, &s);
    assert_false(is_unchecked(&x, "straggler"));
    assert_null(find(&x, "straggler"));
    pt_stragglers_release(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(clocks_differ_by_the_median_of_their_pairs,
                "clocks differ by the median of their pairs, within 90 % of them"),
        PT_TEST(the_error_is_not_rounded_down, "the error of two clocks is not rounded down"),
        PT_TEST(events_beyond_65536_are_left_out, "events beyond 65536 are left out"),
        PT_TEST(names_of_collectives_are_known_in_any_spelling,
                "names of collectives are known in any spelling"),
        PT_TEST(what_ranks_have_in_common_is_reported_once,
                "what ranks have in common is reported once"),
        PT_TEST(weak_signs_are_inconclusive, "weak signs of ranks are inconclusive"),
        PT_TEST(why_nothing_is_known_is_told_by_a_rank,
                "the first rank that knows why nothing is known gives the reason"),
        PT_TEST(a_straggler_is_told_with_its_rank_and_step,
                "a straggler is reported with its rank and its step"),
        PT_TEST(even_ranks_were_looked_at, "ranks that are even were checked for a straggler"),
    };
    return cmocka_run_group_tests_name("rank_verdict", tests, NULL, NULL);
}
