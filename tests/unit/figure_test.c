/* The main figures of a run and the summary made of them. */
#include "json_text.h"

#include "analyze/figure.h"
#include "report/summary.h"

#define SECOND INT64_C(1000000000)

#define CPU_COLUMNS(X, t)                                                 \
    X(t, user, "vCpuTimeUserMode", COUNTER, I64, CENTISECONDS, 0, "")     \
    X(t, kernel, "vCpuTimeKernelMode", COUNTER, I64, CENTISECONDS, 0, "") \
    X(t, steal, "vCpuSteal", COUNTER, I64, CENTISECONDS, 0, "")           \
    X(t, idle, "vCpuIdleTime", COUNTER, I64, CENTISECONDS, 0, "")         \
    X(t, iowait, "vCpuTimeIOWait", COUNTER, I64, CENTISECONDS, 0, "")     \
    X(t, load, "vLoadAvg", GAUGE, F64, NONE, 0, "")
PT_TABLE(cpu, PT_TABLE_MAIN("cpu"), "", CPU_COLUMNS, "stat");

#define DISK_COLUMNS(X, t) X(t, read, "vDiskReadBytes", COUNTER, I64, BYTES, 0, "")
PT_TABLE(disk, PT_TABLE_MAIN("disk"), "", DISK_COLUMNS, "diskstats");

#define MARK_COLUMNS(X, t) X(t, text, "mText", INFO, STRING, NONE, 0, "")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "", MARK_COLUMNS, "mark");

#define CONTAINER_COLUMNS(X, t)                           \
    X(t, id, "cId", KEY, STRING, NONE, 0, "")             \
    X(t, recorded, "cIsRecorded", INFO, I64, NONE, 0, "") \
    X(t, cpu, "cCpuTime", COUNTER, I64, NANOSECONDS, 0, "")
PT_TABLE(container, PT_TABLE_FILE("containers", "containers"), "", CONTAINER_COLUMNS, "cgroup");

#define COLLECTOR_COLUMNS(X, t)                               \
    X(t, name, "colName", KEY, STRING, NONE, 0, "")           \
    X(t, cpu, "colCpuTime", COUNTER, I64, NANOSECONDS, 0, "") \
    X(t, rss, "colRss", GAUGE, I64, BYTES, 0, "")             \
    X(t, late, "colLateTicks", COUNTER, I64, COUNT, 0, "")    \
    X(t, dropped, "colDroppedTicks", COUNTER, I64, COUNT, 0, "")
PT_TABLE(collector, PT_TABLE_FILE("collectors", NULL), "", COLLECTOR_COLUMNS, "Pitot");

enum { CPU, DISK, MARK, CONTAINER, COLLECTOR, TABLE_COUNT };
static const struct pt_table *const tables[] = { &cpu_table, &disk_table, &mark_table,
                                                 &container_table, &collector_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

struct fixture {
    struct pt_figure_reader reader;
    struct pt_sample sample;
};

static int open_fixture(void **state) {
    struct fixture *f = pt_calloc(1, sizeof *f);
    pt_figure_reader_init(&f->reader, &schema);
    pt_sample_init(&f->sample, &schema);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    pt_figure_reader_release(&f->reader);
    pt_sample_release(&f->sample);
    pt_free(f);
    return 0;
}

static struct pt_batch *add(struct fixture *f, int table, int64_t time_ns) {
    struct pt_batch *b = &f->sample.batches[table];
    pt_batch_add_row(b);
    pt_set_time(b, 0, time_ns);
    return b;
}

static void add_cpu(struct fixture *f, int64_t time_ns, int64_t user, int64_t idle,
                    int64_t iowait) {
    struct pt_batch *b = add(f, CPU, time_ns);
    pt_set_i64(b, cpu_user, user);
    pt_set_i64(b, cpu_idle, idle);
    pt_set_i64(b, cpu_iowait, iowait);
}

static void add_disk(struct fixture *f, int64_t time_ns, int64_t bytes) {
    pt_set_i64(add(f, DISK, time_ns), disk_read, bytes);
}

static bool next(struct fixture *f) {
    bool has_rows = pt_figure_reader_next(&f->reader, &f->sample);
    pt_sample_clear(&f->sample);
    return has_rows;
}

static void check(const struct fixture *f, enum pt_figure_id id, double expected) {
    assert_true(f->reader.is_known[id]);
    if (f->reader.values[id] < expected - 1e-9 || f->reader.values[id] > expected + 1e-9)
        fail_msg("%s is %.17g, expected %.17g", pt_figures[id].label, f->reader.values[id],
                 expected);
}

static void busy_is_the_share_of_time_that_is_not_idle(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    next(f);
    assert_false(f->reader.is_known[PT_FIGURE_CPU]);
    struct pt_batch *b = add(f, CPU, 2 * SECOND);
    pt_set_i64(b, cpu_user, 1030);
    pt_set_i64(b, cpu_idle, 5060);
    pt_set_i64(b, cpu_iowait, 110);
    next(f);
    check(f, PT_FIGURE_CPU, 30);
}

static void a_kind_of_time_that_is_not_counted_is_no_time(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        struct pt_batch *b = add(f, CPU, (i + 1) * SECOND);
        pt_set_i64(b, cpu_user, 1000 + i * 10);
        pt_set_i64(b, cpu_kernel, 500 + i * 10);
        pt_set_i64(b, cpu_idle, 5000 + i * 80);
        next(f);
    }
    check(f, PT_FIGURE_CPU, 20);
}

static void idle_time_that_falls_does_not_spoil_the_figure(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    next(f);
    add_cpu(f, 2 * SECOND, 1050, 5050, 99);
    next(f);
    check(f, PT_FIGURE_CPU, 50);
}

static void a_counter_that_was_reset_makes_the_figure_unknown(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    add_disk(f, SECOND, 1 << 20);
    next(f);
    add_cpu(f, 2 * SECOND, 10, 5060, 110);
    add_disk(f, 2 * SECOND, 100);
    next(f);
    assert_false(f->reader.is_known[PT_FIGURE_CPU]);
    assert_false(f->reader.is_known[PT_FIGURE_DISK_READ]);
    add_cpu(f, 3 * SECOND, 20, 5090, 110); /* and counts on from there */
    add_disk(f, 3 * SECOND, 300);
    next(f);
    check(f, PT_FIGURE_CPU, 25);
    check(f, PT_FIGURE_DISK_READ, 200);
}

/* The disk was read late in the second tick: 1 s between ticks, 1.25 s between reads. */
static void rates_are_by_the_times_of_the_reads_themselves(void **state) {
    struct fixture *f = *state;
    f->sample.mono_ns = SECOND;
    add_disk(f, SECOND, 0);
    next(f);
    f->sample.mono_ns = 2 * SECOND;
    add_disk(f, 2 * SECOND + SECOND / 4, 1000);
    next(f);
    check(f, PT_FIGURE_DISK_READ, 800);
    add_disk(f, 2 * SECOND + SECOND / 4, 2000); /* no time between the reads */
    next(f);
    assert_false(f->reader.is_known[PT_FIGURE_DISK_READ]);
}

static void a_thinned_table_keeps_its_older_rows(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 0, 0, 0);
    add_disk(f, SECOND, 1000);
    next(f);
    for (int i = 2; i <= 4; i++) {
        add_cpu(f, i * SECOND, i, 0, 0);
        next(f);
        assert_false(f->reader.is_known[PT_FIGURE_DISK_READ]);
    }
    add_disk(f, 5 * SECOND, 5000);
    next(f);
    check(f, PT_FIGURE_DISK_READ, 1000);
}

static void a_mark_is_passed_over(void **state) {
    struct fixture *f = *state;
    add_disk(f, SECOND, 0);
    assert_true(next(f));
    pt_set_str(add(f, MARK, SECOND), mark_text, PT_STR("here"));
    assert_false(next(f));
    add_disk(f, 2 * SECOND, 10);
    assert_true(next(f));
    check(f, PT_FIGURE_DISK_READ, 10);
}

static void add_container(struct fixture *f, int64_t time_ns, const char *id, bool is_recorded,
                          int64_t cpu_ns) {
    struct pt_batch *b = add(f, CONTAINER, time_ns);
    pt_set_str(b, container_id, pt_str_from(id));
    pt_set_i64(b, container_recorded, is_recorded);
    pt_set_i64(b, container_cpu, cpu_ns);
}

static void the_recorded_group_gives_the_cpu_of_the_command(void **state) {
    struct fixture *f = *state;
    add_container(f, SECOND, "other", false, 0);
    add_container(f, SECOND, "mine", true, SECOND);
    next(f);
    add_container(f, 3 * SECOND, "mine", true, 4 * SECOND); /* rows may change places */
    add_container(f, 3 * SECOND, "other", false, 9 * SECOND);
    next(f);
    check(f, PT_FIGURE_COMMAND_CPU, 150);
}

static void check_print(enum pt_figure_format format, double value, const char *expected) {
    char text[32];
    pt_figure_print(format, value, text, sizeof text);
    assert_string_equal(text, expected);
}

static void numbers_are_printed_for_people(void **state) {
    (void)state;
    check_print(PT_FORMAT_PERCENT, 97.25, "97.2 %");
    check_print(PT_FORMAT_PERCENT, 0, "0.0 %");
    check_print(PT_FORMAT_PLAIN, 1.005, "1.00");
    check_print(PT_FORMAT_BYTES, 0, "0 B");
    check_print(PT_FORMAT_BYTES, 1023, "1023 B");
    check_print(PT_FORMAT_BYTES, 1024, "1.0 KiB");
    check_print(PT_FORMAT_BYTES, 1048575, "1.0 MiB");
    check_print(PT_FORMAT_BYTES, 10 * 1048576 - 1, "10 MiB");
    check_print(PT_FORMAT_BYTES, 2.4 * 1073741824, "2.4 GiB");
    check_print(PT_FORMAT_BYTES, 5e15, "4547 TiB");
    check_print(PT_FORMAT_BYTES_PER_S, 31.4 * 1048576, "31 MiB/s");
}

/* The summary */

static void summarize(struct pt_summary *s, struct fixture *f, int64_t bytes) {
    f->sample.mono_ns = (int64_t)(s->sample_count + 1) * SECOND;
    add_disk(f, f->sample.mono_ns, bytes);
    pt_summary_add(s, &f->sample);
    pt_sample_clear(&f->sample);
}

static double highest(const struct pt_summary *s, enum pt_figure_id id) {
    double top = 0;
    for (unsigned i = 0; i < s->point_count; i++)
        top = s->points[id][i] > top ? s->points[id][i] : top;
    return top;
}

static void a_long_curve_keeps_its_peaks(void **state) {
    struct fixture *f = *state;
    struct pt_summary *s = pt_calloc(1, sizeof *s);
    pt_summary_init(s, &schema);
    int64_t bytes = 0;
    for (int i = 0; i < 10000; i++)
        summarize(s, f, bytes += i == 4321 ? 1000000 : 10);
    assert_int_equal(s->sample_count, 10000);
    assert_int_equal(s->count[PT_FIGURE_DISK_READ], 9999);
    assert_in_range(s->point_count, PT_SUMMARY_POINTS / 2, PT_SUMMARY_POINTS);
    assert_true(s->point_count * s->samples_per_point >= 10000);
    assert_true((s->point_count - 1) * s->samples_per_point < 10000);
    assert_true(highest(s, PT_FIGURE_DISK_READ) == 1000000);
    assert_true(s->points[PT_FIGURE_DISK_READ][4321 / s->samples_per_point] == 1000000);
    assert_true(s->peak[PT_FIGURE_DISK_READ] == 1000000);
    assert_true(s->sum[PT_FIGURE_DISK_READ] == 9998 * 10 + 1000000);
    pt_summary_release(s);
    pt_free(s);
}

static char *printed(const struct pt_summary *s, bool use_unicode) {
    struct pt_out out;
    memory_open(&out);
    pt_summary_print(s, &out, use_unicode);
    return memory_text(&out);
}

static void add_own_cost(struct fixture *f, int64_t cpu_ns) {
    struct pt_batch *b = add(f, COLLECTOR, 0);
    pt_set_str(b, collector_name, PT_STR("pitot"));
    pt_set_i64(b, collector_cpu, cpu_ns);
    pt_set_i64(b, collector_rss, 5 << 20);
    pt_set_i64(b, collector_late, 2);
    pt_set_i64(b, collector_dropped, 0);
}

/* 1 MiB/s for ten seconds, and a tenth of a second at the end with 11 MiB/s: 11.1 MiB in 10.1 s. */
static void a_short_last_interval_counts_for_its_time(void **state) {
    static const struct {
        int64_t mono_ns, bytes;
    } reads[] = { { SECOND, 0 },
                  { 11 * SECOND, 10 << 20 },
                  { 11 * SECOND + SECOND / 10, (10 << 20) + (11 << 20) / 10 } };
    struct fixture *f = *state;
    struct pt_summary *s = pt_calloc(1, sizeof *s);
    pt_summary_init(s, &schema);
    for (size_t i = 0; i < PT_COUNT(reads); i++) {
        f->sample.mono_ns = reads[i].mono_ns;
        add_disk(f, reads[i].mono_ns, reads[i].bytes);
        pt_summary_add(s, &f->sample);
        pt_sample_clear(&f->sample);
    }
    char *text = printed(s, false);
    assert_non_null(strstr(text, "Disk read             1.1 MiB/s   11 MiB/s\n"));
    pt_free(text);
    pt_summary_release(s);
    pt_free(s);
}

static void the_summary_has_mean_peak_curve_and_own_cost(void **state) {
    struct fixture *f = *state;
    struct pt_summary *s = pt_calloc(1, sizeof *s);
    pt_summary_init(s, &schema);
    const int64_t bytes[] = { 0, 1 << 20, 3 << 20 };
    for (int i = 0; i < 3; i++) {
        add_own_cost(f, 1000 + i * SECOND / 100);
        summarize(s, f, bytes[i]);
    }
    char *text = printed(s, true);
    assert_non_null(strstr(text, "Disk read             1.5 MiB/s  2.0 MiB/s   ▄█\n"));
    assert_non_null(strstr(text, "Pitot used 1.00 % of one CPU, 5.0 MiB; 2 late ticks were "
                                 "skipped\n"));
    assert_null(strstr(text, "Memory"));
    pt_free(text);
    text = printed(s, false);
    assert_null(strstr(text, "█"));
    pt_free(text);
    pt_summary_release(s);
    pt_free(s);
}

static void a_run_of_one_sample_has_no_rates(void **state) {
    struct fixture *f = *state;
    struct pt_summary *s = pt_calloc(1, sizeof *s);
    pt_summary_init(s, &schema);
    add_own_cost(f, 1000);
    summarize(s, f, 5);
    char *text = printed(s, true);
    assert_string_equal(text, "");
    pt_free(text);
    pt_summary_release(s);
    pt_free(s);
}

#define FIGURE_TEST(function, sentence) \
    { sentence, function, open_fixture, close_fixture, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        FIGURE_TEST(busy_is_the_share_of_time_that_is_not_idle,
                    "busy is the share of time that is not idle"),
        FIGURE_TEST(a_kind_of_time_that_is_not_counted_is_no_time,
                    "a kind of time that is not counted is not time"),
        FIGURE_TEST(idle_time_that_falls_does_not_spoil_the_figure,
                    "idle time that falls does not spoil the figure"),
        FIGURE_TEST(a_counter_that_was_reset_makes_the_figure_unknown,
                    "a counter that was reset makes the figure unknown"),
        FIGURE_TEST(rates_are_by_the_times_of_the_reads_themselves,
                    "C029: rates are by the times of the reads themselves"),
        FIGURE_TEST(a_thinned_table_keeps_its_older_rows, "a thinned table keeps its older rows"),
        FIGURE_TEST(a_mark_is_passed_over, "a mark is passed over"),
        FIGURE_TEST(the_recorded_group_gives_the_cpu_of_the_command,
                    "the recorded group gives the CPU of the command"),
        FIGURE_TEST(numbers_are_printed_for_people, "numbers are printed for people"),
        FIGURE_TEST(a_long_curve_keeps_its_peaks, "a long curve keeps its peaks"),
        FIGURE_TEST(a_short_last_interval_counts_for_its_time,
                    "means are of time: a short last interval counts for little"),
        FIGURE_TEST(the_summary_has_mean_peak_curve_and_own_cost,
                    "the summary has mean, peak, curve and own cost"),
        FIGURE_TEST(a_run_of_one_sample_has_no_rates, "a run of one sample has no rates"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
