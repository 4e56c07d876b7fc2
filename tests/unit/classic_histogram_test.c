/* Histograms and their quantiles against known answers of Prometheus' histogram_quantile(). */
#include "test.h"

#include "base/mem.h"
#include "derive/bucket_rows.h"

#include <math.h>

struct bucket {
    double above, le, count;
};

static void fill(struct pt_classic_histogram *h, const struct bucket *buckets, size_t count) {
    pt_classic_histogram_clear(h);
    for (size_t i = 0; i < count; i++)
        pt_classic_histogram_add(h, buckets[i].above, buckets[i].le, buckets[i].count);
}

#define FILL(h, ...)                                         \
    do {                                                     \
        static const struct bucket buckets_[] = __VA_ARGS__; \
        fill(h, buckets_, PT_COUNT(buckets_));               \
    } while (0)

static bool is_close(double a, double b) {
    return a == b || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

#define assert_quantile(h, q, value, width) assert_quantile_at(h, q, value, width, __LINE__)

static void assert_quantile_at(const struct pt_classic_histogram *h, double q, double value,
                               double width, int line) {
    struct pt_quantile found = pt_classic_histogram_quantile(h, q);
    if (!is_close(found.value, value) || !is_close(found.width, width))
        fail_msg("line %d: %.17g in %.17g, expected %.17g in %.17g", line, found.value, found.width,
                 value, width);
}

static void assert_unknown(const struct pt_classic_histogram *h, double q) {
    assert_true(isnan(pt_classic_histogram_quantile(h, q).value));
}

static void quantiles_are_those_of_prometheus(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    FILL(&h, { { 0, 0.1, 10 }, { 0.1, 0.2, 20 }, { 0.2, 0.5, 10 }, { 0.5, INFINITY, 10 } });
    assert_quantile(&h, 0.1, 0.05, 0.1);      /* rank 5: 5 of 10 in 0..0.1 */
    assert_quantile(&h, 0.2, 0.1, 0.1);       /* rank 10: the whole bucket */
    assert_quantile(&h, 0.5, 0.175, 0.1);     /* rank 25: 15 of 20 in 0.1..0.2 */
    assert_quantile(&h, 0.7, 0.35, 0.3);      /* rank 35: 5 of 10 in 0.2..0.5 */
    assert_quantile(&h, 0.8, 0.5, 0.3);       /* rank 40: the end of the last bucket with a bound */
    assert_quantile(&h, 0.81, 0.5, INFINITY); /* above: the highest bound */
    assert_quantile(&h, 1, 0.5, INFINITY);
    assert_quantile(&h, 0, 0, 0.1);
    assert_true(pt_classic_histogram_count(&h) == 50);
    pt_classic_histogram_release(&h);
}

static void odd_quantiles_are_those_of_prometheus(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    assert_unknown(&h, 0.5); /* no observations */
    assert_true(pt_classic_histogram_count(&h) == 0);
    FILL(&h, { { 0, 1, 0 }, { 1, INFINITY, 0 } });
    assert_unknown(&h, 0.5);
    FILL(&h, { { 0, 1, 4 } });
    assert_unknown(&h, NAN);
    assert_true(pt_classic_histogram_quantile(&h, -0.1).value == -INFINITY);
    assert_true(pt_classic_histogram_quantile(&h, 1.1).value == INFINITY);
    FILL(&h, { { -INFINITY, INFINITY, 4 } });
    assert_unknown(&h, 0.5); /* no bound */
    FILL(&h, { { -INFINITY, -1, 2 }, { -1, 1, 2 } });
    assert_quantile(&h, 0.25, -1, 0); /* the first bucket ends below zero: its bound */
    assert_quantile(&h, 0.75, 0, 2);
    FILL(&h, { { 3, 4, 2 }, { 8, 9, 2 } });
    assert_quantile(&h, 0, 3, 1); /* the lower bound of the first bucket that has any */
    assert_quantile(&h, 0.75, 8.5, 1);
    pt_classic_histogram_release(&h);
}

/* Cumulative: 4, 3, 8. */
static void buckets_that_lag_behind_count_as_the_one_below(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    FILL(&h, { { 0, 0.2, 4 }, { 0.2, 0.5, -1 }, { 0.5, 1, 5 } });
    assert_quantile(&h, 0.5, 0.2, 0.2);
    assert_quantile(&h, 0.75, 0.75, 0.5);      /* rank 6: 2 of 4 in 0.5..1 */
    pt_classic_histogram_add(&h, 0.2, 0.5, 1); /* the next scrape has it */
    pt_classic_histogram_add(&h, 0.5, 1, -1);
    assert_quantile(&h, 0.75, 0.75, 0.5);
    assert_true(pt_classic_histogram_count(&h) == 8);
    FILL(&h, { { 0, 1, -3 }, { 1, 2, 3 } });
    assert_unknown(&h, 0.5);
    pt_classic_histogram_release(&h);
}

/* 10 up to 0.1 from an unknown bound, 20 in (0.1, 0.3], 5 above. */
static void observations_up_to_a_limit_are_counted(void **state) {
    (void)state;
    static const double expected[][2] = { { 0.05, 0 }, { 0.1, 10 }, { 0.2, 20 },
                                          { 0.3, 30 }, { 99, 30 },  { INFINITY, 35 } };
    struct pt_classic_histogram h = { 0 };
    assert_true(pt_classic_histogram_count_to(&h, 1) == 0);
    pt_classic_histogram_add(&h, -INFINITY, 0.1, 10);
    pt_classic_histogram_add(&h, 0.1, 0.3, 20);
    pt_classic_histogram_add(&h, 0.3, INFINITY, 5);
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_true(fabs(pt_classic_histogram_count_to(&h, expected[i][0]) - expected[i][1]) <
                    1e-9);
    pt_classic_histogram_release(&h);
}

static void observations_outside_a_range_are_ignored(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    pt_classic_histogram_add(&h, 1, 1, 5);
    pt_classic_histogram_add(&h, 2, 1, 5);
    pt_classic_histogram_add(&h, NAN, 1, 5);
    pt_classic_histogram_add(&h, 1, NAN, 5);
    pt_classic_histogram_add(&h, 0, 1, NAN);
    pt_classic_histogram_add(&h, 0, 1, INFINITY);
    assert_int_equal(h.count, 0);
    pt_classic_histogram_release(&h);
}

static void buckets_come_in_any_order_and_again(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    FILL(&h, { { 0.5, INFINITY, 4 },
               { 0.1, 0.2, 12 },
               { 0, 0.1, 10 },
               { 0.5, INFINITY, 6 },
               { 0.2, 0.5, 10 },
               { 0.1, 0.2, 8 } });
    assert_int_equal(h.count, 5); /* and the bound at 0 */
    assert_quantile(&h, 0.5, 0.175, 0.1);
    assert_quantile(&h, 0.7, 0.35, 0.3);
    assert_true(pt_classic_histogram_count(&h) == 50);
    pt_classic_histogram_release(&h);
}

/* The share of observations up to `x`, from the quantiles alone. */
static double share_up_to(const struct pt_classic_histogram *h, double x) {
    double low = 0, high = 1;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        if (pt_classic_histogram_quantile(h, middle).value < x)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Up to x, in halves linear between the bounds of their own. */
static void other_bounds_are_merged_without_loss(void **state) {
    (void)state;
    struct pt_classic_histogram a = { 0 }, b = { 0 };
    FILL(&a, { { 0, 1, 30 }, { 1, 4, 60 } });
    FILL(&b, { { 0, 2, 10 }, { 2, 3, 20 }, { 3, 8, 40 } });
    pt_classic_histogram_merge(&a, &b);
    static const double bounds[] = { 0, 1, 2, 3, 4, 8 };
    static const double counts[] = { 0, 30 + 5, 20 + 5, 20 + 20, 20 + 8, 32 };
    assert_int_equal(a.count, PT_COUNT(bounds));
    for (size_t i = 0; i < a.count; i++) {
        assert_true(a.buckets[i].le == bounds[i]);
        assert_true(is_close(a.buckets[i].count, counts[i]));
    }
    assert_true(is_close(pt_classic_histogram_count(&a), 160));
    static const struct {
        double x, up_to;
    } known[] = { { 0.5, 15 + 2.5 }, { 1.5, 40 + 7.5 }, { 2.5, 60 + 20 }, { 6, 90 + 54 } };
    for (size_t i = 0; i < PT_COUNT(known); i++)
        assert_true(fabs(share_up_to(&a, known[i].x) - known[i].up_to / 160) < 1e-9);
    pt_classic_histogram_release(&a);
    pt_classic_histogram_release(&b);
}

/* The sum does not depend on the order. */
static void merging_is_the_same_in_any_order(void **state) {
    (void)state;
    static const struct bucket parts[3][3] = {
        { { 0, 0.1, 3 }, { 0.1, 0.7, 5 }, { 0.7, INFINITY, 1 } },
        { { 0, 0.3, 2 }, { 0.3, 0.5, 9 }, { 0.5, INFINITY, 2 } },
        { { 0, 0.2, 7 }, { 0.2, 1, 4 }, { 1, INFINITY, 3 } },
    };
    static const int orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 2, 0 } };
    struct pt_classic_histogram sums[3] = { { 0 } }, one = { 0 };
    for (size_t i = 0; i < PT_COUNT(orders); i++)
        for (int k = 0; k < 3; k++) {
            fill(&one, parts[orders[i][k]], 3);
            pt_classic_histogram_merge(&sums[i], &one);
        }
    for (size_t i = 1; i < PT_COUNT(orders); i++)
        for (double q = 0.05; q < 1; q += 0.05) {
            struct pt_quantile expected = pt_classic_histogram_quantile(&sums[0], q);
            assert_quantile(&sums[i], q, expected.value, expected.width);
        }
    for (size_t i = 0; i < PT_COUNT(sums); i++)
        pt_classic_histogram_release(&sums[i]);
    pt_classic_histogram_release(&one);
}

/* Nothing is known of the inside of a bucket without an outer bound: all of it stays outside. */
static void open_buckets_are_not_divided(void **state) {
    (void)state;
    struct pt_classic_histogram h = { 0 };
    FILL(&h, { { 1, INFINITY, 10 }, { 2, 3, 10 } });
    assert_quantile(&h, 0.25, 2.5, 1);
    assert_quantile(&h, 0.75, 3, INFINITY);
    FILL(&h, { { -INFINITY, -1, 10 }, { -3, -2, 10 } });
    assert_quantile(&h, 0.25, -3, 0);
    assert_quantile(&h, 0.75, -2.5, 1);
    FILL(&h, { { -3, -2, 10 }, { -INFINITY, -1, 10 } });
    assert_quantile(&h, 0.25, -3, 0);
    assert_quantile(&h, 0.75, -2.5, 1);
    FILL(&h, { { 0, 1, 10 }, { -INFINITY, INFINITY, 10 } });
    assert_quantile(&h, 0.25, 0.5, 1);
    assert_quantile(&h, 0.75, 1, INFINITY);
    pt_classic_histogram_release(&h);
}

static void a_cleared_histogram_keeps_its_memory(void **state) {
    (void)state;
    static const struct bucket buckets[] = { { 0, 0.1, 10 }, { 0.1, 0.2, 20 }, { 0.4, 0.5, 1 } };
    struct pt_classic_histogram h = { 0 }, sum = { 0 };
    uint64_t before = 0;
    for (int round = 0; round < 3; round++) {
        if (round == 1)
            before = pt_mem_allocation_count();
        fill(&h, buckets, PT_COUNT(buckets));
        pt_classic_histogram_clear(&sum);
        pt_classic_histogram_merge(&sum, &h);
        assert_quantile(&sum, 1, 0.5, 0.1);
    }
    assert_true(pt_mem_allocation_count() == before);
    pt_classic_histogram_release(&h);
    pt_classic_histogram_release(&sum);
}

#define BUCKET_TABLE_COLUMNS(X, t)                                 \
    X(t, rank, "rank", KEY, I64, NONE, 0, "Rank of a merged run")  \
    X(t, name, "hName", KEY, STRING, NONE, 0, "Name of a latency") \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(buckets, PT_TABLE_ROWS(EVENTS, "buckets", NULL), "Buckets", BUCKET_TABLE_COLUMNS, "test");

#define OTHER_COLUMNS(X, t)                                           \
    X(t, above, "hAbove", INFO, F64, SECONDS, 0, "Not such a column") \
    X(t, le, "hLe", INFO, F64, SECONDS, 0, "Not such a column")       \
    X(t, count, "hCount", GAUGE, F64, COUNT, 0, "Has another type")   \
    X(t, seconds, "hSeconds", INFO, F64, SECONDS, 0, "Not such a one")
PT_TABLE(other, PT_TABLE_ROWS(EVENTS, "others", NULL), "Others", OTHER_COLUMNS, "test");

static void rows_add_up_to_the_histogram(void **state) {
    (void)state;
    struct pt_batch rows;
    struct pt_classic_histogram h = { 0 };
    int first = pt_bucket_rows_find(&buckets_table);
    assert_int_equal(first, buckets_above);
    assert_int_equal(pt_bucket_rows_find(&other_table), -1);
    pt_batch_init(&rows, &buckets_table);
    pt_batch_add_row(&rows);
    pt_bucket_row_set(&rows, first, 0, 0.1, 10, 1.00049);
    pt_batch_add_row(&rows);
    pt_bucket_row_set(&rows, first, 0.1, INFINITY, 5, NAN);
    pt_batch_add_row(&rows);
    pt_bucket_row_set(&rows, first, -INFINITY, 0, 5, 2);
    pt_batch_add_row(&rows); /* without a count */
    assert_true(pt_get_f64(&rows, 0, buckets_seconds) == 1);
    assert_true(pt_is_null(&rows, 1, buckets_le) && pt_is_null(&rows, 1, buckets_seconds));
    assert_true(pt_is_null(&rows, 2, buckets_above));
    for (uint32_t i = 0; i < rows.row_count; i++)
        pt_bucket_row_add_to(&rows, i, first, &h);
    assert_true(pt_classic_histogram_count(&h) == 20);
    assert_quantile(&h, 0.1, 0, 0);
    assert_quantile(&h, 0.5, 0.05, 0.1);
    assert_quantile(&h, 0.9, 0.1, INFINITY);
    pt_batch_release(&rows);
    pt_classic_histogram_release(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(quantiles_are_those_of_prometheus, "C316: quantiles are those of Prometheus"),
        PT_TEST(odd_quantiles_are_those_of_prometheus,
                "C316: without observations or bounds, and outside 0 to 1, too"),
        PT_TEST(buckets_that_lag_behind_count_as_the_one_below,
                "C316: a bucket that lags behind counts as the one below it"),
        PT_TEST(observations_up_to_a_limit_are_counted,
                "C316: observations up to a limit are counted, spread evenly inside a bucket"),
        PT_TEST(observations_outside_a_range_are_ignored, "C316: empty ranges and NaN are ignored"),
        PT_TEST(buckets_come_in_any_order_and_again, "C316: buckets come in any order, and again"),
        PT_TEST(other_bounds_are_merged_without_loss,
                "C316: histograms with other bounds are merged without loss"),
        PT_TEST(merging_is_the_same_in_any_order, "C316: merging is the same in any order"),
        PT_TEST(open_buckets_are_not_divided, "C316: buckets without a bound are not divided"),
        PT_TEST(a_cleared_histogram_keeps_its_memory, "C316: a cleared histogram keeps its memory"),
        PT_TEST(rows_add_up_to_the_histogram, "C316: the rows of a table add up to a histogram"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
