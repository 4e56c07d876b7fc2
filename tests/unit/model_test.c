/* Tables, batches, views. */
#include "test.h"

#include "model/view.h"

#include <math.h>

#define HOST_COLUMNS(X, t)                                          \
    X(t, time, "vTime", COUNTER, I64, CENTISECONDS, 0, "a counter") \
    X(t, load, "vLoad", GAUGE, F64, RATIO, 1, "a gauge of another source")
PT_TABLE(host, PT_TABLE_MAIN("host"), "host", HOST_COLUMNS, "first", "second");

#define THING_COLUMNS(X, t)                        \
    X(t, id, "tId", KEY, STRING, NONE, 0, "which") \
    X(t, bytes, "tBytes", COUNTER, I64, BYTES, 0, "how many")
PT_TABLE(thing, PT_TABLE_FILE("things", "things"), "things", THING_COLUMNS, "file");

static const struct pt_table *const tables[] = { &host_table, &thing_table };
static const struct pt_schema schema = { tables, 2 };

static void a_new_row_is_all_null(void **state) {
    (void)state;
    struct pt_batch b;
    pt_batch_init(&b, &host_table);
    pt_batch_add_row(&b);
    assert_true(pt_is_null(&b, 0, host_time));
    pt_set_i64(&b, host_time, 0);
    assert_false(pt_is_null(&b, 0, host_time));
    pt_set_f64(&b, host_load, NAN);
    assert_true(pt_is_null(&b, 0, host_load));
    pt_batch_clear(&b);
    pt_batch_add_row(&b);
    assert_true(pt_is_null(&b, 0, host_time));
    pt_batch_release(&b);
}

static void views_put_a_time_beside_every_changing_value(void **state) {
    (void)state;
    struct pt_views v;
    pt_views_init(&v, &schema);
    assert_int_equal(v.view_count, 2);
    const char *const expected[] = { "timestamp", "monotonic_ns", "vTime",
                                     "vTimeT",    "vLoad",        "vLoadT" };
    assert_int_equal(v.views[0].column_count, PT_COUNT(expected));
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_string_equal(v.views[0].columns[i].name, expected[i]);
    assert_string_equal(v.views[1].file, "things");
    assert_string_equal(v.views[1].columns[2].name, "tId");
    assert_string_equal(v.views[1].columns[4].name, "tBytesT");
    pt_views_release(&v);
}

static void a_time_is_that_of_its_own_source(void **state) {
    (void)state;
    struct pt_sample s;
    struct pt_views v;
    struct pt_view_row row;
    pt_sample_init(&s, &schema);
    pt_views_init(&v, &schema);
    pt_view_row_init(&row, &v.views[0]);
    s.wall_ns = 1000000, s.mono_ns = 500;
    assert_int_equal(pt_view_row_count(&v.views[0], &s), 0);
    struct pt_batch *b = &s.batches[0];
    pt_batch_add_row(b);
    pt_set_i64(b, host_time, 42);
    pt_set_f64(b, host_load, 0.5);
    pt_set_time(b, 0, 501);
    pt_set_time(b, 1, 507);
    assert_int_equal(pt_view_row_count(&v.views[0], &s), 1);
    pt_view_read(&v.views[0], &s, 0, &row);
    assert_int_equal(row.cells[0].i64, 1000000);
    assert_int_equal(row.cells[1].i64, 500);
    assert_int_equal(row.cells[2].i64, 42);
    assert_int_equal(row.cells[3].i64, 1000001);
    assert_int_equal(row.cells[5].i64, 1000007);
    pt_view_row_release(&row);
    pt_views_release(&v);
    pt_sample_release(&s);
}

int main(void) {
    const struct CMUnitTest tests_[] = {
        PT_TEST(a_new_row_is_all_null, "C030: a new row is all null"),
        PT_TEST(views_put_a_time_beside_every_changing_value,
                "C028 C029: views put a time beside every changing value"),
        PT_TEST(a_time_is_that_of_its_own_source, "C028: a time is that of its own source"),
    };
    return cmocka_run_group_tests(tests_, NULL, NULL);
}
