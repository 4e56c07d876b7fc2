/* Figures in the stream and in the history of `pitot serve`. */
#include "tree_fixture.h"

#include "serve/changes.h"
#include "serve/history_route.h"
#include "store/segments.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#define SECOND            INT64_C(1000000000)

#define MEM_COLUMNS(X, t) X(t, used, "vMemoryUsed", GAUGE, I64, BYTES, 0, "")
PT_TABLE(mem, PT_TABLE_MAIN("mem"), "memory", MEM_COLUMNS, "file");
#define DISK_COLUMNS(X, t) X(t, read, "vDiskReadBytes", COUNTER, I64, BYTES, 0, "")
PT_TABLE(disk, PT_TABLE_MAIN("disk"), "disks", DISK_COLUMNS, "file");

enum { MEM, DISK, TABLE_COUNT };
static const struct pt_table *const tables[] = { &mem_table, &disk_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

/* The same names, but a column was added: rows of this layout cannot be read as rows of the other.
 */
#define NEW_DISK_COLUMNS(X, t)                                   \
    X(t, written, "vDiskWriteBytes", COUNTER, I64, BYTES, 0, "") \
    X(t, read_bytes, "vDiskReadBytes", COUNTER, I64, BYTES, 0, "")
PT_TABLE(new_disk, PT_TABLE_MAIN("disk"), "disks", NEW_DISK_COLUMNS, "file");

static void fill(struct pt_sample *s, int seconds, int64_t used, int64_t read) {
    pt_sample_clear(s);
    s->mono_ns = seconds * SECOND;
    s->wall_ns = 1000 * SECOND + s->mono_ns;
    pt_batch_add_row(&s->batches[MEM]);
    pt_set_time(&s->batches[MEM], 0, s->mono_ns);
    pt_set_i64(&s->batches[MEM], mem_used, used);
    pt_batch_add_row(&s->batches[DISK]);
    pt_set_time(&s->batches[DISK], 0, s->mono_ns);
    pt_set_i64(&s->batches[DISK], disk_read, read);
}

static json_t *message(struct pt_changes *c, struct pt_latest *l, bool is_whole) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_changes_write(c, l, is_whole, &out);
    assert_int_equal(pt_out_close(&out), 0);
    json_t *read = json_loadb((const char *)text.at, text.len, 0, NULL);
    assert_non_null(read);
    pt_buf_release(&text);
    return read;
}

static json_t *figure(json_t *got, const char *name) {
    return json_object_get(json_object_get(got, "figures"), name);
}

static void a_stream_has_all_figures_then_those_that_changed(void **state) {
    (void)state;
    struct pt_latest l;
    struct pt_changes c;
    struct pt_sample s;
    pt_latest_init(&l, &schema);
    pt_changes_init(&c, &schema);
    pt_sample_init(&s, &schema);
    fill(&s, 1, 4096, 0);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    json_t *m = message(&c, &l, true);
    assert_int_equal(json_object_size(json_object_get(m, "figures")), PT_FIGURE_COUNT);
    assert_int_equal(json_number_value(figure(m, "mem.used")), 4096);
    assert_true(json_is_null(figure(m, "disk.read")));
    assert_true(json_is_null(figure(m, "gpu.util")));
    json_decref(m);

    fill(&s, 2, 4096, 1000);
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    m = message(&c, &l, false);
    assert_null(figure(m, "mem.used")); /* as before */
    assert_null(figure(m, "gpu.util")); /* still unknown */
    assert_int_equal(json_number_value(figure(m, "disk.read")), 1000);
    json_decref(m);

    fill(&s, 3, 4096, 0); /* a reset: the rate is unknown again */
    pt_latest_update(&l, &s);
    pt_changes_update(&c, &l);
    m = message(&c, &l, false);
    assert_true(json_is_null(figure(m, "disk.read")));
    json_decref(m);
    pt_sample_release(&s);
    pt_changes_release(&c);
    pt_latest_release(&l);
}

static void queries_of_figures_are_read_strictly(void **state) {
    (void)state;
    struct pt_history_query q;
    struct pt_err err;
    static const struct pt_history_texts good = { .figure = "mem.used,disk.read,mem.used" };
    assert_int_equal(pt_history_parse(&q, &good, &schema, 5000 * SECOND, &err), 0);
    assert_int_equal(q.table, -1);
    assert_int_equal(q.figure_count, 2); /* twice is once */
    assert_int_equal(q.figures[0], PT_FIGURE_MEM_USED);
    assert_int_equal(q.figures[1], PT_FIGURE_DISK_READ);
    static const struct pt_history_texts bad[] = {
        { NULL },
        { .figure = "" },
        { .figure = "mem.used," },
        { .figure = ",mem.used" },
        { .figure = "mem" },
        { .figure = "mem.used2" },
        { .table = "mem", .figure = "mem.used" },
        { .figure = "mem.used", .from = "x" },
        { .figure = "mem.used", .step = "0" },
    };
    for (size_t i = 0; i < PT_COUNT(bad); i++) {
        err.text[0] = 0;
        if (pt_history_parse(&q, &bad[i], &schema, 5000 * SECOND, &err) != -EINVAL || !err.text[0])
            fail_msg("number %zu was taken", i);
    }
}

/* 100 seconds; reads grow by 1000 bytes per second, and once by 11000. */
static void write_history(void) {
    struct pt_segments segments;
    struct pt_segments_options o = { tree.root, 8 << 20, 0 };
    struct pt_sample s;
    assert_int_equal(pt_segments_open(&segments, &o, &schema, NULL), 0);
    pt_sample_init(&s, &schema);
    for (int i = 0; i < 100; i++) {
        fill(&s, i + 1, i < 50 ? 100 : 300, 1000 * i + (i >= 55 ? 10000 : 0));
        assert_int_equal(pt_segments_write(&segments, &s), 0);
    }
    pt_sample_release(&s);
    pt_segments_close(&segments);
}

static json_t *ask(const struct pt_schema *with, struct pt_history_texts texts) {
    struct pt_history_query q;
    struct pt_err err = { "" };
    struct pt_buf text = { 0 };
    if (pt_history_parse(&q, &texts, with, 2001 * SECOND, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pt_history_write(&q, with, tree.root, SECOND, &text), 0);
    json_t *read = json_loadb((const char *)text.at, text.len, 0, NULL);
    assert_non_null(read);
    pt_buf_release(&text);
    return read;
}

static json_t *value(json_t *answer, const char *name, const char *statistic, size_t step) {
    return json_array_get(json_object_get(figure(answer, name), statistic), step);
}

static void steps_have_sum_over_weight_and_extremes(void **state) {
    (void)state;
    write_history();
    json_t *a = ask(&schema, (struct pt_history_texts){ .figure = "mem.used,disk.read,gpu.util",
                                                        .from = "1010000",
                                                        .to = "1100000",
                                                        .step = "10s" });
    assert_int_equal(json_integer_value(json_object_get(a, "from")), 1010000);
    assert_int_equal(json_integer_value(json_object_get(a, "step")), 10000);
    assert_int_equal(json_integer_value(json_object_get(a, "count")), 10);
    assert_null(json_object_get(a, "table"));
    for (size_t i = 0; i < 9; i++) {
        double mean = json_number_value(value(a, "disk.read", "mean", i));
        double high = json_number_value(value(a, "disk.read", "max", i));
        assert_true(fabs(mean - (i == 4 ? 2000 : 1000)) < 1e-3);
        assert_true(fabs(high - (i == 4 ? 11000 : 1000)) < 1e-3);
        assert_true(fabs(json_number_value(value(a, "disk.read", "min", i)) - 1000) < 1e-3);
        assert_true(json_is_null(value(a, "gpu.util", "mean", i)));
    }
    /* samples 1050 to 1059: the first is the last one with 100 bytes */
    assert_int_equal(json_number_value(value(a, "mem.used", "mean", 4)), 280);
    assert_int_equal(json_number_value(value(a, "mem.used", "min", 4)), 100);
    assert_int_equal(json_number_value(value(a, "mem.used", "max", 4)), 300);
    json_decref(a);
}

static void the_first_step_knows_rates_from_the_samples_before(void **state) {
    (void)state;
    write_history();
    json_t *a =
        ask(&schema,
            (struct pt_history_texts){ .figure = "disk.read", .from = "1020000", .to = "1025000" });
    assert_int_equal(json_integer_value(json_object_get(a, "step")), 1000);
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs(json_number_value(value(a, "disk.read", "mean", i)) - 1000) < 1e-3);
    assert_null(value(a, "disk.read", "min", 0)); /* one sample per step */
    json_decref(a);
}

static void segments_with_other_columns_are_unknown(void **state) {
    (void)state;
    static const struct pt_table *const other_tables[] = { &new_disk_table, &mem_table };
    static const struct pt_schema other = { other_tables, TABLE_COUNT };
    write_history();
    json_t *a =
        ask(&other, (struct pt_history_texts){
                        .figure = "disk.read,mem.used", .from = "1020000", .to = "1025000" });
    assert_true(json_is_null(value(a, "disk.read", "mean", 1)));
    assert_int_equal(json_number_value(value(a, "mem.used", "mean", 1)), 100);
    json_decref(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_stream_has_all_figures_then_those_that_changed,
                "C314: a stream has all figures, then those that changed"),
        PT_TEST(queries_of_figures_are_read_strictly, "queries of figures are read strictly"),
        WITH_TREE(steps_have_sum_over_weight_and_extremes,
                  "C314: figures in steps are sum over weight, with minimum and maximum"),
        WITH_TREE(the_first_step_knows_rates_from_the_samples_before,
                  "the first step knows rates from the samples before it"),
        WITH_TREE(segments_with_other_columns_are_unknown,
                  "tables of another layout are unknown, the others are read"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
