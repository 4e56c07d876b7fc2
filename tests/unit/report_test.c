/* The page of a run: what is kept of its series, and what stands in it. */
#include "json_text.h"
#include "tree.h"

#include "base/fs.h"
#include "report/blob.h"
#include "report/curve.h"
#include "report/report_page.h"
#include "report/spans.h"
#include "report/entities.h"
#include "store/journal.h"

#include <errno.h>
#include <math.h>
#include <zlib.h>

#define SECOND INT64_C(1000000000)

/* Series */

static void every_peak_and_dip_is_kept(void **state) {
    (void)state;
    struct pt_curve_axis axis;
    struct pt_curve curve;
    pt_curve_axis_init(&axis, 0, 99999, 100000, 100);
    assert_false(axis.is_whole);
    assert_int_equal(axis.count, 100);
    pt_curve_init(&curve, axis.count);
    for (int i = 0; i < 100000; i++) {
        double value = i == 41234 ? 900 : i == 41777 ? -900 : i % 7;
        pt_curve_add(&curve, pt_curve_axis_at(&axis, (uint64_t)i, i), value);
    }
    for (uint32_t k = 0; k < axis.count; k++) {
        double low = fmin(curve.values[2 * k], curve.values[2 * k + 1]);
        double high = fmax(curve.values[2 * k], curve.values[2 * k + 1]);
        assert_true(low == (k == 41 ? -900 : 0) && high == (k == 41 ? 900 : 6));
    }
    pt_curve_release(&curve);
}

static void extremes_stand_in_the_order_they_came(void **state) {
    (void)state;
    static const struct {
        double values[4], first, second;
    } cases[] = {
        { { 3, 1, 2, 2 }, 3, 1 }, { { 1, 3, 2, 2 }, 1, 3 }, { { 2, 3, 1, 2 }, 3, 1 },
        { { 2, 1, 3, 1 }, 1, 3 }, { { 5, 5, 5, 5 }, 5, 5 }, { { NAN, 4, NAN, 1 }, 4, 1 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_curve curve;
        pt_curve_init(&curve, 1);
        for (int k = 0; k < 4; k++)
            pt_curve_add(&curve, 0, cases[i].values[k]);
        assert_true(curve.values[0] == cases[i].first && curve.values[1] == cases[i].second);
        pt_curve_release(&curve);
    }
}

static void a_short_run_keeps_every_sample(void **state) {
    (void)state;
    struct pt_curve_axis axis;
    pt_curve_axis_init(&axis, 10 * SECOND, 20 * SECOND, 200, 100);
    assert_true(axis.is_whole);
    assert_int_equal(axis.count, 200);
    for (uint64_t i = 0; i < 200; i++)
        assert_int_equal(pt_curve_axis_at(&axis, i, 10 * SECOND), i);
    assert_int_equal(pt_curve_axis_at(&axis, 1000, 0), 199);
    pt_curve_axis_init(&axis, 0, 1000, 201, 100);
    assert_false(axis.is_whole);
    assert_int_equal(pt_curve_axis_at(&axis, 0, -5), 0);
    assert_int_equal(pt_curve_axis_at(&axis, 0, 1000), 99);
    assert_int_equal(pt_curve_axis_at(&axis, 0, 5000), 99);
}

/* Numbers */

static uint8_t *from_base64(const char *text, size_t *length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *bytes = pt_malloc(strlen(text) + 1);
    uint32_t group = 0;
    *length = 0;
    for (size_t i = 0; text[i] && text[i] != '='; i++) {
        group = group << 6 | (uint32_t)(strchr(digits, text[i]) - digits);
        if (i % 4 > 0)
            bytes[(*length)++] = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    return bytes;
}

/* The floats from `at` on, as docs/REPORT.md says. */
static float number(const uint8_t *bytes, size_t at, size_t count, size_t index) {
    uint32_t bits = 0;
    float value;
    for (size_t plane = 0; plane < 4; plane++)
        bits = bits << 8 | bytes[at * 4 + plane * count + index];
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void numbers_come_back(void **state) {
    (void)state;
    const double exact[] = { 0, 1, -2.5, 16777215, NAN }, rounded[] = { 1000, 1003, 1e9, NAN };
    struct pt_blob blob = { 0 };
    struct pt_out out;
    assert_int_equal(pt_blob_add(&blob, exact, 5, 1, 0, PT_BLOB_EXACT), 0);
    assert_int_equal(pt_blob_add(&blob, rounded, 4, 1, 1000, PT_BLOB_ROUNDED), 5);
    assert_int_equal(pt_blob_add(&blob, exact, 2, 2, 0, PT_BLOB_EXACT), 9);
    memory_open(&out);
    assert_int_equal(pt_blob_write(&blob, &out), 0);
    char *text = memory_text(&out);
    size_t length;
    uint8_t *packed = from_base64(text, &length), bytes[256];
    uLongf size = sizeof bytes;
    assert_int_equal(uncompress(bytes, &size, packed, length), Z_OK);
    assert_int_equal(size, 11 * sizeof(float));
    for (size_t i = 0; i < 4; i++)
        assert_true(number(bytes, 0, 5, i) == (float)exact[i]);
    assert_true(isnan(number(bytes, 0, 5, 4)) && isnan(number(bytes, 5, 4, 3)));
    assert_true(number(bytes, 5, 4, 0) == 0 && number(bytes, 5, 4, 1) == 3);
    assert_true(fabs(number(bytes, 5, 4, 2) - (1e9 - 1000)) < 1e9 / 8192);
    assert_true(number(bytes, 9, 2, 1) == -2.5F);
    pt_free(packed);
    pt_free(text);
    pt_blob_release(&blob);
}

/* A run with a table of each shape */

#define MACHINE_COLUMNS(X, t)                                        \
    X(t, value, "hValue", GAUGE, F64, NONE, 0, "A value")            \
    X(t, bytes, "hBytes", COUNTER, I64, BYTES, 0, "Bytes </script>") \
    X(t, never, "hNever", GAUGE, I64, NONE, 0, "Is never known")
PT_TABLE(machine, PT_TABLE_FILE("machine", NULL), "The machine", MACHINE_COLUMNS, "here");

#define THING_COLUMNS(X, t)                                                                    \
    X(t, id, "tId", KEY, STRING, NONE, 0, "")                                                  \
    X(t, is_recorded, "tIsRecorded", INFO, I64, NONE, 0, "", .role = PT_ROLE_RECORDED)         \
    X(t, time, "tTime", COUNTER, I64, NANOSECONDS, 0, "CPU time", .title = "Time",             \
      .form = PT_FORM_CORES, .family = "Times", .is_stacked = true, .importance = PT_HEADLINE) \
    X(t, size, "tSize", GAUGE, I64, MEBIBYTES, 0, "Memory", .limit = "tTime",                  \
      .better = PT_LOWER_IS_BETTER)
PT_TABLE(thing, PT_TABLE_FILE("things", NULL), "Things", THING_COLUMNS, "there");

#define MARK_COLUMNS(X, t) X(t, text, "mText", INFO, STRING, NONE, 0, "")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "", MARK_COLUMNS, "mark");

#define SPAN_COLUMNS(X, t)                               \
    X(t, pid, "sPid", KEY, I64, NONE, 0, "")             \
    X(t, thread, "sThread", KEY, I64, NONE, 0, "")       \
    X(t, name, "sName", KEY, STRING, NONE, 0, "")        \
    X(t, start, "sStart", INFO, I64, NANOSECONDS, 0, "") \
    X(t, duration, "sDuration", GAUGE, I64, NANOSECONDS, 0, "")
PT_TABLE(span, PT_TABLE_FILE("spans", NULL), "", SPAN_COLUMNS, "span");

enum { MACHINE, THING, MARK, SPAN, TABLE_COUNT };
static const struct pt_table *const tables[] = { &machine_table, &thing_table, &mark_table,
                                                 &span_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

static void put_thing(struct pt_sample *s, const char *id, bool is_recorded, int64_t time,
                      int64_t size) {
    struct pt_batch *b = &s->batches[THING];
    pt_batch_add_row(b);
    pt_set_str(b, thing_id, pt_str_from(id));
    pt_set_i64(b, thing_is_recorded, is_recorded);
    pt_set_i64(b, thing_time, time);
    pt_set_i64(b, thing_size, size);
    pt_set_time(b, 0, s->mono_ns);
}

static void put_span(struct pt_sample *s, const char *name, int64_t start_ns, int64_t duration_ns) {
    struct pt_batch *b = &s->batches[SPAN];
    pt_batch_add_row(b);
    pt_set_i64(b, span_pid, 7);
    pt_set_i64(b, span_thread, 8);
    pt_set_str(b, span_name, pt_str_from(name));
    pt_set_i64(b, span_start, start_ns);
    pt_set_i64(b, span_duration, duration_ns);
}

/* Sample i is at i + 1 seconds; bytes grow by 1000 a second. */
static void fill(struct pt_sample *s, int i) {
    pt_sample_clear(s);
    s->mono_ns = (i + 1) * SECOND;
    s->wall_ns = 1700000000 * SECOND + i * SECOND;
    struct pt_batch *b = &s->batches[MACHINE];
    pt_batch_add_row(b);
    pt_set_f64(b, machine_value, i % 10);
    pt_set_i64(b, machine_bytes, 5000 + 1000 * i);
    pt_set_time(b, 0, s->mono_ns);
    put_thing(s, "busy", false, i * SECOND, 10);
    put_thing(s, "mine", true, i * SECOND / 100, 5);
    for (int k = 0; k < 20; k++) {
        char id[16];
        snprintf(id, sizeof id, "idle-%d", k);
        put_thing(s, id, false, 0, 1);
    }
    if (i == 3) {
        pt_batch_add_row(&s->batches[MARK]);
        pt_set_str(&s->batches[MARK], mark_text, PT_STR("</script><b>here"));
        put_span(s, "step", s->mono_ns - SECOND, SECOND / 2);
    }
}

static void write_run(const char *path, int sample_count) {
    struct pt_journal journal = { 0 };
    struct pt_sample sample;
    struct pt_err err = { "" };
    const uint8_t uuid[16] = { 1, 2, 3 };
    assert_int_equal(pt_journal_create(&journal, path, uuid, &schema, &err), 0);
    assert_int_equal(pt_journal_note(&journal, PT_STR("static"), PT_STR("{\"a\": \"</script>\"}")),
                     0);
    pt_sample_init(&sample, &schema);
    for (int i = 0; i < sample_count; i++) {
        fill(&sample, i);
        assert_int_equal(pt_journal_write(&journal, &sample), 0);
    }
    assert_int_equal(pt_journal_note(&journal, PT_STR("end"), PT_STR("over")), 0);
    pt_sample_release(&sample);
    assert_int_equal(pt_journal_close(&journal), 0);
}

struct page {
    struct tree tree;
    char *text;
    json_t *data;
    uint8_t bytes[1 << 20];
};

static char *read_file(const char *path) {
    struct pt_text text = { 0 };
    struct pt_scan scan;
    assert_int_equal(pt_fs_read(AT_FDCWD, path, &text, &scan), 0);
    char *copy = pt_strndup(pt_scan_rest(&scan));
    pt_text_release(&text);
    return copy;
}

/* What stands between the start of an element of that id and its end. */
static char *element(const char *page, const char *id) {
    char opening[64];
    snprintf(opening, sizeof opening, "<script id=\"%s\"", id);
    const char *start = strstr(page, opening);
    assert_non_null(start);
    start = strchr(start, '>') + 1;
    return pt_strndup((struct pt_str){ start, (size_t)(strstr(start, "</script>") - start) });
}

static struct page *make_page(int sample_count) {
    struct pt_err err = { "" };
    if (pt_report_check(&err))
        skip(); /* built without npm */
    struct page *p = pt_calloc(1, sizeof *p);
    char journal[PATH_MAX], path[PATH_MAX];
    tree_make(&p->tree);
    snprintf(journal, sizeof journal, "%s", tree_path(&p->tree, "run.pitot"));
    snprintf(path, sizeof path, "%s", tree_path(&p->tree, "run.html"));
    write_run(journal, sample_count);
    struct pt_report_options options = { .journal = journal, .path = path };
    if (pt_report_write(&options, &err))
        fail_msg("%s", err.text);
    p->text = read_file(path);
    char *json = element(p->text, "report-data"), *base64 = element(p->text, "report-numbers");
    p->data = parsed(json);
    size_t length;
    uint8_t *packed = from_base64(base64, &length);
    uLongf size = sizeof p->bytes;
    assert_int_equal(uncompress(p->bytes, &size, packed, length), Z_OK);
    pt_free(packed);
    pt_free(base64);
    pt_free(json);
    return p;
}

static void free_page(struct page *p) {
    json_decref(p->data);
    pt_free(p->text);
    tree_remove(&p->tree);
    pt_free(p);
}

static double real(json_t *value, const char *path) {
    return json_number_value(at(value, path));
}

static float value_of(const struct page *p, json_t *series, size_t count, size_t index) {
    size_t offset = (size_t)json_integer_value(json_object_get(series, "at"));
    return number(p->bytes, offset, count, index) +
           (float)json_number_value(json_object_get(series, "base"));
}

static void every_table_is_there_as_the_schema_has_it(void **state) {
    (void)state;
    struct page *p = make_page(50);
    assert_int_equal(json_array_size(at(p->data, "tables")), 2);
    json_t *machine = at(p->data, "tables.0");
    assert_string_equal(json_string_value(at(machine, "name")), "machine");
    assert_int_equal(json_array_size(at(machine, "columns")), 2);
    assert_string_equal(json_string_value(at(machine, "absent.0.name")), "hNever");
    assert_string_equal(json_string_value(at(machine, "absent.0.title")), "Never");
    json_t *value = at(machine, "columns.0.series.0"), *bytes = at(machine, "columns.1");
    for (size_t i = 0; i < 50; i++)
        assert_true(value_of(p, value, 50, i) == (float)(i % 10));
    assert_true(json_is_true(at(bytes, "is_rate")));
    assert_string_equal(json_string_value(at(bytes, "unit")), "bytes");
    assert_true(real(bytes, "series.0.value") == 1000); /* a second, and always the same */
    assert_true(isnan(value_of(p, at(bytes, "series.0"), 50, 0)));
    free_page(p);
}

static void the_recorded_and_the_busiest_are_drawn(void **state) {
    (void)state;
    struct page *p = make_page(50);
    json_t *things = at(p->data, "tables.1");
    assert_int_equal(json_integer_value(at(things, "key_count")), 22);
    assert_int_equal(json_array_size(at(things, "keys")), 8);
    assert_string_equal(json_string_value(at(things, "keys.0.label")), "mine");
    assert_string_equal(json_string_value(at(things, "keys.1.label")), "busy");
    assert_true(fabs(real(things, "columns.0.series.1.value") - 1) <
                1e-9); /* a second each second */
    assert_true(real(things, "columns.1.series.0.value") == 5 * 1048576.0);
    free_page(p);
}

static void columns_say_what_they_mean(void **state) {
    (void)state;
    struct page *p = make_page(50);
    json_t *time = at(p->data, "tables.1.columns.0"), *size = at(p->data, "tables.1.columns.1");
    assert_string_equal(json_string_value(at(time, "title")), "Time");
    assert_string_equal(json_string_value(at(time, "family")), "Times");
    assert_true(json_is_true(at(time, "is_stacked")));
    assert_string_equal(json_string_value(at(time, "importance")), "headline");
    assert_string_equal(json_string_value(at(time, "unit")), "cores");
    assert_true(json_is_false(at(time, "is_rate")));
    assert_string_equal(json_string_value(at(size, "title")), "Size");
    assert_string_equal(json_string_value(at(size, "limit")), "tTime");
    assert_string_equal(json_string_value(at(size, "importance")), "detail");
    assert_null(json_object_get(size, "family"));
    assert_null(json_object_get(time, "limit"));
    assert_null(json_object_get(time, "full"));
    assert_string_equal(json_string_value(at(p->data, "tables.1.keys.0.texts.Id")), "mine");
    free_page(p);
}

static void text_of_others_cannot_end_the_script(void **state) {
    (void)state;
    struct page *p = make_page(50);
    assert_string_equal(json_string_value(at(p->data, "events.0.text")), "</script><b>here");
    assert_string_equal(json_string_value(at(p->data, "static")), "{\"a\": \"</script>\"}");
    assert_null(strstr(p->text, "<b>here"));
    assert_true(real(p->data, "events.0.time") == 3);
    free_page(p);
}

static void spans_are_on_the_same_clock(void **state) {
    (void)state;
    struct page *p = make_page(50);
    json_t *spans = at(p->data, "spans");
    assert_int_equal(json_integer_value(at(spans, "count")), 1);
    assert_string_equal(json_string_value(at(spans, "names.0")), "step");
    size_t start = (size_t)json_integer_value(at(spans, "start"));
    size_t took = (size_t)json_integer_value(at(spans, "duration"));
    assert_true(number(p->bytes, start, 1, 0) == 2);
    assert_true(number(p->bytes, took, 1, 0) == 0.5F);
    free_page(p);
}

static void a_long_run_is_thinned_out(void **state) {
    (void)state;
    struct page *p = make_page(20000);
    assert_true(json_is_false(at(p->data, "axis.is_whole")));
    assert_int_equal(json_integer_value(at(p->data, "axis.count")), 2000);
    json_t *value = at(p->data, "tables.0.columns.0.series.0");
    for (size_t i = 0; i < 2000; i++) {
        float first = value_of(p, value, 4000, 2 * i), second = value_of(p, value, 4000, 2 * i + 1);
        assert_true(fminf(first, second) == 0 && fmaxf(first, second) == 9);
    }
    assert_true(strlen(p->text) < 1000000);
    free_page(p);
}

static void the_longest_spans_are_kept(void **state) {
    (void)state;
    struct pt_report_spans spans;
    struct pt_sample sample;
    pt_report_spans_init(&spans, &schema);
    pt_sample_init(&sample, &schema);
    for (int i = 0; i < 3 * PT_REPORT_SPANS_MAX; i++) {
        if (i % 1000 == 0)
            pt_sample_clear(&sample);
        put_span(&sample, i % 2 ? "odd" : "even", i * 1000, (i * INT64_C(7919)) % 60000);
        if (i % 1000 == 999)
            pt_report_spans_add(&spans, &sample);
    }
    assert_int_equal(spans.seen_count, 3 * PT_REPORT_SPANS_MAX);
    assert_int_equal(spans.kept_count, PT_REPORT_SPANS_MAX);
    assert_int_equal(spans.heap[0].duration_ns, 40000); /* 0 to 59999 came once each */
    assert_int_equal(spans.totals[0].count + spans.totals[1].count, 3 * PT_REPORT_SPANS_MAX);
    assert_int_equal(spans.totals[0].total_ns + spans.totals[1].total_ns,
                     INT64_C(59999) * 60000 / 2);
    pt_sample_release(&sample);
    pt_report_spans_release(&spans);
}

static void things_that_do_nothing_are_forgotten_first(void **state) {
    (void)state;
    struct pt_report_entities things;
    struct pt_sample sample;
    pt_report_entities_init(&things, &thing_table);
    pt_sample_init(&sample, &schema);
    for (int i = 0; i < 5 * PT_REPORT_ENTITIES_MAX; i++) {
        char id[16];
        pt_sample_clear(&sample);
        sample.mono_ns = (i + 1) * SECOND;
        snprintf(id, sizeof id, "%d", i);
        put_thing(&sample, id, false, 0, 1);
        put_thing(&sample, "busy", false, i * SECOND, 100);
        pt_report_entities_advance(&things, &sample);
        pt_report_entities_survey(&things, &sample.batches[THING]);
    }
    assert_true(things.keys.count <= PT_REPORT_ENTITIES_MAX);
    assert_int_equal(things.keys.count + things.dropped_count, 5 * PT_REPORT_ENTITIES_MAX + 1);
    pt_report_entities_choose(&things, 3);
    assert_string_equal(things.list[things.chosen[0]].texts[thing_id], "busy");
    assert_true(things.list[things.chosen[0]].columns[thing_time].sum ==
                5 * PT_REPORT_ENTITIES_MAX - 1);
    pt_sample_release(&sample);
    pt_report_entities_release(&things);
}

static const struct pt_rate *next_time(struct pt_report_entities *things, struct pt_sample *sample,
                                       double second, int64_t time) {
    pt_sample_clear(sample);
    sample->mono_ns = (int64_t)(second * SECOND);
    put_thing(sample, "one", false, time, 1);
    const struct pt_batch *rows = &sample->batches[THING];
    pt_report_entities_advance(things, sample);
    struct pt_report_entity *entity = pt_report_entities_next(things, rows, 0);
    if (entity)
        return pt_report_entity_value(things, entity, rows, 0, thing_time);
    pt_report_entities_survey(things, rows);
    return NULL;
}

/* A counter of one a second, with a pause of a minute in which it grew as well. */
static void no_rate_is_drawn_over_a_gap(void **state) {
    (void)state;
    struct pt_report_entities things;
    struct pt_sample sample;
    pt_report_entities_init(&things, &thing_table);
    pt_sample_init(&sample, &schema);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 1; i <= 5; i++) {
            const struct pt_rate *rate = next_time(&things, &sample, i, i * SECOND);
            assert_true(pass == 0 || i == 1 ? !rate : fabs(rate->value - 1) < 1e-9);
        }
        assert_null(next_time(&things, &sample, 65, 65 * SECOND));
        const struct pt_rate *rate = next_time(&things, &sample, 66, 68 * SECOND);
        if (pass == 0)
            pt_report_entities_choose(&things, 1);
        else
            assert_true(fabs(rate->value - 3) < 1e-9);
    }
    assert_true(fabs(things.list[0].columns[thing_time].sum - 7) < 1e-9);
    pt_sample_release(&sample);
    pt_report_entities_release(&things);
}

static void parts_of_a_stack_have_means(void **state) {
    (void)state;
    struct pt_curve a, b;
    pt_curve_init(&a, 2);
    pt_curve_init(&b, 2);
    pt_curve_add_part(&a, 1, 1, 1);
    pt_curve_add_part(&a, 1, 3, 3);
    pt_curve_add_part(&b, 1, 9, 1);
    pt_curve_add_part(&b, 1, 7, 3);
    assert_true(isnan(a.means[0]) && a.means[1] == 2.5);
    assert_true(a.values[2] == 1 && a.values[3] == 3);
    assert_true(a.means[1] + b.means[1] == 10); /* as at any time */
    pt_curve_release(&a);
    pt_curve_release(&b);
}

static void an_empty_run_is_refused(void **state) {
    (void)state;
    struct tree tree;
    struct pt_err err = { "" };
    if (pt_report_check(&err))
        skip();
    char journal[PATH_MAX];
    tree_make(&tree);
    snprintf(journal, sizeof journal, "%s", tree_path(&tree, "run.pitot"));
    write_run(journal, 0);
    struct pt_report_options options = { .journal = journal, .path = tree_path(&tree, "run.html") };
    assert_int_equal(pt_report_write(&options, &err), -ENODATA);
    assert_non_null(strstr(err.text, "has no samples"));
    assert_int_equal(access(tree_path(&tree, "run.html"), F_OK), -1);
    tree_remove(&tree);
}

int main(void) {
    pt_schema_install(&schema); /* who is recorded is said by the column */
    const struct CMUnitTest tests[] = {
        PT_TEST(every_peak_and_dip_is_kept, "of a long series every peak and dip is kept"),
        PT_TEST(extremes_stand_in_the_order_they_came, "extremes stand in the order they came"),
        PT_TEST(a_short_run_keeps_every_sample, "a short run keeps every sample"),
        PT_TEST(numbers_come_back, "numbers come back from base64 and zlib, unknown ones too"),
        PT_TEST(every_table_is_there_as_the_schema_has_it,
                "every table is there as the schema has it, counters as rates"),
        PT_TEST(the_recorded_and_the_busiest_are_drawn,
                "the recorded things and the busiest are drawn"),
        PT_TEST(columns_say_what_they_mean, "C314: columns of the report say what they mean"),
        PT_TEST(text_of_others_cannot_end_the_script, "text of others cannot end the script"),
        PT_TEST(spans_are_on_the_same_clock, "spans are on the same clock"),
        PT_TEST(parts_of_a_stack_have_means,
                "parts of a stack add up in a long run too, and keep their extremes"),
        PT_TEST(no_rate_is_drawn_over_a_gap, "no rate is drawn over a gap"),
        PT_TEST(a_long_run_is_thinned_out, "a long run is thinned out, its extremes stay"),
        PT_TEST(the_longest_spans_are_kept, "of many spans the longest are kept, all are counted"),
        PT_TEST(things_that_do_nothing_are_forgotten_first,
                "of many things those that do nothing are forgotten first"),
        PT_TEST(an_empty_run_is_refused, "a run without samples is refused and leaves no file"),
    };
    pt_schema_install(&schema);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
