/* Requests of remote-write and OTLP, the series of a batch, the queue on disk, settings, names. */
#include "test.h"
#include "short_io.h"

#include "sampler/sampler.h"
#include "base/clock.h"
#include "push/push_batch.h"
#include "push/otel_names.h"
#include "push/queue.h"
#include "push/push_settings.h"
#include "push/snappy.h"
#include "format/metrics/otlp.h"
#include "format/metrics/remote_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define assert_bytes(buf, ...)                                      \
    do {                                                            \
        const uint8_t expected_[] = { __VA_ARGS__ };                \
        assert_int_equal((buf).len, sizeof expected_);              \
        assert_memory_equal((buf).at, expected_, sizeof expected_); \
    } while (0)

/* ---- remote-write ---- */

static const struct pt_point one_point = { .time_ns = 1500 * PT_NS_PER_MS, .value = 1 };
static const struct pt_rw_series one_series = {
    .labels = { "__name__=\"up\",a=\"b\"", 19 },
    .kind = PT_FAMILY_GAUGE,
    .help = { "H", 1 },
    .unit = { "", 0 },
    .points = &one_point,
    .point_count = 1,
};

static struct pt_buf written(const struct pt_rw_series *series, size_t count) {
    struct pt_rw_writer writer = { 0 };
    struct pt_buf into = { 0 };
    pt_rw_write(&writer, series, count, &into);
    pt_rw_writer_release(&writer);
    return into;
}

/* Symbols: "", __name__, up, a, b, H. */
static void test_request_v2(void **state) {
    (void)state;
    struct pt_buf request = written(&one_series, 1);
    assert_bytes(request, 0x22, 0, 0x22, 8, '_', '_', 'n', 'a', 'm', 'e', '_', '_', 0x22, 2, 'u',
                 'p', 0x22, 1, 'a', 0x22, 1, 'b', 0x22, 1, 'H', /* symbols */
                 0x2a, 26, 0x0a, 4, 1, 2, 3, 4,                 /* series: references of labels */
                 0x12, 12, 0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x10, 0xdc, 0x0b, /* 1 at 1500 ms */
                 0x2a, 4, 0x08, 2, 0x18, 5 /* metadata: gauge, help */);
    pt_buf_release(&request);
}

static void test_request_v1(void **state) {
    (void)state;
    struct pt_buf request = written(&one_series, 1), v1 = { 0 };
    assert_int_equal(pt_rw_downgrade(pt_buf_as_str(&request), true, &v1), 0);
    assert_bytes(v1, 0x0a, 38, 0x0a, 14, 0x0a, 8, '_', '_', 'n', 'a', 'm', 'e', '_', '_', 0x12, 2,
                 'u', 'p', 0x0a, 6, 0x0a, 1, 'a', 0x12, 1, 'b', 0x12, 12, 0x09, 0, 0, 0, 0, 0, 0,
                 0xf0, 0x3f, 0x10, 0xdc, 0x0b, /* the series */
                 0x1a, 11, 0x08, 2, 0x12, 2, 'u', 'p', 0x22, 1, 'H', 0x2a, 0 /* metadata */);
    pt_buf_clear(&v1);
    assert_int_equal(pt_rw_downgrade(pt_buf_as_str(&request), false, &v1), 0);
    assert_int_equal(v1.len, 40);
    pt_buf_release(&v1);
    pt_buf_release(&request);
}

static void test_stale(void **state) {
    (void)state;
    struct pt_point point = { .time_ns = PT_NS_PER_SECOND, .is_stale = true };
    struct pt_rw_series series = one_series;
    series.points = &point;
    struct pt_buf request = written(&series, 1);
    static const uint8_t marker[] = { 0x09, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f, 0x10 };
    assert_non_null(memmem(request.at, request.len, marker, sizeof marker));
    pt_buf_release(&request);
}

static void test_cut_request(void **state) {
    (void)state;
    struct pt_buf request = written(&one_series, 1), v1 = { 0 };
    size_t whole = 0;
    for (size_t n = 0; n < request.len; n++) {
        pt_buf_clear(&v1);
        struct pt_str cut = { (char *)request.at, n };
        whole += pt_rw_downgrade(cut, true, &v1) == 0 && v1.len > 0;
    }
    assert_int_equal(whole, 0);
    pt_buf_release(&v1);
    pt_buf_release(&request);
}

static void test_wrong_symbol(void **state) {
    (void)state;
    static const char request[] = { 0x22, 0, 0x2a, 4, 0x0a, 2, 9, 9 };
    struct pt_buf v1 = { 0 };
    assert_int_equal(pt_rw_downgrade((struct pt_str){ request, sizeof request }, false, &v1),
                     -EBADMSG);
    pt_buf_release(&v1);
}

static void test_snappy(void **state) {
    (void)state;
    const struct pt_snappy_interface *snappy;
    struct pt_err err;
    if (pt_snappy_open(&snappy, &err))
        skip();
    struct pt_buf packed = { 0 }, plain = { 0 };
    char text[5000];
    memset(text, 'x', sizeof text);
    snappy->compress((struct pt_str){ text, sizeof text }, &packed);
    assert_true(packed.len < 500);
    assert_int_equal(packed.at[0], 0x88); /* 5000 as a varint: the block format, no frames */
    assert_int_equal(packed.at[1], 0x27);
    assert_int_equal(snappy->uncompress(pt_buf_as_str(&packed), sizeof text, &plain), 0);
    assert_int_equal(plain.len, sizeof text);
    assert_memory_equal(plain.at, text, sizeof text);
    assert_int_equal(snappy->uncompress(pt_buf_as_str(&packed), sizeof text - 1, &plain), -EBADMSG);
    pt_buf_release(&packed);
    pt_buf_release(&plain);
}

/* ---- OTLP ---- */

static void test_otlp_gauge(void **state) {
    (void)state;
    struct pt_buf attributes = { 0 }, into = { 0 };
    pt_otlp_attribute_i64(&attributes, PT_STR("n"), 3);
    struct pt_point point = { .time_ns = 1, .value = 1 };
    struct pt_otlp_series series = { pt_buf_as_str(&attributes), &point, 1 };
    struct pt_otlp_metric metric = {
        PT_STR("m"), PT_STR("1"), PT_STR(""), PT_OTLP_GAUGE, &series, 1
    };
    struct pt_otlp_request request = {
        PT_STR(""), PT_STR(""), PT_STR("p"), PT_STR("v"), &metric, 1
    };
    pt_otlp_write(&request, &into);
    assert_bytes(into, 0x0a, 57, 0x0a, 0,                       /* resource */
                 0x12, 51, 0x0a, 6, 0x0a, 1, 'p', 0x12, 1, 'v', /* scope */
                 0x12, 39, 0x0a, 1, 'm', 0x12, 0, 0x1a, 1, '1', /* metric */
                 0x2a, 29, 0x0a, 27,                            /* gauge, its point */
                 0x19, 1, 0, 0, 0, 0, 0, 0, 0, 0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, /* time, value */
                 0x3a, 7, 0x0a, 1, 'n', 0x12, 2, 0x18, 3,                          /* attribute */
                 0x1a, 0, 0x1a, 0 /* no URLs of schemas */);
    pt_buf_release(&attributes);
    pt_buf_release(&into);
}

static void test_otlp_answer(void **state) {
    (void)state;
    static const char partial[] = { 0x0a, 6, 0x08, 5, 0x12, 2, 'n', 'o' };
    struct pt_otlp_answer answer;
    assert_int_equal(pt_otlp_read_answer((struct pt_str){ partial, sizeof partial }, &answer), 0);
    assert_int_equal(answer.rejected_point_count, 5);
    assert_str_eq(answer.message, "no");
    assert_int_equal(pt_otlp_read_answer((struct pt_str){ partial, 5 }, &answer), -EBADMSG);
    assert_int_equal(pt_otlp_read_answer(PT_STR(""), &answer), 0);
    assert_int_equal(answer.rejected_point_count, 0);
}

/* Every name of ours is a column, and the unit is that of its base unit. */
static void test_otel_columns(void **state) {
    (void)state;
    const struct pt_table *tables[PT_SAMPLER_TABLES];
    struct pt_schema schema = { tables, pt_sampler_tables(tables) };
    struct pt_otel_index index;
    size_t known = 0;
    pt_otel_index_init(&index, &schema);
    for (size_t i = 0; i < index.count; i++) {
        const struct pt_otel_metric *m = &index.metrics[i];
        assert_ptr_equal(pt_otel_find(&index, pt_str_from(m->family)), m);
        known += m->is_known;
        if (m->is_known && m->otel.unit.at[0] != '{') {
            struct pt_str base = pt_str_from(m->otel.part == PT_OTEL_COUNT ? "s" : "");
            for (size_t k = 1; base.len == 0 && k < PT_UNIT_COUNT; k++) {
                const char *suffix = pt_units[k].prometheus_suffix;
                if (*suffix && pt_str_ends(pt_str_from(m->family), pt_str_from(suffix)))
                    base = pt_otel_unit(pt_str_from(suffix + 1));
            }
            assert_true(pt_str_eq(base, m->otel.unit));
        }
    }
    assert_int_equal(known, 82);
    assert_null(pt_otel_find(&index, PT_STR("requests")));
    pt_otel_index_release(&index);
}

/* ---- batches ---- */

static void identify(const void *user, const struct pt_family *family, struct pt_str suffix,
                     struct pt_str labels, struct pt_str bound, struct pt_buf *into) {
    (void)user;
    pt_buf_str(into, family->name);
    pt_buf_str(into, suffix);
    pt_buf_str(into, labels);
    pt_buf_str(into, bound);
}

static const struct pt_push_naming classic = { .resolution_ns = PT_NS_PER_MS,
                                               .identify = identify };

static struct pt_family counter(struct pt_series *series, size_t count) {
    return (struct pt_family){ .name = PT_STR("c"),
                               .help = PT_STR(""),
                               .unit = PT_STR(""),
                               .kind = PT_FAMILY_COUNTER,
                               .series = series,
                               .series_count = count };
}

static void add_sample(struct pt_push_batch *b, int64_t ms, struct pt_series *series,
                       size_t count) {
    struct pt_family family = counter(series, count);
    pt_push_batch_begin(b, ms * PT_NS_PER_MS);
    pt_push_batch_add(b, &family);
    pt_push_batch_end(b);
}

static void test_vanished_series(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_series series[2] = { { .labels = PT_STR("a"), .value = 1 },
                                   { .labels = PT_STR("b"), .value = 2 } };
    pt_push_batch_init(&b, &classic);
    add_sample(&b, 1000, series, 2);
    add_sample(&b, 2000, series, 1);
    add_sample(&b, 3000, series, 1);
    assert_int_equal(b.series_count, 2);
    assert_str_eq(b.series[1].identity, "c_totalb");
    assert_int_equal(b.series[0].point_count, 3);
    assert_int_equal(b.series[1].point_count, 2);
    assert_true(b.series[1].points[1].is_stale);
    assert_int_equal(b.series[1].points[1].time_ns, 2000 * PT_NS_PER_MS);
    pt_push_batch_clear(&b);
    assert_int_equal(b.series_count, 1);
    add_sample(&b, 4000, series, 2); /* it is back: a series like any other */
    assert_int_equal(b.series_count, 2);
    assert_false(b.series[1].points[0].is_stale);
    pt_push_batch_release(&b);
}

static void test_skipped_family(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_series series = { .labels = PT_STR("a"), .value = 1 };
    pt_push_batch_init(&b, &classic);
    add_sample(&b, 1000, &series, 1);
    for (int64_t s = 2; s <= 60; s++) {
        pt_push_batch_begin(&b, s * PT_NS_PER_SECOND);
        pt_push_batch_end(&b);
    }
    assert_int_equal(b.series[0].point_count, 1);
    pt_push_batch_begin(&b, 61 * PT_NS_PER_SECOND);
    pt_push_batch_end(&b);
    assert_int_equal(b.series[0].point_count, 2);
    assert_true(b.series[0].points[1].is_stale);
    pt_push_batch_release(&b);
}

static void test_old_reading(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_series series = { .labels = PT_STR("a"), .value = 1, .time_ns = 900 * PT_NS_PER_MS };
    pt_push_batch_init(&b, &classic);
    add_sample(&b, 1000, &series, 1);
    add_sample(&b, 2000, &series, 1); /* not read again */
    series.time_ns += 1;              /* the same millisecond */
    add_sample(&b, 3000, &series, 1);
    assert_int_equal(b.series[0].point_count, 1);
    assert_int_equal(b.series[0].points[0].time_ns, 900 * PT_NS_PER_MS);
    assert_false(b.series[0].has_ended);
    pt_push_batch_release(&b);
}

static void test_counter_starts(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_push_naming naming = classic;
    struct pt_series series = { .labels = PT_STR("a"), .value = 5 };
    naming.has_start = true;
    pt_push_batch_init(&b, &naming);
    add_sample(&b, 1000, &series, 1);
    series.value = 7;
    add_sample(&b, 2000, &series, 1);
    series.value = 1;
    add_sample(&b, 3000, &series, 1);
    const struct pt_point *points = b.series[0].points;
    assert_int_equal(points[0].start_ns, 1000 * PT_NS_PER_MS);
    assert_int_equal(points[1].start_ns, 1000 * PT_NS_PER_MS);
    assert_int_equal(points[2].start_ns, 2000 * PT_NS_PER_MS);
    pt_push_batch_release(&b);
}

static void test_classic_histogram(void **state) {
    (void)state;
    static uint64_t buckets[PT_BUCKET_COUNT];
    struct pt_bounds bounds;
    double upper[] = { 0.5, 2 };
    assert_int_equal(pt_bounds_set(&bounds, upper, 2), 0);
    buckets[pt_bucket_of(1)] = 3;
    struct pt_distribution d = { 3, 3, buckets, pt_all_buckets, &bounds };
    struct pt_series series = { .labels = PT_STR("a"), .distribution = &d };
    struct pt_family family = counter(&series, 1);
    struct pt_push_batch b;
    family.kind = PT_FAMILY_HISTOGRAM;
    pt_push_batch_init(&b, &classic);
    pt_push_batch_begin(&b, PT_NS_PER_SECOND);
    pt_push_batch_add(&b, &family);
    pt_push_batch_end(&b);
    static const struct {
        const char *identity;
        double value;
    } expected[] = { { "c_bucketa0.5", 0 },
                     { "c_bucketa2.0", 3 },
                     { "c_bucketa+Inf", 3 },
                     { "c_counta", 3 },
                     { "c_suma", 3 } };
    assert_int_equal(b.series_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_str_eq(b.series[i].identity, expected[i].identity);
        assert_true(b.series[i].points[0].value == expected[i].value);
    }
    pt_push_batch_release(&b);
}

/* A native histogram is copied: what its program counts later does not change a point. */
static void test_native_histogram(void **state) {
    (void)state;
    static uint64_t buckets[PT_BUCKET_COUNT];
    uint32_t low = pt_bucket_of(1), high = pt_bucket_of(1.1);
    struct pt_distribution d = { 5, 5.2, buckets, pt_all_buckets, NULL };
    struct pt_series series = { .labels = PT_STR("a"), .distribution = &d };
    struct pt_family family = counter(&series, 1);
    struct pt_push_batch b;
    struct pt_push_naming naming = classic;
    naming.has_native = naming.has_start = true;
    family.kind = PT_FAMILY_HISTOGRAM;
    assert_true(high > low + 1);
    buckets[low] = 3;
    buckets[high] = 2;
    pt_push_batch_init(&b, &naming);
    for (int64_t second = 1; second <= 3; second++) {
        pt_push_batch_begin(&b, second * PT_NS_PER_SECOND);
        pt_push_batch_add(&b, &family);
        pt_push_batch_end(&b);
        buckets[high]++;
        d.count = second == 1 ? d.count + 1 : 2; /* then it starts again */
    }
    family.series_count = 0;
    pt_push_batch_begin(&b, 4 * PT_NS_PER_SECOND);
    pt_push_batch_add(&b, &family);
    pt_push_batch_end(&b);
    assert_int_equal(b.series_count, 1);
    assert_str_eq(b.series[0].identity, "ca");
    assert_int_equal(b.series[0].point_count, 4);
    static const uint64_t counts[] = { 5, 6, 2 };
    static const int64_t starts[] = { 1, 1, 2 };
    for (size_t i = 0; i < 3; i++) {
        const struct pt_point *point = &b.series[0].points[i];
        const struct pt_native *n = point->histogram;
        assert_int_equal(point->time_ns, ((int64_t)i + 1) * PT_NS_PER_SECOND);
        assert_int_equal(point->start_ns, starts[i] * PT_NS_PER_SECOND);
        assert_int_equal(n->count, counts[i]);
        assert_true(n->sum == 5.2);
        assert_int_equal(n->first, low);
        assert_int_equal(n->end, high + 1);
        assert_int_equal(n->counts[0], 3);
        assert_int_equal(n->counts[1], 0);
        assert_int_equal(n->counts[high - low], 2 + i);
    }
    assert_true(b.series[0].points[3].is_stale);
    assert_int_equal(b.series[0].points[3].histogram->count, 0);
    pt_push_batch_release(&b);
    /* without buckets */
    d.used = (struct pt_bucket_range){ 0, 0 };
    family.series_count = 1;
    pt_push_batch_init(&b, &naming);
    pt_push_batch_begin(&b, PT_NS_PER_SECOND);
    pt_push_batch_add(&b, &family);
    pt_push_batch_end(&b);
    assert_true(b.series[0].points[0].histogram->first >= b.series[0].points[0].histogram->end);
    pt_push_batch_release(&b);
}

/* Name, labels and bound are apart, and series may come in any order. */
static void test_keys_of_series(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_series series[] = { { .labels = PT_STR("x"), .value = 1 },
                                  { .labels = PT_STR("y"), .value = 2 },
                                  { .labels = PT_STR(""), .value = 3 } };
    struct pt_family gauge = counter(&series[2], 1);
    gauge.name = PT_STR("c_totalx");
    gauge.kind = PT_FAMILY_GAUGE;
    pt_push_batch_init(&b, &classic);
    for (int i = 1; i <= 4; i++) {
        struct pt_series turned[] = { series[i % 2], series[(i + 1) % 2] };
        struct pt_family family = counter(turned, 2);
        pt_push_batch_begin(&b, i * PT_NS_PER_SECOND);
        pt_push_batch_add(&b, &family);
        pt_push_batch_add(&b, &gauge);
        pt_push_batch_end(&b);
    }
    assert_int_equal(b.series_count, 3);
    static const char *const names[] = { "c_totaly", "c_totalx", "c_totalx" };
    static const double values[] = { 2, 1, 3 };
    for (size_t i = 0; i < 3; i++) {
        assert_str_eq(b.series[i].identity, names[i]);
        assert_int_equal(b.series[i].point_count, 4);
        for (size_t k = 0; k < 4; k++)
            assert_true(b.series[i].points[k].value == values[i]);
    }
    assert_int_equal(b.point_count, 12);
    pt_push_batch_release(&b);
    /* labels "a" up to 11.5 and "a1" up to 1.5 */
    static uint64_t buckets[PT_BUCKET_COUNT];
    struct pt_bounds bounds;
    double upper[] = { 1.5, 11.5 };
    assert_int_equal(pt_bounds_set(&bounds, upper, 2), 0);
    struct pt_distribution d = { 0, 0, buckets, pt_all_buckets, &bounds };
    struct pt_series two[] = { { .labels = PT_STR("a"), .distribution = &d },
                               { .labels = PT_STR("a1"), .distribution = &d } };
    struct pt_family family = counter(two, 2);
    family.kind = PT_FAMILY_HISTOGRAM;
    pt_push_batch_init(&b, &classic);
    pt_push_batch_begin(&b, PT_NS_PER_SECOND);
    pt_push_batch_add(&b, &family);
    pt_push_batch_end(&b);
    assert_int_equal(b.series_count, 10);
    assert_int_equal(b.point_count, 10);
    pt_push_batch_release(&b);
}

/* A reading may be newer than its sample: the end comes after it. */
static void test_end_of_series(void **state) {
    (void)state;
    struct pt_push_batch b;
    struct pt_series series[] = { { .labels = PT_STR("a"), .time_ns = 5 * PT_NS_PER_SECOND },
                                  { .labels = PT_STR("b"), .time_ns = 1 } };
    pt_push_batch_init(&b, &classic);
    add_sample(&b, 1000, series, 2);
    assert_int_equal(b.series[1].point_count, 0); /* before the first millisecond */
    series[1].time_ns = PT_NS_PER_SECOND;
    add_sample(&b, 1000, series, 2);
    add_sample(&b, 2000, series, 0);
    assert_int_equal(b.series[0].points[1].time_ns, 5001 * PT_NS_PER_MS);
    assert_int_equal(b.series[1].points[1].time_ns, 2000 * PT_NS_PER_MS);
    pt_push_batch_clear(&b);
    assert_int_equal(b.series_count, 0);
    add_sample(&b, 6000, series, 2);
    pt_push_batch_end_all(&b);
    assert_int_equal(b.point_count, 4);
    pt_push_batch_end_all(&b);
    assert_int_equal(b.point_count, 4);
    assert_true(b.series[0].points[1].is_stale && b.series[1].points[1].is_stale);
    pt_push_batch_release(&b);
}

static void test_too_many_series(void **state) {
    (void)state;
    struct pt_push_batch b;
    static char labels[PT_PUSH_SERIES_MAX + 2][8];
    struct pt_series *series = calloc(PT_PUSH_SERIES_MAX + 2, sizeof *series);
    for (size_t i = 0; i < PT_PUSH_SERIES_MAX + 2; i++) {
        snprintf(labels[i], sizeof labels[i], "%zu", i);
        series[i].labels = pt_str_from(labels[i]);
    }
    pt_push_batch_init(&b, &classic);
    add_sample(&b, 1000, series, PT_PUSH_SERIES_MAX);
    assert_int_equal(b.refused_points, 0);
    assert_int_equal(b.point_count, PT_PUSH_SERIES_MAX);
    add_sample(&b, 2000, series, PT_PUSH_SERIES_MAX + 2);
    assert_int_equal(b.refused_points, 2);
    assert_int_equal(b.series_count, PT_PUSH_SERIES_MAX);
    assert_int_equal(b.point_count, 2 * PT_PUSH_SERIES_MAX);
    pt_push_batch_release(&b);
    free(series);
}

/* ---- the queue ---- */

static const struct pt_push_queue_bounds no_bounds;

static void put(struct pt_push_queue *q, int64_t time_ns, const char *text) {
    struct pt_push_request request = { .time_ns = time_ns,
                                       .point_count = 2,
                                       .bytes = pt_str_from(text) };
    assert_int_equal(pt_push_queue_put(q, &request), 0);
}

static void open_queue(struct pt_push_queue *q, const char *directory,
                       const struct pt_push_queue_bounds *bounds) {
    struct pt_err err = { "" };
    if (pt_push_queue_open(q, directory, bounds, &err))
        fail_msg("%s", err.text);
}

static void expect(struct pt_push_queue *q, const char *text) {
    struct pt_push_request request;
    assert_true(pt_push_queue_peek(q, &request));
    assert_str_eq(request.bytes, text);
    pt_push_queue_pop(q, request.id);
}

static void expect_empty(struct pt_push_queue *q) {
    struct pt_push_request request;
    assert_false(pt_push_queue_peek(q, &request));
    assert_int_equal(q->waiting_requests, 0);
    assert_int_equal(q->waiting_points, 0);
    assert_int_equal(pt_push_queue_oldest_ns(q), 0);
}

/* The only file of a directory. */
static void only_file(const char *directory, char path[PATH_MAX]) {
    DIR *d = opendir(directory);
    struct dirent *entry;
    int count = 0;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, PATH_MAX, "%s/%s", directory, entry->d_name);
        count++;
    }
    closedir(d);
    assert_int_equal(count, 1);
}

static int file_count(const char *directory) {
    DIR *d = opendir(directory);
    struct dirent *entry;
    int count = 0;
    while (d && (entry = readdir(d)))
        count += entry->d_name[0] != '.';
    closedir(d);
    return count;
}

static void test_queue_order(void **state) {
    struct pt_push_queue q;
    struct pt_push_request request;
    open_queue(&q, *state, &no_bounds);
    expect_empty(&q);
    put(&q, 1, "one");
    put(&q, 2, "two");
    assert_int_equal(pt_push_queue_oldest_ns(&q), 1);
    assert_int_equal(q.waiting_points, 4);
    assert_true(pt_push_queue_peek(&q, &request));
    pt_push_queue_pop(&q, request.id + 1); /* of another one: it is not done with */
    expect(&q, "one");
    put(&q, 3, "three");
    expect(&q, "two");
    expect(&q, "three");
    expect_empty(&q);
    pt_push_queue_close(&q);
    assert_int_equal(file_count(*state), 0);
}

static void test_queue_next_run(void **state) {
    struct pt_push_queue q;
    open_queue(&q, *state, &no_bounds);
    put(&q, 1, "one");
    put(&q, 2, "two");
    put(&q, 3, "three");
    expect(&q, "one");
    pt_push_queue_close(&q);
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.waiting_requests, 2);
    put(&q, 4, "four");
    expect(&q, "two");
    expect(&q, "three");
    expect(&q, "four");
    expect_empty(&q);
    pt_push_queue_close(&q);
}

static void test_queue_other_process(void **state) {
    struct pt_push_queue ours, theirs;
    open_queue(&ours, *state, &no_bounds);
    put(&ours, 1, "ours");
    open_queue(&theirs, *state, &no_bounds);
    expect_empty(&theirs);
    put(&theirs, 2, "theirs");
    expect(&ours, "ours");
    expect_empty(&ours);
    pt_push_queue_close(&ours);
    pt_push_queue_close(&theirs);
    open_queue(&ours, *state, &no_bounds);
    expect(&ours, "theirs");
    pt_push_queue_close(&ours);
}

static int64_t size_of_file(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (int64_t)status.st_size;
}

/* What a process left behind is sent, but not added to. */
static void test_queue_of_a_process_that_ended(void **state) {
    char path[PATH_MAX];
    pid_t child = fork();
    struct pt_push_queue q;
    if (child == 0) {
        open_queue(&q, *state, &no_bounds);
        put(&q, 1, "left");
        pt_push_queue_close(&q);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    only_file(*state, path);
    int64_t size = size_of_file(path);
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.waiting_requests, 1);
    put(&q, 2, "new");
    assert_int_equal(size_of_file(path), size);
    assert_int_equal(file_count(*state), 2);
    expect(&q, "left");
    expect(&q, "new");
    assert_int_equal(file_count(*state), 1);
    pt_push_queue_close(&q);
    assert_int_equal(file_count(*state), 0);
}

/* A child that queues and says so, until it is killed in the middle of it. */
static void test_queue_killed(void **state) {
    int fds[2];
    uint64_t said = 0, value;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pt_push_queue q;
        open_queue(&q, *state, &no_bounds);
        for (uint64_t i = 1;; i++) {
            char text[64];
            snprintf(text, sizeof text, "request %llu", (unsigned long long)i);
            put(&q, (int64_t)i, text);
            if (write(fds[1], &i, sizeof i) != sizeof i)
                _exit(1);
        }
    }
    close(fds[1]);
    while (said < 2000 && read(fds[0], &value, sizeof value) == sizeof value)
        said = value;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    while (read(fds[0], &value, sizeof value) == sizeof value)
        said = value;
    close(fds[0]);
    struct pt_push_queue q;
    open_queue(&q, *state, &no_bounds);
    assert_true(q.waiting_requests == said || q.waiting_requests == said + 1);
    for (uint64_t i = 1; i <= said; i++) {
        char text[64];
        snprintf(text, sizeof text, "request %llu", (unsigned long long)i);
        expect(&q, text);
    }
    pt_push_queue_close(&q);
}

static void test_queue_torn(void **state) {
    struct pt_push_queue q;
    char path[PATH_MAX];
    struct stat status;
    open_queue(&q, *state, &no_bounds);
    put(&q, 1, "one");
    put(&q, 2, "two");
    pt_push_queue_close(&q);
    only_file(*state, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 1), 0);
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.counts.damaged_segments, 1);
    expect(&q, "one");
    expect_empty(&q);
    pt_push_queue_close(&q);
}

/* Every byte of a file altered: nothing that was altered is sent, and nothing fails. */
static void test_queue_altered(void **state) {
    for (int at = 0; at < 24 + 2 * 35; at++) {
        struct pt_push_queue q;
        struct pt_push_request request;
        char path[PATH_MAX], byte;
        open_queue(&q, *state, &no_bounds);
        put(&q, 1, "one");
        put(&q, 2, "two");
        pt_push_queue_close(&q);
        only_file(*state, path);
        int fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x40;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        open_queue(&q, *state, &no_bounds);
        while (pt_push_queue_peek(&q, &request)) {
            assert_true(pt_str_eq(request.bytes, PT_STR("one")) ||
                        pt_str_eq(request.bytes, PT_STR("two")));
            pt_push_queue_pop(&q, request.id);
        }
        pt_push_queue_close(&q);
        assert_int_equal(file_count(*state), 0);
    }
}

static void test_queue_bounds(void **state) {
    struct pt_push_queue q;
    struct pt_push_queue_bounds bounds = { .bytes = 16000 };
    struct pt_push_request request;
    char text[401];
    memset(text, 'x', 400);
    text[400] = 0;
    open_queue(&q, *state, &bounds);
    for (int i = 1; i <= 1000; i++) {
        put(&q, i, text);
        assert_true(q.bytes <= 16000 + 1000);
    }
    assert_true(pt_push_queue_peek(&q, &request));
    assert_int_equal(request.id + q.waiting_requests, 1001); /* the newest are kept */
    assert_int_equal(q.counts.dropped_requests, request.id - 1);
    assert_int_equal(q.counts.dropped_points, 2 * (request.id - 1));
    assert_true(q.waiting_requests >= 30);
    pt_push_queue_close(&q);
}

static void test_queue_age(void **state) {
    struct pt_push_queue q;
    struct pt_push_queue_bounds bounds = { .age_ns = 10 * PT_NS_PER_SECOND, .segment = 1 };
    open_queue(&q, *state, &bounds);
    put(&q, 1 * PT_NS_PER_SECOND, "old");
    put(&q, 2 * PT_NS_PER_SECOND, "young");
    put(&q, 12 * PT_NS_PER_SECOND, "new");
    expect(&q, "young");
    assert_int_equal(q.counts.dropped_requests, 1);
    expect(&q, "new");
    pt_push_queue_close(&q);
}

static void test_queue_full_disk(void **state) {
    struct pt_push_queue q;
    struct pt_push_request request = { .bytes = PT_STR("x") };
    (void)state;
    struct pt_err err = { "" };
    assert_int_equal(pt_push_queue_open(&q, "/proc/pitot", &no_bounds, &err), -ENOENT);
    assert_true(strlen(err.text) > 0);
    open_queue(&q, *state, &no_bounds);
    rmdir(*state);
    assert_int_equal(pt_push_queue_put(&q, &request), -ENOENT);
    expect_empty(&q);
    mkdir(*state, 0700);
    put(&q, 1, "one");
    expect(&q, "one");
    pt_push_queue_close(&q);
}

/* The kernel may write and read a few bytes at a time, and be interrupted. */
static void test_queue_short_writes(void **state) {
    struct pt_push_queue q;
    short_io.most = 7;
    short_io.is_interrupted = true;
    open_queue(&q, *state, &no_bounds);
    put(&q, 1, "a request that takes several writes");
    put(&q, 2, "another one");
    expect(&q, "a request that takes several writes");
    pt_push_queue_close(&q);
    short_io.most = 0;
    short_io.is_interrupted = false;
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.counts.damaged_segments, 0);
    assert_int_equal(q.waiting_requests, 1);
    assert_int_equal(q.waiting_points, 2);
    assert_int_equal(pt_push_queue_oldest_ns(&q), 2);
    expect(&q, "another one");
    pt_push_queue_close(&q);
}

static void test_queue_failing_disk(void **state) {
    struct pt_push_queue q;
    struct pt_push_request request = { .time_ns = 5, .point_count = 2, .bytes = PT_STR("lost") };
    open_queue(&q, *state, &no_bounds);
    short_io.failing_call = 1; /* the head of the segment */
    assert_int_equal(pt_push_queue_put(&q, &request), -EIO);
    assert_int_equal(q.segment_count, 0);
    assert_int_equal(q.bytes, 0);
    assert_int_equal(file_count(*state), 0);
    put(&q, 1, "one");
    uint64_t bytes = q.bytes;
    assert_int_equal(bytes, 24 + 32 + 3);
    short_io.most = 20;
    short_io.failing_call = 2; /* the middle of the request */
    assert_int_equal(pt_push_queue_put(&q, &request), -EIO);
    short_io.most = 0;
    assert_int_equal(q.bytes, bytes);
    assert_int_equal(q.waiting_requests, 1);
    put(&q, 3, "three"); /* over what there is of the lost one */
    expect(&q, "one");
    expect(&q, "three");
    expect_empty(&q);
    assert_int_equal(q.counts.damaged_segments, 0);
    put(&q, 4, "four");
    short_io.failing_call = 1; /* the disk lost what it had */
    expect_empty(&q);
    assert_int_equal(q.counts.damaged_segments, 1);
    assert_int_equal(q.counts.dropped_requests, 1);
    assert_int_equal(q.counts.dropped_points, 2);
    pt_push_queue_close(&q);
}

/* Requests of other runs come by age, then by number; then ours. */
static void test_queue_adopted_order(void **state) {
    static const int64_t times[] = { 30, 10, 20, 10 };
    struct pt_push_queue queues[PT_COUNT(times)], q;
    for (size_t i = 0; i < PT_COUNT(times); i++) {
        char text[16];
        open_queue(&queues[i], *state, &no_bounds); /* those before are in use */
        queues[i].last_id = 100 - i;
        snprintf(text, sizeof text, "%lld-%zu", (long long)times[i], i);
        put(&queues[i], times[i], text);
    }
    for (size_t i = 0; i < PT_COUNT(times); i++)
        pt_push_queue_close(&queues[i]);
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.waiting_requests, 4);
    assert_int_equal(q.last_id, 101);
    assert_int_equal(q.newest_ns, 30);
    put(&q, 5, "ours");
    assert_int_equal(pt_push_queue_oldest_ns(&q), 10);
    expect(&q, "10-3");
    expect(&q, "10-1");
    expect(&q, "20-2");
    expect(&q, "30-0");
    expect(&q, "ours");
    expect_empty(&q);
    pt_push_queue_close(&q);
}

static void test_queue_defaults(void **state) {
    struct pt_push_queue q;
    open_queue(&q, *state, &no_bounds);
    assert_int_equal(q.bounds.bytes, 512u << 20);
    assert_int_equal(q.bounds.segment, 4u << 20);
    assert_int_equal(q.bounds.age_ns, 24 * 3600 * PT_NS_PER_SECOND);
    pt_push_queue_close(&q);
    struct pt_push_queue_bounds bounds = { .bytes = 1600, .segment = 101, .age_ns = 7 };
    open_queue(&q, *state, &bounds);
    assert_int_equal(q.bounds.bytes, 1600);
    assert_int_equal(q.bounds.segment, 100); /* a sixteenth */
    assert_int_equal(q.bounds.age_ns, 7);
    put(&q, 1, "x");
    put(&q, 1, "y"); /* 24 + 33 + 33 bytes: it fits */
    assert_int_equal(q.segment_count, 1);
    put(&q, 1, "z");
    assert_int_equal(q.segment_count, 2);
    assert_int_equal(q.bytes, 2 * 24 + 3 * 33);
    pt_push_queue_close(&q);
    struct pt_push_request request = { .bytes = { NULL, PT_PUSH_REQUEST_MAX + 1 } };
    assert_int_equal(PT_PUSH_REQUEST_MAX, 64u << 20);
    open_queue(&q, *state, &bounds);
    assert_int_equal(pt_push_queue_put(&q, &request), -EMSGSIZE);
    pt_push_queue_close(&q);
}

/* ---- settings ---- */

static void forget_environment(void) {
    extern char **environ;
    for (char **e = environ; *e;) {
        if (strncmp(*e, "OTEL_", 5) == 0 || strncmp(*e, "SLURM_", 6) == 0) {
            char name[128];
            pt_str_copy(name, sizeof name, (struct pt_str){ *e, strcspn(*e, "=") });
            unsetenv(name);
            e = environ;
        } else {
            e++;
        }
    }
}

static void test_urls(void **state) {
    static const struct {
        const char *remote_write, *otlp, *expected_remote_write, *expected_otlp;
    } cases[] = {
        { "http://h:1", NULL, "http://h:1/api/v1/write", NULL },
        { "https://h/", NULL, "https://h/api/v1/write", NULL },
        { "http://h/x?a=b", NULL, "http://h/x?a=b", NULL },
        { NULL, "http://h:4318", NULL, "http://h:4318/v1/metrics" },
        { NULL, "http://h:4318/x/", NULL, "http://h:4318/x/v1/metrics" },
        { NULL, "http://h/v1/metrics", NULL, "http://h/v1/metrics" },
        { NULL, "off", NULL, NULL },
    };
    (void)state;
    forget_environment();
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_push_options options = { .remote_write = cases[i].remote_write,
                                           .otlp = cases[i].otlp };
        struct pt_push_settings s;
        struct pt_err err = { "" };
        assert_int_equal(pt_push_settings_read(&s, &options, &err), 0);
        assert_int_equal(s.remote_write != NULL, cases[i].expected_remote_write != NULL);
        assert_int_equal(s.otlp != NULL, cases[i].expected_otlp != NULL);
        if (s.remote_write)
            assert_string_equal(s.remote_write, cases[i].expected_remote_write);
        if (s.otlp)
            assert_string_equal(s.otlp, cases[i].expected_otlp);
        pt_push_settings_release(&s);
    }
}

static void test_wrong_settings(void **state) {
    static const char *const bad_label[] = { "1a=b" };
    static const struct {
        struct pt_push_options options;
        const char *words;
    } cases[] = {
        { { .remote_write = "h:9090" },
          "--remote-write: 'h:9090' is not a URL (examples: http://HOST:PORT, https://HOST)" },
        { { .remote_write = "http:///x" },
          "--remote-write: 'http:///x' is not a URL (examples: http://HOST:PORT, https://HOST)" },
        { { .otlp = "grpc://h" },
          "--otlp: 'grpc://h' is not a URL (examples: http://HOST:PORT, https://HOST)" },
        { { .labels = bad_label, .label_count = 1 },
          "--push-label: '1a=b' is not of the form name=value" },
    };
    (void)state;
    forget_environment();
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_push_settings s;
        struct pt_err err = { "" };
        assert_int_equal(pt_push_settings_read(&s, &cases[i].options, &err), -EINVAL);
        assert_string_equal(err.text, cases[i].words);
        pt_push_settings_release(&s);
    }
}

static const char *value_of(const struct pt_push_label *pairs, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i].name, name) == 0)
            return pairs[i].value;
    return NULL;
}

static void test_otel_variables(void **state) {
    static const char *const labels[] = { "cluster=c", "instance=here", "job=" };
    struct pt_push_options options = { .labels = labels, .label_count = 3 };
    struct pt_push_settings s;
    struct pt_err err = { "" };
    (void)state;
    forget_environment();
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://all:4318", 1);
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b%2Cc, x=y,broken", 1);
    setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2500", 1);
    setenv("OTEL_SERVICE_NAME", "serving", 1);
    setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod,service.name=other", 1);
    setenv("SLURM_PROCID", "3", 1);
    assert_int_equal(pt_push_settings_read(&s, &options, &err), 0);
    assert_string_equal(s.otlp, "http://all:4318/v1/metrics");
    assert_int_equal(s.header_count, 2);
    assert_string_equal(value_of(s.headers, s.header_count, "api-key"), "a b,c");
    assert_string_equal(value_of(s.headers, s.header_count, "x"), "y");
    assert_int_equal(s.otlp_timeout_ns, 2500 * PT_NS_PER_MS);
    assert_string_equal(value_of(s.attributes, s.attribute_count, "service.name"), "serving");
    assert_string_equal(value_of(s.attributes, s.attribute_count, "deployment.environment.name"),
                        "prod");
    assert_string_equal(value_of(s.attributes, s.attribute_count, "rank"), "3");
    assert_string_equal(value_of(s.attributes, s.attribute_count, "cluster"), "c");
    assert_non_null(value_of(s.attributes, s.attribute_count, "host.name"));
    assert_string_equal(value_of(s.labels, s.label_count, "cluster"), "c");
    assert_string_equal(value_of(s.labels, s.label_count, "instance"), "here");
    assert_string_equal(value_of(s.labels, s.label_count, "rank"), "3");
    assert_null(value_of(s.labels, s.label_count, "job"));
    pt_push_settings_release(&s);

    setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://metrics:1/as/is", 1);
    assert_int_equal(pt_push_settings_read(&s, &options, &err), 0);
    assert_string_equal(s.otlp, "http://metrics:1/as/is");
    pt_push_settings_release(&s);

    setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", 1);
    assert_int_equal(pt_push_settings_read(&s, &options, &err), 0);
    assert_null(s.otlp); /* it is for somebody else */
    assert_true(s.warning[0]);
    pt_push_settings_release(&s);
    options.otlp = "http://given";
    assert_int_equal(pt_push_settings_read(&s, &options, &err), 0);
    assert_string_equal(s.otlp, "http://given/v1/metrics");
    pt_push_settings_release(&s);
    forget_environment();
}

static void read_settings(struct pt_push_settings *s, const struct pt_push_options *options,
                          int code) {
    struct pt_err err = { "" };
    assert_int_equal(pt_push_settings_read(s, options, &err), code);
}

/* What a percent sign may stand before, and what stays as it is. */
static void test_percent_signs(void **state) {
    static const struct {
        const char *given, *value;
    } cases[] = {
        { "a=%41%5a%7A", "AZz" },
        { "a=%2F%9f%aF", "/\x9f\xaf" },
        { "a=%2g%g2%2", "%2g%g2%2" },
        { "a=%", "%" },
        { "a=%/0%:0%`0%@0", "%/0%:0%`0%@0" },
        { " a = b\t", "b" },
        { "a=", "" },
    };
    struct pt_push_options options = { .otlp = "http://h" };
    struct pt_push_settings s;
    (void)state;
    forget_environment();
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        setenv("OTEL_EXPORTER_OTLP_HEADERS", cases[i].given, 1);
        read_settings(&s, &options, 0);
        assert_int_equal(s.header_count, 1);
        assert_string_equal(s.headers[0].name, "a");
        assert_string_equal(s.headers[0].value, cases[i].value);
        pt_push_settings_release(&s);
    }
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "=b,,c,d=1,", 1);
    read_settings(&s, &options, 0);
    assert_int_equal(s.header_count, 1);
    assert_string_equal(s.headers[0].name, "d");
    pt_push_settings_release(&s);
    forget_environment();
}

static void test_names_of_labels(void **state) {
    static const struct {
        const char *label;
        int code;
    } cases[] = { { "a=1", 0 },         { "z=1", 0 },        { "A=1", 0 },
                  { "Z=1", 0 },         { "_=1", 0 },        { "a0=1", 0 },
                  { "a9=1", 0 },        { "_a_=1", 0 },      { "0a=1", -EINVAL },
                  { "__a=1", -EINVAL }, { "=1", -EINVAL },   { "a", -EINVAL },
                  { "a@=1", -EINVAL },  { "a[=1", -EINVAL }, { "a`=1", -EINVAL },
                  { "a{=1", -EINVAL },  { "a/=1", -EINVAL }, { "a:=1", -EINVAL } };
    struct pt_push_settings s;
    (void)state;
    forget_environment();
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_push_options options = { .labels = &cases[i].label, .label_count = 1 };
        read_settings(&s, &options, cases[i].code);
        pt_push_settings_release(&s);
    }
    /* job and instance are two of them */
    char text[PT_PUSH_LABELS_MAX][8];
    const char *many[PT_PUSH_LABELS_MAX];
    for (int i = 0; i < PT_PUSH_LABELS_MAX; i++) {
        snprintf(text[i], sizeof text[i], "l%02d=1", i);
        many[i] = text[i];
    }
    struct pt_push_options options = { .labels = many, .label_count = PT_PUSH_LABELS_MAX - 2 };
    read_settings(&s, &options, 0);
    assert_int_equal(s.label_count, PT_PUSH_LABELS_MAX);
    assert_string_equal(s.labels[0].name, "instance"); /* sorted by name */
    assert_string_equal(s.labels[1].name, "job");
    assert_string_equal(s.labels[2].name, "l00");
    pt_push_settings_release(&s);
    options.label_count++;
    read_settings(&s, &options, -E2BIG);
    pt_push_settings_release(&s);
}

static void test_details_of_settings(void **state) {
    struct pt_push_options options = { .otlp = "http://h///", .token_file = "/token" };
    struct pt_push_settings s;
    (void)state;
    forget_environment();
    setenv("HOME", "/home/me", 1);
    read_settings(&s, &options, 0);
    assert_string_equal(s.otlp, "http://h/v1/metrics");
    assert_string_equal(s.state_directory, "/home/me/.local/state/pitot");
    assert_string_equal(s.token_file, "/token");
    assert_false(s.is_otlp_plain);
    assert_int_equal(s.otlp_timeout_ns, 10 * PT_NS_PER_SECOND);
    assert_string_equal(s.warning, "");
    assert_string_equal(value_of(s.attributes, s.attribute_count, "service.name"), "pitot");
    assert_null(value_of(s.attributes, s.attribute_count, "rank"));
    pt_push_settings_release(&s);
    setenv("XDG_STATE_HOME", "/state", 1);
    setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
    setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1", 1);
    read_settings(&s, &options, 0);
    assert_string_equal(s.state_directory, "/state/pitot");
    assert_true(s.is_otlp_plain);
    assert_int_equal(s.otlp_timeout_ns, PT_NS_PER_MS);
    pt_push_settings_release(&s);
    static const char *const wrong[] = { "0", "soon", "-1" };
    for (size_t i = 0; i < PT_COUNT(wrong); i++) {
        setenv("OTEL_EXPORTER_OTLP_TIMEOUT", wrong[i], 1);
        read_settings(&s, &options, 0);
        assert_int_equal(s.otlp_timeout_ns, 10 * PT_NS_PER_SECOND);
        assert_non_null(strstr(s.warning, "is not a number of milliseconds; using 10 s"));
        pt_push_settings_release(&s);
    }
    setenv("XDG_STATE_HOME", "relative", 1);
    setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip", 1);
    read_settings(&s, &options, 0);
    assert_string_equal(s.state_directory, "/home/me/.local/state/pitot");
    assert_false(s.is_otlp_plain);
    pt_push_settings_release(&s);
    options.state_directory = "given";
    read_settings(&s, &options, 0);
    assert_string_equal(s.state_directory, "given");
    pt_push_settings_release(&s);
    options.state_directory = "";
    unsetenv("HOME");
    read_settings(&s, &options, -EINVAL);
    pt_push_settings_release(&s);
    forget_environment();
}

static void test_shown_url(void **state) {
    char shown[64];
    (void)state;
    pt_push_url_shown("https://user:pass@word@h:1/x@y", shown, sizeof shown);
    assert_string_equal(shown, "https://h:1/x@y");
    pt_push_url_shown("http://h/x", shown, sizeof shown);
    assert_string_equal(shown, "http://h/x");
}

static int make_directory(void **state) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/push_test.XXXXXX");
    *state = mkdtemp(path);
    return *state ? 0 : -1;
}

static int remove_directory(void **state) {
    DIR *d = opendir(*state);
    struct dirent *entry;
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
    return rmdir(*state);
}

#define QUEUE_TEST(function, sentence) \
    { sentence, function, make_directory, remove_directory, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_request_v2, "a request of remote-write 2.0 has these bytes"),
        PT_TEST(test_request_v1, "the same as 1.0 has these bytes, with metadata or without"),
        PT_TEST(test_stale, "the end of a series is Prometheus' own NaN"),
        PT_TEST(test_cut_request, "a request that was cut becomes none of 1.0"),
        PT_TEST(test_wrong_symbol, "a symbol that is not there is an error"),
        PT_TEST(test_snappy, "snappy's block format comes back as it was, up to a limit"),
        PT_TEST(test_otlp_gauge, "a gauge of OTLP has these bytes"),
        PT_TEST(test_otlp_answer, "what a receiver of OTLP did not take is read from its answer"),
        PT_TEST(test_otel_columns, "every name of OpenTelemetry is that of a column of its unit"),
        PT_TEST(test_vanished_series, "a series that is gone ends once, and may come back"),
        PT_TEST(test_skipped_family, "a family that is skipped ends after a minute"),
        PT_TEST(test_old_reading, "a reading that is not new is not a point"),
        PT_TEST(test_counter_starts, "a counter that fell began after its last point"),
        PT_TEST(test_native_histogram, "a native histogram is one series with its own counts"),
        PT_TEST(test_keys_of_series, "series differ in name, labels or bound"),
        PT_TEST(test_end_of_series, "the end of a series comes after its last point"),
        PT_TEST(test_too_many_series, "series beyond the limit are refused and counted"),
        PT_TEST(test_classic_histogram, "a histogram is a series for each classic bucket"),
        QUEUE_TEST(test_queue_order, "the queue gives the oldest first and leaves no file behind"),
        QUEUE_TEST(test_queue_next_run, "what is left is there for the next run"),
        QUEUE_TEST(test_queue_of_a_process_that_ended,
                   "a segment of a process that ended is sent, and not added to"),
        QUEUE_TEST(test_queue_other_process, "a segment that is in use is left alone"),
        QUEUE_TEST(test_queue_killed, "SIGKILL loses nothing that was queued"),
        QUEUE_TEST(test_queue_torn, "a request that was cut is left out, those before it are not"),
        QUEUE_TEST(test_queue_altered, "a request that was altered is never sent"),
        QUEUE_TEST(test_queue_bounds, "beyond its bytes the oldest are dropped and counted"),
        QUEUE_TEST(test_queue_age, "beyond its age the oldest are dropped and counted"),
        QUEUE_TEST(test_queue_full_disk, "a request that cannot be written is an error, once"),
        QUEUE_TEST(test_queue_short_writes, "short and interrupted writes lose nothing"),
        QUEUE_TEST(test_queue_failing_disk, "a disk that fails costs the request at hand"),
        QUEUE_TEST(test_queue_adopted_order, "requests of other runs come first, by their age"),
        QUEUE_TEST(test_queue_defaults, "the queue has these bounds"),
        PT_TEST(test_urls, "URLs of receivers may leave out the usual path"),
        PT_TEST(test_wrong_settings, "wrong settings are reported with the remedy"),
        PT_TEST(test_otel_variables, "variables of OpenTelemetry say where, as whom and how long"),
        PT_TEST(test_percent_signs, "values of OpenTelemetry's variables are percent-encoded"),
        PT_TEST(test_names_of_labels, "names of labels are those of Prometheus, up to a limit"),
        PT_TEST(test_details_of_settings, "each setting has its default and its place"),
        PT_TEST(test_shown_url, "a URL is shown without its password"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
