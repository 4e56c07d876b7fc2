/* Rows of programs that use libpitot: children that record into the directory of a run. */
#include "own_process.h"
#include "tree_fixture.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "inside/probe/probe.h"
#include "inside/region/reader.h"

#include <dirent.h>
#include <errno.h>
#include <pitot/pitot.h>
#include <pthread.h>

extern const struct pt_collector pt_app_collector;

#define FIRST_NS INT64_C(1000000000000) /* CLOCK_MONOTONIC of the first tick */
#define MS       PT_NS_PER_MS

static int count_in(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

struct run {
    int descriptor_count; /* before */
    struct pt_context context;
    void *state;
    struct pt_batch rows[2]; /* spans, metrics */
};

static void start(struct run *run) {
    struct pt_err err = { "" };
    *run = (struct run){ .descriptor_count = count_in("/proc/self/fd"),
                         .context = { .regions = tree.root, .now_ns = FIRST_NS } };
    run->state = pt_calloc(1, pt_app_collector.state_size);
    for (int i = 0; i < 2; i++)
        pt_batch_init(&run->rows[i], pt_app_collector.tables[i]);
    assert_int_equal(pt_app_collector.open(run->state, &run->context, &err), 0);
}

static void tick_at(struct run *run, int64_t after_ns) {
    run->context.now_ns = FIRST_NS + after_ns;
    for (int i = 0; i < 2; i++)
        pt_batch_clear(&run->rows[i]);
    assert_int_equal(pt_app_collector.collect(run->state, &run->context, run->rows), 0);
}

static void stop(struct run *run) {
    pt_app_collector.close(run->state);
    pt_free(run->state);
    for (int i = 0; i < 2; i++)
        pt_batch_release(&run->rows[i]);
    assert_int_equal(count_in("/proc/self/fd"), run->descriptor_count);
}

static int column_of(const struct pt_batch *b, const char *name) {
    int column = pt_table_find(b->table, name);
    assert_true(column >= 0);
    return column;
}

static bool is_absent(const struct pt_batch *b, uint32_t row, const char *name) {
    return pt_is_null(b, row, column_of(b, name));
}

static int64_t integer(const struct pt_batch *b, uint32_t row, const char *name) {
    assert_false(is_absent(b, row, name));
    return pt_get_i64(b, row, column_of(b, name));
}

static double number(const struct pt_batch *b, uint32_t row, const char *name) {
    assert_false(is_absent(b, row, name));
    return pt_get_f64(b, row, column_of(b, name));
}

#define assert_text(b, row, name, expected) \
    assert_str_eq(pt_get_str(b, row, column_of(b, name)), expected)

/* The row of the metric of that name. */
static uint32_t metric(const struct run *run, const char *name) {
    const struct pt_batch *b = &run->rows[1];
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_str_eq(pt_get_str(b, row, column_of(b, "aName")), pt_str_from(name)))
            return row;
    fail_msg("there is no metric %s", name);
    return 0;
}

static int count_files(void) {
    return count_in(tree.root);
}

/* The time of the directory tells whether files have come; some file systems count it coarsely. */
static void set_directory_time(int64_t seconds) {
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    assert_int_equal(utimensat(AT_FDCWD, tree.root, times, 0), 0);
}

/* As `count` processes do that end in good order: here children end without. */
static void end_some(int count) {
    DIR *d = opendir(tree.root);
    for (struct dirent *e; (e = readdir(d));) {
        struct pt_region r;
        if (e->d_name[0] == '.' || count-- <= 0)
            continue;
        assert_int_equal(pt_region_open(&r, dirfd(d), e->d_name), 0);
        pt_region_store(&r.at->header.has_ended, 1);
        pt_region_close(&r);
    }
    closedir(d);
}

static void record_all_kinds(void) {
    pt_name text_name = 0;
    expect(pt_start(tree.root) == 0);
    pt_counter tokens = pt_counter_new("tokens", "By", "Tokens", "model=\"a\"");
    pt_gauge running = pt_gauge_new("running", "", "Running", NULL);
    pt_histogram latency = pt_histogram_new("latency", "s", "Latency", NULL);
    pt_counter_add(tokens, 200);
    pt_gauge_set(running, -2.5);
    for (int i = 1; i <= 100; i++)
        pt_histogram_record(latency, i == 100 ? 64 : i > 60 ? 8 : 1);
    { PT_SPAN(plain, "plain"); }
    {
        PT_SPAN(numbered, "numbered");
        pt_span_set_argument(&numbered, -7);
        pt_span_set_request(&numbered, 1000);
    }
    for (int work = PT_SAMPLES; work <= PT_FLOWS; work++) {
        PT_SPAN(working, "working");
        pt_span_set_work(&working, (enum pt_work)work, 10 * work);
    }
    {
        PT_SPAN(with_text, "with text");
        pt_span_set_text(&with_text, pt_name_once(&text_name, "a text"));
    }
}

static void a_span_is_a_row_with_what_the_program_gave_it(void **state) {
    (void)state;
    static const char *const names[] = { "plain",   "numbered", "working",
                                         "working", "working",  "with text" };
    static const char *const works[] = { NULL, NULL, "samples", "tokens", "flows", NULL };
    struct run run;
    int status;
    int64_t before_ns = pt_mono_ns();
    pid_t pid = start_child(record_all_kinds);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    start(&run);
    tick_at(&run, 0);
    const struct pt_batch *b = &run.rows[0];
    assert_int_equal(b->row_count, PT_COUNT(names));
    for (uint32_t row = 0; row < b->row_count; row++) {
        assert_int_equal(integer(b, row, "sPid"), pid);
        assert_int_equal(integer(b, row, "sThread"), pid);
        assert_text(b, row, "sName", names[row]);
        int64_t start_ns = integer(b, row, "sStart"), duration_ns = integer(b, row, "sDuration");
        assert_int_equal(pt_get_time(b, row, 0), start_ns);
        /* the clock of spans is another one: within an hour is enough to tell them apart */
        assert_true(llabs(start_ns - before_ns) < 3600 * PT_NS_PER_SECOND);
        assert_true(duration_ns >= 0 && duration_ns < 3600 * PT_NS_PER_SECOND);
        if (works[row])
            assert_text(b, row, "sWork", works[row]);
        else
            assert_true(is_absent(b, row, "sWork"));
        assert_int_equal(is_absent(b, row, "sRequest"), row != 1);
        assert_int_equal(is_absent(b, row, "sText"), row != 5);
        assert_int_equal(is_absent(b, row, "sArgument"), row == 0 || row == 5);
        if (row >= 2 && row <= 4)
            assert_int_equal(integer(b, row, "sArgument"), 10 * (row - 1));
    }
    assert_int_equal(integer(b, 1, "sArgument"), -7);
    assert_int_equal(integer(b, 1, "sRequest"), 1000);
    assert_text(b, 5, "sText", "a text");
    tick_at(&run, 10 * MS);
    assert_int_equal(run.rows[0].row_count, 0); /* told once */
    stop(&run);
}

static void a_metric_is_a_row_with_its_value(void **state) {
    (void)state;
    struct run run;
    run_child(record_all_kinds);
    start(&run);
    tick_at(&run, 0);
    const struct pt_batch *b = &run.rows[1];
    assert_int_equal(b->row_count, 3);
    uint32_t row = metric(&run, "tokens");
    assert_text(b, row, "aLabels", "model=\"a\"");
    assert_text(b, row, "aKind", "counter");
    assert_text(b, row, "aUnit", "By");
    assert_true(number(b, row, "aValue") == 200);
    assert_true(is_absent(b, row, "aCount") && is_absent(b, row, "aBuckets"));
    assert_int_equal(pt_get_time(b, row, 0), FIRST_NS);
    assert_int_equal(integer(b, row, "aPid"), integer(&run.rows[0], 0, "sPid"));
    row = metric(&run, "running");
    assert_text(b, row, "aKind", "gauge");
    assert_text(b, row, "aUnit", "");
    assert_text(b, row, "aLabels", "");
    assert_true(number(b, row, "aValue") == -2.5);
    row = metric(&run, "latency");
    assert_text(b, row, "aKind", "histogram");
    assert_text(b, row, "aUnit", "s");
    assert_true(is_absent(b, row, "aValue"));
    assert_int_equal(integer(b, row, "aCount"), 100);
    assert_true(number(b, row, "aSum") == 60 + 39 * 8 + 64);
    assert_true(fabs(number(b, row, "aP50") - 1) < 0.02);
    assert_true(fabs(number(b, row, "aP90") / 8 - 1) < 0.02);
    assert_true(fabs(number(b, row, "aP99") / 8 - 1) < 0.02);
    /* a bucket each: 1 is 32 octaves of 32 buckets from the first, 8 and 64 three more each */
    char text[64];
    uint32_t one = pt_bucket_of(1);
    snprintf(text, sizeof text, "%u:60,96:39,96:1", (unsigned)one);
    assert_text(b, row, "aBuckets", text);
    stop(&run);
}

/* Metrics every half second, directories every second; all of it at the last tick. */
static void metrics_and_files_are_looked_at_now_and_then(void **state) {
    (void)state;
    struct run run;
    run_child(record_all_kinds);
    set_directory_time(1000);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[1].row_count, 3);
    run_child(record_all_kinds);
    set_directory_time(2000);
    tick_at(&run, 499 * MS);
    assert_int_equal(run.rows[1].row_count, 0);
    tick_at(&run, 500 * MS);
    assert_int_equal(run.rows[1].row_count, 3);
    tick_at(&run, 999 * MS);
    assert_int_equal(run.rows[0].row_count, 0);
    tick_at(&run, 1000 * MS);
    assert_int_equal(run.rows[0].row_count, 6);
    assert_int_equal(run.rows[1].row_count, 6);
    /* a directory that has not changed is not read */
    run_child(record_all_kinds);
    set_directory_time(2000);
    tick_at(&run, 2000 * MS);
    assert_int_equal(run.rows[0].row_count, 0);
    run.context.is_last = true;
    tick_at(&run, 2001 * MS);
    assert_int_equal(run.rows[0].row_count, 6);
    assert_int_equal(run.rows[1].row_count, 9);
    stop(&run);
}

static void the_file_of_a_program_that_ended_is_removed(void **state) {
    (void)state;
    struct run run;
    for (int i = 0; i < 3; i++)
        run_child(record_all_kinds);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[1].row_count, 9);
    assert_int_equal(count_files(), 3);
    for (int left = 2; left >= 0; left--) {
        int64_t since_ns = (2 - left) * 2000 * MS;
        end_some(1);
        tick_at(&run, since_ns + 10 * MS);
        assert_int_equal(run.rows[1].row_count, 3); /* its last values, whatever the time */
        assert_int_equal(count_files(), left);
        tick_at(&run, since_ns + 1000 * MS);
        assert_int_equal(run.rows[1].row_count, 3 * left);
        tick_at(&run, since_ns + 2000 * MS);
    }
    stop(&run);
}

static void fill_ring(void) {
    expect(pt_start(tree.root) == 0);
    for (int i = 0; i < PT_REGION_SPANS + 10; i++) {
        PT_SPAN(span, "span");
        pt_span_set_argument(&span, i);
    }
}

static void what_was_dropped_is_a_counter(void **state) {
    (void)state;
    struct run run;
    run_child(fill_ring);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[0].row_count, PT_REGION_SPANS);
    assert_int_equal(integer(&run.rows[0], PT_REGION_SPANS - 1, "sArgument"), PT_REGION_SPANS - 1);
    assert_int_equal(run.rows[1].row_count, 1);
    uint32_t row = metric(&run, "pitot_dropped");
    assert_text(&run.rows[1], row, "aKind", "counter");
    assert_true(number(&run.rows[1], row, "aValue") == 10);
    stop(&run);
}

#define THREADS 9
static pthread_barrier_t barrier;

static void *fill_a_ring(void *unused) {
    (void)unused;
    for (int i = 0; i < PT_REGION_SPANS; i++) {
        PT_SPAN(span, "span");
    }
    pthread_barrier_wait(&barrier); /* who ends gives its ring to the next */
    return NULL;
}

static void fill_rings(void) {
    pthread_t threads[THREADS];
    expect(pt_start(tree.root) == 0);
    expect(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        expect(pthread_create(&threads[i], NULL, fill_a_ring, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        expect(pthread_join(threads[i], NULL) == 0);
}

/* 73,728 spans: 65,536 in a tick, and the rest in the next; but all in the last one. */
static void a_tick_has_so_many_spans(void **state) {
    (void)state;
    for (int is_last = 0; is_last < 2; is_last++) {
        struct run run;
        run_child(fill_rings);
        end_some(1);
        start(&run);
        run.context.is_last = is_last;
        tick_at(&run, 0);
        assert_int_equal(run.rows[0].row_count, is_last ? 73728 : 65536);
        assert_int_equal(count_files(), is_last ? 0 : 1); /* there is more in it */
        tick_at(&run, 10 * MS);
        assert_int_equal(run.rows[0].row_count, is_last ? 0 : 8192);
        assert_int_equal(count_files(), 0);
        stop(&run);
    }
}

/* Messages go to a file that is outside of the directory. */
struct messages {
    FILE *file;
    int old;
};

static void hear(struct messages *m) {
    m->file = tmpfile();
    assert_non_null(m->file);
    m->old = dup(STDERR_FILENO);
    dup2(fileno(m->file), STDERR_FILENO);
}

static int heard(const struct messages *m, const char *word) {
    char line[512];
    int count = 0;
    rewind(m->file);
    while (fgets(line, sizeof line, m->file))
        count += strstr(line, word) != NULL;
    return count;
}

static void unhear(struct messages *m) {
    dup2(m->old, STDERR_FILENO);
    close(m->old);
    fclose(m->file);
}

/* As large as a region; `magic` 0: not written yet. */
static void put_false_region(const char *name, uint64_t magic) {
    int fd = open(tree_path(&tree, name), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof(struct pt_region_layout)), 0);
    assert_int_equal(pwrite(fd, &magic, sizeof magic, offsetof(struct pt_region_header, magic)),
                     sizeof magic);
    close(fd);
}

static void files_of_others_are_told_once(void **state) {
    (void)state;
    static const char long_name[] = "a-name-of-48-characters-or-more-is-not-of-libpitot";
    struct messages m;
    struct run run;
    put_false_region("false", 77);
    put_false_region("not-yet", 0);
    put_false_region(".hidden", 77);
    put_false_region(long_name, 77);
    set_directory_time(1000);
    start(&run);
    hear(&m);
    tick_at(&run, 0);
    int first = heard(&m, "pitot: warning: ");
    bool is_named = heard(&m, "false") == 1;
    /* one that was not complete is tried again, though the directory is the same */
    put_false_region("not-yet", 78);
    set_directory_time(1000);
    tick_at(&run, 1000 * MS);
    int second = heard(&m, "pitot: warning: ");
    bool is_other_named = heard(&m, "not-yet") == 1;
    set_directory_time(3000);
    tick_at(&run, 2000 * MS);
    int third = heard(&m, "pitot: warning: ");
    unhear(&m);
    assert_int_equal(first, 1);
    assert_true(is_named);
    assert_int_equal(second, 2);
    assert_true(is_other_named);
    assert_int_equal(third, 2);
    assert_int_equal(run.rows[0].row_count + run.rows[1].row_count, 0);
    assert_int_equal(count_files(), 3);
    stop(&run);
}

static void a_file_that_was_cut_is_not_read_any_more(void **state) {
    (void)state;
    struct messages m;
    struct run run;
    run_child(record_all_kinds);
    start(&run);
    tick_at(&run, 0);
    DIR *d = opendir(tree.root);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            assert_int_equal(truncate(tree_path(&tree, e->d_name), 4096), 0);
    closedir(d);
    hear(&m);
    tick_at(&run, 500 * MS);
    tick_at(&run, 1500 * MS);
    int count = heard(&m, "pitot: warning: ");
    unhear(&m);
    assert_int_equal(count, 1);
    assert_int_equal(run.rows[1].row_count, 0);
    stop(&run);
}

static void beyond_256_programs_others_wait(void **state) {
    (void)state;
    struct messages m;
    struct run run;
    for (int i = 0; i < 258; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%x", (unsigned)i);
        put_false_region(name, 77);
    }
    start(&run);
    hear(&m);
    tick_at(&run, 0);
    tick_at(&run, 1000 * MS);
    int opened = heard(&m, "app: f"), told = heard(&m, "256");
    unhear(&m);
    assert_int_equal(opened, 256);
    assert_int_equal(told, 1);
    stop(&run);
}

static void without_a_directory_there_is_nothing(void **state) {
    (void)state;
    struct pt_context context = { 0 };
    struct pt_err err = { "" };
    void *s = pt_calloc(1, pt_app_collector.state_size);
    assert_int_equal(pt_app_collector.open(s, &context, &err), -ENODATA);
    context.regions = "/nonexistent/regions";
    assert_int_equal(pt_app_collector.open(s, &context, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent/regions"));
    pt_app_collector.close(s);
    pt_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_span_is_a_row_with_what_the_program_gave_it,
                  "a span is a row with what the program gave it, once"),
        WITH_TREE(a_metric_is_a_row_with_its_value, "a metric is a row with its value"),
        WITH_TREE(metrics_and_files_are_looked_at_now_and_then,
                  "metrics are read twice a second, new files are looked for once a second"),
        WITH_TREE(the_file_of_a_program_that_ended_is_removed,
                  "the file of a program that has ended is read to its end and removed"),
        WITH_TREE(what_was_dropped_is_a_counter, "the number of dropped spans is a counter"),
        WITH_TREE(a_tick_has_so_many_spans, "a tick has at most 65,536 spans, but the last one"),
        WITH_TREE(files_of_others_are_told_once, "a file that is not a region is reported once"),
        WITH_TREE(a_file_that_was_cut_is_not_read_any_more,
                  "a file that was truncated is reported and not read any more"),
        WITH_TREE(beyond_256_programs_others_wait,
                  "beyond 256 programs others wait, which is reported once"),
        PT_TEST(without_a_directory_there_is_nothing,
                "without a directory of regions there is nothing to collect"),
    };
    return cmocka_run_group_tests_name("app", tests, NULL, NULL);
}
