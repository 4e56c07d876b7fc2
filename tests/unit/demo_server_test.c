/* The demo engine as a server, by what its clients see. */
#include "test.h"
#include "http_client_fixture.h"
#include "json_text.h"
#include "small_model.h"

#include "base/attr.h"
#include "demo/load.h"
#include "demo/server.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define PATIENCE (INT64_C(60) * 1000000000) /* for what is expected to come */

static void serve_model(struct pt_demo_server *s, const char *listen,
                        const struct pt_model_config *model) {
    struct pt_deployment_options options = { .worker_count = 2,
                                             .directory = "/tmp",
                                             .model = model };
    struct pt_err err;
    if (pt_demo_server_open(s, listen, &options, &err))
        fail_msg("%s", err.text);
}

static void serve(struct pt_demo_server *s, const char *listen) {
    serve_model(s, listen, &small);
}

static void ask(const struct pt_demo_server *s, const char *path, const char *post,
                struct pt_http_request *r) {
    char url[256];
    snprintf(url, sizeof url, "%s%s", s->http.url, path);
    r->url = url;
    r->post = pt_str_from(post);
    r->timeout_ns = PATIENCE;
    pt_http_client_run(&client, r, 1);
}

/* The value of a series, by the start of its line; its labels are known but for `le`. */
static double value_of(const char *metrics, const char *start) {
    char line_start[128];
    snprintf(line_start, sizeof line_start, "\n%s", start);
    const char *line = strstr(metrics, line_start);
    if (!line)
        fail_msg("no %s", start);
    return strtod(strchr(line, '}') + 1, NULL);
}

static void assert_value(const char *metrics, const char *start, uint64_t expected) {
    double value = value_of(metrics, start);
    if (value < (double)expected || value > (double)expected)
        fail_msg("%s is %g instead of %llu", start, value, (unsigned long long)expected);
}

/* Owned by the caller. */
static char *scrape(const struct pt_demo_server *s) {
    struct pt_http_request r = { 0 };
    char url[256];
    const char *unix_path = strncmp(s->http.url, "unix:", 5) == 0 ? s->http.url + 5 : NULL;
    snprintf(url, sizeof url, "%s/metrics", unix_path ? "http://localhost" : s->http.url);
    r.url = url;
    r.unix_path = unix_path;
    r.timeout_ns = PATIENCE;
    pt_http_client_run(&client, &r, 1);
    assert_int_equal(r.error, 0);
    assert_string_equal(r.content_type, "text/plain; version=0.0.4; charset=utf-8");
    char *text = pt_strndup(pt_buf_as_str(&r.body));
    pt_http_request_release(&r);
    return text;
}

/* Cumulative buckets rise to the count; returns the edge below the median. */
static double check_histogram(const char *metrics, const char *name, uint64_t expected_count) {
    char start[128];
    double before = 0, edge_before = 0, below_median = 0;
    snprintf(start, sizeof start, "\nvllm:%s_bucket{engine=\"0\",le=\"", name);
    for (const char *line = metrics; (line = strstr(line, start)); line++) {
        double edge = strtod(line + strlen(start), NULL);
        double count = strtod(strchr(line, '}') + 1, NULL);
        assert_true(count >= before && edge > edge_before);
        if (before * 2 < (double)expected_count)
            below_median = edge_before;
        before = count;
        edge_before = edge;
    }
    assert_true(edge_before > 1e300); /* +Inf is the last */
    snprintf(start, sizeof start, "vllm:%s_count{", name);
    assert_value(metrics, start, expected_count);
    assert_true(before >= (double)expected_count && before <= (double)expected_count);
    return below_median;
}

static void check_counters(const struct pt_demo_server *s) {
    static const char *const of_requests[] = {
        "e2e_request_latency_seconds",    "request_queue_time_seconds",
        "request_prefill_time_seconds",   "request_decode_time_seconds",
        "request_inference_time_seconds",
    };
    struct pt_load_options options = {
        .url = s->http.url, .request_count = 40, .concurrency = 14, .context = small.context
    };
    struct pt_load_result result;
    struct pt_err err;
    if (pt_load_run(&options, &result, &err))
        fail_msg("%s", err.text);
    assert_int_equal(result.finished_count, 40);
    assert_int_equal(result.failed_count + result.cut_count, 0);
    assert_true(result.e2e.count == 40 && result.e2e.p50_ns >= result.first_token.p50_ns);

    char *metrics = scrape(s);
    double stopped =
        value_of(metrics, "vllm:request_success_total{engine=\"0\",finished_reason=\"stop\"");
    double length =
        value_of(metrics, "vllm:request_success_total{engine=\"0\",finished_reason=\"length\"");
    assert_int_equal((int)(stopped + length), 40);
    assert_value(metrics, "vllm:prompt_tokens_total{", result.prompt_count);
    assert_value(metrics, "vllm:generation_tokens_total{", result.generated_count);
    assert_value(metrics, "vllm:num_requests_running{", 0);
    assert_value(metrics, "vllm:num_requests_waiting{", 0);
    assert_value(metrics, "vllm:kv_cache_usage_perc{", 0);
    double edge = check_histogram(metrics, "time_to_first_token_seconds", result.first_token.count);
    assert_true((double)result.first_token.p50_ns >= edge * 1e9);
    check_histogram(metrics, "inter_token_latency_seconds", result.inter_token.count);
    for (size_t i = 0; i < PT_COUNT(of_requests); i++)
        check_histogram(metrics, of_requests[i], result.first_token.count);
    pt_free(metrics);
}

static void metrics_count_what_clients_received(void **state) {
    (void)state;
    struct pt_demo_server s;
    serve(&s, NULL);
    check_counters(&s);
    pt_demo_server_close(&s);
}

static void metrics_count_what_clients_received_over_a_unix_socket(void **state) {
    (void)state;
    struct pt_demo_server s;
    char listen[64];
    snprintf(listen, sizeof listen, "unix:/tmp/pitot-demo-%d.sock", (int)getpid());
    serve(&s, listen);
    check_counters(&s);
    pt_demo_server_close(&s);
    assert_int_equal(access(listen + 5, F_OK), -1);
}

/* Takes the texts out of a stream of events. */
static size_t join_events(const char *events, char *text, size_t capacity) {
    size_t count = 0;
    text[0] = 0;
    for (const char *line = events; (line = strstr(line, "data: {")); line++) {
        json_error_t error;
        json_t *event = json_loads(line + 6, JSON_DISABLE_EOF_CHECK, &error);
        snprintf(text + strlen(text), capacity - strlen(text), "%s",
                 json_string_value(at(event, "choices.0.text")));
        count += json_is_null(at(event, "choices.0.finish_reason"));
        json_decref(event);
    }
    return count;
}

static void a_stream_says_the_same_as_a_whole_answer(void **state) {
    (void)state;
    struct pt_demo_server s;
    serve(&s, NULL);
    struct pt_http_request whole = { 0 }, stream = { 0 };
    ask(&s, "/v1/completions",
        "{\"prompt\":\"the cat\",\"max_tokens\":20,\"temperature\":0,\"ignore_eos\":true}", &whole);
    ask(&s, "/v1/completions",
        "{\"prompt\":\"the cat\",\"max_tokens\":20,\"temperature\":0,\"ignore_eos\":true,"
        "\"stream\":true}",
        &stream);
    assert_int_equal(whole.error + stream.error, 0);
    assert_string_equal(whole.content_type, "application/json");
    assert_string_equal(stream.content_type, "text/event-stream");

    char events[8192], text[1024];
    pt_str_copy(events, sizeof events, pt_buf_as_str(&stream.body));
    assert_int_equal(join_events(events, text, sizeof text), 20);
    assert_non_null(strstr(events, "\n\ndata: [DONE]\n\n"));
    json_t *answer = json_loadb((const char *)whole.body.at, whole.body.len, 0, NULL);
    assert_text(answer, "choices.0.text", text);
    assert_text(answer, "choices.0.finish_reason", "length");
    assert_number(answer, "usage.prompt_tokens", 5); /* the mark, th, e_, ca, t */
    assert_number(answer, "usage.completion_tokens", 20);
    assert_number(answer, "usage.total_tokens", 25);
    json_decref(answer);
    pt_http_request_release(&whole);
    pt_http_request_release(&stream);
    pt_demo_server_close(&s);
}

static void orders_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const char *const orders[] = {
        "{",
        "[]",
        "{}",
        "{\"prompt\":5}",
        "{\"prompt\":\"x\",\"max_tokens\":0}",
        "{\"prompt\":\"x\",\"max_tokens\":-1}",
        "{\"prompt\":\"x\",\"max_tokens\":96}",
        "{\"prompt\":\"x\",\"max_tokens\":9223372036854775807}",
        "{\"prompt\":\"x\",\"max_tokens\":\"many\"}",
        "{\"prompt\":\"x\",\"temperature\":-1}",
        "{\"prompt\":\"x\",\"temperature\":2.1}",
        "{\"prompt\":\"x\",\"stream\":1}",
        ("{\"prompt\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"),
    };
    struct pt_demo_server s;
    serve(&s, NULL);
    for (size_t i = 0; i < PT_COUNT(orders); i++) {
        struct pt_http_request r = { 0 };
        ask(&s, "/v1/completions", orders[i], &r);
        if (r.status != 400)
            fail_msg("%s: %d", orders[i], r.status);
        json_t *answer = json_loadb((const char *)r.body.at, r.body.len, 0, NULL);
        assert_true(json_string_length(at(answer, "error.message")) > 0);
        json_decref(answer);
        pt_http_request_release(&r);
    }
    char *metrics = scrape(&s);
    assert_value(metrics, "vllm:generation_tokens_total{", 0);
    pt_free(metrics);
    pt_demo_server_close(&s);
}

static bool leave_after_3(struct pt_http_request *r, struct pt_str piece) {
    int *seen = r->user;
    *seen += memmem(piece.at, piece.len, "data:", 5) != NULL;
    return *seen < 3;
}

static void a_client_that_leaves_is_counted_as_aborted(void **state) {
    (void)state;
    struct pt_demo_server s;
    struct pt_model_config patient = small; /* takes seconds for what is asked for */
    patient.context = 16384;
    serve_model(&s, NULL, &patient);
    int seen = 0;
    struct pt_http_request r = { .on_data = leave_after_3, .user = &seen };
    ask(&s, "/v1/completions",
        "{\"prompt\":\"x\",\"max_tokens\":16000,\"ignore_eos\":true,\"stream\":true}", &r);
    assert_int_equal(r.error, -ECANCELED);
    struct pt_engine_stats stats;
    do
        pt_engine_stats(s.deployment.engine, &stats);
    while (stats.finished[PT_FINISH_ABORT] + stats.finished[PT_FINISH_LENGTH] == 0);
    char *metrics = scrape(&s);
    assert_value(metrics, "vllm:request_success_total{engine=\"0\",finished_reason=\"abort\"", 1);
    assert_value(metrics, "vllm:num_requests_running{", 0);
    assert_value(metrics, "vllm:generation_tokens_total{", stats.generation_tokens);
    pt_free(metrics);
    pt_demo_server_close(&s);
}

static void *load_without_end(void *url) {
    struct pt_load_options options = {
        .url = url, .concurrency = 8, .seconds = 3600, .context = small.context
    };
    struct pt_load_result result = { 0 };
    int rc = pt_load_run(&options, &result, NULL);
    return (void *)(uintptr_t)(rc == 0 || rc == -EIO ? result.failed_count : 0);
}

static void closing_cuts_what_is_running(void **state) {
    (void)state;
    struct pt_demo_server s;
    pthread_t thread;
    void *failed;
    char url[128]; /* closing forgets it */
    serve(&s, NULL);
    pt_str_copy(url, sizeof url, pt_str_from(s.http.url));
    assert_int_equal(pthread_create(&thread, NULL, load_without_end, url), 0);
    struct pt_engine_stats stats;
    do
        pt_engine_stats(s.deployment.engine, &stats);
    while (stats.generation_tokens < 50);
    pt_demo_server_close(&s);
    pthread_join(thread, &failed);
    assert_int_equal((uintptr_t)failed, 8);
}

static void models_and_health_are_told(void **state) {
    (void)state;
    struct pt_demo_server s;
    struct pt_http_request r = { 0 };
    serve(&s, NULL);
    ask(&s, "/health", "", &r);
    assert_int_equal(r.error, 0);
    assert_int_equal(r.body.len, 0);
    ask(&s, "/v1/models", "", &r);
    assert_int_equal(r.error, 0);
    json_t *answer = json_loadb((const char *)r.body.at, r.body.len, 0, NULL);
    assert_text(answer, "data.0.id", "pitot-demo");
    assert_number(answer, "data.0.max_model_len", 96);
    json_decref(answer);
    pt_http_request_release(&r);
    pt_demo_server_close(&s);
}

static void the_load_stays_on_this_machine(void **state) {
    (void)state;
    struct pt_load_options options = { .url = "http://192.0.2.1:8000", .request_count = 1 };
    struct pt_load_result result;
    struct pt_err err;
    assert_int_equal(pt_load_run(&options, &result, &err), -EINVAL);
    assert_non_null(strstr(err.text, "http://192.0.2.1:8000 is not of this machine"));
    options.url = "http://127.0.0.1:1";
    assert_int_equal(pt_load_run(&options, &result, &err), -EIO);
}

static void percentiles_of_1_to_200_are_known(void **state) {
    (void)state;
    struct pt_samples s = { 0 };
    for (int64_t i = 200; i > 0; i--)
        pt_samples_add(&s, i);
    struct pt_demo_latency l = pt_samples_latency(&s);
    assert_int_equal(l.count, 200);
    assert_int_equal(l.p50_ns, 100);
    assert_int_equal(l.p95_ns, 190);
    assert_int_equal(l.p99_ns, 198);
    pt_samples_release(&s);
    l = pt_samples_latency(&s);
    assert_int_equal(l.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(metrics_count_what_clients_received,
                "C125: /metrics counts exactly what clients received"),
        PT_TEST(metrics_count_what_clients_received_over_a_unix_socket,
                "C125: /metrics counts exactly what clients received, over a UNIX socket"),
        PT_TEST(a_stream_says_the_same_as_a_whole_answer,
                "a stream says the same as a whole answer"),
        PT_TEST(orders_that_make_no_sense_are_refused, "orders that make no sense are refused"),
        PT_TEST(a_client_that_leaves_is_counted_as_aborted,
                "a client that leaves is counted as aborted"),
        PT_TEST(closing_cuts_what_is_running, "closing cuts what is running"),
        PT_TEST(models_and_health_are_told, "models and health are answered"),
        PT_TEST(the_load_stays_on_this_machine, "the load stays on this machine"),
        PT_TEST(percentiles_of_1_to_200_are_known, "percentiles of 1 to 200 are known"),
    };
    return !has_http_modules() ? SKIPPED : cmocka_run_group_tests(tests, open_client, close_client);
}
