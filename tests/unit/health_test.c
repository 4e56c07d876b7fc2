/* Requests and health, with recording on and off. */
#include "own_process.h"
#include "scripted.h"

#include "base/attr.h"
#include "libpitot/span_history.h"
#include "analyze/latency.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pitot/config.h>
#include <pitot/monitor.h>
#include <pthread.h>

#define MINUTE (INT64_C(60) * 1000000000)

static struct pt_latency latency;
static struct pt_latency_counts window;

static bool is_about(double value, double expected) {
    return fabs(value / expected - 1) < 0.012; /* of the buckets */
}

static void test_window(void **state) {
    (void)state;
    memset(&latency, 0, sizeof latency);
    int64_t start = 1000 * MINUTE;
    pt_latency_record(&latency, 0.1, true, start);
    pt_latency_record(&latency, 0.1, false, start + 4 * MINUTE);
    pt_latency_read(&latency, start + 4 * MINUTE, &window);
    assert_int_equal(window.requests, 2);
    assert_int_equal(window.errors, 1);
    pt_latency_record(&latency, 9, true, start + 6 * MINUTE); /* the first half is over */
    pt_latency_read(&latency, start + 9 * MINUTE, &window);
    assert_int_equal(window.requests, 3);
    pt_latency_read(&latency, start + 11 * MINUTE, &window); /* and gone */
    assert_int_equal(window.requests, 1);
    assert_int_equal(window.errors, 0);
    assert_true(is_about(pt_bucket_quantile(window.buckets, pt_all_buckets, 0.5), 9));
    pt_latency_read(&latency, start + 60 * MINUTE, &window);
    assert_int_equal(window.requests, 0);
    assert_true(isnan(pt_bucket_quantile(window.buckets, pt_all_buckets, 0.5)));
    pt_latency_record(&latency, 2, true, start + 200 * MINUTE); /* after a long silence */
    pt_latency_read(&latency, start + 200 * MINUTE, &window);
    assert_int_equal(window.requests, 1);
}

static void test_requests_without_duration(void **state) {
    (void)state;
    memset(&latency, 0, sizeof latency);
    pt_latency_record(&latency, NAN, true, MINUTE);
    pt_latency_record(&latency, 0, true, MINUTE);
    pt_latency_read(&latency, MINUTE, &window);
    assert_int_equal(window.requests, 2);
    assert_true(pt_bucket_quantile(window.buckets, pt_all_buckets, 1) < 1e-9);
}

static bool read_metric(const char *name, struct pt_region_value *v) {
    struct pt_region region;
    if (!pt_history_region(&region))
        return false;
    for (uint32_t i = 1; i < pt_region_metric_count(&region); i++)
        if (pt_region_read_metric(&region, i, v) && !strcmp(v->name, name))
            return true;
    return false;
}

static void check_metric(const char *name, enum pt_region_kind kind, const char *help) {
    static struct pt_region_value v;
    expect(read_metric(name, &v));
    expect(v.kind == kind && !strcmp(v.help, help) && !strcmp(v.labels, ""));
}

static double value_of(const char *name) {
    static struct pt_region_value v;
    expect(read_metric(name, &v));
    return v.value;
}

static void register_them(void) {
    expect(pt_start(NULL) == 0);
    expect(pt_requests_register() == 0);
    expect(pt_requests_register() == 0);
    check_metric("requests_total", PT_REGION_COUNTER, "Total requests");
    check_metric("request_duration_seconds", PT_REGION_HISTOGRAM, "Request duration");
    check_metric("active_requests", PT_REGION_GAUGE, "Active requests");
    check_metric("tokens_per_second", PT_REGION_GAUGE, "Tokens per second");
    check_metric("memory_usage_bytes", PT_REGION_GAUGE, "Memory usage");
    check_metric("request_errors_total", PT_REGION_COUNTER, "Failed requests");
}

static void test_registration(void **state) {
    (void)state;
    run_child(register_them);
}

static void register_without_room(void) {
    char name[32];
    expect(pt_start(NULL) == 0);
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "c%d", i);
        (void)pt_gauge_new(name, "", "", NULL);
    }
    expect(pt_requests_register() == -ENOSPC);
    pt_record_request(1, 1, true); /* and the caller goes on */
    expect(pt_error_rate() == 0 && is_about(pt_latency_percentile(0.5), 1));
}

static void register_over_another(void) {
    expect(pt_start(NULL) == 0);
    (void)pt_gauge_new("requests_total", "", "", NULL);
    expect(pt_requests_register() == -EEXIST);
}

static void test_registration_errors(void **state) {
    (void)state;
    run_child(register_without_room);
    run_child(register_over_another);
}

static void record_requests(void) {
    static struct pt_region_value v;
    expect(pt_start(NULL) == 0);
    pt_request_begin();
    pt_request_begin();
    expect(value_of("active_requests") == 2);
    errno = 33;
    pt_record_request(2, 100, true);
    expect(errno == 33);
    expect(value_of("tokens_per_second") == 50);
    pt_record_request(0, 100, false);
    expect(value_of("tokens_per_second") == 50); /* nothing is divided by 0 */
    pt_record_request(NAN, 1, true);
    pt_record_request(-1, 1, true);
    expect(value_of("tokens_per_second") == 50);
    pt_request_end();
    expect(value_of("active_requests") == 1);
    expect(value_of("requests_total") == 4);
    expect(value_of("request_errors_total") == 1);
    expect(read_metric("request_duration_seconds", &v) && v.count == 2 && v.sum == 2);
    double bytes = value_of("memory_usage_bytes"), expected = own_rss_mb() * 1048576;
    expect(fabs(bytes - expected) < 0.5 * expected && bytes > 0);
}

static void test_recording(void **state) {
    (void)state;
    run_child(record_requests);
}

static void record_while_off(void) {
    pt_health health;
    setenv("PITOT_NVML", "/nonexistent", 1);
    pt_request_begin();
    for (int i = 1; i <= 100; i++)
        pt_record_request(i * 0.01, 10, i > 25);
    pt_health_check(&health, NULL, NULL);
    expect(health.is_healthy && isnan(health.probe_seconds) && isnan(health.gpu_utilization));
    expect(is_about(health.latency_p50, 0.50) && is_about(health.latency_p95, 0.95));
    expect(health.error_rate == 0.25 && pt_error_rate() == 0.25);
    expect(is_about(pt_latency_percentile(0.99), 0.99));
    expect(is_about(pt_latency_percentile(7), 1.0) && isnan(pt_latency_percentile(NAN)));
    expect(pt_start(NULL) == 0);
    pt_record_request(1, 1, true);
    expect(value_of("requests_total") == 1);
    pt_request_begin();
    expect(value_of("active_requests") == 2); /* the one from before goes on */
}

static void test_recording_off(void **state) {
    (void)state;
    run_child(record_while_off);
}

static void no_traffic(void) {
    pt_health health;
    setenv("PITOT_NVML", "/nonexistent", 1);
    pt_health_check(&health, NULL, NULL);
    expect(health.is_healthy && isnan(health.latency_p50) && isnan(health.latency_p95));
    expect(health.error_rate == 0 && isnan(pt_gpu_utilization()));
    double expected = own_rss_mb();
    expect(fabs(health.memory_usage_mb - expected) < 0.5 * expected);
    json_t *json = json_loads(pt_health_json(&health), 0, NULL);
    expect(json && json_object_size(json) == 6);
    expect(!strcmp(json_string_value(json_object_get(json, "status")), "healthy"));
    expect(json_is_null(json_object_get(json, "latency_p50")));
    expect(json_is_null(json_object_get(json, "latency_p95")));
    expect(json_is_null(json_object_get(json, "gpu_utilization")));
    expect(json_number_value(json_object_get(json, "memory_usage_mb")) == health.memory_usage_mb);
    expect(json_number_value(json_object_get(json, "error_rate")) == 0);
}

static void test_no_traffic(void **state) {
    (void)state;
    run_child(no_traffic);
}

static int generate_test(void *arg) {
    const struct timespec some = { .tv_nsec = 2000000 };
    nanosleep(&some, NULL);
    return *(int *)arg;
}

static void probe(void) {
    pt_health health;
    int answer = 0;
    setenv("PITOT_NVML", "/nonexistent", 1);
    pt_health_check(&health, generate_test, &answer);
    expect(health.is_healthy && health.probe_seconds >= 0.002);
    answer = -EIO;
    pt_health_check(&health, generate_test, &answer);
    expect(!health.is_healthy && health.probe_seconds >= 0.002);
    json_t *json = json_loads(pt_health_json(&health), 0, NULL);
    expect(!strcmp(json_string_value(json_object_get(json, "status")), "unhealthy"));
    expect(json_number_value(json_object_get(json, "probe_seconds")) == health.probe_seconds);
}

static void test_probe(void **state) {
    (void)state;
    run_child(probe);
}

static void with_gpu(void) {
    pt_health health;
    pt_health_check(&health, NULL, NULL);
    expect(health.gpu_utilization == 73 && pt_gpu_utilization() == 73);
}

static void test_gpu(void **state) {
    (void)state;
    play("PITOT_SCRIPTED_NVML", "devices 1\nnvmlDeviceGetUtilizationRates 0 73:0\n");
    run_child(with_gpu);
}

static void *record_many(void *arg) {
    for (int i = 0; i < 10000; i++) {
        pt_request_begin();
        pt_record_request(0.25, 5, i % 4 != 0);
        pt_request_end();
    }
    return arg;
}

static void many_threads(void) {
    static struct pt_region_value v;
    pthread_t threads[4];
    expect(pt_start(NULL) == 0);
    for (int i = 0; i < 4; i++)
        expect(!pthread_create(&threads[i], NULL, record_many, NULL));
    for (int i = 0; i < 100; i++)
        expect(pt_error_rate() <= 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect(value_of("requests_total") == 40000 && value_of("active_requests") == 0);
    expect(value_of("request_errors_total") == 10000 && pt_error_rate() == 0.25);
    expect(read_metric("request_duration_seconds", &v) && v.count == 40000 && v.sum == 10000);
}

static void test_threads(void **state) {
    (void)state;
    run_child(many_threads);
}

static void child_of_fork(void) {
    expect(pt_start(NULL) == 0);
    pt_request_begin();
    pt_record_request(1, 1, false);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_new = pt_error_rate() == 0 && isnan(pt_latency_percentile(0.5));
        pt_request_begin();
        pt_record_request(3, 1, true);
        _exit(!(is_new && value_of("active_requests") == 1 && value_of("requests_total") == 1 &&
                is_about(pt_latency_percentile(0.5), 3)));
    }
    int status;
    expect(waitpid(pid, &status, 0) == pid && status == 0);
    expect(pt_error_rate() == 1 && value_of("requests_total") == 1);
}

static void test_fork(void **state) {
    (void)state;
    run_child(child_of_fork);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_window, "C268 C271: figures are those of the last five to ten minutes"),
        PT_TEST(test_requests_without_duration, "C258: a duration of 0 or none is counted"),
        PT_TEST(test_registration,
                "C248 C249 C250 C251 C252: the metrics have their names and helps"),
        PT_TEST(test_registration_errors,
                "C253: registration says what is wrong, recording goes on"),
        PT_TEST(test_recording, "C250 C252 C254 C255 C256 C258: requests are recorded"),
        PT_TEST(test_recording_off, "C260 C261 C268 C271: the health works while recording is off"),
        PT_TEST(test_no_traffic,
                "C259 C262 C264 C265 C269: without requests it is healthy, latencies are null"),
        PT_TEST(test_probe, "C259 C266 C267: the probe is timed and decides"),
        PT_TEST(test_gpu, "C263 C270: GPU utilisation, as NVML says"),
        PT_TEST(test_threads, "threads record requests and none is lost"),
        PT_TEST(test_fork, "a child of fork counts its own requests"),
    };
    return cmocka_run_group_tests(tests, NULL, stop_playing);
}
