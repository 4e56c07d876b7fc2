/* What libpitot exports of the process it is in. */
#include "own_process.h"

#include "libpitot/memory_track.h"
#include "libpitot/trace_export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <pitot/config.h>
#include <pitot/export.h>
#include <pthread.h>
#include <sys/stat.h>
#include <zlib.h>

static char directory[] = "/tmp/pitot-export-XXXXXX";

static void expect_render(enum pt_exposition_format format, const char *expected) {
    size_t length;
    char *text = pt_render(format, &length);
    if (!text || strcmp(text, expected) != 0 || length != strlen(expected)) {
        fprintf(stderr, "got:\n%s\nexpected:\n%s\n", text ? text : "nothing", expected);
        _exit(1);
    }
    free(text);
}

static void render_nothing(void) {
    expect_render(PT_PROMETHEUS, "");
    expect_render(PT_OPENMETRICS, "# EOF\n");
    expect_render(PT_PROTOBUF, "");
    expect_render(PT_JSON, "{\"metrics\":[]}\n");
    expect(pt_write_trace(NULL) == -EINVAL);
    errno = 7;
    expect(pt_write_trace("/nowhere/at/all.json") == -ENOENT);
    expect(errno == 7);
}

static void *add_some(void *counter) {
    pt_counter_add(*(pt_counter *)counter, 5);
    return NULL;
}

/* The series of a family are registered apart; the names are those of document 2. */
static void render_metrics(void) {
    expect(!pt_start(NULL));
    pt_counter a = pt_counter_new("requests_total", "", "Total requests", "model=\"a\"");
    pt_gauge active = pt_gauge_new("active_requests", "", "Active requests", NULL);
    pt_histogram seconds =
        pt_histogram_new("request_duration_seconds", "s", "Request duration", NULL);
    pt_counter b = pt_counter_new("requests_total", "", "ignored", "model=\"b\\\"\\\\\"");
    pt_gauge rate = pt_gauge_new("tokens_per_second", "", "Tokens per second", NULL);
    pt_gauge memory = pt_gauge_new("memory_usage_bytes", "By", "Memory usage", NULL);
    pt_counter plain = pt_counter_new("tokens", "", "", NULL);
    pt_counter_add(a, 3);
    pthread_t thread;
    expect(!pthread_create(&thread, NULL, add_some, &a) && !pthread_join(thread, NULL));
    pt_counter_add(b, UINT64_MAX);
    pt_counter_add(plain, 1);
    pt_gauge_add(active, 2);
    pt_gauge_set(rate, 1.5);
    pt_gauge_set(memory, 1 << 30);
    pt_histogram_record(seconds, 0.25);
    pt_histogram_record(seconds, 3);
    expect(!pt_histogram_set_buckets(seconds, (double[]){ .1, .25, 1 }, 3));
    expect(pt_histogram_set_buckets(seconds, (double[]){ 2, 1 }, 2) == -EINVAL);
    expect_render(PT_PROMETHEUS, "# HELP requests_total Total requests\n"
                                 "# TYPE requests_total counter\n"
                                 "requests_total{model=\"a\"} 8\n"
                                 "requests_total{model=\"b\\\"\\\\\"} 18446744073709551615\n"
                                 "# HELP active_requests Active requests\n"
                                 "# TYPE active_requests gauge\n"
                                 "active_requests 2\n"
                                 "# HELP request_duration_seconds Request duration\n"
                                 "# TYPE request_duration_seconds histogram\n"
                                 "request_duration_seconds_bucket{le=\"0.1\"} 0\n"
                                 "request_duration_seconds_bucket{le=\"0.25\"} 1\n"
                                 "request_duration_seconds_bucket{le=\"1.0\"} 1\n"
                                 "request_duration_seconds_bucket{le=\"+Inf\"} 2\n"
                                 "request_duration_seconds_sum 3.25\n"
                                 "request_duration_seconds_count 2\n"
                                 "# HELP tokens_per_second Tokens per second\n"
                                 "# TYPE tokens_per_second gauge\n"
                                 "tokens_per_second 1.5\n"
                                 "# HELP memory_usage_bytes Memory usage\n"
                                 "# TYPE memory_usage_bytes gauge\n"
                                 "memory_usage_bytes 1073741824\n"
                                 "# TYPE tokens_total counter\n"
                                 "tokens_total 1\n");
    size_t length;
    char *text = pt_render(PT_OPENMETRICS, &length);
    expect(text && strstr(text, "# TYPE requests counter\nrequests_total{model=\"a\"} 8\n"));
    expect(strstr(text, "# UNIT memory_usage_bytes bytes\n"));
    expect(strcmp(text + length - 6, "# EOF\n") == 0);
    free(text);
    text = pt_render(PT_PROTOBUF, &length);
    expect(text && memcmp(text + 1, "\x0a\x0erequests_total", 16) == 0);
    free(text);
}

/* A name that clashes with `le`, and bytes that are not UTF-8. */
static void render_odd_labels(void) {
    expect(!pt_start(NULL));
    pt_histogram h = pt_histogram_new("h", "", "", "le=\"x\",a=\"b\"");
    pt_gauge g = pt_gauge_new("g", "", "", "a=\"\xff\"");
    pt_histogram_set_buckets(h, NULL, 0);
    pt_gauge_set(g, 1);
    expect_render(PT_PROMETHEUS, "# TYPE h histogram\n"
                                 "h_bucket{a=\"b\",le=\"+Inf\"} 0\n"
                                 "h_sum{a=\"b\"} 0\n"
                                 "h_count{a=\"b\"} 0\n"
                                 "# TYPE g gauge\n"
                                 "g{a=\"?\"} 1\n");
}

/* As many as the region holds, and one that it does not. */
static void render_many(void) {
    expect(!pt_start(NULL));
    size_t made = 0;
    for (int i = 0; i < 600; i++) {
        char labels[32];
        snprintf(labels, sizeof labels, "n=\"%d\"", i);
        pt_gauge g = pt_gauge_new(i % 2 ? "odd" : "even", "", "", labels);
        made += g.slot != 0;
        pt_gauge_set(g, i);
    }
    size_t length, lines = 0;
    char *text = pt_render(PT_PROMETHEUS, &length);
    expect(text != NULL);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    expect(made == 511 && lines == made + 2 + 3);
    expect(strstr(text, "\n# HELP pitot_dropped_total "));
    expect(strstr(text, "\npitot_dropped_total 89\n"));
    char *odd = strstr(text, "# TYPE odd gauge\n");
    expect(odd && !strstr(odd, "even{") && strstr(odd, "\nodd{n=\"509\"} 509\n"));
    free(text);
}

static volatile int has_ended;

static void *count_on(void *arg) {
    pt_counter counter = pt_counter_new("busy_total", "", "", NULL);
    pt_histogram histogram = pt_histogram_new("busy", "", "", NULL);
    (void)arg;
    while (!__atomic_load_n(&has_ended, __ATOMIC_RELAXED)) {
        pt_counter_add(counter, 1);
        pt_histogram_record(histogram, 0.1);
    }
    return NULL;
}

static uint64_t number_after(const char *text, const char *name) {
    const char *at = strstr(text, name);
    expect(at != NULL);
    return strtoull(at + strlen(name), NULL, 10);
}

static void render_while_counting(void) {
    pthread_t threads[2];
    expect(!pt_start(NULL));
    for (int i = 0; i < 2; i++)
        expect(!pthread_create(&threads[i], NULL, count_on, NULL));
    pt_histogram histogram = pt_histogram_new("busy", "", "", NULL);
    uint64_t before = 0;
    for (int i = 0; i < 200; i++) {
        char *text = pt_render(i % 2 ? PT_OPENMETRICS : PT_PROMETHEUS, NULL);
        expect(text != NULL);
        if (strstr(text, "busy_count")) {
            uint64_t count = number_after(text, "\nbusy_count ");
            expect(count == number_after(text, "le=\"+Inf\"} ") && count >= before);
            before = count;
        }
        free(text);
        expect(!pt_histogram_set_buckets(histogram, (double[]){ 1, 2 + i }, 2));
    }
    __atomic_store_n(&has_ended, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* Metrics are grouped once: those that come later are seen, and values that were there stay. */
static void render_more_and_more(void) {
    expect(!pt_start(NULL));
    pt_histogram h = pt_histogram_new("h", "", "", NULL);
    expect(!pt_histogram_set_buckets(h, (double[]){ 1, 100 }, 2));
    pt_histogram_record(h, 0.5);
    expect_render(PT_PROMETHEUS, "# TYPE h histogram\nh_bucket{le=\"1.0\"} 1\n"
                                 "h_bucket{le=\"100.0\"} 1\nh_bucket{le=\"+Inf\"} 1\n"
                                 "h_sum 0.5\nh_count 1\n");
    pt_histogram_record(h, 64);
    pt_histogram_record(h, 0);
    expect_render(PT_PROMETHEUS, "# TYPE h histogram\nh_bucket{le=\"1.0\"} 2\n"
                                 "h_bucket{le=\"100.0\"} 3\nh_bucket{le=\"+Inf\"} 3\n"
                                 "h_sum 64.5\nh_count 3\n");
    pt_gauge_set(pt_gauge_new("g", "", "", NULL), 2);
    pt_histogram_record(h, 1e9);
    expect_render(PT_PROMETHEUS, "# TYPE h histogram\nh_bucket{le=\"1.0\"} 2\n"
                                 "h_bucket{le=\"100.0\"} 3\nh_bucket{le=\"+Inf\"} 4\n"
                                 "h_sum 1000000064.5\nh_count 4\n# TYPE g gauge\ng 2\n");
}

/* The child has values of its own, and none of its parent's. */
static void check_child(void) {
    pt_histogram h = pt_histogram_new("h", "", "", NULL);
    pt_histogram_record(h, 2);
    expect_render(PT_PROMETHEUS, "# TYPE h histogram\nh_bucket{le=\"1.0\"} 0\n"
                                 "h_bucket{le=\"100.0\"} 1\nh_bucket{le=\"+Inf\"} 1\n"
                                 "h_sum 2\nh_count 1\n# TYPE g gauge\ng 0\n");
}

static void render_in_child(void) {
    render_more_and_more();
    pid_t pid = fork();
    if (pid == 0) {
        check_child();
        _exit(0);
    }
    int status;
    expect(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_nothing(void **state) {
    (void)state;
    run_child(render_nothing);
}
static void test_metrics(void **state) {
    (void)state;
    run_child(render_metrics);
}
static void test_odd_labels(void **state) {
    (void)state;
    run_child(render_odd_labels);
}
static void test_many(void **state) {
    (void)state;
    run_child(render_many);
}
static void test_counting(void **state) {
    (void)state;
    run_child(render_while_counting);
}
static void test_more_and_more(void **state) {
    (void)state;
    run_child(render_more_and_more);
}

static void test_child(void **state) {
    (void)state;
    run_child(render_in_child);
}

/* Two threads, one request that goes from the first to the second. */
static void *decode(void *arg) {
    (void)arg;
    pthread_setname_np(pthread_self(), "decoder");
    PT_SPAN(span, "decode");
    pt_span_set_request(&span, 42);
    pt_span_set_work(&span, PT_TOKENS, 128);
    return NULL;
}

static const char *in_directory(const char *name) {
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_traces(void) {
    expect(!pt_start(NULL));
    {
        PT_SPAN(outer, "outer");
        pt_span_set_argument(&outer, -7);
        PT_SPAN(prefill, "pre\"fill");
        pt_span_set_request(&prefill, 42);
        static pt_name once;
        pt_span_set_text(&prefill, pt_name_once(&once, "cold"));
    }
    pthread_t thread;
    expect(!pthread_create(&thread, NULL, decode, NULL) && !pthread_join(thread, NULL));
    pt_gauge_set(pt_gauge_new("queue", "", "", NULL), 3);
    expect(pt_write_trace(in_directory("t.json")) == 0);
    expect(pt_write_trace(in_directory("t.json.gz")) == 0);
    expect(pt_write_trace("/dev/full") == -ENOSPC);
    expect(pt_trace_write_since(in_directory("none.json"), 3) == 0);
}

static json_t *find_event(json_t *events, const char *phase, const char *name) {
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
            strcmp(json_string_value(json_object_get(event, "name")), name) == 0)
            return event;
    }
    fail_msg("no event %s %s", phase, name);
    return NULL;
}

static int count_events(json_t *events, const char *phase, const char *name) {
    int count = 0;
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        count += strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
                 strcmp(json_string_value(json_object_get(event, "name")), name) == 0;
    }
    return count;
}

static double number(json_t *event, const char *key) {
    json_t *value = json_object_get(event, key);
    assert_non_null(value);
    return json_number_value(value);
}

static bool has_thread_named(json_t *events, double thread, const char *name) {
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        const char *text =
            json_string_value(json_object_get(json_object_get(event, "args"), "name"));
        if (strcmp(json_string_value(json_object_get(event, "name")), "thread_name") == 0 &&
            number(event, "tid") == thread)
            return strcmp(text, name) == 0;
    }
    return false;
}

static void check_trace(json_t *root) {
    assert_non_null(root);
    json_t *events = json_object_get(root, "traceEvents");
    json_t *outer = find_event(events, "X", "outer"), *inner = find_event(events, "X", "pre\"fill");
    json_t *decoding = find_event(events, "X", "decode");
    assert_true(number(outer, "ts") <= number(inner, "ts"));
    assert_true(number(inner, "ts") + number(inner, "dur") <=
                number(outer, "ts") + number(outer, "dur") + 0.001);
    assert_int_equal((int)number(json_object_get(outer, "args"), "argument"), -7);
    json_t *args = json_object_get(inner, "args");
    assert_string_equal(json_string_value(json_object_get(args, "text")), "cold");
    assert_int_equal(number(args, "request"), 42);
    assert_int_equal(number(json_object_get(decoding, "args"), "tokens"), 128);
    json_t *from = find_event(events, "s", "request"), *to = find_event(events, "f", "request");
    assert_true(number(from, "ts") == number(inner, "ts"));
    assert_true(number(from, "tid") == number(inner, "tid"));
    assert_true(number(to, "ts") == number(decoding, "ts"));
    assert_true(number(to, "tid") == number(decoding, "tid"));
    assert_string_equal(json_string_value(json_object_get(from, "id")),
                        json_string_value(json_object_get(to, "id")));
    find_event(events, "M", "process_name");
    assert_true(has_thread_named(events, number(decoding, "tid"), "decoder")); /* which has ended */
    assert_int_equal(number(json_object_get(find_event(events, "C", "queue"), "args"), "value"), 3);
    assert_int_equal(count_events(events, "C", "resident memory (MB)"), 0);
    json_decref(root);
}

static void test_trace(void **state) {
    (void)state;
    run_child(write_traces);
    check_trace(json_load_file(in_directory("t.json"), 0, NULL));
    static char text[65536];
    gzFile file = gzopen(in_directory("t.json.gz"), "rb");
    int length = gzread(file, text, sizeof text);
    assert_true(length > 0 && length < (int)sizeof text);
    assert_true(gzeof(file));
    gzclose(file);
    check_trace(json_loadb(text, (size_t)length, 0, NULL));
    json_t *none = json_load_file(in_directory("none.json"), 0, NULL);
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(none, "traceEvents"), i, event)
        assert_string_not_equal(json_string_value(json_object_get(event, "ph")), "X");
    json_decref(none);
    assert_int_equal(access(in_directory("t.json.tmp"), F_OK), -1);
}

static void write_board(void) {
    expect(!pt_start(NULL));
    pt_histogram histogram = pt_histogram_new("seconds", "s", "", NULL);
    pt_counter_add(pt_counter_new("n_total", "", "", "a=\"b\""), 7);
    pt_histogram_record(histogram, 2);
    pt_tensorboard *board = pt_tensorboard_open(in_directory("logs/run"));
    expect(board != NULL);
    expect(pt_tensorboard_scalar(board, "loss", 1, 0.5) == 0);
    expect(pt_tensorboard_histogram(board, "latency", 1, histogram) == 0);
    expect(pt_tensorboard_histogram(board, "none", 1, (pt_histogram){ 0 }) == -ENODATA);
    expect(pt_tensorboard_metrics(board, 2) == 0);
    expect(pt_tensorboard_flush(board) == 0);
    expect(pt_tensorboard_close(board) == 0);
    expect(pt_tensorboard_open("/proc/nowhere") == NULL && errno == ENOENT);
    expect(pt_tensorboard_open("") == NULL && errno == EINVAL);
    expect(pt_tensorboard_scalar(NULL, "loss", 1, 0.5) == -EINVAL);
    expect(pt_tensorboard_metrics(NULL, 1) == -EINVAL);
    expect(pt_tensorboard_close(NULL) == 0);
}

static void set_config(bool has_memory, bool has_components) {
    pt_config config;
    pt_config_get(&config);
    config.enable_metrics = true;
    config.profiler_profile_memory = has_memory;
    config.collect_component_profiling = has_components;
    config.memory_interval = 3600;
    expect(!pt_configure(&config));
}

static void write_memory(void) {
    set_config(true, false);
    {
        PT_SPAN(span, "work");
        pt_memory_track_sample(NULL);
        pt_memory_track_sample(NULL);
    }
    expect(pt_write_trace(in_directory("memory.json")) == 0); /* with a third */
    set_config(false, false);
    expect(pt_write_trace(in_directory("no_memory.json")) == 0);
}

static void test_memory(void **state) {
    (void)state;
    run_child(write_memory);
    json_t *root = json_load_file(in_directory("memory.json"), 0, NULL);
    json_t *events = json_object_get(root, "traceEvents");
    assert_int_equal(count_events(events, "C", "resident memory (MB)"), 3);
    json_t *first = find_event(events, "C", "resident memory (MB)");
    assert_true(number(json_object_get(first, "args"), "value") > 0.1);
    assert_true(number(first, "ts") >= number(find_event(events, "X", "work"), "ts"));
    json_decref(root);
    root = json_load_file(in_directory("no_memory.json"), 0, NULL);
    events = json_object_get(root, "traceEvents");
    assert_int_equal(count_events(events, "C", "resident memory (MB)"), 0);
    json_decref(root);
}

static void count_components(void) {
    char *text;
    set_config(false, false);
    { PT_SPAN(span, "before"); }
    set_config(false, true);
    for (int i = 0; i < 3; i++) {
        PT_SPAN(span, "pre\"fill");
    }
    { PT_SPAN(span, "decode"); }
    text = pt_render(PT_PROMETHEUS, NULL);
    expect(text && !strstr(text, "before"));
    expect(strstr(text, "# TYPE pitot_component_seconds histogram\n"));
    expect(strstr(text, "pitot_component_seconds_count{component=\"pre\\\"fill\"} 3\n"));
    expect(strstr(text, "pitot_component_seconds_count{component=\"decode\"} 1\n"));
    expect(strstr(text, "pitot_component_seconds_bucket{component=\"decode\",le=\"+Inf\"} 1\n"));
    free(text);
    set_config(false, false);
    { PT_SPAN(span, "decode"); }
    text = pt_render(PT_PROMETHEUS, NULL);
    expect(text && strstr(text, "pitot_component_seconds_count{component=\"decode\"} 1\n"));
    free(text);
}

static void test_components(void **state) {
    (void)state;
    run_child(count_components);
}

static void test_board(void **state) {
    (void)state;
    run_child(write_board);
    DIR *logs = opendir(in_directory("logs/run"));
    assert_non_null(logs);
    char bytes[8192] = "";
    ssize_t size = 0;
    for (struct dirent *e; (e = readdir(logs));) {
        if (e->d_name[0] == '.')
            continue;
        assert_memory_equal(e->d_name, "events.out.tfevents.", 20);
        assert_string_equal(strrchr(e->d_name, '.'), ".pitot");
        int fd = openat(dirfd(logs), e->d_name, O_RDONLY);
        size = read(fd, bytes, sizeof bytes);
        close(fd);
    }
    closedir(logs);
    assert_true(size > 0 && size < (ssize_t)sizeof bytes);
    int records = 0;
    for (ssize_t at = 0; at < size; records++) {
        uint64_t length;
        memcpy(&length, bytes + at, sizeof length);
        at += (ssize_t)length + 16;
        assert_true(at <= size);
    }
    assert_int_equal(records, 5);
    assert_non_null(memmem(bytes, (size_t)size, "n_total{a=\"b\"}", 14));
}

static int make_place(void **state) {
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_place(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "%s", directory);
    pid_t pid = fork();
    if (pid == 0)
        execlp("rm", "rm", "-rf", command, (char *)NULL);
    return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_nothing, "C257: nothing recorded is a valid, empty exposition"),
        PT_TEST(test_metrics, "C248 C249 C250 C251 C252: metrics of the process, by families"),
        PT_TEST(test_odd_labels, "C253: labels that would spoil the text are made good"),
        PT_TEST(test_many, "C257: as many metrics as fit, and how many were dropped"),
        PT_TEST(test_counting, "C257: counts agree within a rendering while others count"),
        PT_TEST(test_more_and_more, "C257: metrics and values that come later are rendered"),
        PT_TEST(test_child, "C257: a child of fork renders too"),
        PT_TEST(test_trace, "C216 C217: spans, arguments, flows, names; plain and compressed"),
        PT_TEST(test_memory, "C176 C213: memory over time is in a trace if it is asked for"),
        PT_TEST(test_components, "C174: each name of spans has a histogram, if it is asked for"),
        PT_TEST(test_board, "C237: an event file with scalars and histograms"),
    };
    return cmocka_run_group_tests(tests, make_place, remove_place);
}
