/* The monitor: series, the machine, alerts, reports. */
#include "own_process.h"
#include "scripted.h"

#include "analyze/alert.h"
#include "base/attr.h"
#include "libpitot/machine_load.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <pitot/config.h>
#include <pitot/monitor.h>
#include <pthread.h>
#include <time.h>

#define NO_GPU "/nonexistent/libnvidia-ml.so"

/* One reading of a rule: time, value, and what it says. */
struct moment {
    double seconds, value;
    enum pt_alert_change change;
};

static void play_moments(const struct pt_alert_limit *limit, const struct moment *moments,
                         size_t count) {
    struct pt_alert_state alert = { 0 };
    for (size_t i = 0; i < count; i++) {
        enum pt_alert_change change =
            pt_alert_step(limit, &alert, moments[i].value, moments[i].seconds);
        if (change != moments[i].change)
            fail_msg("moment %zu: %d, not %d", i, change, moments[i].change);
    }
}

static void test_alert_at_once(void **state) {
    (void)state;
    const struct pt_alert_limit above = { true, 90, 0, 0 }, below = { false, 10, 0, 0 };
    const struct moment rising[] = {
        { 0, 89, PT_ALERT_SAME }, { 1, 90, PT_ALERT_SAME },     { 2, 90.5, PT_ALERT_WENT_ON },
        { 3, 95, PT_ALERT_SAME }, { 4, 90, PT_ALERT_WENT_OFF }, { 5, 90, PT_ALERT_SAME },
    };
    const struct moment falling[] = {
        { 0, 10, PT_ALERT_SAME },
        { 1, 9.9, PT_ALERT_WENT_ON },
        { 2, 10, PT_ALERT_WENT_OFF },
    };
    play_moments(&above, rising, PT_COUNT(rising));
    play_moments(&below, falling, PT_COUNT(falling));
}

static void test_alert_for_some_time(void **state) {
    (void)state;
    const struct pt_alert_limit limit = { true, 90, 10, 0 };
    const struct moment moments[] = {
        { 0, 95, PT_ALERT_SAME },  { 9, 95, PT_ALERT_SAME },     { 9.5, 80, PT_ALERT_SAME },
        { 10, 95, PT_ALERT_SAME }, { 19.9, 91, PT_ALERT_SAME },  { 20, 91, PT_ALERT_WENT_ON },
        { 21, 91, PT_ALERT_SAME }, { 22, 0, PT_ALERT_WENT_OFF },
    };
    play_moments(&limit, moments, PT_COUNT(moments));
}

static void test_alert_hysteresis(void **state) {
    (void)state;
    const struct pt_alert_limit above = { true, 85, 0, 5 }, below = { false, 10, 0, 2 };
    const struct moment hot[] = {
        { 0, 86, PT_ALERT_WENT_ON },  { 1, 84, PT_ALERT_SAME }, { 2, 80.1, PT_ALERT_SAME },
        { 3, 80, PT_ALERT_WENT_OFF }, { 4, 84, PT_ALERT_SAME }, { 5, 85.1, PT_ALERT_WENT_ON },
    };
    const struct moment idle[] = {
        { 0, 9, PT_ALERT_WENT_ON },
        { 1, 11.9, PT_ALERT_SAME },
        { 2, 12, PT_ALERT_WENT_OFF },
    };
    play_moments(&above, hot, PT_COUNT(hot));
    play_moments(&below, idle, PT_COUNT(idle));
}

static void test_alert_of_unknown(void **state) {
    (void)state;
    const struct pt_alert_limit above = { true, 85, 0, 0 }, below = { false, 10, 5, 0 };
    const struct moment lost[] = {
        { 0, NAN, PT_ALERT_SAME },
        { 1, 90, PT_ALERT_WENT_ON },
        { 2, NAN, PT_ALERT_WENT_OFF },
        { 3, NAN, PT_ALERT_SAME },
    };
    /* The time without a value does not count. */
    const struct moment gap[] = {
        { 0, 1, PT_ALERT_SAME },
        { 4, NAN, PT_ALERT_SAME },
        { 6, 1, PT_ALERT_SAME },
        { 11, 1, PT_ALERT_WENT_ON },
    };
    play_moments(&above, lost, PT_COUNT(lost));
    play_moments(&below, gap, PT_COUNT(gap));
}

static void test_series(void **state) {
    (void)state;
    double times[200], values[200];
    pt_monitor *monitor = pt_monitor_new();
    struct timespec before, after;
    assert_int_equal(pt_monitor_values(monitor, "loss", times, values, 200), 0);
    assert_int_equal(pt_monitor_record(monitor, "loss", 0.5, 1000.25), 0);
    clock_gettime(CLOCK_REALTIME, &before);
    assert_int_equal(pt_monitor_record(monitor, "loss", -0.25, NAN), 0);
    clock_gettime(CLOCK_REALTIME, &after);
    assert_int_equal(pt_monitor_record(monitor, "other", 7, 0), 0);
    assert_int_equal(pt_monitor_values(monitor, "loss", times, values, 200), 2);
    assert_true(times[0] == 1000.25 && values[0] == 0.5 && values[1] == -0.25);
    assert_true(times[1] >= (double)before.tv_sec && times[1] <= (double)after.tv_sec + 1);
    assert_int_equal(pt_monitor_values(monitor, "loss", times, values, 1), 2);
    pt_monitor_free(monitor);
}

static void test_wrong_records(void **state) {
    (void)state;
    char name[65];
    double time, value;
    pt_monitor *monitor = pt_monitor_new();
    memset(name, 'n', sizeof name);
    name[64] = '\0';
    assert_int_equal(pt_monitor_record(monitor, "loss", NAN, 0), -EINVAL);
    assert_int_equal(pt_monitor_record(monitor, "loss", INFINITY, 0), -EINVAL);
    assert_int_equal(pt_monitor_record(monitor, "", 1, 0), -EINVAL);
    assert_int_equal(pt_monitor_record(monitor, NULL, 1, 0), -EINVAL);
    assert_int_equal(pt_monitor_record(monitor, name, 1, 0), -ENAMETOOLONG);
    name[63] = '\0';
    assert_int_equal(pt_monitor_record(monitor, name, 1, 0), 0);
    assert_int_equal(pt_monitor_values(monitor, "loss", &time, &value, 1), 0);
    pt_monitor_free(monitor);
}

static void test_series_are_bounded(void **state) {
    (void)state;
    double times[300], values[300];
    char name[16];
    pt_monitor *monitor = pt_monitor_new();
    for (int i = 0; i < 250; i++)
        assert_int_equal(pt_monitor_record(monitor, "x", i, i), 0);
    assert_int_equal(pt_monitor_values(monitor, "x", times, values, 300), 100);
    assert_true(values[0] == 150 && values[99] == 249 && times[42] == 192);
    assert_int_equal(pt_monitor_set_capacity(monitor, 3), 0);
    assert_int_equal(pt_monitor_values(monitor, "x", times, values, 300), 3);
    assert_true(values[0] == 247 && values[2] == 249);
    assert_int_equal(pt_monitor_set_capacity(monitor, 5), 0);
    for (int i = 250; i < 254; i++)
        assert_int_equal(pt_monitor_record(monitor, "x", i, i), 0);
    assert_int_equal(pt_monitor_values(monitor, "x", times, values, 300), 5);
    assert_true(values[0] == 249 && values[4] == 253);
    assert_int_equal(pt_monitor_set_capacity(monitor, 0), -EINVAL);
    for (int i = 1; i < 4096; i++) {
        snprintf(name, sizeof name, "series %d", i);
        assert_int_equal(pt_monitor_record(monitor, name, i, i), 0);
    }
    assert_int_equal(pt_monitor_record(monitor, "one too many", 1, 1), -ENOSPC);
    assert_int_equal(pt_monitor_record(monitor, "series 4095", 1, 1), 0);
    pt_monitor_free(monitor);
}

static struct pt_scan scan_of(const char *text) {
    return pt_scan_of(pt_str_from(text));
}

static void test_memory_of_a_known_machine(void **state) {
    (void)state;
    struct pt_machine_memory memory;
    assert_int_equal(pt_machine_parse_memory(scan_of("MemTotal:       10000 kB\n"
                                                     "MemFree:         1000 kB\n"
                                                     "MemAvailable:    6000 kB\n"
                                                     "Buffers:          200 kB\n"
                                                     "Cached:          3000 kB\n"
                                                     "SwapCached:        77 kB\n"
                                                     "SReclaimable:     300 kB\n"),
                                             &memory),
                     0);
    assert_int_equal(memory.total_bytes, 10000 * 1024);
    assert_int_equal(memory.used_bytes, (10000 - 1000 - 200 - 3000 - 300) * 1024);
    assert_int_equal(memory.available_bytes, 6000 * 1024);
    assert_int_equal(pt_machine_parse_memory(scan_of("MemTotal: 10000 kB\n"), &memory), -EINVAL);
    assert_int_equal(pt_machine_parse_memory(scan_of(""), &memory), -EINVAL);
}

static void test_cpu_of_a_known_machine(void **state) {
    (void)state;
    struct pt_machine_usage from, to;
    /* 100 user of which 50 guest, 20 system, 10 irq; 60 idle, 10 iowait */
    const char *before = "cpu  1000 0 500 8000 100 0 0 0 300 0\ncpu0 1 2 3 4\n";
    const char *after = "cpu  1100 0 520 8060 110 10 0 0 350 0\ncpu0 1 2 3 4\n";
    pt_machine_scan_cpu(&from, scan_of(before));
    pt_machine_scan_cpu(&to, scan_of(after));
    assert_true(pt_machine_cpu_percent(&from, &to) == 65.0); /* 130 of 200 */
    assert_true(isnan(pt_machine_cpu_percent(&to, &to)));
    pt_machine_scan_cpu(&to, scan_of("cpu0 1 2 3 4\n"));
    assert_true(isnan(pt_machine_cpu_percent(&from, &to)));
}

/* kB of a line of /proc/meminfo, read without any of Pitot's code. */
static double meminfo_kb(const char *key) {
    char line[256];
    double kb = -1;
    FILE *file = fopen("/proc/meminfo", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key)))
            kb = strtod(line + strlen(key), NULL);
    fclose(file);
    assert_true(kb >= 0);
    return kb;
}

static void test_this_machine(void **state) {
    (void)state;
    pt_system_metrics m;
    pt_monitor *monitor = pt_monitor_new();
    errno = 55;
    pt_monitor_system(monitor, &m);
    assert_int_equal(errno, 55);
    double gb = 1024 * 1024, total = meminfo_kb("MemTotal:");
    double used = total - meminfo_kb("MemFree:") - meminfo_kb("Buffers:") - meminfo_kb("Cached:") -
                  meminfo_kb("SReclaimable:");
    double percent = (total - meminfo_kb("MemAvailable:")) / total * 100;
    assert_true(fabs(m.memory_total_gb - total / gb) < 1e-9);
    assert_true(fabs(m.memory_used_gb - used / gb) < 0.1 * total / gb); /* others go on */
    assert_true(fabs(m.memory_percent - percent) < 10);
    assert_true(m.cpu_utilization >= 0 && m.cpu_utilization <= 100);
    double before = m.cpu_utilization;
    pt_monitor_system(monitor, &m); /* too soon for another window */
    assert_true(m.cpu_utilization == before);
    pt_monitor_free(monitor);
}

static json_t *report_of(pt_monitor *monitor) {
    char *text = pt_monitor_report_json(monitor);
    json_error_t error;
    expect(text);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    expect(json);
    free(text);
    return json;
}

static bool is_alert(const json_t *report, size_t i, const char *text) {
    const char *found = json_string_value(json_array_get(json_object_get(report, "alerts"), i));
    return found && !strcmp(found, text);
}

static double number(const json_t *object, const char *key, const char *inner) {
    const json_t *found = json_object_get(json_object_get(object, key), inner);
    expect(json_is_number(found));
    return json_number_value(found);
}

static void report_without_gpu(void) {
    setenv("PITOT_NVML", NO_GPU, 1);
    pt_monitor *monitor = pt_monitor_new();
    for (int i = 0; i < 150; i++)
        expect(pt_monitor_record(monitor, "loss \"a\"\n", i * 0.1, i) == 0);
    json_t *report = report_of(monitor);
    static const char *const keys[] = { "timestamp",      "uptime_seconds", "gpu_metrics",
                                        "system_metrics", "alerts",         "metric_summaries" };
    expect(json_object_size(report) == PT_COUNT(keys));
    for (size_t i = 0; i < PT_COUNT(keys); i++)
        expect(json_object_get(report, keys[i]));
    expect(json_is_object(json_object_get(report, "gpu_metrics")));
    expect(json_object_size(json_object_get(report, "gpu_metrics")) == 0);
    expect(json_is_array(json_object_get(report, "alerts")));
    expect(json_array_size(json_object_get(report, "alerts")) == 0);
    expect(json_object_size(json_object_get(report, "system_metrics")) == 4);
    expect(number(report, "system_metrics", "memory_total_gb") > 0);
    double now = (double)time(NULL);
    double timestamp = json_number_value(json_object_get(report, "timestamp"));
    expect(timestamp > now - 60 && timestamp < now + 2);
    expect(json_number_value(json_object_get(report, "uptime_seconds")) > 0);
    const json_t *summaries = json_object_get(report, "metric_summaries");
    expect(json_object_size(summaries) == 1);
    expect(json_object_size(json_object_get(summaries, "loss \"a\"\n")) == 4);
    expect(number(summaries, "loss \"a\"\n", "current") == 149 * 0.1);
    expect(number(summaries, "loss \"a\"\n", "min") == 50 * 0.1);
    expect(number(summaries, "loss \"a\"\n", "max") == 149 * 0.1);
    expect(fabs(number(summaries, "loss \"a\"\n", "average") - 9.95) < 1e-12);
    json_decref(report);
    pt_monitor_free(monitor);
}

static void test_report(void **state) {
    (void)state;
    run_child(report_without_gpu);
}

static void report_of_many(void) {
    char name[64];
    setenv("PITOT_NVML", NO_GPU, 1);
    pt_monitor *monitor = pt_monitor_new();
    for (int i = 0; i < 4000; i++) {
        snprintf(name, sizeof name, "a series with quite a long name, number %d", i);
        expect(pt_monitor_record(monitor, name, i / 3.0, 0) == 0);
    }
    json_t *report = report_of(monitor);
    const json_t *summaries = json_object_get(report, "metric_summaries");
    expect(json_object_size(summaries) == 4000);
    expect(number(summaries, name, "average") == 3999 / 3.0);
    json_decref(report);
    pt_monitor_report *plain = pt_monitor_report_new(monitor);
    expect(plain->summary_count == 4000 && plain->metric_summaries[3].current == 1);
    expect(plain->alert_count == 0 && !plain->gpu_metrics.is_known);
    free(plain);
    pt_monitor_free(monitor);
}

static void test_large_report(void **state) {
    (void)state;
    run_child(report_of_many);
}

static void rules_without_gpu(void) {
    pt_gpu_metrics gpu;
    pt_alert alert;
    setenv("PITOT_NVML", NO_GPU, 1);
    pt_monitor *monitor = pt_monitor_new();
    pt_monitor_gpu(monitor, &gpu);
    expect(!gpu.is_known && isnan(gpu.gpu_utilization) && isnan(gpu.gpu_power_draw));
    expect(pt_monitor_check(monitor, &alert, 1) == 0);
    pt_monitor_free(monitor);
}

static void test_no_gpu(void **state) {
    (void)state;
    run_child(rules_without_gpu);
}

#define GPU(utilization, total, used, temperature)               \
    "devices 2\n"                                                \
    "nvmlDeviceGetUtilizationRates  0  " #utilization ":0\n"     \
    "nvmlDeviceGetUtilizationRates  1  50:0\n"                   \
    "nvmlDeviceGetMemoryInfo        0  " #total ":0:" #used "\n" \
    "nvmlDeviceGetTemperature/0     0  " #temperature "\n"       \
    "nvmlDeviceGetTemperature/0     1  99\n"                     \
    "nvmlDeviceGetPowerUsage        0  300500\n"

static const char *const texts[] = {
    "GPU utilization below 10%",
    "GPU utilization above 90%",
    "GPU memory usage above 80%",
    "GPU temperature above 85°C",
};

/* Alerts of the script that is played, a bit for each text. */
static void expect_alerts(unsigned expected) {
    pt_monitor *monitor = pt_monitor_new();
    pt_alert alerts[8];
    size_t count = pt_monitor_check(monitor, alerts, 8);
    unsigned found = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < PT_COUNT(texts); k++)
            found |= !strcmp(alerts[i].text, texts[k]) ? 1u << k : 0;
    expect(found == expected && count == (size_t)__builtin_popcount(expected));
    json_t *report = report_of(monitor);
    for (unsigned i = 0, k = 0; k < PT_COUNT(texts); k++)
        if (expected >> k & 1)
            expect(is_alert(report, i++, texts[k]));
    json_decref(report);
    pt_monitor_free(monitor);
}

static void expect_none(void) {
    expect_alerts(0);
}
static void expect_idle(void) {
    expect_alerts(1);
}
static void expect_busy(void) {
    expect_alerts(2);
}
static void expect_full_and_hot(void) {
    expect_alerts(4 | 8);
}

static void check_script(const char *script, void (*program)(void)) {
    play("PITOT_SCRIPTED_NVML", script);
    run_child(program);
}

static void test_gpu_alerts(void **state) {
    (void)state;
    check_script(GPU(10, 1000000000, 800000000, 85), expect_none); /* limits are not beyond */
    check_script(GPU(90, 1000000000, 10, 30), expect_none);
    check_script(GPU(9, 1000000000, 10, 30), expect_idle);
    check_script(GPU(91, 1000000000, 10, 30), expect_busy);
    check_script(GPU(50, 1000000000, 800000001, 86), expect_full_and_hot);
    check_script(GPU(50, 0, 0, 30), expect_none); /* no total, no usage */
    check_script("devices 1\nnvmlDeviceGetTemperature/0 0 90\n"
                 "nvmlDeviceGetMemoryInfo 0 100:0:90\n",
                 expect_full_and_hot); /* utilisation unknown: not below 10 % */
}

static void read_gpu(void) {
    pt_gpu_metrics gpu;
    pt_monitor *monitor = pt_monitor_new();
    pt_monitor_gpu(monitor, &gpu);
    expect(gpu.is_known && gpu.gpu_utilization == 42 && gpu.gpu_temperature == 61);
    expect(gpu.gpu_memory_total == 1024 && gpu.gpu_memory_used == 256);
    expect(gpu.gpu_power_draw == 300.5);
    json_t *report = report_of(monitor);
    expect(json_object_size(json_object_get(report, "gpu_metrics")) == 5);
    expect(number(report, "gpu_metrics", "gpu_utilization") == 42);
    expect(number(report, "gpu_metrics", "gpu_memory_used") == 256);
    expect(number(report, "gpu_metrics", "gpu_memory_total") == 1024);
    expect(number(report, "gpu_metrics", "gpu_temperature") == 61);
    expect(number(report, "gpu_metrics", "gpu_power_draw") == 300.5);
    json_decref(report);
    pt_monitor_free(monitor);
}

static void test_gpu_metrics(void **state) {
    (void)state;
    check_script(GPU(42, 1073741824, 268435456, 61), read_gpu);
}

static struct {
    int on_count, off_count;
    char text[128];
    double value, since;
} told;

static void tell(void *arg, const pt_alert *alert, bool is_on) {
    expect(arg == &told);
    told.on_count += is_on;
    told.off_count += !is_on;
    told.value = alert->value;
    told.since = alert->since;
    snprintf(told.text, sizeof told.text, "%s", alert->text);
    pt_monitor_free(pt_monitor_new()); /* a callback may use the library */
}

static void rule_of_series(void) {
    pt_alert alert;
    pt_monitor *monitor = pt_monitor_new();
    pt_monitor_clear_rules(monitor);
    pt_monitor_on_alert(monitor, tell, &told);
    expect(!pt_monitor_add_rule(monitor, &(pt_alert_rule){ .metric = "loss",
                                                           .is_above = true,
                                                           .threshold = 1,
                                                           .hysteresis = 0.5,
                                                           .text = "the loss is high" }));
    expect(pt_monitor_check(monitor, &alert, 1) == 0); /* there is no loss yet */
    expect(!pt_monitor_record(monitor, "loss", 1.5, NAN));
    expect(pt_monitor_check(monitor, &alert, 1) == 1 && told.on_count == 1);
    expect(!strcmp(alert.text, "the loss is high") && alert.value == 1.5);
    expect(fabs(alert.since - (double)time(NULL)) < 60);
    expect(!pt_monitor_record(monitor, "loss", 0.75, NAN));
    expect(pt_monitor_check(monitor, &alert, 1) == 1 && alert.value == 0.75);
    expect(!pt_monitor_record(monitor, "loss", 0.5, NAN));
    expect(pt_monitor_check(monitor, &alert, 1) == 0);
    expect(told.on_count == 1 && told.off_count == 1 && told.value == 0.5);
    pt_monitor_free(monitor);
}

static void test_rule_of_series(void **state) {
    (void)state;
    run_child(rule_of_series);
}

static void rule_of_machine(void) {
    pt_alert alert;
    pt_monitor *monitor = pt_monitor_new();
    pt_monitor_clear_rules(monitor);
    expect(!pt_monitor_add_rule(
        monitor, &(pt_alert_rule){ "memory_percent", true, 0, 0, 0, "memory is used" }));
    expect(!pt_monitor_add_rule(
        monitor, &(pt_alert_rule){ "cpu_utilization", true, 100, 0, 0, "more than all" }));
    expect(pt_monitor_check(monitor, &alert, 1) == 1);
    expect(!strcmp(alert.text, "memory is used") && alert.value > 0 && alert.value <= 100);
    pt_monitor_free(monitor);
}

static void test_rule_of_machine(void **state) {
    (void)state;
    run_child(rule_of_machine);
}

static void test_wrong_rules(void **state) {
    (void)state;
    pt_monitor *monitor = pt_monitor_new();
    const pt_alert_rule wrong[] = {
        { NULL, true, 1, 0, 0, "text" },    { "", true, 1, 0, 0, "text" },
        { "m", true, 1, 0, 0, NULL },       { "m", true, NAN, 0, 0, "text" },
        { "m", true, 1, -1, 0, "text" },    { "m", true, 1, 0, -1, "text" },
        { "m", true, 1, INFINITY, 0, "t" },
    };
    for (size_t i = 0; i < PT_COUNT(wrong); i++)
        assert_int_equal(pt_monitor_add_rule(monitor, &wrong[i]), -EINVAL);
    pt_alert_rule rule = { "m", true, 1, 0, 0, "text" };
    for (int i = 4; i < 64; i++)
        assert_int_equal(pt_monitor_add_rule(monitor, &rule), 0);
    assert_int_equal(pt_monitor_add_rule(monitor, &rule), -ENOSPC);
    pt_monitor_free(monitor);
}

static void *record_often(void *monitor) {
    for (int i = 0; i < 5000; i++)
        if (pt_monitor_record(monitor, i % 2 ? "even" : "odd", i, NAN))
            return monitor;
    return NULL;
}

static void many_threads(void) {
    pthread_t threads[4];
    double times[100], values[100];
    setenv("PITOT_NVML", NO_GPU, 1);
    pt_monitor *monitor = pt_monitor_new();
    for (int i = 0; i < 4; i++)
        expect(!pthread_create(&threads[i], NULL, record_often, monitor));
    for (int i = 0; i < 50; i++) {
        pt_monitor_report *report = pt_monitor_report_new(monitor);
        expect(report && report->summary_count <= 2);
        free(report);
    }
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        expect(!failed);
    }
    expect(pt_monitor_values(monitor, "odd", times, values, 100) == 100);
    pt_monitor_free(monitor);
}

static void test_threads(void **state) {
    (void)state;
    run_child(many_threads);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_alert_at_once, "C150 C151: a value beyond the threshold is an alert at once"),
        PT_TEST(test_alert_for_some_time, "an alert can wait until the value was beyond for long"),
        PT_TEST(test_alert_hysteresis, "an alert goes when the value is back by the hysteresis"),
        PT_TEST(test_alert_of_unknown, "C154: an unknown value is not an alert, and ends one"),
        PT_TEST(test_series,
                "C135 C136 C137 C138: a value is recorded with a time, new names make series"),
        PT_TEST(test_wrong_records, "what is not a number or has no name is refused"),
        PT_TEST(test_series_are_bounded, "C161: the last 100 values are kept, or as many as set"),
        PT_TEST(test_memory_of_a_known_machine, "C147 C148: memory of a known machine"),
        PT_TEST(test_cpu_of_a_known_machine, "C146: CPU between two known readings"),
        PT_TEST(test_this_machine, "C146 C147 C148 C149: this machine, as /proc/meminfo has it"),
        PT_TEST(test_report, "C155 C156 C157 C158 C159 C160 C161 C162 C163 C164 C165: the report "
                             "has its six keys and known summaries"),
        PT_TEST(test_large_report, "a report of thousands of series is whole"),
        PT_TEST(test_no_gpu, "C145 C154: without a GPU nothing is known of it and no alert is on"),
        PT_TEST(test_gpu_alerts, "C150 C151 C152 C153: the alerts of a GPU, with their texts"),
        PT_TEST(test_gpu_metrics, "C139 C140 C141 C142 C143 C144: the first GPU, as NVML says"),
        PT_TEST(test_rule_of_series, "C159: a rule for a series tells when it goes on and off"),
        PT_TEST(test_rule_of_machine, "a rule for the machine"),
        PT_TEST(test_wrong_rules, "wrong rules and too many are refused"),
        PT_TEST(test_threads, "threads record while others report"),
    };
    return cmocka_run_group_tests(tests, NULL, stop_playing);
}
