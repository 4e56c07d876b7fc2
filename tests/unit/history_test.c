/* The spans that a process keeps of itself, with and without a recorder around it. */
#include "own_process.h"

#include "base/clock.h"
#include "libpitot/span_history.h"
#include "libpitot/recent.h"
#include "inside/probe/probe.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>

static char directory[] = "/tmp/pitot-history-XXXXXX";
static struct pt_history_span spans[100000];

static void put_spans(int first, int count) {
    for (int i = first; i < first + count; i++) {
        PT_SPAN(span, "work");
        pt_span_set_argument(&span, i);
        pt_span_set_request(&span, 7);
    }
}

static size_t count_files(void) {
    size_t count = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

static void check_order(size_t count, int64_t first) {
    for (size_t i = 0; i < count; i++) {
        expect(spans[i].argument == first + (int64_t)i && spans[i].request == 7);
        expect(spans[i].start_ns <= spans[i].end_ns);
        expect(i == 0 || spans[i - 1].start_ns <= spans[i].start_ns);
    }
}

static void keep_spans_of_standalone(void) {
    char name[61];
    struct pt_region region;
    uint64_t next = 0;
    unsetenv(PITOT_REGION_VARIABLE);
    expect(!pt_history_region(&region));
    int64_t before_ns = pt_mono_ns();
    expect(pt_start(NULL) == 0);
    for (int i = 0; i < 10; i++) { /* more than a ring holds */
        put_spans(i * 5000, 5000);
        expect(pt_history_end() == (uint64_t)(i + 1) * 5000);
    }
    expect(pt_history_read(0, spans, 100000, &next) == 50000 && next == 50000);
    check_order(50000, 0);
    expect(spans[0].start_ns >= before_ns - 10000 && spans[49999].end_ns <= pt_mono_ns() + 10000);
    expect(llabs(pt_history_wall_ns(before_ns) - (pt_wall_ns() - pt_mono_ns() + before_ns)) <
           PT_NS_PER_MS);
    expect(pt_history_region(&region));
    pt_region_copy_name(&region, spans[0].name, name);
    expect(strcmp(name, "work") == 0);
    expect(pt_dropped() == 0 && pt_history_lost() == 0);
    expect(pt_history_read(next, spans, 10, &next) == 0);
    put_spans(50000, 3);
    expect(pt_history_read(next, spans, 2, &next) == 2 && next == 50002);
    check_order(2, 50000);
}

static void test_standalone(void **state) {
    (void)state;
    run_child(keep_spans_of_standalone);
}

static void keep_newest(void) {
    uint64_t next;
    unsetenv(PITOT_REGION_VARIABLE);
    expect(pt_history_start(1000) == 0);
    expect(pt_start(NULL) == 0);
    put_spans(0, 4000);
    expect(pt_history_read(0, spans, 100000, &next) == 1000 && next == 4000);
    check_order(1000, 3000);
    expect(pt_history_start(10) == 0);
    expect(pt_history_read(0, spans, 100000, &next) == 10);
    check_order(10, 3990);
    expect(pt_history_start(2000) == 0);
    put_spans(4000, 100);
    expect(pt_history_read(0, spans, 100000, &next) == 110);
    check_order(110, 3990);
    expect(pt_history_start(0) < 0);
    pt_history_stop();
    expect(pt_history_read(0, spans, 100000, &next) == 0 && next == 4100);
    expect(pt_history_start(100) == 0);
    put_spans(4100, 10);
    expect(pt_history_read(0, spans, 100000, &next) == 10);
    check_order(10, 4100);
}

static void test_bounded(void **state) {
    (void)state;
    run_child(keep_newest);
}

static void test_intervals(void **state) {
    const int64_t ms = PT_NS_PER_MS;
    (void)state;
    assert_int_equal(pt_history_next_interval(20 * ms, 0), 40 * ms);
    assert_int_equal(pt_history_next_interval(160 * ms, 0), 200 * ms);
    assert_int_equal(pt_history_next_interval(200 * ms, 0), 200 * ms);
    assert_int_equal(pt_history_next_interval(200 * ms, 1), 20 * ms);
    assert_int_equal(pt_history_next_interval(200 * ms, 8192), 20 * ms);
    assert_int_equal(pt_history_next_interval(20 * ms, 1000), 20 * ms);
    assert_int_equal(pt_history_next_interval(20 * ms, 5000), 5 * ms);
    assert_int_equal(pt_history_next_interval(5 * ms, 8192), 2 * ms);
    assert_int_equal(pt_history_next_interval(2 * ms, 100), 4 * ms);
}

/* The test is the recorder. */
static void keep_under_recorder(void) {
    static struct pt_region_span_record taken[10000];
    struct pt_region region;
    uint64_t next;
    setenv(PITOT_REGION_VARIABLE, directory, 1);
    expect(pt_start(NULL) == 0);
    expect(count_files() == 1);
    expect(pt_probe_has_recorder() && pt_history_region(&region));
    size_t recorded = 0;
    for (int i = 0; i < 10; i++) {
        put_spans(i * 5000, 5000);
        expect(pt_history_end() == (uint64_t)(i + 1) * 5000);
        recorded += pt_region_take_spans(&region, taken, 10000);
    }
    expect(recorded == 50000);
    expect(pt_history_read(0, spans, 100000, &next) == 50000);
    check_order(50000, 0);
    expect(pt_history_lost() == 0 && pt_dropped() == 0);
}

static void remove_files(void) {
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static void test_under_recorder(void **state) {
    (void)state;
    run_child(keep_under_recorder);
    remove_files();
}

static void fork_with_history(void) {
    uint64_t next;
    int status = 1;
    unsetenv(PITOT_REGION_VARIABLE);
    expect(pt_start(NULL) == 0);
    put_spans(0, 100);
    expect(pt_history_end() == 100);
    if (fork() == 0) {
        put_spans(200, 10);
        expect(pt_history_read(0, spans, 1000, &next) == 10);
        check_order(10, 200);
        expect(spans[0].thread == (uint32_t)getpid());
        _exit(0);
    }
    wait(&status);
    expect(status == 0);
    expect(pt_history_read(0, spans, 1000, &next) == 100);
}

static void test_fork(void **state) {
    (void)state;
    run_child(fork_with_history);
}

#define THREADS 4
#define EACH    20000

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < EACH; i += 4000) {
        put_spans(i, 4000);
        pt_history_end(); /* takes in */
    }
    return NULL;
}

static void keep_spans_of_threads(void) {
    pthread_t threads[THREADS];
    int64_t seen[THREADS] = { 0 };
    uint64_t next;
    unsetenv(PITOT_REGION_VARIABLE);
    expect(pt_start(NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        expect(pthread_create(&threads[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    size_t count = pt_history_read(0, spans, 100000, &next);
    expect(count == THREADS * EACH && pt_dropped() == 0);
    for (size_t i = 0; i < count; i++) {
        int of = 0;
        while (of < THREADS && seen[of] >> 32 && seen[of] >> 32 != spans[i].thread)
            of++;
        expect(of < THREADS);
        expect(seen[of] == 0 || (seen[of] & 0xffffffff) == spans[i].argument - 1);
        seen[of] = (int64_t)spans[i].thread << 32 | spans[i].argument;
    }
}

static void test_threads(void **state) {
    (void)state;
    run_child(keep_spans_of_threads);
}

static uint64_t ticks_per_second(void) {
    uint64_t ticks = pt_ticks_();
    int64_t ns = pt_mono_ns();
    while (pt_mono_ns() - ns < 20 * PT_NS_PER_MS)
        continue;
    uint64_t passed = pt_ticks_() - ticks;
    return (uint64_t)((double)passed * 1e9 / (double)(pt_mono_ns() - ns));
}

/* Ends now and lasted that long. */
static void put_lasting(const char *name, double seconds, uint64_t per_second, int64_t tokens) {
    pt_name once = 0;
    pt_span span = pt_span_begin(pt_name_once(&once, name));
    span.start_ticks -= (uint64_t)(seconds * (double)per_second);
    if (tokens > 0)
        pt_span_set_work(&span, PT_TOKENS, tokens);
    pt_span_end(&span);
}

static bool is_near(double a, double b) {
    return fabs(a / b - 1) < 0.02; /* of the ticks above */
}

static void look_at_recent(void) {
    static pt_timing timings[2000];
    static pt_throughput throughputs[10];
    unsetenv(PITOT_REGION_VARIABLE);
    expect(pt_recent_timings(timings, 2000) == 0);
    expect(pt_start(NULL) == 0);
    uint64_t per_second = ticks_per_second();
    put_lasting("short", 0.0005, per_second, 0);
    put_lasting("long", 0.002, per_second, 0);
    put_lasting("longer", 0.5, per_second, 100);
    double now = (double)pt_wall_ns() / 1e9;
    expect(pt_recent_timings(timings, 2000) == 2);
    expect(!strcmp(timings[0].name, "long") && is_near(timings[0].seconds, 0.002));
    expect(!strcmp(timings[1].name, "longer") && is_near(timings[1].seconds, 0.5));
    expect(timings[1].wall_time <= now + 0.01 && timings[1].wall_time > now - 60);
    expect(pt_recent_timings(timings, 1) == 1 && !strcmp(timings[0].name, "longer"));
    expect(pt_recent_throughputs(throughputs, 10) == 1);
    expect(is_near(throughputs[0].per_second, 200) && throughputs[0].work == PT_TOKENS);
    pt_recent_set_min_duration(0);
    expect(pt_recent_timings(timings, 2000) == 3 && !strcmp(timings[0].name, "short"));
    for (int i = 0; i < 3000; i++)
        put_lasting(i == 2000 ? "thousandth" : "other", 1, per_second, 0);
    expect(pt_recent_timings(timings, 2000) == 1000);
    expect(!strcmp(timings[0].name, "thousandth") && !strcmp(timings[1].name, "other"));
}

static void test_recent(void **state) {
    (void)state;
    run_child(look_at_recent);
}

static int make_directory(void **state) {
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state) {
    (void)state;
    return rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_standalone, "without a directory spans are kept in memory, in order"),
        PT_TEST(test_intervals, "rings that stay empty are looked at less often"),
        PT_TEST(test_bounded, "C190: only the newest spans are kept"),
        PT_TEST(test_under_recorder, "a recorder around the program gets every span as well"),
        PT_TEST(test_fork, "a child keeps its own spans, not its parent's"),
        PT_TEST(test_recent, "C194 C195: recent timings are those of 1 ms or more, 1000 at most"),
        PT_TEST(test_threads, "spans of several threads are kept, each in its order"),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
