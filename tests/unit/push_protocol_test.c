/* What each protocol calls series, makes of points, sends with a request and thinks of answers. */
#include "test.h"

#include "base/clock.h"
#include "format/metrics/otlp.h"
#include "format/metrics/remote_write.h"
#include "push/otel_names.h"
#include "push/protocol.h"
#include "push/snappy.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <zlib.h>

static struct pt_push_settings settings = {
    .labels = { { (char[]){ "a" }, (char[]){ "outer" } },
                { (char[]){ "cluster" }, (char[]){ "c\"1" } },
                { (char[]){ "none" }, (char[]){ "" } } },
    .label_count = 3,
    .otlp_timeout_ns = 7 * PT_NS_PER_SECOND,
};

/* ---- remote-write ---- */

static const struct pt_snappy_interface *snappy;

static void *open_remote_write(void) {
    void *state;
    struct pt_err err = { "" };
    if (pt_snappy_open(&snappy, &err))
        skip();
    assert_int_equal(pt_push_remote_write.open(&state, &settings, NULL, &err), 0);
    return state;
}

static void check_identity(void *state, const char *labels, const char *bound,
                           const char *expected) {
    struct pt_push_naming naming = pt_push_remote_write.naming(state);
    struct pt_family family = { .name = PT_STR("up") };
    struct pt_buf into = { 0 };
    naming.identify(naming.user, &family, PT_STR("_total"), pt_str_from(labels), pt_str_from(bound),
                    &into);
    assert_str_eq(pt_buf_as_str(&into), expected);
    pt_buf_release(&into);
}

static void labels_of_remote_write_are_sorted_and_unique(void **unused) {
    (void)unused;
    void *state = open_remote_write();
    check_identity(state, "", "", "__name__=\"up_total\",a=\"outer\",cluster=\"c\\\"1\"");
    check_identity(state, "z=\"1\",b=\"2\",a=\"3\"", "0.5",
                   "__name__=\"up_total\",a=\"3\",b=\"2\",cluster=\"c\\\"1\",le=\"0.5\",z=\"1\"");
    check_identity(state, "le=\"7\",ab=\"\",clusters=\"2\",clu=\"3\"", "0.5",
                   "__name__=\"up_total\",a=\"outer\",clu=\"3\",cluster=\"c\\\"1\","
                   "clusters=\"2\",le=\"0.5\"");
    check_identity(state, "A=\"1\"", "",
                   "A=\"1\",__name__=\"up_total\",a=\"outer\",cluster=\"c\\\"1\"");
    pt_push_remote_write.close(state);
}

/* Of 64 labels with the name at most; those of the series come first. */
static void labels_beyond_the_limit_are_left_out(void **unused) {
    (void)unused;
    void *state = open_remote_write();
    struct pt_push_naming naming = pt_push_remote_write.naming(state);
    struct pt_family family = { .name = PT_STR("up") };
    for (int count = 60; count < 70; count++) {
        struct pt_buf labels = { 0 }, into = { 0 };
        for (int i = 0; i < count; i++) {
            char label[32];
            snprintf(label, sizeof label, "%sl%02d=\"1\"", i ? "," : "", i);
            pt_buf_str(&labels, pt_str_from(label));
        }
        naming.identify(naming.user, &family, PT_STR(""), pt_buf_as_str(&labels), PT_STR(""),
                        &into);
        int found = 0;
        for (size_t i = 0; i < into.len; i++)
            found += into.at[i] == '=';
        assert_int_equal(found, count + 3 < 64 ? count + 3 : 64);
        pt_buf_release(&labels);
        pt_buf_release(&into);
    }
    pt_push_remote_write.close(state);
}

static void add_gauge(const struct pt_push_protocol *protocol, void *state, struct pt_push_batch *b,
                      const char *name, const char *labels, double value) {
    struct pt_series series = { .labels = pt_str_from(labels), .value = value };
    struct pt_family family = { .name = pt_str_from(name),
                                .help = PT_STR("H"),
                                .unit = PT_STR("seconds"),
                                .kind = PT_FAMILY_GAUGE,
                                .series = &series,
                                .series_count = 1 };
    protocol->add(state, b, &family);
}

/* A batch of two samples; the series b has a point in the first one only. */
static void begin_batch(const struct pt_push_protocol *protocol, void *state,
                        struct pt_push_batch *b, const char *name) {
    struct pt_push_naming naming = protocol->naming(state);
    pt_push_batch_init(b, &naming);
    pt_push_batch_begin(b, 1 * PT_NS_PER_SECOND);
    add_gauge(protocol, state, b, name, "k=\"a\"", 1);
    add_gauge(protocol, state, b, name, "k=\"b\"", 2);
    add_gauge(protocol, state, b, "other", "", 3);
    pt_push_batch_end(b);
}

static void requests_have_the_series_with_points(void **unused) {
    (void)unused;
    void *state = open_remote_write();
    struct pt_push_batch b;
    struct pt_buf request = { 0 }, expected = { 0 };
    begin_batch(&pt_push_remote_write, state, &b, "up");
    pt_push_batch_clear(&b);
    pt_push_batch_begin(&b, 2 * PT_NS_PER_SECOND);
    add_gauge(&pt_push_remote_write, state, &b, "up", "k=\"b\"", 5);
    pt_push_batch_end(&b);
    pt_push_remote_write.encode(state, &b, &request);
    struct pt_point points[] = { { .time_ns = 2 * PT_NS_PER_SECOND, .is_stale = true },
                                 { .time_ns = 2 * PT_NS_PER_SECOND, .value = 5 } };
    struct pt_rw_series series[] = {
        { .labels = PT_STR("__name__=\"up\",a=\"outer\",cluster=\"c\\\"1\",k=\"a\""),
          .kind = PT_FAMILY_GAUGE,
          .help = PT_STR("H"),
          .unit = PT_STR("seconds"),
          .points = &points[0],
          .point_count = 1 },
        { .labels = PT_STR("__name__=\"up\",a=\"outer\",cluster=\"c\\\"1\",k=\"b\""),
          .kind = PT_FAMILY_GAUGE,
          .help = PT_STR("H"),
          .unit = PT_STR("seconds"),
          .points = &points[1],
          .point_count = 1 },
    };
    struct pt_rw_writer writer = { 0 };
    pt_rw_write(&writer, series, 2, &expected);
    assert_int_equal(request.len, expected.len);
    assert_memory_equal(request.at, expected.at, expected.len);
    pt_rw_writer_release(&writer);
    pt_buf_release(&request);
    pt_buf_release(&expected);
    pt_push_batch_release(&b);
    pt_push_remote_write.close(state);
}

/* What is sent for the request next; its length once it is unpacked. */
static size_t check_post(void *state, struct pt_str packed, int64_t seconds, bool is_v2) {
    struct pt_push_post post = { 0 };
    struct pt_buf plain = { 0 };
    assert_int_equal(pt_push_remote_write.prepare(state, packed, seconds * PT_NS_PER_SECOND, &post),
                     0);
    assert_string_equal(post.type,
                        is_v2 ? "application/x-protobuf;proto=io.prometheus.write.v2.Request"
                              : "application/x-protobuf");
    assert_int_equal(post.header_count, 2);
    assert_string_equal(post.headers[0], "Content-Encoding: snappy");
    assert_string_equal(post.headers[1], is_v2 ? "X-Prometheus-Remote-Write-Version: 2.0.0"
                                               : "X-Prometheus-Remote-Write-Version: 0.1.0");
    assert_string_equal(post.answer_header, "X-Prometheus-Remote-Write-Samples-Written");
    assert_int_equal(snappy->uncompress(post.body, 1 << 20, &plain), 0);
    size_t length = plain.len;
    pt_buf_release(&plain);
    return length;
}

static enum pt_push_verdict judge(const struct pt_push_protocol *protocol, void *state, int status,
                                  const char *answer_value) {
    struct pt_http_request answer = { .status = status };
    answer.error = status == 0 ? -ECONNREFUSED : status < 200 || status > 299 ? -EREMOTEIO : 0;
    pt_str_copy(answer.answer_value, sizeof answer.answer_value, pt_str_from(answer_value));
    pt_buf_str(&answer.body, PT_STR("words"));
    struct pt_push_judgement j = protocol->judge(state, &answer);
    if (protocol == &pt_push_remote_write || j.verdict != PT_PUSH_ACCEPTED)
        assert_str_eq(j.words, "words");
    assert_int_equal(j.rejected_points, 0);
    pt_buf_release(&answer.body);
    return j.verdict;
}

static void a_receiver_of_1_0_is_recognised(void **unused) {
    (void)unused;
    static const struct {
        int status; /* of the first answer */
        const char *written;
        enum pt_push_verdict verdict;
        int next; /* which version is sent then */
    } cases[] = {
        { 204, "3", PT_PUSH_ACCEPTED, 2 }, { 200, "0", PT_PUSH_ACCEPTED, 2 },
        { 204, "", PT_PUSH_AGAIN, 1 },     { 415, "", PT_PUSH_AGAIN, 1 },
        { 400, "", PT_PUSH_AGAIN, 1 },     { 499, "", PT_PUSH_AGAIN, 1 },
        { 429, "", PT_PUSH_RETRY, 2 },     { 500, "", PT_PUSH_RETRY, 2 },
        { 399, "", PT_PUSH_RETRY, 2 },     { 0, "", PT_PUSH_RETRY, 2 },
    };
    struct pt_buf packed = { 0 };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        void *state = open_remote_write();
        pt_buf_clear(&packed);
        pt_push_remote_write.pack(state, PT_STR(""), &packed);
        check_post(state, pt_buf_as_str(&packed), 1, true);
        assert_int_equal(judge(&pt_push_remote_write, state, cases[i].status, cases[i].written),
                         cases[i].verdict);
        check_post(state, pt_buf_as_str(&packed), 1, cases[i].next == 2);
        pt_push_remote_write.close(state);
    }
    pt_buf_release(&packed);
}

static void answers_of_remote_write_are_judged_by_version(void **unused) {
    (void)unused;
    static const struct {
        int status;
        enum pt_push_verdict v2, v1;
    } cases[] = {
        { 400, PT_PUSH_REJECTED, PT_PUSH_REJECTED }, { 499, PT_PUSH_REJECTED, PT_PUSH_REJECTED },
        { 415, PT_PUSH_AGAIN, PT_PUSH_REJECTED },    { 429, PT_PUSH_RETRY, PT_PUSH_RETRY },
        { 500, PT_PUSH_RETRY, PT_PUSH_RETRY },       { 399, PT_PUSH_RETRY, PT_PUSH_RETRY },
        { 0, PT_PUSH_RETRY, PT_PUSH_RETRY },         { 204, PT_PUSH_AGAIN, PT_PUSH_ACCEPTED },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        void *v2 = open_remote_write(), *v1 = open_remote_write();
        assert_int_equal(judge(&pt_push_remote_write, v2, 200, "1"), PT_PUSH_ACCEPTED);
        assert_int_equal(judge(&pt_push_remote_write, v2, cases[i].status, ""), cases[i].v2);
        assert_int_equal(judge(&pt_push_remote_write, v1, 200, ""), PT_PUSH_AGAIN);
        assert_int_equal(judge(&pt_push_remote_write, v1, cases[i].status, ""), cases[i].v1);
        pt_push_remote_write.close(v2);
        pt_push_remote_write.close(v1);
    }
}

/* Every five minutes, since 1.0 sends it apart from the series. */
static void metadata_of_1_0_is_sent_now_and_then(void **unused) {
    (void)unused;
    void *state = open_remote_write();
    struct pt_push_batch b;
    struct pt_buf request = { 0 }, packed = { 0 }, plain = { 0 };
    begin_batch(&pt_push_remote_write, state, &b, "up");
    pt_push_remote_write.encode(state, &b, &request);
    pt_push_remote_write.pack(state, pt_buf_as_str(&request), &packed);
    assert_int_equal(pt_rw_downgrade(pt_buf_as_str(&request), true, &plain), 0);
    size_t with = plain.len;
    pt_buf_clear(&plain);
    assert_int_equal(pt_rw_downgrade(pt_buf_as_str(&request), false, &plain), 0);
    size_t without = plain.len;
    assert_true(without < with);
    struct pt_str text = pt_buf_as_str(&packed);
    assert_int_equal(check_post(state, text, 1000, true), request.len);
    assert_int_equal(judge(&pt_push_remote_write, state, 415, ""), PT_PUSH_AGAIN);
    assert_int_equal(check_post(state, text, 1000, false), with);
    assert_int_equal(check_post(state, text, 1001, false), without);
    assert_int_equal(check_post(state, text, 1299, false), without);
    assert_int_equal(check_post(state, text, 1300, false), with);
    assert_int_equal(check_post(state, text, 1599, false), without);
    struct pt_push_post post = { 0 };
    text.len--;
    assert_int_equal(pt_push_remote_write.prepare(state, text, 1, &post), -EBADMSG);
    pt_buf_release(&request);
    pt_buf_release(&packed);
    pt_buf_release(&plain);
    pt_push_batch_release(&b);
    pt_push_remote_write.close(state);
}

/* ---- OTLP ---- */

static const struct pt_table *sampler_tables[PT_SAMPLER_TABLES];
static struct pt_schema schema;

static void *open_otlp(void) {
    void *state;
    struct pt_err err;
    schema = (struct pt_schema){ sampler_tables, pt_sampler_tables(sampler_tables) };
    assert_int_equal(pt_push_otlp.open(&state, &settings, &schema, &err), 0);
    return state;
}

/* What Prometheus calls a column. */
static void family_of(const char *table, const char *column, char name[PT_METRIC_NAME_BYTES]) {
    struct pt_otel_index index;
    name[0] = 0;
    pt_otel_index_init(&index, &schema);
    for (size_t i = 0; i < index.count; i++) {
        const struct pt_otel_metric *m = &index.metrics[i];
        if (m->is_known && strcmp(m->table->name, table) == 0 &&
            strcmp(m->table->columns[m->column].short_name, column) == 0)
            memcpy(name, index.metrics[i].family, PT_METRIC_NAME_BYTES);
    }
    pt_otel_index_release(&index);
    assert_true(name[0]);
}

static void add_family(void *state, struct pt_push_batch *b, const char *name,
                       enum pt_family_kind kind, const char *labels, double value) {
    struct pt_series series = { .labels = pt_str_from(labels), .value = value };
    struct pt_family family = { .name = pt_str_from(name),
                                .help = PT_STR("H"),
                                .unit = PT_STR("seconds"),
                                .kind = kind,
                                .series = &series,
                                .series_count = 1 };
    pt_push_otlp.add(state, b, &family);
}

/* Compares with a request of these metrics. */
static void assert_request(void *state, const struct pt_push_batch *b,
                           const struct pt_otlp_metric *metrics, size_t count) {
    struct pt_buf request = { 0 }, expected = { 0 };
    struct pt_otlp_request whole = {
        .resource = PT_STR(""),
        .schema_url = PT_STR("https://opentelemetry.io/schemas/" PT_OTEL_VERSION),
        .scope_name = PT_STR("pitot"),
        .scope_version = PT_STR(PITOT_VERSION),
        .metrics = metrics,
        .metric_count = count,
    };
    pt_push_otlp.encode(state, b, &request);
    pt_otlp_write(&whole, &expected);
    assert_int_equal(request.len, expected.len);
    assert_memory_equal(request.at, expected.at, expected.len);
    pt_buf_release(&request);
    pt_buf_release(&expected);
}

/* Two columns are one metric of OpenTelemetry, with series that differ in an attribute. */
static void columns_become_series_of_one_metric(void **unused) {
    (void)unused;
    void *state = open_otlp();
    char user[PT_METRIC_NAME_BYTES], kernel[PT_METRIC_NAME_BYTES];
    family_of("core", "user", user);
    family_of("core", "kernel", kernel);
    struct pt_push_batch b;
    struct pt_push_naming naming = pt_push_otlp.naming(state);
    pt_push_batch_init(&b, &naming);
    const int64_t second = PT_NS_PER_SECOND;
    pt_push_batch_begin(&b, second);
    add_family(state, &b, user, PT_FAMILY_COUNTER, "number=\"0\"", 1);
    add_family(state, &b, "mine", PT_FAMILY_GAUGE, "a=\"x\\ny\",b=\"\"", 2);
    add_family(state, &b, kernel, PT_FAMILY_COUNTER, "number=\"0\"", 3);
    add_family(state, &b, user, PT_FAMILY_COUNTER, "number=\"one\"", 4);
    pt_push_batch_end(&b);
    struct pt_buf attributes[4] = { 0 };
    pt_otlp_attribute(&attributes[0], PT_STR("cpu.mode"), PT_STR("user"));
    pt_otlp_attribute_i64(&attributes[0], PT_STR("cpu.logical_number"), 0);
    pt_otlp_attribute(&attributes[1], PT_STR("cpu.mode"), PT_STR("system"));
    pt_otlp_attribute_i64(&attributes[1], PT_STR("cpu.logical_number"), 0);
    pt_otlp_attribute(&attributes[2], PT_STR("cpu.mode"), PT_STR("user"));
    pt_otlp_attribute(&attributes[2], PT_STR("cpu.logical_number"), PT_STR("one"));
    pt_otlp_attribute(&attributes[3], PT_STR("a"), PT_STR("x\ny"));
    struct pt_point points[] = { { .time_ns = second, .start_ns = second, .value = 1 },
                                 { .time_ns = second, .start_ns = second, .value = 3 },
                                 { .time_ns = second, .start_ns = second, .value = 4 },
                                 { .time_ns = second, .value = 2 } };
    struct pt_otlp_series series[4];
    for (int i = 0; i < 4; i++)
        series[i] = (struct pt_otlp_series){ pt_buf_as_str(&attributes[i]), &points[i], 1 };
    struct pt_otlp_metric metrics[] = {
        { PT_STR("system.cpu.time"), PT_STR("s"), PT_STR("H"), PT_OTLP_COUNTER, series, 3 },
        { PT_STR("mine"), PT_STR("s"), PT_STR("H"), PT_OTLP_GAUGE, series + 3, 1 },
    };
    assert_request(state, &b, metrics, 2);
    /* Then only the metric that has points; stale ones follow as the series end. */
    pt_push_batch_clear(&b);
    pt_push_batch_begin(&b, 2 * second);
    add_family(state, &b, "mine", PT_FAMILY_GAUGE, "a=\"x\\ny\",b=\"\"", 6);
    pt_push_batch_end(&b);
    points[3] = (struct pt_point){ .time_ns = 2 * second, .value = 6 };
    assert_request(state, &b, metrics + 1, 1);
    for (int i = 0; i < 4; i++)
        pt_buf_release(&attributes[i]);
    pt_push_batch_release(&b);
    pt_push_otlp.close(state);
}

/* Sums come before their counts; a count without a sum is left out. */
static void a_sum_and_a_count_become_a_histogram(void **unused) {
    (void)unused;
    void *state = open_otlp();
    char sum[PT_METRIC_NAME_BYTES], count[PT_METRIC_NAME_BYTES];
    family_of("engines", "latency_ttft_s_sum", sum);
    family_of("engines", "latency_ttft_s_count", count);
    struct pt_push_batch b;
    struct pt_push_naming naming = pt_push_otlp.naming(state);
    pt_push_batch_init(&b, &naming);
    char labels[3][8] = { "a=\"1\"", "b=\"2\"", "c=\"3\"" };
    struct pt_series sums[] = {
        { .labels = pt_str_from(labels[0]), .value = 1.5 },
        { .labels = pt_str_from(labels[1]), .integer = 7, .is_integer = true }
    };
    struct pt_family family = { .name = pt_str_from(sum),
                                .help = PT_STR("H"),
                                .unit = PT_STR("seconds"),
                                .kind = PT_FAMILY_COUNTER,
                                .series = sums,
                                .series_count = 2 };
    const int64_t second = PT_NS_PER_SECOND;
    pt_push_batch_begin(&b, second);
    pt_push_otlp.add(state, &b, &family);
    char kept[3][8];
    memcpy(kept, labels, sizeof kept);
    memset(labels, 'x', sizeof labels); /* a family is valid only while it is added */
    struct pt_series counts[] = {
        { .labels = pt_str_from(kept[1]), .value = 4 },
        { .labels = pt_str_from(kept[2]), .integer = 9, .is_integer = true },
        { .labels = pt_str_from(kept[0]), .integer = 3, .is_integer = true }
    };
    family.name = pt_str_from(count);
    family.series = counts;
    family.series_count = 3;
    pt_push_otlp.add(state, &b, &family);
    pt_push_otlp.add(state, &b, &family); /* its sums were used */
    pt_push_batch_end(&b);
    assert_int_equal(b.family_count, 1);
    struct pt_buf attributes[2] = { 0 };
    pt_otlp_attribute(&attributes[0], PT_STR("b"), PT_STR("2"));
    pt_otlp_attribute(&attributes[1], PT_STR("a"), PT_STR("1"));
    const struct pt_native natives[] = { { .count = 4, .sum = 7, .first = 1 },
                                         { .count = 3, .sum = 1.5, .first = 1 } };
    struct pt_point points[2];
    struct pt_otlp_series series[2];
    for (int i = 0; i < 2; i++) {
        points[i] =
            (struct pt_point){ .time_ns = second, .start_ns = second, .histogram = &natives[i] };
        series[i] = (struct pt_otlp_series){ pt_buf_as_str(&attributes[i]), &points[i], 1 };
    }
    struct pt_otlp_metric metric = { PT_STR("gen_ai.server.time_to_first_token"),
                                     PT_STR("s"),
                                     PT_STR("H"),
                                     PT_OTLP_SUMMED_HISTOGRAM,
                                     series,
                                     2 };
    assert_request(state, &b, &metric, 1);
    for (int i = 0; i < 2; i++)
        pt_buf_release(&attributes[i]);
    pt_push_batch_release(&b);
    pt_push_otlp.close(state);
}

static void requests_of_otlp_have_their_headers(void **unused) {
    (void)unused;
    char key[] = "k", value[] = "v";
    struct pt_push_label headers[40];
    for (size_t i = 0; i < PT_COUNT(headers); i++)
        headers[i] = (struct pt_push_label){ key, value };
    settings.headers = headers;
    settings.header_count = PT_COUNT(headers);
    void *state = open_otlp();
    assert_int_equal(pt_push_otlp.timeout_ns(&settings), 7 * PT_NS_PER_SECOND);
    struct pt_push_post post = { 0 };
    struct pt_buf packed = { 0 };
    pt_push_otlp.pack(state, PT_STR("request"), &packed);
    assert_int_equal(pt_push_otlp.prepare(state, pt_buf_as_str(&packed), 1, &post), 0);
    assert_string_equal(post.type, "application/x-protobuf");
    assert_int_equal(post.header_count, PT_PUSH_HEADERS_MAX - 1); /* one is for a token */
    assert_string_equal(post.headers[0], "Content-Encoding: gzip");
    assert_string_equal(post.headers[1], "k: v");
    uint8_t plain[32];
    z_stream z = { .next_in = packed.at,
                   .avail_in = (uInt)packed.len,
                   .next_out = plain,
                   .avail_out = sizeof plain };
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    inflateEnd(&z);
    assert_int_equal(z.total_out, 7);
    assert_memory_equal(plain, "request", 7);
    settings.is_otlp_plain = true;
    pt_buf_clear(&packed);
    pt_push_otlp.pack(state, PT_STR("request"), &packed);
    assert_str_eq(pt_buf_as_str(&packed), "request");
    post = (struct pt_push_post){ 0 };
    assert_int_equal(pt_push_otlp.prepare(state, pt_buf_as_str(&packed), 1, &post), 0);
    assert_string_equal(post.headers[0], "k: v");
    pt_buf_release(&packed);
    pt_push_otlp.close(state);
    settings.is_otlp_plain = false;
    settings.headers = NULL;
    settings.header_count = 0;
}

static void answers_of_otlp_are_judged(void **unused) {
    (void)unused;
    static const struct {
        int status;
        enum pt_push_verdict verdict;
    } cases[] = {
        { 200, PT_PUSH_ACCEPTED }, { 299, PT_PUSH_ACCEPTED }, { 300, PT_PUSH_REJECTED },
        { 400, PT_PUSH_REJECTED }, { 500, PT_PUSH_REJECTED }, { 501, PT_PUSH_REJECTED },
        { 429, PT_PUSH_RETRY },    { 502, PT_PUSH_RETRY },    { 503, PT_PUSH_RETRY },
        { 504, PT_PUSH_RETRY },    { 505, PT_PUSH_REJECTED }, { 0, PT_PUSH_RETRY },
        { 199, PT_PUSH_RETRY },
    };
    void *state = open_otlp();
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        assert_int_equal(judge(&pt_push_otlp, state, cases[i].status, ""), cases[i].verdict);
    static const char partial[] = { 0x0a, 6, 0x08, 5, 0x12, 2, 'n', 'o' };
    struct pt_http_request answer = { .status = 200, .content_type = "application/x-protobuf" };
    pt_buf_bytes(&answer.body, partial, sizeof partial);
    struct pt_push_judgement j = pt_push_otlp.judge(state, &answer);
    assert_int_equal(j.verdict, PT_PUSH_ACCEPTED);
    assert_int_equal(j.rejected_points, 5);
    assert_str_eq(j.words, "no");
    answer.body.len = 5; /* cut: nothing can be said of it */
    j = pt_push_otlp.judge(state, &answer);
    assert_int_equal(j.rejected_points, 0);
    assert_str_eq(j.words, "");
    pt_buf_release(&answer.body);
    pt_push_otlp.close(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(labels_of_remote_write_are_sorted_and_unique,
                "labels of remote-write are sorted, and each is there once"),
        PT_TEST(labels_beyond_the_limit_are_left_out, "labels beyond the limit are left out"),
        PT_TEST(requests_have_the_series_with_points,
                "a request of remote-write has the series with points"),
        PT_TEST(a_receiver_of_1_0_is_recognised,
                "a receiver of remote-write 1.0 is recognised by its first answer"),
        PT_TEST(answers_of_remote_write_are_judged_by_version,
                "answers of remote-write are judged by its version"),
        PT_TEST(metadata_of_1_0_is_sent_now_and_then,
                "metadata of remote-write 1.0 is sent every five minutes"),
        PT_TEST(columns_become_series_of_one_metric,
                "columns become series of one metric of OpenTelemetry"),
        PT_TEST(a_sum_and_a_count_become_a_histogram,
                "a sum and a count become a histogram of OpenTelemetry"),
        PT_TEST(requests_of_otlp_have_their_headers, "requests of OTLP are packed, with headers"),
        PT_TEST(answers_of_otlp_are_judged, "answers of OTLP are judged by their status"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
