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
#define TABLES   3

static int count_in(const char *directory) {
    DIR *d = opendir(directory);
    int count = 0;
    for (struct dirent *e; (e = readdir(d));)
        count += e->d_name[0] != '.';
    closedir(d);
    return count;
}

/* Of a program that runs where its pid says nothing to us, in a container. */
static void leave_region(void (*record)(void)) {
    DIR *d;
    run_child(record);
    assert_non_null(d = opendir(tree.root));
    for (struct dirent *e; (e = readdir(d));) {
        struct pt_region r;
        if (e->d_name[0] == '.' || pt_region_open(&r, dirfd(d), e->d_name))
            continue;
        r.at->header.pid_namespace = 0;
        pt_region_close(&r);
    }
    closedir(d);
}

struct run {
    int descriptor_count; /* before */
    struct pt_context context;
    void *state;
    struct pt_batch rows[TABLES]; /* spans, metrics, buckets */
};

static void start(struct run *run) {
    struct pt_err err = { "" };
    *run = (struct run){ .descriptor_count = count_in("/proc/self/fd"),
                         .context = { .regions = tree.root, .now_ns = FIRST_NS } };
    run->state = pt_calloc(1, pt_app_collector.state_size);
    for (int i = 0; i < TABLES; i++)
        pt_batch_init(&run->rows[i], pt_app_collector.tables[i]);
    assert_int_equal(pt_app_collector.open(run->state, &run->context, &err), 0);
}

static void tick_at(struct run *run, int64_t after_ns) {
    run->context.now_ns = FIRST_NS + after_ns;
    for (int i = 0; i < TABLES; i++)
        pt_batch_clear(&run->rows[i]);
    assert_int_equal(pt_app_collector.collect(run->state, &run->context, run->rows), 0);
}

static void stop(struct run *run) {
    pt_app_collector.close(run->state);
    pt_free(run->state);
    for (int i = 0; i < TABLES; i++)
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
    leave_region(record_all_kinds);
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

/* A program that waits for a byte before each phase, and answers with one. */
static int to_child[2], from_child[2];

static bool wait_for_byte(int fd) {
    char byte;
    return read(fd, &byte, 1) == 1;
}

static void send_byte(int fd) {
    expect(write(fd, "", 1) == 1);
}

static void record_in_phases(void) {
    close(to_child[1]);
    expect(pt_start(tree.root) == 0);
    pt_histogram latency = pt_histogram_new("latency", "s", "Latency", "a=\"b\"");
    for (int phase = 0; wait_for_byte(to_child[0]); phase++) {
        for (int i = 0; i < (phase == 0 ? 60 : 2); i++)
            pt_histogram_record(latency, 1);
        pt_histogram_record(latency, phase == 3 ? 1e300 : 64);
        if (phase == 3)
            pt_histogram_record(pt_histogram_new("other", "", "", NULL), 0);
        send_byte(from_child[1]);
    }
}

static void next_phase(void) {
    send_byte(to_child[1]);
    assert_true(wait_for_byte(from_child[0]));
}

/* NAN: absent. */
static void assert_bucket(const struct run *run, uint32_t row, const char *name, double above,
                          double le, int64_t count, double seconds) {
    const struct pt_batch *b = &run->rows[2];
    const struct {
        const char *name;
        double value;
    } numbers[] = { { "hAbove", above }, { "hLe", le }, { "hSeconds", seconds } };
    assert_true(row < b->row_count);
    assert_text(b, row, "aName", name);
    assert_int_equal(integer(b, row, "hCount"), count);
    assert_int_equal(pt_get_time(b, row, 0), run->context.now_ns);
    for (size_t i = 0; i < PT_COUNT(numbers); i++)
        if (isnan(numbers[i].value))
            assert_true(is_absent(b, row, numbers[i].name));
        else
            assert_true(number(b, row, numbers[i].name) == numbers[i].value);
}

#define UP_TO_ONE 1, pt_bucket_bounds[1] /* the bucket that begins with 1 */
#define UP_TO_64  64, 64 * pt_bucket_bounds[1]

static void histograms_are_recorded_as_their_growth(void **state) {
    (void)state;
    struct run run, late;
    int status;
    assert_int_equal(pipe(to_child), 0);
    assert_int_equal(pipe(from_child), 0);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[2].row_count, 0);
    pid_t pid = start_child(record_in_phases);
    next_phase();
    set_directory_time(1000);
    tick_at(&run, 1000 * MS);
    assert_int_equal(run.rows[2].row_count, 2); /* all since the program began */
    assert_bucket(&run, 0, "latency", UP_TO_ONE, 60, NAN);
    assert_bucket(&run, 1, "latency", UP_TO_64, 1, NAN);
    assert_int_equal(integer(&run.rows[2], 0, "aPid"), pid);
    assert_text(&run.rows[2], 0, "aLabels", "a=\"b\"");
    start(&late); /* what was before it is not part of it */
    tick_at(&late, 1000 * MS);
    assert_int_equal(late.rows[2].row_count, 0);
    next_phase();
    tick_at(&run, 1250 * MS); /* metrics are not read yet */
    assert_int_equal(run.rows[2].row_count, 0);
    tick_at(&run, 1500 * MS);
    tick_at(&late, 1600 * MS);
    assert_int_equal(run.rows[2].row_count, 2);
    assert_bucket(&run, 0, "latency", UP_TO_ONE, 2, 0.5);
    assert_bucket(&run, 1, "latency", UP_TO_64, 1, 0.5);
    assert_int_equal(late.rows[2].row_count, 2);
    assert_bucket(&late, 0, "latency", UP_TO_ONE, 2, 0.6);
    tick_at(&run, 2000 * MS);
    assert_int_equal(run.rows[1].row_count, 1);
    assert_int_equal(run.rows[2].row_count, 0); /* nothing new */
    next_phase();
    uint64_t allocations = pt_mem_allocation_count();
    tick_at(&run, 2600 * MS);
    assert_int_equal(run.rows[2].row_count, 2);
    assert_true(pt_mem_allocation_count() == allocations);
    next_phase();
    tick_at(&late, 3000 * MS);
    assert_int_equal(late.rows[2].row_count, 4);
    assert_bucket(&late, 0, "latency", UP_TO_ONE, 4, 1.4);
    assert_bucket(&late, 1, "latency", UP_TO_64, 1, 1.4);
    assert_bucket(&late, 2, "latency", pt_bucket_lower(PT_BUCKET_COUNT - 1), NAN, 1, 1.4);
    assert_bucket(&late, 3, "other", NAN, pt_bucket_lower(1), 1, 1.4); /* new since then */
    stop(&late);
    stop(&run);
    close(to_child[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(to_child[0]);
    close(from_child[0]);
    close(from_child[1]);
}

/* As a program that writes anything at any time does. */
static void a_histogram_that_fell_starts_again(void **state) {
    (void)state;
    struct run run;
    struct pt_region r;
    start(&run);
    tick_at(&run, 0);
    leave_region(record_all_kinds);
    set_directory_time(1000);
    tick_at(&run, 1000 * MS);
    assert_int_equal(run.rows[2].row_count, 3);
    DIR *d = opendir(tree.root);
    struct dirent *e;
    while ((e = readdir(d)) && e->d_name[0] == '.')
        ;
    assert_int_equal(pt_region_open(&r, dirfd(d), e->d_name), 0);
    closedir(d);
    int lowered = 0; /* 60 values of 1 become 50, one of 64 becomes two */
    for (uint32_t i = 0; i < PT_REGION_SHARDS; i++) {
        uint64_t *buckets = r.at->shards[i].buckets;
        if (buckets[pt_bucket_of(1)] != 60)
            continue;
        buckets[pt_bucket_of(1)] = 50;
        buckets[pt_bucket_of(64)] = 2;
        lowered++;
    }
    assert_int_equal(lowered, 1);
    pt_region_close(&r);
    tick_at(&run, 2000 * MS);
    assert_int_equal(run.rows[1].row_count, 3);
    assert_int_equal(run.rows[2].row_count, 0);
    tick_at(&run, 3000 * MS);
    assert_int_equal(run.rows[2].row_count, 0);
    stop(&run);
}

/* Metrics every half second, directories every second; all of it at the last tick. */
static void metrics_and_files_are_looked_at_now_and_then(void **state) {
    (void)state;
    struct run run;
    leave_region(record_all_kinds);
    set_directory_time(1000);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[1].row_count, 3);
    leave_region(record_all_kinds);
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
    leave_region(record_all_kinds);
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
        leave_region(record_all_kinds);
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

static void a_program_that_died_is_read_to_its_end(void **state) {
    (void)state;
    struct run run;
    run_child(record_all_kinds);
    start(&run);
    tick_at(&run, 0);
    assert_int_equal(run.rows[0].row_count, 6);
    assert_int_equal(run.rows[1].row_count, 3);
    assert_int_equal(count_files(), 0);
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
    leave_region(fill_ring);
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
        leave_region(fill_rings);
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
    leave_region(record_all_kinds);
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
        WITH_TREE(histograms_are_recorded_as_their_growth,
                  "C316: histograms are recorded as the growth of their buckets"),
        WITH_TREE(a_histogram_that_fell_starts_again, "C316: a histogram that fell starts again"),
        WITH_TREE(metrics_and_files_are_looked_at_now_and_then,
                  "metrics are read twice a second, new files are looked for once a second"),
        WITH_TREE(the_file_of_a_program_that_ended_is_removed,
                  "the file of a program that has ended is read to its end and removed"),
        WITH_TREE(a_program_that_died_is_read_to_its_end,
                  "a program that was killed is read to its end, and its file removed"),
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
