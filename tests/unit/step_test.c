/* Steps: lines in the log, samples of memory, traces. */
#include "own_process.h"
#include "scripted.h"
#include "tree.h"

#include "base/attr.h"
#include "libpitot/gpu_watch.h"

#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <pitot/config.h>
#include <pthread.h>
#include <pitot/export.h>

#define LINES 64

static struct {
    int level;
    char text[512];
} lines[LINES];
static int line_count;

static void take_log(void *arg, int level, const char *text) {
    (void)arg;
    int at = __atomic_fetch_add(&line_count, 1, __ATOMIC_RELAXED); /* several threads at once */
    if (at >= LINES)
        return;
    lines[at].level = level;
    snprintf(lines[at].text, sizeof lines[at].text, "%s", text);
}

static int count_lines(int level) {
    int count = 0;
    for (int i = 0; i < line_count && i < LINES; i++)
        count += lines[i].level == level;
    return count;
}

static struct tree tree;

static void begin(pt_config *config) {
    pt_set_log(take_log, NULL);
    pt_config_init(config);
    config->enable_metrics = true;
    config->auto_disable_on_slow = false;
    snprintf(config->profiler_trace_dir, sizeof config->profiler_trace_dir, "%s/a/b", tree.root);
}

static void train_step(void) {
    PT_SPAN(total, "total_step");
    PT_SPAN(flow, "flow_processor");
    pt_span_set_work(&flow, PT_TOKENS, 1000);
}

static void number_steps(void) {
    pt_config config;
    expect(pt_step("train_step") == 0);
    begin(&config);
    expect(pt_configure(&config) == 0);
    errno = 44;
    for (uint64_t i = 1; i <= 3; i++)
        expect(pt_step(i == 2 ? NULL : "train_step") == i && errno == 44);
    pt_stop();
    expect(pt_step("train_step") == 0);
    expect(pt_start(NULL) == 0 && pt_step("other") == 4);
}

static void test_numbers(void **state) {
    (void)state;
    run_child(number_steps);
}

static void log_steps(void) {
    pt_config config;
    begin(&config);
    config.metrics_log_interval = 5;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 14; i++) {
        train_step();
        pt_step("train_step");
    }
    expect(line_count == 2 && count_lines(PT_LEVEL_DEBUG_PERFORMANCE) == 2);
    expect(strstr(lines[0].text, "step 5 train_step: ") == lines[0].text);
    expect(strstr(lines[1].text, "step 10 train_step: ") == lines[1].text);
    expect(strstr(lines[1].text, " ms per step, total_step ") != NULL);
    expect(strstr(lines[1].text, " ms x 5, flow_processor ") != NULL);
    expect(strstr(lines[1].text, " tokens/s, RAM ") != NULL);
    const char *end = strrchr(lines[1].text, ' ');
    expect(end && !strcmp(end, " MB"));
    config.metrics_log_interval = 1;
    config.collect_timing = config.collect_throughput = false;
    config.collect_memory_detailed = true;
    expect(pt_configure(&config) == 0);
    pt_step("train_step");
    expect(line_count == 3 && strstr(lines[2].text, "step 15 train_step: "));
    expect(strstr(lines[2].text, ", peak "));
    expect(strstr(lines[2].text, " % free") || mallinfo2().arena == 0); /* sanitizers know none */
    expect(!strstr(lines[2].text, "total_step") && !strstr(lines[2].text, "tokens"));
}

static void test_log(void **state) {
    (void)state;
    run_child(log_steps);
}

static void leak_memory(void) {
    pt_config config;
    begin(&config);
    config.metrics_log_interval = 1000;
    config.memory_cleanup_check_interval = 60;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 60; i++)
        pt_step("s");
    expect(line_count == 0);
    double before = own_rss_mb();
    for (int i = 0; i < 60; i++) {
        char *lost = malloc(1 << 20);
        memset(lost, i, 1 << 20);
        __asm__ volatile("" : : "r"(lost) : "memory"); /* it is not left out as useless */
        pt_step("s");
    }
    expect(line_count == 1 && lines[0].level == PT_LEVEL_WARNING);
    expect(strstr(lines[0].text, "step 120: memory grows by ") == lines[0].text);
    double growth = strtod(lines[0].text + strlen("step 120: memory grows by "), NULL);
    double expected = (own_rss_mb() - before) / 60;
    expect(growth > 0.9 && fabs(growth / expected - 1) < 0.2);
}

static void test_leak(void **state) {
    (void)state;
    run_child(leak_memory);
}

static void sample_memory(void) {
    static pt_memory_sample samples[1000];
    pt_config config;
    begin(&config);
    config.metrics_log_interval = 1000000;
    expect(pt_configure(&config) == 0);
    expect(pt_recent_memory(samples, 1000) == 0);
    pt_step("s");
    expect(pt_recent_memory(samples, 1000) == 1);
    double expected = own_rss_mb();
    expect(fabs(samples[0].ram_mb - expected) < 0.5 * expected);
    expect(isnan(samples[0].gpu_mb) && fabs(samples[0].wall_time - (double)time(NULL)) < 60);
    for (int i = 0; i < 700; i++)
        pt_step("s");
    expect(pt_recent_memory(samples, 1000) == 500);
    for (int i = 1; i < 500; i++)
        expect(samples[i - 1].wall_time <= samples[i].wall_time);
    pt_memory_sample newest[2];
    expect(pt_recent_memory(newest, 2) == 2);
    expect(newest[1].wall_time == samples[499].wall_time);
    config.collect_memory_basic = false;
    expect(pt_configure(&config) == 0);
    expect(pt_recent_memory(samples, 1000) == 0);
}

static void test_memory(void **state) {
    (void)state;
    run_child(sample_memory);
}

/* How many complete events of that name a trace has; -1: it is not JSON. */
static int count_events(const char *name, const char *event) {
    json_t *trace = json_load_file(tree_path(&tree, name), 0, NULL), *e;
    size_t i;
    int count = 0;
    if (!trace)
        return -1;
    json_array_foreach(json_object_get(trace, "traceEvents"), i, e) {
        const char *found = json_string_value(json_object_get(e, "name"));
        const char *phase = json_string_value(json_object_get(e, "ph"));
        count += found && phase && !strcmp(phase, "X") && !strcmp(found, event);
    }
    json_decref(trace);
    return count;
}

static void export_traces(void) {
    char expected[600];
    pt_config config;
    begin(&config);
    config.enable_profiler = true;
    config.profiler_export_interval = 4;
    config.metrics_log_interval = 1000;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 9; i++) {
        train_step();
        pt_step("train_step");
    }
    expect(count_lines(PT_LEVEL_DEBUG_PROFILING) == 2 && line_count == 2);
    snprintf(expected, sizeof expected, "Exported profiler trace: %s/a/b/train_step_step_4.json",
             tree.root);
    expect(!strcmp(lines[0].text, expected));
    expect(count_events("a/b/train_step_step_4.json", "total_step") == 4);
    expect(count_events("a/b/train_step_step_8.json", "total_step") == 4);
    expect(count_events("a/b/train_step_step_8.json", "flow_processor") == 4);
    expect(count_events("a/b/train_step_step_9.json", "total_step") == -1);
    for (int i = 0; i < 3; i++)
        pt_step("../../etc/pass wd");
    expect(count_events("a/b/_._.._etc_pass_wd_step_12.json", "total_step") == 1);
    config.enable_profiler = false;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 8; i++)
        pt_step("train_step");
    expect(count_lines(PT_LEVEL_DEBUG_PROFILING) == 3);
}

static void test_traces(void **state) {
    (void)state;
    run_child(export_traces);
}

static void export_to_nowhere(void) {
    pt_config config;
    begin(&config);
    config.enable_profiler = true;
    config.profiler_export_interval = 1;
    snprintf(config.profiler_trace_dir, sizeof config.profiler_trace_dir, "/dev/null/traces");
    expect(pt_configure(&config) == 0);
    expect(pt_step("s") == 1);
    expect(line_count == 1 && lines[0].level == PT_LEVEL_WARNING);
    expect(!strcmp(lines[0].text,
                   "cannot write the trace /dev/null/traces/s_step_1.json: Not a directory"));
    expect(pt_step("s") == 2);
}

static void test_no_directory(void **state) {
    (void)state;
    run_child(export_to_nowhere);
}

static void steps_with_gpu(void) {
    pt_memory_sample sample;
    struct pt_gpu_now now;
    pt_config config;
    begin(&config);
    config.metrics_log_interval = 2;
    expect(pt_configure(&config) == 0);
    expect(!pt_gpu_watch_read(&now)); /* nobody asks it */
    config.enable_gpu_monitoring = true;
    expect(pt_configure(&config) == 0);
    expect(pt_gpu_watch_read(&now) && now.utilization_percent == 42);
    pt_step("s");
    pt_step("s");
    expect(line_count == 1 && strstr(lines[0].text, ", GPU 42 %, GPU memory 256 MB"));
    expect(pt_recent_memory(&sample, 1) == 1 && sample.gpu_mb == 256);
    config.enable_gpu_monitoring = false;
    expect(pt_configure(&config) == 0);
    expect(!pt_gpu_watch_read(&now));
    pt_step("s");
    pt_step("s");
    expect(line_count == 2 && !strstr(lines[1].text, "GPU"));
    config.enable_gpu_monitoring = true;
    config.enable_metrics = false; /* the master switch */
    expect(pt_configure(&config) == 0);
    expect(!pt_gpu_watch_read(&now));
}

static void steps_without_gpu(void) {
    pt_config config;
    begin(&config);
    setenv("PITOT_NVML", "/nonexistent", 1);
    config.collect_gpu_utilization = true;
    expect(pt_configure(&config) == 0);
    expect(line_count == 1 && lines[0].level == PT_LEVEL_DEBUG_PERFORMANCE);
    expect(!strcmp(lines[0].text, "GPU monitoring: no GPU found, continuing without it"));
    for (int i = 0; i < 10; i++)
        pt_step("s");
    expect(line_count == 2 && !strstr(lines[1].text, "GPU")); /* and not repeated */
}

static void test_gpu(void **state) {
    (void)state;
    play("PITOT_SCRIPTED_NVML", "devices 1\n"
                                "nvmlDeviceGetUtilizationRates 0 42:0\n"
                                "nvmlDeviceGetMemoryInfo 0 1073741824:0:268435456\n");
    run_child(steps_with_gpu);
    run_child(steps_without_gpu);
}

static void *step_often(void *arg) {
    for (int i = 0; i < 300; i++) {
        train_step();
        pt_step("s");
    }
    return arg;
}

static void many_threads(void) {
    pthread_t threads[3];
    pt_config config;
    begin(&config);
    config.enable_profiler = true;
    config.profiler_export_interval = 100;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 3; i++)
        expect(!pthread_create(&threads[i], NULL, step_often, NULL));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    expect(pt_step("s") == 901);
    expect(count_events("a/b/s_step_900.json", "total_step") > 0);
}

static void test_threads(void **state) {
    (void)state;
    run_child(many_threads);
}

static int setup(void **state) {
    (void)state;
    tree_make(&tree);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    tree_remove(&tree);
    return stop_playing(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_numbers, "C209 C215 C219: steps are numbered while on, and nothing while off"),
        PT_TEST(test_log,
                "C173 C199 C221 C222 C223: every N steps a line with times, rates and memory"),
        PT_TEST(test_memory, "C189 C190 C198: memory at the last 500 steps"),
        PT_TEST(test_leak, "C182: every N steps a test for a leak"),
        PT_TEST(test_traces,
                "C208 C210 C215 C216 C217 C218: every N steps a trace of the spans since"),
        PT_TEST(test_no_directory,
                "C230 C232: a trace that cannot be written is reported and stops nothing"),
        PT_TEST(
            test_gpu,
            "C168 C200 C202 C206 C232 C233: the GPU is asked while it should be, and not missed"),
        PT_TEST(test_threads, "threads take steps at once"),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
