/* The writers of expositions, traces and event files, on values with known answers. */
#include "test.h"

#include "base/buf.h"
#include "base/crc32c.h"
#include "format/metrics/exposition.h"
#include "format/trace/flow.h"
#include "format/metrics/label.h"
#include "format/trace/lane.h"
#include "format/trace/tensorboard.h"
#include "support/promcheck.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

static struct pt_buf written;
static struct pt_out out;

static struct pt_out *begin(void) {
    pt_buf_release(&written);
    pt_out_memory(&out, &written);
    return &out;
}

static const char *end(void) {
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&written, 0);
    return (const char *)written.at;
}

static struct pt_family family(enum pt_family_kind kind, const char *name, const char *help,
                               const char *unit, const struct pt_series *series, size_t count) {
    return (struct pt_family){
        pt_str_from(name), pt_str_from(help), pt_str_from(unit), kind, series, count
    };
}

static const char *render(enum pt_exposition_format format, const struct pt_family *families,
                          size_t count) {
    struct pt_exposition e;
    pt_exposition_begin(&e, begin(), format);
    for (size_t i = 0; i < count; i++)
        pt_exposition_family(&e, &families[i]);
    pt_exposition_end(&e);
    return end();
}

static void check_text(const char *text, bool is_openmetrics) {
    struct pt_err err = { "" };
    if (pt_promcheck_text(pt_str_from(text), is_openmetrics, &err))
        fail_msg("%s in:\n%s", err.text, text);
}

static uint64_t buckets[PT_BUCKET_COUNT];
static struct pt_bounds bounds;
static struct pt_distribution distribution;

/* Values with a known place: 0 is in bucket 0; 1 is the first of its octave. */
static void make_distribution(const double *values, size_t count) {
    memset(buckets, 0, sizeof buckets);
    pt_bounds_set_default(&bounds);
    distribution =
        (struct pt_distribution){ .buckets = buckets, .used = pt_all_buckets, .bounds = &bounds };
    for (size_t i = 0; i < count; i++) {
        buckets[pt_bucket_of(values[i])]++;
        distribution.sum += values[i];
        distribution.count++;
    }
}

static void counters_and_gauges(void **state) {
    (void)state;
    const struct pt_series requests[] = {
        { .labels = PT_STR("model=\"a\""), .integer = 12, .is_integer = true },
        { .labels = PT_STR("model=\"b\""), .integer = UINT64_MAX, .is_integer = true },
    };
    const struct pt_series temperatures[] = {
        { .labels = PT_STR(""), .value = 36.6 },
        { .labels = PT_STR("at=\"x\""), .value = (double)NAN },
        { .labels = PT_STR("at=\"y\""), .value = (double)INFINITY },
        { .labels = PT_STR("at=\"z\""), .value = -(double)INFINITY },
    };
    const struct pt_family families[] = {
        family(PT_FAMILY_COUNTER, "requests", "Total \"requests\"\nof C:\\", "", requests, 2),
        family(PT_FAMILY_GAUGE, "body_celsius", "", "Cel", temperatures, 4),
    };
    const char *text = render(PT_PROMETHEUS, families, 2);
    assert_string_equal(text, "# HELP requests_total Total \"requests\"\\nof C:\\\\\n"
                              "# TYPE requests_total counter\n"
                              "requests_total{model=\"a\"} 12\n"
                              "requests_total{model=\"b\"} 18446744073709551615\n"
                              "# TYPE body_celsius gauge\n"
                              "body_celsius 36.6\n"
                              "body_celsius{at=\"x\"} NaN\n"
                              "body_celsius{at=\"y\"} +Inf\n"
                              "body_celsius{at=\"z\"} -Inf\n");
    check_text(text, false);
    text = render(PT_OPENMETRICS, families, 2);
    assert_string_equal(text, "# HELP requests Total \\\"requests\\\"\\nof C:\\\\\n"
                              "# TYPE requests counter\n"
                              "requests_total{model=\"a\"} 12\n"
                              "requests_total{model=\"b\"} 18446744073709551615\n"
                              "# TYPE body_celsius gauge\n"
                              "# UNIT body_celsius celsius\n"
                              "body_celsius 36.6\n"
                              "body_celsius{at=\"x\"} NaN\n"
                              "body_celsius{at=\"y\"} +Inf\n"
                              "body_celsius{at=\"z\"} -Inf\n"
                              "# EOF\n");
    check_text(text, true);
}

static void histogram_text(void **state) {
    (void)state;
    make_distribution((double[]){ 0, .005, .0049, .2, .25, 1, 9, 11, 1e9 }, 9);
    const struct pt_series series = { .labels = PT_STR("m=\"a\""), .distribution = &distribution };
    const struct pt_family f = family(PT_FAMILY_HISTOGRAM, "request_duration_seconds",
                                      "Request duration", "s", &series, 1);
    const char *text = render(PT_OPENMETRICS, &f, 1);
    assert_string_equal(text, "# HELP request_duration_seconds Request duration\n"
                              "# TYPE request_duration_seconds histogram\n"
                              "# UNIT request_duration_seconds seconds\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.005\"} 3\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.01\"} 3\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.025\"} 3\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.05\"} 3\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.1\"} 3\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.25\"} 5\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"0.5\"} 5\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"1.0\"} 6\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"2.5\"} 6\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"5.0\"} 6\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"10.0\"} 7\n"
                              "request_duration_seconds_bucket{m=\"a\",le=\"+Inf\"} 9\n"
                              "request_duration_seconds_sum{m=\"a\"} 1000000021.4599\n"
                              "request_duration_seconds_count{m=\"a\"} 9\n"
                              "# EOF\n");
    check_text(text, true);
    check_text(render(PT_PROMETHEUS, &f, 1), false);
}

static void bounds_are_checked(void **state) {
    (void)state;
    struct pt_bounds b = { 0 };
    double many[PT_BOUNDS_MAX + 1];
    for (size_t i = 0; i < PT_COUNT(many); i++)
        many[i] = (double)i;
    assert_int_equal(pt_bounds_set(&b, many, PT_BOUNDS_MAX), 0);
    assert_int_equal(pt_bounds_set(&b, many, PT_BOUNDS_MAX + 1), -EINVAL);
    assert_int_equal(pt_bounds_set(&b, (double[]){ 1, 1 }, 2), -EINVAL);
    assert_int_equal(pt_bounds_set(&b, (double[]){ 2, 1 }, 2), -EINVAL);
    assert_int_equal(pt_bounds_set(&b, (double[]){ (double)NAN }, 1), -EINVAL);
    assert_int_equal(pt_bounds_set(&b, (double[]){ 1, (double)INFINITY }, 2), -EINVAL);
    assert_int_equal(b.count, PT_BOUNDS_MAX);
    /* the longest numbers there are */
    assert_int_equal(pt_bounds_set(&b, (double[]){ -0x1.fffffffffffffp-1022, 0x1p1000 }, 2), 0);
    assert_memory_equal(b.ends[0].text, "-4.4501477170144023e-308\"} ", b.ends[0].length);
}

/* Every value up to the bound, none that is 2.2 % above it, never fewer than at the one before. */
static void counts_at_bounds(void **state) {
    (void)state;
    struct pt_bounds b;
    const double upper[] = { -1, 0, 1e-12, 1e-3, .123, .1231, 1, 1024, 1e300 };
    uint64_t counts[PT_BOUNDS_MAX];
    assert_int_equal(pt_bounds_set(&b, upper, PT_COUNT(upper)), 0);
    for (double value = 1e-9; value < 1e6; value *= 1.0137) {
        make_distribution(&value, 1);
        pt_bounds_count(&b, buckets, pt_all_buckets, counts);
        for (size_t i = 0; i < PT_COUNT(upper); i++) {
            if (value <= upper[i])
                assert_int_equal(counts[i], 1);
            else if (value > upper[i] * 1.022 && value > 0x1.06p-32)
                assert_int_equal(counts[i], 0);
            assert_true(i == 0 || counts[i] >= counts[i - 1]);
        }
    }
    make_distribution((double[]){ 0 }, 1);
    pt_bounds_count(&b, buckets, pt_all_buckets, counts);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[1], 1);
}

static void names_and_labels(void **state) {
    (void)state;
    static const struct {
        const char *raw, *clean;
    } cases[] = {
        { "a=\"b\"", "a=\"b\"" },
        { "a=\"b\",c=\"d\"", "a=\"b\",c=\"d\"" },
        { " a = \"b\" , c=\"d\",", "a=\"b\",c=\"d\"" },
        { "a=\"b\",c=\"cut of", "a=\"b\"" },
        { "a=\"b\"c=\"d\"", "a=\"b\"" }, /* its comma would be one byte more than there is */
        { "a=\"b\",a=\"c\",d=\"e\"", "a=\"b\",d=\"e\"" },
        { "a=\"x\\\"y\\\\z\\n\"", "a=\"x\\\"y\\\\z\\n\"" },
        { "a=\"\\t\"", "" },
        { "a=\"b\\", "" },
        { "1a=\"b\"", "" },
        { "a=b", "" },
        { "a=\"two\nlines\"", "" },
        { "le=\"1\",a=\"b\"", "a=\"b\"" },
        { "a=\"caf\xc3\xa9\",b=\"\xff\"", "a=\"caf\xc3\xa9\",b=\"?\"" },
        { "", "" },
    };
    char into[256], text[256];
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_str clean = { into, pt_labels_clean(into, pt_str_from(cases[i].raw), "le") };
        assert_str_eq(clean, cases[i].clean);
    }
    struct pt_str name = { into, pt_metric_name_clean(into, PT_STR("9 lives:of-a\xc3\xa9")) };
    assert_str_eq(name, "__lives:of_a__");
    struct pt_str rest = PT_STR("a=\"x\\\"y\\\\z\\n\",b=\"\""), value;
    assert_true(pt_labels_next(&rest, &name, &value));
    assert_str_eq(pt_label_unescape(value, text), "x\"y\\z\n");
    assert_true(pt_labels_next(&rest, &name, &value));
    assert_str_eq(name, "b");
    assert_str_eq(value, "");
    assert_false(pt_labels_next(&rest, &name, &value));
}

static void assert_bytes(const char *expected, size_t length, const char *actual) {
    assert_int_equal(written.len - 1, length);
    assert_memory_equal(actual, expected, length);
}

static void counter_proto(void **state) {
    (void)state;
    const struct pt_series series = { .labels = PT_STR("a=\"b\""),
                                      .integer = 3,
                                      .is_integer = true };
    const struct pt_family f = family(PT_FAMILY_COUNTER, "requests", "Total", "", &series, 1);
    static const char expected[] = "\x2e"
                                   "\x0a\x0erequests_total"
                                   "\x12\x05Total"
                                   "\x18\x00"
                                   "\x22\x13"
                                   "\x0a\x06\x0a\x01\x61\x12\x01\x62"
                                   "\x1a\x09\x09\x00\x00\x00\x00\x00\x00\x08\x40";
    assert_bytes(expected, sizeof expected - 1, render(PT_PROTOBUF, &f, 1));
}

/* Index 1 ends at 2^(1/32) and holds the value 1; 1.03 is in the next, 2 in index 33. */
static void histogram_proto(void **state) {
    (void)state;
    make_distribution((double[]){ 0, 1, 1, 1.03, 2 }, 5);
    assert_int_equal(pt_bounds_set(&bounds, (double[]){ 1 }, 1), 0);
    const struct pt_series series = { .labels = PT_STR(""), .distribution = &distribution };
    const struct pt_family f = family(PT_FAMILY_HISTOGRAM, "h", "", "", &series, 1);
    static const char expected[] = "\x4e"
                                   "\x0a\x01h"
                                   "\x12\x00"
                                   "\x18\x04"
                                   "\x22\x45"
                                   "\x3a\x43"
                                   "\x08\x05"
                                   "\x11\x1f\x85\xeb\x51\xb8\x1e\x14\x40" /* 5.03 */
                                   "\x1a\x0b\x08\x03\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"
                                   "\x1a\x0b\x08\x05\x11\x00\x00\x00\x00\x00\x00\xf0\x7f"
                                   "\x28\x0a"
                                   "\x31\x74\x85\x15\xd3\xb0\x59\xf0\x3d" /* 2^(-32 + 1/32) */
                                   "\x38\x01"
                                   "\x62\x04\x08\x02\x10\x02"
                                   "\x62\x04\x08\x3c\x10\x01"
                                   "\x6a\x03\x04\x01\x00";
    assert_bytes(expected, sizeof expected - 1, render(PT_PROTOBUF, &f, 1));
}

static json_t *parse(const char *text) {
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("%s at %d in:\n%.2000s", error.text, error.position, text);
    return root;
}

static void json_metrics(void **state) {
    (void)state;
    make_distribution((double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 100 }, 10);
    const struct pt_series count = { .labels = PT_STR("a=\"x\\\"y\""),
                                     .integer = 3,
                                     .is_integer = true };
    const struct pt_series gauge = { .labels = PT_STR(""), .value = (double)NAN };
    const struct pt_series hist = { .labels = PT_STR(""), .distribution = &distribution };
    const struct pt_family families[] = {
        family(PT_FAMILY_COUNTER, "n", "Help", "", &count, 1),
        family(PT_FAMILY_GAUGE, "g", "", "By", &gauge, 1),
        family(PT_FAMILY_HISTOGRAM, "h", "", "s", &hist, 1),
    };
    json_t *root = parse(render(PT_JSON, families, 3));
    json_t *metrics = json_object_get(root, "metrics");
    const char *name, *kind, *label;
    int value;
    assert_int_equal(json_unpack(json_array_get(metrics, 0), "{s:s,s:s,s:[{s:{s:s},s:i}]}", "name",
                                 &name, "kind", &kind, "series", "labels", "a", &label, "value",
                                 &value),
                     0);
    assert_string_equal(name, "n_total");
    assert_string_equal(kind, "counter");
    assert_string_equal(label, "x\"y");
    assert_int_equal(value, 3);
    json_t *unknown = json_object_get(
        json_array_get(json_object_get(json_array_get(metrics, 1), "series"), 0), "value");
    assert_true(json_is_null(unknown));
    double sum, p50, p999;
    assert_int_equal(json_unpack(json_array_get(metrics, 2), "{s:[{s:i,s:F,s:F,s:F}]}", "series",
                                 "count", &value, "sum", &sum, "p50", &p50, "p99.9", &p999),
                     0);
    assert_int_equal(value, 10);
    assert_true(sum == 109 && fabs(p50 - 1) < .011 && fabs(p999 / 100 - 1) < .011);
    json_decref(root);
    json_decref(parse(render(PT_JSON, NULL, 0)));
}

static void empty_expositions(void **state) {
    (void)state;
    assert_string_equal(render(PT_PROMETHEUS, NULL, 0), "");
    assert_string_equal(render(PT_OPENMETRICS, NULL, 0), "# EOF\n");
    assert_string_equal(render(PT_PROTOBUF, NULL, 0), "");
}

static void negotiation(void **state) {
    (void)state;
#define PROTO "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily"
    static const struct {
        const char *accept;
        enum pt_exposition_format format;
    } cases[] = {
        { NULL, PT_PROMETHEUS },
        { "", PT_PROMETHEUS },
        { "*/*", PT_PROMETHEUS },
        { "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", PT_PROMETHEUS },
        { "text/plain;version=0.0.4;q=1,*/*;q=0.1", PT_PROMETHEUS },
        { "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
          "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
          PT_OPENMETRICS },
        { PROTO ";encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8,text/plain;"
                "version=0.0.4;q=0.5,*/*;q=0.1",
          PT_PROTOBUF },
        { PROTO ";encoding=text, text/plain;q=0.5", PT_PROMETHEUS },
        { PROTO ", text/plain;q=0.5", PT_PROMETHEUS },
        { "APPLICATION/OpenMetrics-Text; Version=\"1.0.0\"; Q=0.9 , text/plain; q=0.899",
          PT_OPENMETRICS },
        { "text/plain;q=0.5,application/openmetrics-text;q=0.50", PT_PROMETHEUS },
        { "application/openmetrics-text;version=2.0.0,text/plain;q=0.2", PT_PROMETHEUS },
        { "application/openmetrics-text;q=0,text/plain;q=0.001", PT_PROMETHEUS },
        { "application/openmetrics-text;q=banana,application/json;q=0.3", PT_JSON },
        { "application/json", PT_JSON },
        { ";;,,=;q", PT_PROMETHEUS },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        if (pt_exposition_negotiate(cases[i].accept) != cases[i].format)
            fail_msg("%s", cases[i].accept);
    assert_string_equal(pt_exposition_type(PT_PROMETHEUS),
                        "text/plain; version=0.0.4; charset=utf-8");
}

static void trace_events(void **state) {
    (void)state;
    struct pt_trace t;
    pt_trace_begin(&t, begin());
    pt_trace_process(&t, 7, PT_STR("a \"program\""));
    pt_trace_thread(&t, 7, 8, PT_STR("worker"), 2);
    pt_trace_span(&t, &(struct pt_trace_span){ .name = PT_STR("prefill"),
                                               .pid = 7,
                                               .thread = 8,
                                               .start_ns = 1234567890123,
                                               .duration_ns = 1500,
                                               .argument_key = "tokens",
                                               .argument = -5,
                                               .text = PT_STR("a\nb"),
                                               .has_request = true,
                                               .request = UINT64_MAX });
    pt_trace_counter(&t, 7, 2000, PT_STR("memory"), 1.5);
    pt_trace_counter(&t, 7, 2000, PT_STR("unknown"), (double)NAN);
    pt_trace_end(&t);
    const char *text = end();
    assert_string_equal(
        text,
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"a "
        "\\\"program\\\"\"}},\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":8,\"args\":{\"name\":\"worker\"}"
        "},\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":7,\"tid\":8,\"args\":{\"sort_index\":"
        "2}},\n"
        "{\"ph\":\"X\",\"name\":\"prefill\",\"pid\":7,\"tid\":8,\"ts\":1234567890.123,\"dur\":1."
        "500,\"args\":{\"tokens\":-5,\"text\":\"a\\nb\",\"request\":18446744073709551615}},\n"
        "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":7,\"ts\":2.000,\"args\":{\"value\":1.5}}\n]}\n");
    begin();
    pt_trace_begin(&t, &out);
    pt_trace_end(&t);
    json_decref(parse(end()));
}

/* Request 1 goes 8 -> 9 -> 8, request 2 stays, request 1 of another process is another. */
static void flows(void **state) {
    (void)state;
    struct pt_flow_point points[] = {
        { .request = 1, .start_ns = 50000, .pid = 1, .thread = 8 },
        { .request = 2, .start_ns = 10000, .pid = 1, .thread = 8 },
        { .request = 1, .start_ns = 30000, .pid = 1, .thread = 9 },
        { .request = 1, .start_ns = 10000, .pid = 1, .thread = 8 },
        { .request = 1, .start_ns = 20000, .pid = 1, .thread = 8 },
        { .request = 2, .start_ns = 20000, .pid = 1, .thread = 8 },
        { .request = 1, .start_ns = 15000, .pid = 2, .thread = 10 },
    };
    struct pt_trace t;
    pt_trace_begin(&t, begin());
    pt_flows_write(&t, points, PT_COUNT(points));
    pt_trace_end(&t);
#define FLOW(phase, tid, ts, more)                                                    \
    "{\"ph\":\"" phase "\",\"name\":\"request\",\"pid\":1,\"tid\":" tid ",\"ts\":" ts \
    ",\"cat\":\"request\",\"id\":\"0x10000000001\"" more "}"
    assert_string_equal(
        end(),
        "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" FLOW("s", "8", "20.000", "") ",\n" FLOW(
            "t", "9", "30.000", "") ",\n" FLOW("f", "8", "50.000", ",\"bp\":\"e\"") "\n]}\n");
}

/* One record off the front; checks both sums. */
static struct pt_str take_record(struct pt_bytes *r) {
    const uint8_t *start = r->at;
    uint64_t length = pt_bytes_u64(r);
    uint32_t crc = pt_bytes_u32(r) - 0xa282ead8;
    assert_int_equal(crc << 15 | crc >> 17, pt_crc32c(0, start, 8));
    struct pt_str message = pt_bytes_take(r, length);
    crc = pt_bytes_u32(r) - 0xa282ead8;
    assert_int_equal(crc << 15 | crc >> 17, pt_crc32c(0, message.at, message.len));
    assert_false(r->failed);
    return message;
}

static void event_records(void **state) {
    (void)state;
    const struct pt_event event = { .wall_time = 1.5, .step = 300, .tag = PT_STR("loss") };
    begin();
    pt_event_version(&out, 1.5);
    pt_event_scalar(&out, &event, 0.25);
    make_distribution((double[]){ 1, 1, 2 }, 3);
    pt_event_histogram(&out, &event, buckets, pt_all_buckets, distribution.sum);
    end();
    struct pt_bytes r = { written.at, written.at + written.len - 1, false };
    static const char version[] = "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x1a\x0d"
                                  "brain.Event:2";
    struct pt_str message = take_record(&r);
    assert_int_equal(message.len, sizeof version - 1);
    assert_memory_equal(message.at, version, message.len);
    static const char scalar[] = "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x10\xac\x02\x2a\x0d\x0a\x0b"
                                 "\x0a\x04loss\x15\x00\x00\x80\x3e";
    message = take_record(&r);
    assert_int_equal(message.len, sizeof scalar - 1);
    assert_memory_equal(message.at, scalar, message.len);
    message = take_record(&r);
    static const double limits[] = { 1, 0x1.059b0d3158574p+0, 2, 0x1.059b0d3158574p+1 };
    static const double counts[] = { 0, 2, 0, 1 };
    struct pt_str tail = pt_str_skip(message, message.len - 2 * (sizeof limits + 2));
    assert_memory_equal(tail.at, "\x32\x20", 2);
    assert_memory_equal(tail.at + 2, limits, sizeof limits);
    assert_memory_equal(tail.at + 2 + sizeof limits, "\x3a\x20", 2);
    assert_memory_equal(tail.at + 4 + sizeof limits, counts, sizeof counts);
    assert_true(r.at == r.end);
}

static int fail_to_drain(void *arg, const void *bytes, size_t n) {
    (void)bytes;
    *(size_t *)arg += n;
    return -ENOSPC;
}

static void drained_output(void **state) {
    (void)state;
    static char buffer[PT_OUT_BUFFER];
    size_t asked = 0;
    pt_out_through(&out, buffer, fail_to_drain, &asked);
    for (int i = 0; i < 100000; i++)
        pt_out_text(&out, "four");
    assert_int_equal(pt_out_close(&out), -ENOSPC);
    assert_int_equal(asked, PT_OUT_BUFFER);
}

/* Where spans end, one after the other, and the line that each goes on. */
static void lanes(void **state) {
    static struct pt_lanes set;
    static const struct {
        uint32_t thread;
        int64_t start_ns, end_ns;
        uint32_t lane;
        int64_t placed_ns;
    } spans[] = {
        { 7, 20000, 30000, 0, 20000 }, /* in the next one */
        { 7, 10000, 40000, 0, 10000 }, /* holds it */
        { 7, 35000, 50000, 1, 35000 }, /* overlaps with it */
        { 7, 45000, 60000, 0, 45000 }, /* not with the first line */
        { 7, 55000, 70000, 1, 55000 }, /* nor with the second */
        { 7, 47500, 80000, 2, 47500 }, /* with both */
        { 8, 15000, 80000, 0, 15000 }, /* another thread */
        { 7, 10500, 90000, 0, 10000 }, /* the clock: holds all of the first line */
        { 7, 89000, 95000, 0, 90000 }, /* the clock: after it */
        { 7, 95000, 95000, 0, 95000 }, /* of no length */
        { 7, 0, 100000, 0, 0 },        /* holds all */
    };
    (void)state;
    for (size_t i = 0; i < PT_COUNT(spans); i++) {
        int64_t start_ns = spans[i].start_ns;
        assert_int_equal(pt_lanes_place(&set, 1, spans[i].thread, &start_ns, spans[i].end_ns),
                         spans[i].lane);
        assert_int_equal(start_ns, spans[i].placed_ns);
    }
    assert_int_equal(pt_lane_thread(7, 2), 7 + 2 * 4194304);
}

/* Random intervals, in the order of their ends: on no line do two overlap without nesting. */
static void lanes_nest(void **state) {
    enum { COUNT = 2000 };
    static struct pt_lanes set;
    static int64_t starts[COUNT], ends[COUNT];
    static uint32_t placed[COUNT];
    uint32_t random = 1;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        ends[i] = 10000000 + i * INT64_C(10000);
        starts[i] = ends[i] - (random >> 8) % (i % 50 == 0 ? 3000000 : 60000);
        placed[i] = pt_lanes_place(&set, 1, 1, &starts[i], ends[i]);
        assert_true(placed[i] < PT_LANES_MAX - 1);
        for (int k = 0; k < i; k++)
            if (placed[k] == placed[i])
                assert_true(ends[k] <= starts[i] || starts[k] >= starts[i]);
    }
}

static void lane_names(void **state) {
    static struct pt_lanes set;
    (void)state;
    int64_t start_ns = 0;
    pt_lanes_place(&set, 3, 7, &start_ns, 50000);
    start_ns = 10000;
    pt_lanes_place(&set, 3, 7, &start_ns, 60000);
    struct pt_trace trace = { .out = begin() };
    assert_int_equal(pt_lanes_name(&trace, &set, 3, 7, PT_STR("MainThread"), 0), 2);
    const char *json = end();
    assert_non_null(strstr(json, "\"pid\":3,\"tid\":7,\"args\":{\"name\":\"MainThread\"}"));
    assert_non_null(strstr(json, "\"tid\":4194311,\"args\":{\"name\":\"MainThread (2)\"}"));
    assert_non_null(strstr(json, "\"tid\":4194311,\"args\":{\"sort_index\":1}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(counters_and_gauges,
                "C248 C250 C257: counters and gauges have one name in both texts, exact numbers"),
        PT_TEST(histogram_text, "C249: a histogram has the default buckets, +Inf, sum and count"),
        PT_TEST(bounds_are_checked, "C249: bounds rise, are finite and not too many"),
        PT_TEST(counts_at_bounds, "C249: counts at bounds are right to the width of a bucket"),
        PT_TEST(names_and_labels, "C257: names and labels that would spoil the text are made good"),
        PT_TEST(counter_proto, "C257: a counter as protobuf, byte for byte"),
        PT_TEST(histogram_proto, "C249: a native histogram as protobuf, byte for byte"),
        PT_TEST(json_metrics, "C257: JSON has values, quantiles and null for what is unknown"),
        PT_TEST(empty_expositions, "C257: no metrics are a valid exposition"),
        PT_TEST(negotiation, "C257: the Accept header's highest q decides"),
        PT_TEST(trace_events, "C217: spans, names and counters are Chrome trace events"),
        PT_TEST(flows, "C217: a request that changes threads has arrows"),
        PT_TEST(lanes, "C216: spans that overlap go on lines of their own"),
        PT_TEST(lanes_nest, "C216: on every line spans nest"),
        PT_TEST(lane_names, "C216: further lines have the name of their thread"),
        PT_TEST(event_records, "C237: records of scalars and histograms with both checksums"),
        PT_TEST(drained_output, "C257: an output that cannot be written is an error, not a loop"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
