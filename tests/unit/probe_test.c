/* libpitot from the inside, read back by the recorder's reader. */
#include "own_process.h"

#include "base/thread.h"
#include "inside/probe/probe.h"
#include "inside/region/sigbus_guard.h"
#include "inside/region/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pitot/pitot.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>

#define SPANS_MAX 16384

static char directory[] = "/tmp/pitot-probe-XXXXXX";
static struct pt_region_span_record spans[SPANS_MAX];

static int next_region(DIR *d, struct pt_region *r) {
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            assert_int_equal(pt_region_open(r, dirfd(d), e->d_name), 0);
            unlinkat(dirfd(d), e->d_name, 0);
            return 1;
        }
    return 0;
}

static void open_only_region(struct pt_region *r) {
    struct pt_region other;
    DIR *d = opendir(directory);
    assert_int_equal(next_region(d, r), 1);
    assert_int_equal(next_region(d, &other), 0);
    closedir(d);
}

static double value_of(const struct pt_region *r, const char *name) {
    static struct pt_region_value v;
    for (uint32_t i = 1; i < pt_region_metric_count(r); i++)
        if (pt_region_read_metric(r, i, &v) && !strcmp(v.name, name))
            return v.kind == PT_REGION_HISTOGRAM ? (double)v.count : v.value;
    fail_msg("there is no metric %s", name);
    return 0;
}

static void record_some(void) {
    expect(pt_start(directory) == 0);
    pt_counter tokens = pt_counter_new("tokens", "", "Tokens", "model=\"a\"");
    pt_gauge running = pt_gauge_new("running", "", "Running", NULL);
    pt_histogram latency = pt_histogram_new("latency", "s", "Latency", NULL);
    expect(pt_counter_new("tokens", "", "", "model=\"a\"").slot == tokens.slot);
    expect(pt_counter_new("tokens", "", "", "model=\"b\"").slot != tokens.slot);
    errno = 77;
    for (int i = 0; i < 100; i++) {
        PT_SPAN(outer, "outer");
        PT_SPAN(inner, "inner");
        pt_span_set_argument(&inner, i);
        pt_span_set_request(&inner, 1000);
        pt_counter_add(tokens, 2);
        pt_histogram_record(latency, i + 1);
    }
    pt_gauge_set(running, 4);
    pt_gauge_add(running, -1.5);
    expect(errno == 77);
    expect(pt_counter_value(tokens) == 200);
    expect(pt_gauge_value(running) == 2.5);
    expect(isnan(pt_gauge_value((pt_gauge){ 0 })));
    expect(fabs(pt_histogram_quantile(latency, 0.5) / 50 - 1) < 0.011);
    expect(fabs(pt_histogram_quantile(latency, 0.99) / 99 - 1) < 0.011);
    expect(pt_dropped() == 0);
}

static void test_recording(void **state) {
    (void)state;
    struct pt_region r;
    char name[61];
    run_child(record_some);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), 200);
    pt_region_copy_name(&r, spans[0].name, name);
    assert_string_equal(name, "inner");
    pt_region_copy_name(&r, spans[1].name, name);
    assert_string_equal(name, "outer");
    for (int i = 0; i < 100; i++) {
        const struct pt_region_span_record *inner = &spans[2 * i], *outer = inner + 1;
        assert_true(outer->start_ticks <= inner->start_ticks);
        assert_true(inner->start_ticks <= inner->end_ticks);
        assert_true(inner->end_ticks <= outer->end_ticks);
        assert_int_equal(inner->argument, i);
        assert_int_equal(inner->request, 1000);
        assert_int_equal(inner->flags, PT_REGION_HAS_ARGUMENT | PT_REGION_HAS_REQUEST);
        assert_int_equal(outer->flags, 0);
    }
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), 0);
    assert_true(value_of(&r, "tokens") == 200);
    assert_true(value_of(&r, "running") == 2.5);
    assert_true(value_of(&r, "latency") == 100);
    pt_region_close(&r);
}

static void record_nothing(void) {
    pt_counter tokens = pt_counter_new("tokens", "", "", NULL);
    pt_histogram latency = pt_histogram_new("latency", "s", "", NULL);
    PT_SPAN(span, "span");
    expect(span.name == 0 && tokens.slot != 0);
    pt_counter_add(tokens, 1);
    pt_histogram_record(latency, 1);
    expect(pt_counter_value(tokens) == 0);
    expect(isnan(pt_histogram_quantile(latency, 0.5)));
    errno = 77;
    expect(pt_start("/nonexistent/directory") == -ENOENT);
    expect(errno == 77);
    pt_counter_add(pt_counter_new("tokens", "", "", NULL), 1);
    expect(pt_counter_value(tokens) == 0);
}

static void test_off(void **state) {
    (void)state;
    run_child(record_nothing);
    DIR *d = opendir(directory);
    struct pt_region r;
    assert_int_equal(next_region(d, &r), 0);
    closedir(d);
}

static pt_counter early_counter;
static pt_gauge early_gauge;
static pt_histogram early_histogram;
static pt_name early_name, early_again;

static void make_early(void) {
    early_counter = pt_counter_new("work", "", "", NULL);
    early_gauge = pt_gauge_new("level", "", "", NULL);
    early_histogram = pt_histogram_new("time", "", "", NULL);
    early_name = pt_name_once(&early_again, "early");
    expect(early_counter.slot && early_gauge.slot && early_histogram.slot && early_name);
}

static void use_early(void) {
    pt_span span = pt_span_begin(early_name);
    pt_counter_add(early_counter, 1);
    pt_gauge_add(early_gauge, 1);
    pt_histogram_record(early_histogram, 1);
    pt_span_end(&span);
}

static void start_in_file_after_all(void) {
    unsetenv(PITOT_REGION_VARIABLE);
    make_early();
    use_early(); /* off */
    expect(pt_start(NULL) == 0);
    use_early(); /* in memory */
    pt_stop();
    use_early();
    expect(pt_start("/nonexistent/directory") == -ENOENT);
    use_early(); /* off still */
    expect(pt_start(NULL) == 0);
    use_early();
    expect(pt_start("/nonexistent/directory") == -ENOENT);
    use_early(); /* on still */
    expect(pt_start(directory) == 0);
    use_early(); /* in the file */
    expect(pt_start("/nonexistent/directory") == 0);
    use_early();
    expect(pt_counter_value(early_counter) == 5);
    expect(pt_dropped() == 0);
}

static void check_early(double count) {
    struct pt_region r;
    char name[61];
    open_only_region(&r);
    assert_true(value_of(&r, "work") == count);
    assert_true(value_of(&r, "level") == count);
    assert_true(value_of(&r, "time") == count);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), (size_t)count);
    for (int i = 0; i < (int)count; i++)
        assert_true(spans[i].start_ticks <= spans[i].end_ticks);
    pt_region_copy_name(&r, spans[0].name, name);
    assert_string_equal(name, "early");
    pt_region_close(&r);
}

static void test_move(void **state) {
    (void)state;
    run_child(start_in_file_after_all);
    check_early(5);
}

static void start_at_once(void) {
    make_early();
    expect(pt_start(directory) == 0);
    use_early();
}

static void test_early(void **state) {
    (void)state;
    run_child(start_at_once);
    check_early(1);
}

static void switch_parts(void) {
    unsetenv(PITOT_REGION_VARIABLE);
    make_early();
    pt_probe_set_parts(PT_METRICS_ON_);
    expect(pt_is_on_ == 0);
    expect(pt_start(directory) == 0);
    use_early();
    pt_probe_set_parts(PT_METRICS_ON_ | PT_SPANS_ON_);
    use_early();
    expect(isnan(pt_histogram_quantile(early_histogram, 0.5)));
    pt_probe_set_parts(PT_METRICS_ON_ | PT_HISTOGRAMS_ON_);
    use_early();
    expect(!isnan(pt_histogram_quantile(early_histogram, 0.5)));
    expect(pt_counter_value(early_counter) == 3);
    expect(pt_is_on_ == (PT_METRICS_ON_ | PT_HISTOGRAMS_ON_));
    pt_stop();
    pt_probe_set_parts(PT_PROBE_ALL);
    use_early();
    expect(pt_counter_value(early_counter) == 3);
}

static void test_parts(void **state) {
    (void)state;
    struct pt_region r;
    run_child(switch_parts);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), 1);
    assert_true(value_of(&r, "time") == 1);
    pt_region_close(&r);
}

static int error_of(const char *name, const char *labels) {
    bool has_handle = pt_gauge_new(name, "", "", labels).slot != 0;
    expect(has_handle == (pt_registration_error() == 0));
    return pt_registration_error();
}

static void register_wrongly(void) {
    static char long_text[300];
    memset(long_text, 'a', 99);
    expect(error_of("a:b_C9", "model=\"a\",_k1=\"b \\\" \\\\ \\n {}\"") == 0);
    expect(error_of("_", "") == 0 && error_of("_", NULL) == 0);
    expect(error_of(NULL, NULL) == -EINVAL && error_of("", NULL) == -EINVAL);
    expect(error_of("9a", NULL) == -EINVAL && error_of("a b", NULL) == -EINVAL);
    expect(error_of("a", "model") == -EINVAL && error_of("a", "model=a") == -EINVAL);
    expect(error_of("a", "a=\"b") == -EINVAL && error_of("a", "a=\"b\\") == -EINVAL);
    expect(error_of("a", "a=\"b\",") == -EINVAL && error_of("a", "a=\"b\" c=\"d\"") == -EINVAL);
    expect(error_of("a", "a=\"\\x\"") == -EINVAL && error_of("a", "a=\"\n\"") == -EINVAL);
    expect(error_of("a", "a=\"b\",c=\"d\",a=\"e\"") == -EINVAL);
    expect(error_of("a", "a:b=\"c\"") == -EINVAL && error_of("a", "1=\"c\"") == -EINVAL);
    expect(error_of(long_text, NULL) == -ENAMETOOLONG);
    snprintf(long_text, sizeof long_text, "a=\"%0260d\"", 1);
    expect(error_of("a", long_text) == -ENAMETOOLONG);
    expect(pt_counter_new("_", "", "", "model=\"a\"").slot == 0);
    expect(pt_registration_error() == -EEXIST);
    expect(error_of("fine", NULL) == 0);
    expect(pt_counter_new("fine_total", "", "", "a=\"b\"").slot == 0);
    expect(pt_registration_error() == -EEXIST);
    expect(pt_counter_new("done_total", "", "", NULL).slot != 0);
    expect(error_of("done", NULL) == -EEXIST && error_of("done_tota", NULL) == 0);
    expect(pt_counter_new("done", "", "", NULL).slot == 0); /* would be the same series */
    expect(pt_registration_error() == -EEXIST);
    expect(pt_counter_new("done", "", "", "a=\"b\"").slot != 0);
}

static void test_registration(void **state) {
    (void)state;
    run_child(register_wrongly);
}

static void write_beyond_reader(void) {
    static struct pt_region_cursor cursor;
    struct pt_region r;
    expect(pt_start(directory) == 0);
    DIR *d = opendir(directory);
    expect(next_region(d, &r));
    closedir(d);
    for (int i = 0; i < 3 * 8000; i++) {
        PT_SPAN(span, "work");
        pt_span_set_argument(&span, i);
        if (i % 8000 == 7999) {
            pt_span_end(&span);
            expect(pt_region_take_spans(&r, spans, SPANS_MAX) == 8000);
        }
    }
    size_t count = pt_region_peek_spans(&r, &cursor, spans, SPANS_MAX);
    expect(cursor.lost + count == 3 * 8000);
    expect(count == PT_REGION_SPANS - 1); /* the next span is written over the oldest */
    for (size_t i = 0; i < count; i++)
        expect(spans[i].argument == (int64_t)(cursor.lost + i));
    expect(pt_region_peek_spans(&r, &cursor, spans, SPANS_MAX) == 0);
    pt_region_close(&r);
}

static void test_overtaken(void **state) {
    (void)state;
    run_child(write_beyond_reader);
}

static void fill_ring(void) {
    expect(pt_start(directory) == 0);
    for (int i = 0; i < PT_REGION_SPANS + 10; i++) {
        PT_SPAN(span, "span");
        pt_span_set_argument(&span, i);
    }
    expect(pt_dropped() == 10);
}

static void test_full_ring(void **state) {
    (void)state;
    struct pt_region r;
    run_child(fill_ring);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), PT_REGION_SPANS);
    assert_int_equal(spans[PT_REGION_SPANS - 1].argument, PT_REGION_SPANS - 1);
    assert_int_equal(pt_region_dropped(&r), 10);
    pt_region_close(&r);
}

static void fill_directories(void) {
    expect(pt_start(directory) == 0);
    char name[32];
    for (int i = 0; i < 2 * PT_REGION_NAMES; i++) {
        pt_name once = 0;
        snprintf(name, sizeof name, "name_%d", i);
        pt_span span = pt_span_begin(pt_name_once(&once, name));
        pt_counter_add(pt_counter_new(name, "", "", NULL), 1);
        name[0] = 'h';
        pt_histogram_record(pt_histogram_new(name, "", "", NULL), 1);
        name[0] = 'g';
        pt_gauge_set(pt_gauge_new(name, "", "", NULL), 1);
        pt_span_end(&span);
        pt_span_end(&span);
    }
    expect(pt_gauge_new("another", "", "", NULL).slot == 0);
    expect(pt_registration_error() == -ENOSPC);
    expect(pt_dropped() > PT_REGION_NAMES);
}

static void test_full_directories(void **state) {
    (void)state;
    struct pt_region r;
    run_child(fill_directories);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), PT_REGION_NAMES - 1);
    assert_int_equal(pt_region_metric_count(&r), PT_REGION_METRICS);
    assert_true(value_of(&r, "name_0") == 1);
    pt_region_close(&r);
}

#define CROWD 1000
static pthread_barrier_t crowd_is_there;
static pt_counter crowd_counter;
static pt_histogram crowd_histogram;

static void *work_in_crowd(void *unused) {
    (void)unused;
    pthread_barrier_wait(&crowd_is_there);
    for (int i = 0; i < 100; i++) {
        PT_SPAN(span, "work");
        pt_counter_add(crowd_counter, 1);
        pt_histogram_record(crowd_histogram, 3);
    }
    pthread_barrier_wait(&crowd_is_there);
    return NULL;
}

static void run_crowd(void) {
    static pthread_t threads[CROWD];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    expect(pt_start(directory) == 0);
    crowd_counter = pt_counter_new("work", "", "", NULL);
    crowd_histogram = pt_histogram_new("time", "", "", NULL);
    pthread_barrier_init(&crowd_is_there, NULL, CROWD);
    for (int i = 0; i < CROWD; i++)
        expect(pthread_create(&threads[i], &small, work_in_crowd, NULL) == 0);
    for (int i = 0; i < CROWD; i++)
        pthread_join(threads[i], NULL);
    expect(pt_counter_value(crowd_counter) == CROWD * 100);
}

static void test_crowd(void **state) {
    (void)state;
    struct pt_region r;
    size_t taken = 0, n;
    run_child(run_crowd);
    open_only_region(&r);
    while ((n = pt_region_take_spans(&r, spans, SPANS_MAX)) > 0)
        taken += n;
    assert_int_equal(taken + pt_region_dropped(&r), CROWD * 100);
    assert_true(taken >= (PT_REGION_THREADS - 1) * 100);
    assert_true(value_of(&r, "work") == CROWD * 100);
    assert_true(value_of(&r, "time") == CROWD * 100);
    pt_region_close(&r);
}

static void start_with_small_files(void) {
    struct rlimit limit = { 1 << 20, 1 << 20 };
    expect(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    expect(pt_start(directory) == -EFBIG);
    PT_SPAN(span, "span");
    expect(span.name == 0);
}

static void test_file_limit(void **state) {
    (void)state;
    run_child(start_with_small_files);
}

#define NOT_ALLOWED 77
#define FEW         8

/* The file system has space for two threads, and several may take parts of it in vain. */
static void fill_file_system(void) {
    pthread_t threads[FEW];
    if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", directory, "tmpfs", 0, "size=1200k"))
        _exit(NOT_ALLOWED);
    expect(pt_start(directory) == 0);
    crowd_counter = pt_counter_new("work", "", "", NULL);
    crowd_histogram = pt_histogram_new("time", "", "", NULL);
    { PT_SPAN(first, "first"); }
    expect(pt_dropped() == 0);
    pthread_barrier_init(&crowd_is_there, NULL, FEW);
    for (int i = 0; i < FEW; i++)
        expect(pthread_create(&threads[i], NULL, work_in_crowd, NULL) == 0);
    for (int i = 0; i < FEW; i++)
        pthread_join(threads[i], NULL);
    expect(pt_counter_value(crowd_counter) == FEW * 100);
    expect(pt_dropped() >= (FEW - 2) * 100 && pt_dropped() <= FEW * 100);
}

static void test_full_file_system(void **state) {
    (void)state;
    skip_if_emulated(); /* MADV_POPULATE_WRITE says yes and gives no memory */
    int status;
    waitpid(start_child(fill_file_system), &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_ALLOWED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void *work_once(void *counter) {
    PT_SPAN(span, "work");
    pt_counter_add(*(pt_counter *)counter, 1);
    return NULL;
}

static void come_and_go(void) {
    expect(pt_start(directory) == 0);
    pt_counter counter = pt_counter_new("work", "", "", NULL);
    for (int i = 0; i < 2 * PT_REGION_THREADS; i++) {
        pthread_t thread;
        expect(pthread_create(&thread, NULL, work_once, &counter) == 0);
        pthread_join(thread, NULL);
    }
    expect(pt_dropped() == 0);
}

static void test_come_and_go(void **state) {
    (void)state;
    struct pt_region r;
    run_child(come_and_go);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), 2 * PT_REGION_THREADS);
    assert_int_not_equal(spans[0].thread, spans[1].thread);
    assert_true(value_of(&r, "work") == 2 * PT_REGION_THREADS);
    pt_region_close(&r);
}

static void fork_while_on(void) {
    expect(pt_start(directory) == 0);
    pt_counter counter = pt_counter_new("work", "", "", NULL);
    pt_gauge gauge = pt_gauge_new("level", "", "", NULL);
    pt_histogram histogram = pt_histogram_new("time", "", "", NULL);
    pt_gauge_set(gauge, 3);
    for (int i = 0; i < 2; i++) {
        PT_SPAN(span, "work");
        pt_counter_add(counter, 1);
        pt_histogram_record(histogram, 1);
        if (i == 0 && fork() == 0)
            pt_counter_add(counter, 100);
    }
    while (wait(NULL) > 0)
        continue;
}

static void test_fork(void **state) {
    (void)state;
    struct pt_region r;
    double total = 0;
    size_t taken = 0;
    run_child(fork_while_on);
    DIR *d = opendir(directory);
    int count = 0;
    for (; next_region(d, &r); count++) {
        taken += pt_region_take_spans(&r, spans, SPANS_MAX);
        total += value_of(&r, "work");
        assert_true(value_of(&r, "level") == 0 || value_of(&r, "work") == 2);
        pt_region_close(&r);
    }
    closedir(d);
    assert_int_equal(count, 2);
    assert_int_equal(taken, 4);
    assert_true(total == 2 + 101);
}

static void record_until_killed(void) {
    expect(pt_start(directory) == 0);
    for (int i = 0; i < 50; i++) {
        PT_SPAN(span, "work");
    }
    raise(SIGKILL);
}

static void test_kill(void **state) {
    (void)state;
    struct pt_region r;
    int status;
    waitpid(start_child(record_until_killed), &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    open_only_region(&r);
    assert_int_equal(pt_region_take_spans(&r, spans, SPANS_MAX), 50);
    assert_false(pt_region_has_ended(&r));
    pt_region_close(&r);
}

#define STREAM 200000

static void *stream(void *argument) {
    for (int i = 0; i < STREAM; i++) {
        PT_SPAN(span, "work");
        pt_span_set_argument(&span, i);
        pt_counter_add(*(pt_counter *)argument, 1);
    }
    return NULL;
}

/* In one process, where TSan sees both sides. */
static void read_while_written(void) {
    pt_counter counter;
    pthread_t thread;
    struct pt_region r;
    expect(pt_start(directory) == 0);
    counter = pt_counter_new("work", "", "", NULL);
    DIR *d = opendir(directory);
    next_region(d, &r);
    closedir(d);
    expect(pthread_create(&thread, NULL, stream, &counter) == 0);
    uint64_t taken = 0;
    int64_t last = -1;
    while (taken + pt_region_dropped(&r) < STREAM) {
        size_t n = pt_region_take_spans(&r, spans, 1000);
        for (size_t i = 0; i < n; i++) {
            expect(spans[i].argument > last && spans[i].start_ticks <= spans[i].end_ticks);
            last = spans[i].argument;
        }
        taken += n;
        expect(value_of(&r, "work") <= STREAM);
    }
    pthread_join(thread, NULL);
    expect(value_of(&r, "work") == STREAM);
}

static void test_concurrent_reader(void **state) {
    (void)state;
    run_child(read_while_written);
}

static pt_counter signal_counter;
static pt_name signal_name;

static void record_in_handler(int unused) {
    (void)unused;
    pt_span span = pt_span_begin(signal_name);
    pt_counter_add(signal_counter, 1);
    pt_span_end(&span);
}

static void record_among_signals(void) {
    struct sigaction action = { .sa_handler = record_in_handler };
    struct itimerval often = { { 0, 50 }, { 0, 50 } };
    expect(pt_start(directory) == 0);
    signal_counter = pt_counter_new("signals", "", "", NULL);
    signal_name = pt_name_once(&signal_name, "signal");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 1000000; i++) {
        PT_SPAN(span, "work");
    }
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

static void test_signals(void **state) {
    (void)state;
    struct pt_region r;
    run_child(record_among_signals);
    open_only_region(&r);
    size_t count = pt_region_take_spans(&r, spans, SPANS_MAX);
    assert_int_equal(count, PT_REGION_SPANS);
    for (size_t i = 0; i < count; i++)
        assert_true(spans[i].start_ticks <= spans[i].end_ticks);
    pt_region_close(&r);
}

/* A program that cuts its file again and again, and makes it look whole in between. */
static void cut_for_ever(int fd) {
    static uint8_t beginning[1 << 20];
    ssize_t length = pread(fd, beginning, sizeof beginning, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
        if (length < 0 || ftruncate(fd, sizeof(struct pt_region_layout)) ||
            pwrite(fd, beginning, (size_t)length, 0) < 0 || ftruncate(fd, 5000))
            _exit(1);
}

static int open_only_file(void) {
    int fd = -1;
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            fd = openat(dirfd(d), e->d_name, O_RDWR);
            assert_int_equal(renameat(dirfd(d), e->d_name, dirfd(d), "cut"), 0);
            break;
        }
    closedir(d);
    assert_true(fd >= 0);
    return fd;
}

static void read_all(struct pt_region *r) {
    static struct pt_region_cursor cursor;
    static struct pt_region_value value;
    pt_region_peek_spans(r, &cursor, spans, SPANS_MAX);
    pt_region_take_spans(r, spans, SPANS_MAX);
    for (uint32_t i = 1; i < pt_region_metric_count(r); i++)
        pt_region_read_metric(r, i, &value);
    pt_region_dropped(r);
}

static void test_cut(void **state) {
    (void)state;
    struct pt_region r;
    int place = open(directory, O_RDONLY | O_DIRECTORY);
    run_child(record_some);
    int fd = open_only_file();
    assert_int_equal(pt_region_open(&r, place, "cut"), 0);
    assert_int_equal(ftruncate(fd, 5000), 0);
    read_all(&r);
    assert_int_equal(ftruncate(fd, sizeof(struct pt_region_layout)), 0);
    assert_false(pt_region_is_whole(&r));
    pt_region_close(&r);
    close(fd);
    unlinkat(place, "cut", 0);
    close(place);
}

static void test_cut_often(void **state) {
    (void)state;
    struct pt_region r;
    int place = open(directory, O_RDONLY | O_DIRECTORY);
    run_child(record_some);
    int fd = open_only_file();
    pid_t cutter = fork();
    if (cutter == 0)
        cut_for_ever(fd);
    for (int i = 0; i < 1000; i++)
        if (!pt_region_open(&r, place, "cut")) {
            read_all(&r);
            pt_region_close(&r);
        }
    kill(cutter, SIGKILL);
    waitpid(cutter, NULL, 0);
    close(fd);
    unlinkat(place, "cut", 0);
    close(place);
}

static void touch_cut_page(void) {
    static long guarded;
    struct rlimit none = { 0, 0 };
    struct sigaction standard = { .sa_handler = SIG_DFL };
    setrlimit(RLIMIT_CORE, &none);
    sigaction(SIGBUS, &standard, NULL); /* not that of cmocka */
    expect(pt_sigbus_guard_add(&guarded, sizeof guarded) == 0);
    int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
    expect(fd >= 0 && ftruncate(fd, 4096) == 0);
    volatile char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expect(ftruncate(fd, 0) == 0);
    *at = 1;
}

static void test_other_bus_errors(void **state) {
    (void)state;
    int status;
    waitpid(start_child(touch_cut_page), &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

static void *read_cut_page(void *arg) {
    const volatile char *at = arg;
    expect(*at == 0);
    return NULL;
}

static void cut_under_a_thread(void) {
    int fd = open("/dev/shm", O_TMPFILE | O_RDWR, 0600);
    expect(fd >= 0 && ftruncate(fd, 4096) == 0);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expect(at != MAP_FAILED && pt_sigbus_guard_add(at, 4096) == 0);
    *at = 1;
    expect(ftruncate(fd, 0) == 0);
    pthread_t thread;
    expect(pt_thread_start(&thread, read_cut_page, at) == 0);
    pthread_join(thread, NULL);
}

static void test_cut_under_a_thread(void **state) {
    (void)state;
    run_child(cut_under_a_thread);
}

static void test_buckets(void **state) {
    (void)state;
    double value = 0x1p-32;
    for (uint32_t i = 0; i < PT_BUCKET_COUNT; i++) {
        assert_int_equal(pt_bucket_of(pt_bucket_lower(i)), i);
        assert_int_equal(pt_bucket_of(nextafter(pt_bucket_lower(i), 0)), i ? i - 1 : 0);
    }
    for (; value < 0x1p48; value *= 1.0007) {
        double middle = pt_bucket_lower(pt_bucket_of(value)) * exp2(1.0 / 64);
        assert_true(fabs(middle / value - 1) < 0.011);
    }
    assert_int_equal(pt_bucket_of(0), 0);
    assert_int_equal(pt_bucket_of(-1), 0);
    assert_int_equal(pt_bucket_of((double)INFINITY), PT_BUCKET_COUNT - 1);
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
        PT_TEST(test_recording,
                "C192 C196: what is recorded is read back, nested, and errno is left alone"),
        PT_TEST(test_off,
                "C193 C227: off, nothing is made; a directory that is not there is an error code"),
        PT_TEST(test_early, "metrics and names made before recording is on are valid afterwards"),
        PT_TEST(test_move, "recording goes on where it stopped, and moves into a file"),
        PT_TEST(test_parts, "spans and histograms can be switched off alone"),
        PT_TEST(test_registration, "C253: a metric that cannot be has an error code"),
        PT_TEST(test_overtaken, "who only looks and is overtaken knows what is lost"),
        PT_TEST(test_full_ring, "a full ring keeps the oldest spans and counts the others"),
        PT_TEST(test_full_directories, "names and metrics that do not fit are counted"),
        PT_TEST(test_crowd, "1000 threads: no count is lost, spans are read or counted"),
        PT_TEST(test_file_limit, "a limit of file sizes is an error code, not a signal"),
        PT_TEST(test_full_file_system, "a full file system costs spans, never a signal or a count"),
        PT_TEST(test_come_and_go, "a thread that ends leaves its counts and gives its block back"),
        PT_TEST(test_fork, "a child has a region of its own and the handles stay valid"),
        PT_TEST(test_kill, "a killed program leaves its spans"),
        PT_TEST(test_concurrent_reader, "a reader beside the writer sees whole spans in order"),
        PT_TEST(test_signals, "spans of signal handlers tear no others"),
        PT_TEST(test_cut, "a file that is cut while it is read costs its values, not the reader"),
        PT_TEST(test_cut_often, "the same at any instant"),
        PT_TEST(test_cut_under_a_thread, "the same in threads that handle no signals"),
        PT_TEST(test_other_bus_errors, "bus errors elsewhere end the program as before"),
        PT_TEST(test_buckets, "buckets are 2^(1/32) wide and their middle is within 1.1 %"),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
