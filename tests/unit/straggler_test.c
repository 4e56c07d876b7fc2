/* Which rank is behind: steps with known times. */
#include "test.h"

#include "analyze/straggler.h"

#include <math.h>

#define MS        INT64_C(1000000)
#define TOLERANCE 1e-12
#define NO_NUMBER (-1)

static void assert_close(double found, double wanted) {
    if (!(fabs(found - wanted) <= TOLERANCE))
        fail_msg("%.17g instead of %.17g", found, wanted);
}

enum { RANK, NAME, START, DURATION, ARGUMENT, WORK, COLUMNS };

static const struct pt_column all[COLUMNS] = {
    [RANK] = { "rank", "rank", PT_KEY, PT_STRING, PT_NONE, 0, "" },
    [NAME] = { "sName", "name", PT_KEY, PT_STRING, PT_NONE, 0, "" },
    [START] = { "sStart", "start", PT_INFO, PT_I64, PT_NONE, 0, "" },
    [DURATION] = { "sDuration", "duration", PT_GAUGE, PT_I64, PT_NONE, 0, "" },
    [ARGUMENT] = { "sArgument", "argument", PT_INFO, PT_I64, PT_NONE, 0, "" },
    [WORK] = { "sWork", "work", PT_INFO, PT_STRING, PT_NONE, 0, "" },
};

static const char *const sources[] = { "test" };

struct made {
    struct pt_column columns[COLUMNS];
    struct pt_table table;
    const struct pt_table *pointers[1];
    struct pt_schema schema;
};

static void make_schema(struct made *m, const char *name, const struct pt_column *columns,
                        uint16_t count) {
    memcpy(m->columns, columns, count * sizeof *columns);
    m->table = (struct pt_table){ .name = name,
                                  .file = "spans",
                                  .help = "",
                                  .columns = m->columns,
                                  .sources = sources,
                                  .column_count = count,
                                  .source_count = 1 };
    m->pointers[0] = &m->table;
    m->schema = (struct pt_schema){ .tables = m->pointers, .table_count = 1 };
}

static void spans_need_a_rank_a_name_and_times(void **state) {
    (void)state;
    struct made m;
    struct pt_stragglers s;
    make_schema(&m, "span", all, COLUMNS);
    pt_stragglers_init(&s, &m.schema);
    assert_int_equal(s.table, 0);
    assert_int_equal(s.argument, ARGUMENT);
    assert_int_equal(s.work, WORK);
    make_schema(&m, "other", all, COLUMNS);
    pt_stragglers_init(&s, &m.schema);
    assert_int_equal(s.table, -1);
    for (int c = RANK; c <= DURATION; c++) {
        struct pt_column columns[COLUMNS];
        /* it may be the first one */
        memcpy(columns, all, sizeof all);
        columns[c] = all[0];
        columns[0] = all[c];
        make_schema(&m, "span", columns, COLUMNS);
        pt_stragglers_init(&s, &m.schema);
        assert_int_equal(s.table, 0);
        /* of another type */
        memcpy(columns, all, sizeof all);
        columns[c].type = columns[c].type == PT_I64 ? PT_STRING : PT_I64;
        make_schema(&m, "span", columns, COLUMNS);
        pt_stragglers_init(&s, &m.schema);
        assert_int_equal(s.table, -1);
        /* not there */
        memcpy(columns, all, sizeof all);
        columns[c].name = "none";
        make_schema(&m, "span", columns, COLUMNS);
        pt_stragglers_init(&s, &m.schema);
        assert_int_equal(s.table, -1);
    }
    make_schema(&m, "span", all, ARGUMENT);
    pt_stragglers_init(&s, &m.schema);
    assert_int_equal(s.table, 0);
    assert_int_equal(s.argument, -1);
    assert_int_equal(s.work, -1);
}

/* A row whose cells are those of `present`. */
static void add_row(struct pt_batch *b, unsigned present, int64_t duration_ns) {
    pt_batch_add_row(b);
    if (present >> RANK & 1)
        pt_set_str(b, RANK, PT_STR("3"));
    if (present >> NAME & 1)
        pt_set_str(b, NAME, PT_STR("step"));
    if (present >> START & 1)
        pt_set_i64(b, START, 5 * MS);
    if (present >> DURATION & 1)
        pt_set_i64(b, DURATION, duration_ns);
    if (present >> ARGUMENT & 1)
        pt_set_i64(b, ARGUMENT, 77);
    if (present >> WORK & 1)
        pt_set_str(b, WORK, PT_STR("tokens"));
}

static void spans_with_a_missing_value_are_left_out(void **state) {
    (void)state;
    const unsigned times = 1u << RANK | 1u << NAME | 1u << START | 1u << DURATION;
    struct made m;
    struct pt_stragglers s;
    struct pt_sample sample;
    make_schema(&m, "span", all, COLUMNS);
    pt_sample_init(&sample, &m.schema);
    pt_sample_clear(&sample);
    struct pt_batch *b = &sample.batches[0];
    for (int c = RANK; c <= DURATION; c++)
        add_row(b, times & ~(1u << c), 1);
    add_row(b, times, -1);
    add_row(b, times, 0);
    add_row(b, times | 1u << ARGUMENT, 9 * MS);
    add_row(b, times | 1u << ARGUMENT | 1u << WORK, 9 * MS); /* tokens are not a step number */
    pt_stragglers_init(&s, &m.schema);
    pt_stragglers_add(&s, &sample);
    assert_int_equal(s.span_count, 3);
    assert_false(s.spans[0].has_argument);
    assert_int_equal(s.spans[0].duration_ns, 0);
    assert_true(s.spans[1].has_argument);
    assert_int_equal(s.spans[1].argument, 77);
    assert_int_equal(s.spans[1].start_ns, 5 * MS);
    assert_int_equal(s.spans[1].duration_ns, 9 * MS);
    assert_false(s.spans[2].has_argument);
    assert_str_eq(s.ranks.list[s.spans[1].rank], "3");
    assert_str_eq(s.names.list[s.spans[1].name], "step");
    pt_stragglers_release(&s);
    assert_int_equal(s.table, -1);
    pt_stragglers_add(&s, &sample);
    assert_int_equal(s.span_count, 0);
    /* a text is not a number */
    struct pt_column columns[COLUMNS];
    memcpy(columns, all, sizeof all);
    columns[ARGUMENT].type = PT_STRING;
    make_schema(&m, "span", columns, COLUMNS);
    pt_sample_release(&sample);
    pt_sample_init(&sample, &m.schema);
    pt_sample_clear(&sample);
    add_row(&sample.batches[0], times, 1);
    pt_set_str(&sample.batches[0], ARGUMENT, PT_STR("7"));
    pt_stragglers_init(&s, &m.schema);
    pt_stragglers_add(&s, &sample);
    assert_int_equal(s.span_count, 1);
    assert_false(s.spans[0].has_argument);
    pt_stragglers_release(&s);
    pt_sample_release(&sample);
}

static void add(struct pt_stragglers *s, int rank, const char *name, int64_t start_ns,
                int64_t number, double ms) {
    char label[8];
    int n = snprintf(label, sizeof label, "%d", rank);
    pt_stragglers_add_span(s, (struct pt_str){ label, (size_t)n }, pt_str_from(name),
                           &(struct pt_rank_span){ .start_ns = start_ns,
                                                   .duration_ns = (int64_t)(ms * 1e6),
                                                   .argument = number,
                                                   .has_argument = number != NO_NUMBER });
}

/* Steps of `count` ranks, each with its own time, the last step first. */
static void add_steps(struct pt_stragglers *s, const char *name, int steps, const double *ms,
                      int count) {
    for (int step = steps; step-- > 0;)
        for (int rank = 0; rank < count; rank++)
            add(s, rank, name, step * 100 * MS, step, ms[rank]);
}

static void the_slowest_rank_is_measured(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    add_steps(&s, "step", 10, (const double[]){ 10, 14, 24 }, 3);
    pt_stragglers_finish(&s);
    assert_int_equal(s.count, 1);
    const struct pt_straggling *found = pt_stragglers_worst(&s);
    assert_non_null(found);
    assert_str_eq(s.ranks.list[found->rank], "2");
    assert_str_eq(s.names.list[found->name], "step");
    assert_false(found->is_collective);
    assert_int_equal(found->rank_count, 3);
    assert_int_equal(found->step_count, 10);
    assert_close(found->slowest_share, 1);
    assert_close(found->pace, 2); /* 24 over the median of 10 and 14 */
    assert_close(found->median_s, 0.014);
    assert_close(found->lost_s, 0.12);
    pt_stragglers_release(&s);
}

/* In a collective operation the last to arrive waits least. */
static void who_waits_least_is_the_slowest_of_a_collective(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    add_steps(&s, "all_reduce", 10, (const double[]){ 30, 10, 50, 40 }, 4);
    pt_stragglers_finish(&s);
    const struct pt_straggling *found = pt_stragglers_worst(&s);
    assert_non_null(found);
    assert_true(found->is_collective);
    assert_str_eq(s.ranks.list[found->rank], "1");
    assert_close(found->pace, 0.25);
    assert_close(found->median_s, 0.035);
    assert_close(found->lost_s, 0.3);
    pt_stragglers_release(&s);
}

/* Ten steps are enough, nine are not; one rank has nobody to be behind. */
static void few_steps_say_nothing(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    add_steps(&s, "nine", 9, (const double[]){ 10, 24 }, 2);
    add_steps(&s, "alone", 20, (const double[]){ 10 }, 1);
    pt_stragglers_finish(&s);
    assert_int_equal(s.count, 0);
    assert_null(pt_stragglers_worst(&s));
    pt_stragglers_release(&s);
    pt_stragglers_finish(&s); /* of nothing */
    assert_int_equal(s.count, 0);
}

/* Numbers tell which spans belong together; without them it is their order. Rank 1 takes as long
 * as its number says, and lost the first step. */
static void steps_are_matched_by_their_numbers(void **state) {
    (void)state;
    for (int is_numbered = 0; is_numbered < 2; is_numbered++) {
        struct pt_stragglers s = { .table = -1 };
        for (int step = 12; step-- > 0;)
            for (int rank = 0; rank < 3; rank++)
                if (step > 0 || rank != 1)
                    add(&s, rank, "step", step * 100 * MS, is_numbered ? step : NO_NUMBER,
                        rank == 1 ? 20 + step : 10 + step);
        pt_stragglers_finish(&s);
        assert_int_equal(s.count, 1);
        assert_int_equal(s.list[0].step_count, 12);
        /* by order, rank 1 is a step ahead; the last step is one of rank 0 and 2 */
        assert_close(s.list[0].lost_s, is_numbered ? 0.11 : 0.121);
        assert_close(s.list[0].slowest_share, 11.0 / 12);
        pt_stragglers_release(&s);
    }
}

/* Numbers that stand still or fall do not count steps. */
static void numbers_that_do_not_count_up_are_not_used(void **state) {
    (void)state;
    static const int64_t numbers[][2] = { { 7, 0 }, { 100, -1 }, { 0, 1 } };
    static const size_t steps[] = { 10, 10, 0 };
    for (size_t i = 0; i < PT_COUNT(numbers); i++) {
        struct pt_stragglers s = { .table = -1 };
        for (int step = 0; step < 10; step++) {
            /* rank 1 has other numbers: only by order do they belong together */
            add(&s, 0, "step", step * MS, numbers[i][0] + step * numbers[i][1], 10);
            add(&s, 1, "step", step * MS, 1000 + step, 20);
        }
        pt_stragglers_finish(&s);
        assert_int_equal(s.count > 0 ? s.list[0].step_count : 0, steps[i]);
        pt_stragglers_release(&s);
    }
}

/* Rank 0 has all steps, ranks 1 to 3 those of `has`. */
static size_t compared_steps(int ranks, int others) {
    struct pt_stragglers s = { .table = -1 };
    for (int step = 0; step < 20; step++)
        for (int rank = 0; rank < ranks; rank++)
            if (step < 10 || rank <= others)
                add(&s, rank, "step", step * MS, step, 10 + rank);
    pt_stragglers_finish(&s);
    size_t count = s.count > 0 ? s.list[0].step_count : 0;
    pt_stragglers_release(&s);
    return count;
}

static void steps_that_most_ranks_have_are_compared(void **state) {
    (void)state;
    assert_int_equal(compared_steps(2, 0), 10);
    assert_int_equal(compared_steps(2, 1), 20);
    assert_int_equal(compared_steps(3, 0), 10);
    assert_int_equal(compared_steps(3, 1), 20); /* two of three */
    assert_int_equal(compared_steps(4, 1), 10); /* two of four */
    assert_int_equal(compared_steps(4, 2), 20);
}

/* Each is the slowest in half of the steps: the first one is reported, and is not a straggler. */
static void of_two_that_take_turns_none_is_a_straggler(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    for (int step = 0; step < 10; step++)
        for (int rank = 0; rank < 2; rank++)
            add(&s, rank, "step", step * MS, step, step % 2 == rank ? 30 : 10);
    pt_stragglers_finish(&s);
    assert_int_equal(s.count, 1);
    assert_str_eq(s.ranks.list[s.list[0].rank], "0");
    assert_close(s.list[0].slowest_share, 0.5);
    assert_close(s.list[0].pace, (3 + 1.0 / 3) / 2);
    assert_null(pt_stragglers_worst(&s));
    pt_stragglers_release(&s);
}

/* Most time lost first; work comes before waiting for it. */
static void the_straggler_that_costs_most_is_the_worst(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    add_steps(&s, "all_gather", 10, (const double[]){ 900, 900, 1 }, 3);
    add_steps(&s, "small", 10, (const double[]){ 10, 10, 20 }, 3);
    add_steps(&s, "even", 10, (const double[]){ 500, 500, 501 }, 3);
    add_steps(&s, "large", 10, (const double[]){ 10, 40, 10 }, 3);
    add_steps(&s, "as small", 10, (const double[]){ 20, 10, 10 }, 3);
    pt_stragglers_finish(&s);
    static const char *const order[] = { "all_gather", "large", "small", "as small", "even" };
    assert_int_equal(s.count, PT_COUNT(order));
    for (size_t i = 0; i < PT_COUNT(order); i++)
        assert_str_eq(s.names.list[s.list[i].name], order[i]);
    assert_true(s.list[0].is_straggler);
    assert_false(s.list[4].is_straggler);
    assert_str_eq(s.names.list[pt_stragglers_worst(&s)->name], "large");
    assert_str_eq(s.ranks.list[pt_stragglers_worst(&s)->rank], "1");
    pt_stragglers_release(&s);
}

static void spans_beyond_a_million_are_counted(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    for (int i = 0; i < 1000003; i++)
        pt_stragglers_add_span(&s, PT_STR("0"), PT_STR("step"), &(struct pt_rank_span){ 0 });
    assert_int_equal(s.span_count, 1000000);
    assert_int_equal(s.dropped_count, 3);
    pt_stragglers_release(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(spans_need_a_rank_a_name_and_times, "spans need a rank, a name and times"),
        PT_TEST(spans_with_a_missing_value_are_left_out,
                "spans with a missing value or a negative duration are left out"),
        PT_TEST(the_slowest_rank_is_measured, "the slowest rank is measured against the others"),
        PT_TEST(who_waits_least_is_the_slowest_of_a_collective,
                "the rank that waits least is the slowest of a collective operation"),
        PT_TEST(few_steps_say_nothing, "fewer than ten steps, or one rank, say nothing"),
        PT_TEST(steps_are_matched_by_their_numbers,
                "steps are matched by their numbers, and by their order without numbers"),
        PT_TEST(numbers_that_do_not_count_up_are_not_used,
                "numbers that do not count up are not step numbers"),
        PT_TEST(steps_that_most_ranks_have_are_compared,
                "steps that more than half of the ranks have are compared"),
        PT_TEST(of_two_that_take_turns_none_is_a_straggler,
                "of two ranks that take turns in being slow, none is a straggler"),
        PT_TEST(the_straggler_that_costs_most_is_the_worst,
                "the straggler that costs most time is the worst, work before waiting"),
        PT_TEST(spans_beyond_a_million_are_counted, "spans beyond a million are only counted"),
    };
    return cmocka_run_group_tests_name("straggler", tests, NULL, NULL);
}
