/* Settings: defaults, where they come from, what is said of wrong ones, what follows from them. */
#include "own_process.h"
#include "tree.h"

#include "base/attr.h"
#include "libpitot/span_history.h"

#include <errno.h>
#include <pitot/config.h>
#include <pitot/export.h>
#include <pitot/operation.h>
#include <pthread.h>
#include <sys/wait.h>

#define FIELD(name) offsetof(pt_config, name), #name

/* The list of the source document. */
static const struct {
    size_t offset;
    const char *name;
    bool value;
} switches[] = {
    { FIELD(enable_metrics), false },
    { FIELD(enable_profiler), false },
    { FIELD(enable_gpu_monitoring), false },
    { FIELD(collect_timing), true },
    { FIELD(collect_throughput), true },
    { FIELD(collect_memory_basic), true },
    { FIELD(collect_gpu_utilization), false },
    { FIELD(collect_memory_detailed), false },
    { FIELD(collect_component_profiling), false },
    { FIELD(profiler_record_shapes), false },
    { FIELD(profiler_profile_memory), false },
    { FIELD(profiler_with_stack), false },
    { FIELD(auto_disable_on_slow), true },
    { FIELD(debug_mode), false },
};

static bool get_switch(const pt_config *config, size_t i) {
    return *(const bool *)((const char *)config + switches[i].offset);
}

static void assert_defaults(const pt_config *config) {
    for (size_t i = 0; i < PT_COUNT(switches); i++)
        if (get_switch(config, i) != switches[i].value)
            fail_msg("%s is not %d", switches[i].name, switches[i].value);
    assert_int_equal(config->profiler_export_interval, 1000);
    assert_string_equal(config->profiler_trace_dir, "traces");
    assert_int_equal(config->metrics_log_interval, 10);
    assert_true(config->gpu_monitor_interval == 1.0);
    assert_int_equal(config->memory_cleanup_check_interval, 50);
    assert_true(config->performance_threshold == 0.05);
    assert_true(config->min_duration == 0.001);
    assert_int_equal(config->history_spans, 200000);
    assert_true(config->memory_interval == 0.5);
}

static void test_defaults(void **state) {
    (void)state;
    pt_config config;
    pt_config_init(&config);
    assert_int_equal(config.size, sizeof config);
    assert_defaults(&config);
    memset(&config, 0xff, sizeof config);
    pt_config_get(&config);
    assert_defaults(&config);
}

static void test_every_switch_by_name(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_COUNT(switches); i++) {
        pt_config config;
        pt_config_init(&config);
        const char *other = switches[i].value ? "off" : "Yes";
        assert_int_equal(pt_config_set(&config, switches[i].name, other, NULL, 0), 0);
        assert_int_equal(get_switch(&config, i), !switches[i].value);
        for (size_t k = 0; k < PT_COUNT(switches); k++)
            if (k != i)
                assert_int_equal(get_switch(&config, k), switches[k].value);
    }
}

static void test_numbers_and_text_by_name(void **state) {
    (void)state;
    pt_config config;
    pt_config_init(&config);
    assert_int_equal(pt_config_set(&config, "profiler_export_interval", "7", NULL, 0), 0);
    assert_int_equal(pt_config_set(&config, "profiler_trace_dir", "/a b/c", NULL, 0), 0);
    assert_int_equal(pt_config_set(&config, "metrics_log_interval", "2147483647", NULL, 0), 0);
    assert_int_equal(pt_config_set(&config, "gpu_monitor_interval", "0.25", NULL, 0), 0);
    assert_int_equal(pt_config_set(&config, "memory_cleanup_check_interval", "1", NULL, 0), 0);
    assert_int_equal(pt_config_set(&config, "performance_threshold", "1e-2", NULL, 0), 0);
    assert_int_equal(config.profiler_export_interval, 7);
    assert_string_equal(config.profiler_trace_dir, "/a b/c");
    assert_int_equal(config.metrics_log_interval, 2147483647);
    assert_true(config.gpu_monitor_interval == 0.25);
    assert_int_equal(config.memory_cleanup_check_interval, 1);
    assert_true(config.performance_threshold == 0.01);
}

static const struct {
    const char *key, *value, *message;
} wrong_ones[] = {
    { "metrics_log_interval", "0",
      "metrics_log_interval: \"0\" is not a whole number from 1 to 2147483647" },
    { "metrics_log_interval", "1.5",
      "metrics_log_interval: \"1.5\" is not a whole number from 1 to 2147483647" },
    { "metrics_log_interval", "2147483648",
      "metrics_log_interval: \"2147483648\" is not a whole number from 1 to 2147483647" },
    { "metrics_log_interval", "99999999999999999999",
      "metrics_log_interval: \"99999999999999999999\" is not a whole number from 1 to 2147483647" },
    { "performance_threshold", "-1",
      "performance_threshold: \"-1\" is not a number from 0.0001 to 1" },
    { "performance_threshold", "nan",
      "performance_threshold: \"nan\" is not a number from 0.0001 to 1" },
    { "gpu_monitor_interval", "1 s",
      "gpu_monitor_interval: \"1 s\" is not a number from 0.1 to 3600" },
    { "enable_metrics", "maybe", "enable_metrics: \"maybe\" is not true or false" },
    { "enable_metrics", "", "enable_metrics: \"\" is not true or false" },
    { "profiler_trace_dir", "", "profiler_trace_dir: \"\" is not a text of 1 to 4095 bytes" },
    { "enable_everything", "1", "enable_everything: unknown setting" },
    { "", "1", ": unknown setting" },
};

static void test_wrong_values(void **state) {
    (void)state;
    for (size_t i = 0; i < PT_COUNT(wrong_ones); i++) {
        pt_config config;
        char message[256] = "untouched";
        pt_config_init(&config);
        assert_int_equal(
            pt_config_set(&config, wrong_ones[i].key, wrong_ones[i].value, message, sizeof message),
            -EINVAL);
        assert_string_equal(message, wrong_ones[i].message);
        assert_defaults(&config);
    }
}

static void test_file(void **state) {
    (void)state;
    struct tree t;
    pt_config config;
    char message[512];
    tree_make(&t);
    tree_put(&t, "good",
             "# of the training job\n"
             "\n"
             "  enable_metrics=true\r\n"
             "; another kind of comment\n"
             "profiler_trace_dir = /var/tmp/my traces\t\n"
             "min_duration = 0.5");
    pt_config_init(&config);
    assert_int_equal(pt_config_read_file(&config, tree_path(&t, "good"), message, sizeof message),
                     0);
    assert_string_equal(message, "");
    assert_true(config.enable_metrics);
    assert_string_equal(config.profiler_trace_dir, "/var/tmp/my traces");
    assert_true(config.min_duration == 0.5);
    tree_remove(&t);
}

static void test_wrong_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } files[] = {
        { "enable_metrics = 1\n\nhistory_spans = many\n",
          ":3: history_spans: \"many\" is not a whole number from 0 to 100000000" },
        { "enable_metrics\n", ":1: \"enable_metrics\" is not KEY = VALUE" },
        { "debug_mode = 1\n[pitot]\n", ":2: \"[pitot]\" is not KEY = VALUE" },
        { "#\ncolour = red\n", ":2: colour: unknown setting" },
    };
    struct tree t;
    tree_make(&t);
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        pt_config config;
        char message[512], expected[512];
        pt_config_init(&config);
        tree_put(&t, "wrong", files[i].text);
        const char *path = tree_path(&t, "wrong");
        assert_int_equal(pt_config_read_file(&config, path, message, sizeof message), -EINVAL);
        snprintf(expected, sizeof expected, "%.200s%s", path, files[i].message);
        assert_string_equal(message, expected);
        assert_defaults(&config); /* the good lines before it neither */
    }
    tree_remove(&t);
}

static void test_files_that_cannot_be_read(void **state) {
    (void)state;
    struct tree t;
    pt_config config;
    char message[512];
    static char large[70000];
    tree_make(&t);
    pt_config_init(&config);
    const char *path = tree_path(&t, "none");
    assert_int_equal(pt_config_read_file(&config, path, message, sizeof message), -ENOENT);
    assert_non_null(strstr(message, "/none: No such file"));
    assert_int_equal(pt_config_read_file(&config, t.root, message, sizeof message), -EISDIR);
    memset(large, '\n', sizeof large - 1);
    tree_put(&t, "large", large);
    assert_int_equal(pt_config_read_file(&config, tree_path(&t, "large"), message, sizeof message),
                     -EFBIG);
    tree_remove(&t);
}

static void test_environment_beats_file(void **state) {
    (void)state;
    struct tree t;
    pt_config config;
    char message[512];
    tree_make(&t);
    tree_put(&t, "file", "metrics_log_interval = 3\nhistory_spans = 5000\n");
    setenv("PITOT_CONFIG", tree_path(&t, "file"), 1);
    setenv("PITOT_METRICS_LOG_INTERVAL", " 4 ", 1);
    setenv("PITOT_PROFILER_TRACE_DIR", "/elsewhere", 1);
    pt_config_init(&config);
    assert_int_equal(pt_config_read_environment(&config, message, sizeof message), 0);
    assert_int_equal(config.metrics_log_interval, 4);
    assert_int_equal(config.history_spans, 5000);
    assert_string_equal(config.profiler_trace_dir, "/elsewhere");
    setenv("PITOT_DEBUG_MODE", "perhaps", 1);
    pt_config_init(&config);
    assert_int_equal(pt_config_read_environment(&config, message, sizeof message), -EINVAL);
    assert_string_equal(message, "environment: debug_mode: \"perhaps\" is not true or false");
    assert_defaults(&config);
    unsetenv("PITOT_CONFIG");
    unsetenv("PITOT_METRICS_LOG_INTERVAL");
    unsetenv("PITOT_PROFILER_TRACE_DIR");
    unsetenv("PITOT_DEBUG_MODE");
    tree_remove(&t);
}

/* As a program that was built when debug_mode was not there yet. */
static void test_older_program(void **state) {
    (void)state;
    union {
        pt_config config;
        unsigned char bytes[sizeof(pt_config)];
    } old;
    size_t size = offsetof(pt_config, debug_mode);
    memset(&old, 0xee, sizeof old);
    pt_config_init_(&old.config, size);
    assert_int_equal(old.config.size, size);
    assert_int_equal(old.config.metrics_log_interval, 10);
    assert_int_equal(pt_config_set(&old.config, "debug_mode", "1", NULL, 0), 0);
    assert_int_equal(pt_configure(&old.config), 0);
    pt_config_get_(&old.config, size);
    for (size_t i = size; i < sizeof old; i++)
        assert_int_equal(old.bytes[i], 0xee);
}

static void test_newer_program(void **state) {
    (void)state;
    struct {
        pt_config config;
        unsigned char more[4096];
    } newer;
    pt_config_init_(&newer.config, sizeof newer);
    assert_int_equal(newer.config.size, sizeof newer);
    assert_int_equal(newer.config.history_spans, 200000);
    assert_int_equal(newer.more[17], 0);
    assert_int_equal(pt_config_set(&newer.config, "debug_mode", "1", NULL, 0), 0);
    assert_true(newer.config.debug_mode);
}

static struct {
    int level;
    char text[512];
    int count;
} logged;

static void take_log(void *arg, int level, const char *text) {
    logged.level = level;
    logged.count += arg == &logged;
    snprintf(logged.text, sizeof logged.text, "%s", text);
}

static void configure_wrongly(void) {
    pt_config config, now;
    pt_set_log(take_log, &logged);
    pt_config_init(&config);
    config.metrics_log_interval = 0;
    config.min_duration = 7;
    expect(pt_configure(&config) == -EINVAL);
    expect(logged.count == 1 && logged.level == PT_LEVEL_WARNING);
    expect(!strcmp(logged.text, "configuration: metrics_log_interval: not a whole number from "
                                "1 to 2147483647"));
    pt_config_get(&now);
    expect(now.min_duration == 0.001);
    pt_config_init(&config);
    config.performance_threshold = (double)NAN;
    expect(pt_configure(&config) == -EINVAL);
    pt_config_init(&config);
    memset(config.profiler_trace_dir, 'x', sizeof config.profiler_trace_dir);
    expect(pt_configure(&config) == -EINVAL);
    expect(logged.count == 3);
}

static void test_configuring_wrongly(void **state) {
    (void)state;
    run_child(configure_wrongly);
}

static void put_span(void) {
    PT_SPAN(span, "work");
}

static void switch_on_and_off(void) {
    pt_config config;
    pt_config_init(&config);
    expect(pt_step("s") == 0);
    put_span();
    expect(pt_history_end() == 0);
    config.enable_metrics = true;
    errno = 77;
    expect(pt_configure(&config) == 0 && errno == 77);
    put_span();
    expect(pt_history_end() == 1);
    config.collect_timing = config.collect_throughput = false;
    expect(pt_configure(&config) == 0);
    put_span();
    expect(pt_history_end() == 1);
    config.collect_throughput = true;
    expect(pt_configure(&config) == 0);
    put_span();
    expect(pt_history_end() == 2);
    config.enable_metrics = false;
    expect(pt_configure(&config) == 0);
    put_span();
    expect(pt_history_end() == 2 && pt_step("s") == 0);
    pt_config_get(&config);
    expect(!config.enable_metrics && config.collect_throughput && !config.collect_timing);
}

static void test_switching(void **state) {
    (void)state;
    run_child(switch_on_and_off);
}

static void keep_few_spans(void) {
    struct pt_history_span spans[100];
    uint64_t next;
    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true;
    config.history_spans = 10;
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 50; i++)
        put_span();
    expect(pt_history_end() == 50);
    expect(pt_history_read(0, spans, 100, &next) == 10);
}

static void test_history_capacity(void **state) {
    (void)state;
    run_child(keep_few_spans);
}

static void collect_views(void) {
    pt_timing timings[4];
    pt_throughput rates[4];
    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true;
    config.min_duration = 3600; /* nothing lasts so long */
    expect(pt_configure(&config) == 0);
    for (int i = 0; i < 2; i++) {
        PT_SPAN(outer, "outer");
        PT_SPAN(span, "work");
        pt_span_set_work(&span, PT_FLOWS, 5);
        usleep(1); /* a clock of few ticks must see it, too: without a duration there is no rate */
    }
    expect(pt_recent_timings(timings, 4) == 0 && pt_recent_throughputs(rates, 4) == 2);
    config.min_duration = 0;
    expect(pt_configure(&config) == 0);
    expect(pt_recent_timings(timings, 4) == 4);
    expect(!strcmp(timings[0].name, "work") && !strcmp(timings[1].name, "outer"));
    expect(timings[1].seconds >= timings[0].seconds && rates[1].work == PT_FLOWS);
    config.collect_timing = false;
    expect(pt_configure(&config) == 0);
    expect(pt_recent_timings(timings, 4) == 0 && pt_recent_throughputs(rates, 4) == 2);
    config.collect_timing = true;
    config.collect_throughput = false;
    expect(pt_configure(&config) == 0);
    expect(pt_recent_timings(timings, 4) == 4 && pt_recent_throughputs(rates, 4) == 0);
}

static void test_views(void **state) {
    (void)state;
    run_child(collect_views);
}

static void set_interval_of_operations(void) {
    pt_profiler_options options;
    pt_config config;
    pt_profiler_options_init(&options);
    expect(options.memory_interval == 0.5);
    pt_config_init(&config);
    config.memory_interval = 0.25;
    expect(pt_configure(&config) == 0);
    pt_profiler_options_init(&options);
    expect(options.memory_interval == 0.25);
}

static void test_interval_of_operations(void **state) {
    (void)state;
    run_child(set_interval_of_operations);
}

static void debug(void) {
    pt_config config;
    pt_config_init(&config);
    config.debug_mode = true;
    expect(pt_configure(&config) == 0);
    pt_config_get(&config);
    expect(config.debug_mode && config.enable_gpu_monitoring && config.collect_component_profiling);
    expect(!config.enable_metrics && !config.enable_profiler);
}

static void test_debug_mode(void **state) {
    (void)state;
    run_child(debug);
}

/* This program again, with other variables; it prints what is in force when main() begins. */
static void run_again(const char *const variables[], char *output, size_t capacity) {
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; variables[i]; i += 2)
            setenv(variables[i], variables[i + 1], 1);
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "config_test", "print", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], output, capacity - 1);
    output[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int print_settings(void) {
    pt_config config;
    pt_config_get(&config);
    pt_set_log(take_log, &logged);
    printf("on %d log %d spans %d [%s]\n", config.enable_metrics, config.metrics_log_interval,
           config.history_spans, logged.text);
    return 0;
}

static void test_environment_at_load(void **state) {
    (void)state;
    skip_if_emulated(); /* /proc/self/exe cannot be run there */
    char output[1024];
    struct tree t;
    tree_make(&t);
    run_again((const char *const[]){ NULL }, output, sizeof output);
    assert_string_equal(output, "on 0 log 10 spans 200000 []\n");
    run_again((const char *const[]){ "PITOT_ENABLE_METRICS", "1", NULL }, output, sizeof output);
    assert_string_equal(output, "on 1 log 10 spans 200000 []\n");
    run_again((const char *const[]){ "PITOT_REGION", t.root, NULL }, output, sizeof output);
    assert_string_equal(output, "on 1 log 10 spans 200000 []\n");
    run_again(
        (const char *const[]){ "PITOT_REGION", t.root, "PITOT_METRICS_LOG_INTERVAL", "5", NULL },
        output, sizeof output);
    assert_string_equal(output, "on 1 log 5 spans 200000 []\n");
    run_again((const char *const[]){ "PITOT_REGION", t.root, "PITOT_ENABLE_METRICS", "no", NULL },
              output, sizeof output);
    assert_string_equal(output, "on 0 log 10 spans 200000 []\n");
    run_again((const char *const[]){ "PITOT_HISTORY_SPANS", "few", NULL }, output, sizeof output);
    assert_string_equal(output, "on 0 log 10 spans 200000 [configuration: environment: "
                                "history_spans: \"few\" is not a whole number from 0 to "
                                "100000000]\n");
    tree_put(&t, "file", "enable_metrics = on\nhistory_spans = 300\n");
    run_again((const char *const[]){ "PITOT_CONFIG", tree_path(&t, "file"), NULL }, output,
              sizeof output);
    assert_string_equal(output, "on 1 log 10 spans 300 []\n");
    tree_remove(&t);
}

static void *configure_often(void *arg) {
    pt_config config;
    pt_config_init(&config);
    config.enable_metrics = true;
    for (int i = 0; i < 200; i++) {
        config.metrics_log_interval = (int)(intptr_t)arg * 1000 + i + 1;
        expect(pt_configure(&config) == 0);
        put_span();
        pt_config_get(&config);
    }
    return NULL;
}

static void configure_by_threads(void) {
    pthread_t threads[2];
    for (intptr_t i = 0; i < 2; i++)
        expect(pthread_create(&threads[i], NULL, configure_often, (void *)i) == 0);
    for (int i = 0; i < 20; i++) {
        pid_t pid = fork();
        if (pid == 0) { /* whatever the threads were doing, the child can */
            pt_config config;
            pt_config_get(&config);
            _exit(pt_configure(&config));
        }
        int status;
        expect(waitpid(pid, &status, 0) == pid && status == 0);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void test_threads(void **state) {
    (void)state;
    run_child(configure_by_threads);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "print"))
        return print_settings();
    const struct CMUnitTest tests[] = {
        PT_TEST(test_defaults,
                "C166 C167 C168 C169 C170 C171 C172 C173 C174 C175 C176 C177 C178 C179 C180 C181 "
                "C182 C183 C184: the defaults are those of the list"),
        PT_TEST(test_every_switch_by_name, "C185: each switch has a name and is one of its own"),
        PT_TEST(test_numbers_and_text_by_name, "C185: numbers and texts have names too"),
        PT_TEST(test_wrong_values, "C185: a wrong value is refused and the message says why"),
        PT_TEST(test_file, "C185: a file sets what it names"),
        PT_TEST(test_wrong_files, "C185: a wrong line is named, and nothing of the file is set"),
        PT_TEST(test_files_that_cannot_be_read,
                "a file that cannot be read is an error with a name"),
        PT_TEST(test_environment_beats_file, "C185: variables beat the file of PITOT_CONFIG"),
        PT_TEST(test_older_program, "a program with a shorter struct keeps what is behind it"),
        PT_TEST(test_newer_program, "a program with a longer struct finds zeros there"),
        PT_TEST(test_configuring_wrongly, "C230: a value out of range changes nothing"),
        PT_TEST(test_switching, "C166 C193 C227: off by default, and every switch works at once"),
        PT_TEST(test_history_capacity, "C190: as many spans are kept as the setting says"),
        PT_TEST(test_views,
                "C187 C188 C194 C196 C197: timings and rates are there if they are collected"),
        PT_TEST(test_interval_of_operations,
                "operations sample memory at the interval of the settings"),
        PT_TEST(test_debug_mode, "C226: debug mode asks the GPU and profiles components"),
        PT_TEST(test_environment_at_load,
                "C224 C225: variables and file count when the program begins"),
        PT_TEST(test_threads, "threads configure at once, and children of fork can"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
