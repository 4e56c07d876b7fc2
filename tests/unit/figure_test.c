/* The main figures of a run and the summary made of them. */
#include "json_text.h"

#include "derive/bucket_rows.h"
#include "derive/figure.h"
#include "report/summary.h"

#include <math.h>

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
PT_TABLE(mark, PT_TABLE_ROWS(EVENTS, "marks", NULL), "", MARK_COLUMNS, "mark");

#define CONTAINER_COLUMNS(X, t)                                                     \
    X(t, id, "cId", KEY, STRING, NONE, 0, "")                                       \
    X(t, recorded, "cIsRecorded", INFO, I64, NONE, 0, "", .role = PT_ROLE_RECORDED) \
    X(t, shared, "cIsShared", INFO, I64, NONE, 0, "")                               \
    X(t, cpu, "cCpuTime", COUNTER, I64, NANOSECONDS, 0, "")
PT_TABLE(container, PT_TABLE_FILE("containers", "containers"), "", CONTAINER_COLUMNS, "cgroup");

#define COLLECTOR_COLUMNS(X, t)                               \
    X(t, name, "colName", KEY, STRING, NONE, 0, "")           \
    X(t, cpu, "colCpuTime", COUNTER, I64, NANOSECONDS, 0, "") \
    X(t, rss, "colRss", GAUGE, I64, BYTES, 0, "")             \
    X(t, late, "colLateTicks", COUNTER, I64, COUNT, 0, "")    \
    X(t, dropped, "colDroppedTicks", COUNTER, I64, COUNT, 0, "")
PT_TABLE(collector, PT_TABLE_FILE("collectors", NULL), "", COLLECTOR_COLUMNS, "Pitot");

#define ENGINE_COLUMNS(X, t)                                              \
    X(t, finished, "requests_finished_total", COUNTER, F64, COUNT, 0, "") \
    X(t, ttft, "objective_ttft_s", GAUGE, F64, SECONDS, 0, "")            \
    X(t, inter_token, "objective_inter_token_s", GAUGE, F64, SECONDS, 0, "")
PT_TABLE(engine, PT_TABLE_MAIN("vllm"), "", ENGINE_COLUMNS, "scrape");

#define HISTOGRAM_COLUMNS(X, t)                   \
    X(t, name, "hName", KEY, STRING, NONE, 0, "") \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL), "", HISTOGRAM_COLUMNS,
         "scrape");

#define SPAN_COLUMNS(X, t)                        \
    X(t, name, "sName", KEY, STRING, NONE, 0, "") \
    X(t, duration, "sDuration", GAUGE, I64, NANOSECONDS, 0, "")
PT_TABLE(span, PT_TABLE_ROWS(EVENTS, "spans", NULL), "", SPAN_COLUMNS, "libpitot");

#define TOTALS_COLUMNS(X, t) X(t, rss, "pTreeResidentSetSize", GAUGE, I64, BYTES, 0, "")
PT_TABLE(process_totals, PT_TABLE_MAIN("processes"), "", TOTALS_COLUMNS, "stat");

#define PROCESS_COLUMNS(X, t)               \
    X(t, pid, "pId", KEY, I64, NONE, 0, "") \
    X(t, peak, "pPeakResidentSetSize", GAUGE, I64, BYTES, 0, "")
PT_TABLE(process, PT_TABLE_FILE("processes", NULL), "", PROCESS_COLUMNS, "status");

enum {
    CPU,
    DISK,
    MARK,
    CONTAINER,
    COLLECTOR,
    ENGINE,
    HISTOGRAM,
    SPAN,
    TOTALS,
    PROCESS,
    TABLE_COUNT
};
static const struct pt_table *const tables[] = { &cpu_table,
                                                 &disk_table,
                                                 &mark_table,
                                                 &container_table,
                                                 &collector_table,
                                                 &engine_table,
                                                 &engine_histogram_table,
                                                 &span_table,
                                                 &process_totals_table,
                                                 &process_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

struct fixture {
    struct pt_figure_stream stream;
    struct pt_figure_totals totals;
    struct pt_sample sample;
};

static int open_fixture(void **state) {
    struct fixture *f = pt_calloc(1, sizeof *f);
    pt_figure_stream_init(&f->stream, &schema);
    pt_sample_init(&f->sample, &schema);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    struct fixture *f = *state;
    pt_figure_stream_release(&f->stream);
    pt_figure_totals_release(&f->totals);
    pt_sample_release(&f->sample);
    pt_free(f);
    return 0;
}

static struct pt_batch *add(struct fixture *f, int table, int64_t time_ns) {
    struct pt_batch *b = &f->sample.batches[table];
    pt_batch_add_row(b);
    pt_set_time(b, 0, time_ns);
    if (time_ns > f->sample.mono_ns)
        f->sample.mono_ns = time_ns;
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
    bool has_rows = pt_figure_stream_add(&f->stream, &f->sample);
    if (has_rows)
        pt_figure_totals_add(&f->totals, &f->stream);
    pt_sample_clear(&f->sample);
    return has_rows;
}

static void check(const struct fixture *f, enum pt_figure_id id, double expected) {
    double value = f->stream.now[id].value;
    if (!(value >= expected - 1e-9 && value <= expected + 1e-9))
        fail_msg("%s is %.17g, expected %.17g", pt_figures[id].title, value, expected);
}

static void check_total(const struct fixture *f, enum pt_figure_id id, double expected) {
    double value = pt_figure_totals_value(&f->totals, id);
    if (!(fabs(value - expected) < 1e-9))
        fail_msg("%s of the run is %.17g, expected %.17g", pt_figures[id].title, value, expected);
}

static void busy_is_the_share_of_time_that_is_not_idle(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    next(f);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_CPU_BUSY));
    struct pt_batch *b = add(f, CPU, 2 * SECOND);
    pt_set_i64(b, cpu_user, 1030);
    pt_set_i64(b, cpu_idle, 5060);
    pt_set_i64(b, cpu_iowait, 110);
    next(f);
    check(f, PT_FIGURE_CPU_BUSY, 0.3);
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
    check(f, PT_FIGURE_CPU_BUSY, 0.2);
}

static void idle_time_that_falls_does_not_spoil_the_figure(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    next(f);
    add_cpu(f, 2 * SECOND, 1050, 5050, 99);
    next(f);
    check(f, PT_FIGURE_CPU_BUSY, 0.5);
}

static void a_counter_that_was_reset_makes_the_figure_unknown(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 1000, 5000, 100);
    add_disk(f, SECOND, 1 << 20);
    next(f);
    add_cpu(f, 2 * SECOND, 10, 5060, 110);
    add_disk(f, 2 * SECOND, 100);
    next(f);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_CPU_BUSY));
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_DISK_READ));
    add_cpu(f, 3 * SECOND, 20, 5090, 110); /* and counts on from there */
    add_disk(f, 3 * SECOND, 300);
    next(f);
    check(f, PT_FIGURE_CPU_BUSY, 0.25);
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
    add_disk(f, 2 * SECOND + SECOND / 4, 2000); /* not read again */
    next(f);
    check(f, PT_FIGURE_DISK_READ, 800);
}

static void a_thinned_table_keeps_its_older_rows(void **state) {
    struct fixture *f = *state;
    add_cpu(f, SECOND, 0, 0, 0);
    add_disk(f, SECOND, 1000);
    next(f);
    for (int i = 2; i <= 4; i++) {
        add_cpu(f, i * SECOND, i, 0, 0);
        next(f);
        assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_DISK_READ));
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
    check(f, PT_FIGURE_OWN_CPU, 1.5);
}

static void a_group_shared_with_others_gives_no_cpu_of_its_own(void **state) {
    struct fixture *f = *state;
    for (int64_t i = 1; i < 3; i++) {
        add_container(f, i * SECOND, "mine", true, i * SECOND);
        pt_set_i64(&f->sample.batches[CONTAINER], container_shared, 1);
        next(f);
    }
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_OWN_CPU));
    for (int64_t i = 3; i < 5; i++) {
        add_container(f, i * SECOND, "mine", true, i * SECOND);
        pt_set_i64(&f->sample.batches[CONTAINER], container_shared, 0);
        next(f);
    }
    check(f, PT_FIGURE_OWN_CPU, 1);
}

/* Objectives: 0.5 s and 0.05 s, which are bounds of buckets. */
static void scrape(struct fixture *f, int64_t time_ns, double finished) {
    struct pt_batch *b = add(f, ENGINE, time_ns);
    pt_set_f64(b, engine_finished, finished);
    pt_set_f64(b, engine_ttft, 0.5);
    pt_set_f64(b, engine_inter_token, 0.05);
}

static void grow(struct fixture *f, int64_t time_ns, const char *name, double above, double le,
                 int64_t count) {
    struct pt_batch *b = add(f, HISTOGRAM, time_ns);
    pt_set_str(b, engine_histogram_name, pt_str_from(name));
    pt_bucket_row_set(b, engine_histogram_above, above, le, count, 2);
}

/* 6 of 10 requests have their first token in time, and 90 of 100 tokens: 6 are good. Then all
 * requests, but 40 of 100 tokens: 4 of 10 are good. Then there are none. */
static void goodput_is_the_smaller_share_of_both_objectives(void **state) {
    struct fixture *f = *state;
    scrape(f, SECOND, 5);
    next(f);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_ENGINE_GOODPUT));
    scrape(f, 3 * SECOND, 15);
    grow(f, 3 * SECOND, "ttft", 0.25, 0.5, 6);
    grow(f, 3 * SECOND, "ttft", 0.5, 1, 4);
    grow(f, 3 * SECOND, "inter_token", 0.025, 0.05, 90);
    grow(f, 3 * SECOND, "inter_token", 0.05, INFINITY, 10);
    next(f);
    check(f, PT_FIGURE_ENGINE_GOODPUT, 3);
    scrape(f, 5 * SECOND, 25);
    grow(f, 5 * SECOND, "ttft", 0.1, 0.25, 10);
    grow(f, 5 * SECOND, "inter_token", 0.025, 0.05, 40);
    grow(f, 5 * SECOND, "inter_token", 0.05, 0.1, 60);
    next(f);
    check(f, PT_FIGURE_ENGINE_GOODPUT, 2);
    scrape(f, 7 * SECOND, 25);
    next(f);
    check(f, PT_FIGURE_ENGINE_GOODPUT, 0);
    check_total(f, PT_FIGURE_ENGINE_GOODPUT, 10.0 / 6);
}

/* Requests of one token have no time between tokens; an engine that never had one says nothing. */
static void goodput_needs_both_histograms(void **state) {
    struct fixture *f = *state;
    scrape(f, SECOND, 0);
    next(f);
    scrape(f, 3 * SECOND, 4);
    grow(f, 3 * SECOND, "ttft", 0.25, 0.5, 4);
    next(f);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_ENGINE_GOODPUT));
    scrape(f, 5 * SECOND, 4);
    grow(f, 5 * SECOND, "inter_token", 0.025, 0.05, 1);
    next(f);
    check(f, PT_FIGURE_ENGINE_GOODPUT, 0);
    scrape(f, 7 * SECOND, 8);
    grow(f, 7 * SECOND, "ttft", 0.25, 0.5, 4);
    next(f);
    check(f, PT_FIGURE_ENGINE_GOODPUT, 2);
}

static void goodput_needs_recorded_objectives(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        pt_set_f64(add(f, ENGINE, (1 + 2 * i) * SECOND), engine_finished, 10 * i);
        grow(f, (1 + 2 * i) * SECOND, "ttft", 0.25, 0.5, 10);
        grow(f, (1 + 2 * i) * SECOND, "inter_token", 0.025, 0.05, 10);
        next(f);
    }
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_ENGINE_GOODPUT));
}

static void add_span(struct fixture *f, const char *name, int64_t duration_ms) {
    struct pt_batch *b = add(f, SPAN, f->sample.mono_ns);
    pt_set_str(b, span_name, pt_str_from(name));
    pt_set_i64(b, span_duration, duration_ms * 1000000);
}

/* Two steps of 0.3 and 0.5 s. The data of the second were loaded in the sample before its end. */
static void waits_of_training_are_per_step(void **state) {
    struct fixture *f = *state;
    add_disk(f, SECOND, 0);
    add_span(f, "data_loading", 100);
    add_span(f, "train_step", 300);
    add_span(f, "total_step", 290); /* a part of it, not a step */
    add_span(f, "DataLoader.next", 200);
    next(f);
    check(f, PT_FIGURE_TRAIN_STEP_TIME, 0.3);
    check(f, PT_FIGURE_TRAIN_DATA_WAIT, 0.3);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_TRAIN_COLLECTIVE_WAIT));
    add_disk(f, 2 * SECOND, 0);
    add_span(f, "next_batch", 100);
    next(f);
    check(f, PT_FIGURE_TRAIN_STEP_TIME, 0.3); /* still */
    add_disk(f, 3 * SECOND, 0);
    add_span(f, "ncclAllReduce", 40);
    add_span(f, "Train Step", 500);
    next(f);
    check(f, PT_FIGURE_TRAIN_STEP_TIME, 0.5);
    check(f, PT_FIGURE_TRAIN_DATA_WAIT, 0.1);
    check(f, PT_FIGURE_TRAIN_COLLECTIVE_WAIT, 0.04);
    check_total(f, PT_FIGURE_TRAIN_STEP_TIME, 0.4);
    check_total(f, PT_FIGURE_TRAIN_DATA_WAIT, 0.2);
    add_disk(f, 7 * SECOND, 0); /* no step for more than three intervals */
    next(f);
    add_disk(f, 60 * SECOND, 0);
    next(f);
    assert_false(pt_figure_is_known(&f->stream, PT_FIGURE_TRAIN_STEP_TIME));
}

static void add_memory(struct fixture *f, int64_t time_ns, int64_t rss, int64_t peak) {
    pt_set_i64(add(f, TOTALS, time_ns), process_totals_rss, rss);
    struct pt_batch *b = add(f, PROCESS, time_ns);
    pt_set_i64(b, process_pid, 1);
    pt_set_i64(b, process_peak, peak);
}

/* An earlier mark is not a peak of the run; one that rises was reached just now. */
static void peak_memory_is_the_highest_over_any_time(void **state) {
    struct fixture *f = *state;
    add_memory(f, SECOND, 100, 900);
    next(f);
    check(f, PT_FIGURE_OWN_PEAK_MEMORY, 100);
    add_memory(f, 2 * SECOND, 400, 900);
    next(f);
    check_total(f, PT_FIGURE_OWN_PEAK_MEMORY, 400);
    add_memory(f, 3 * SECOND, 200, 950);
    next(f);
    check(f, PT_FIGURE_OWN_PEAK_MEMORY, 950);
    add_memory(f, 4 * SECOND, 100, 950);
    next(f);
    check(f, PT_FIGURE_OWN_PEAK_MEMORY, 100);
    check_total(f, PT_FIGURE_OWN_PEAK_MEMORY, 950);
    check_total(f, PT_FIGURE_OWN_RSS, (400.0 + 200 + 100 + 100 * 1e-9) / (3 + 1e-9));
}

static void check_print(enum pt_form form, double value, const char *expected) {
    char text[32];
    pt_form_print(form, value, text, sizeof text);
    assert_string_equal(text, expected);
}

static void numbers_are_printed_for_people(void **state) {
    (void)state;
    check_print(PT_FORM_SHARE, 0.97251, "97.3 %");
    check_print(PT_FORM_CORES, 1.5, "1.50 cores");
    check_print(PT_FORM_SECONDS, 0.0451, "45.1 ms");
    check_print(PT_FORM_SECONDS, 1.5, "1.50 s");
    check_print(PT_FORM_PER_S, 12.34, "12.3 /s");
    check_print(PT_FORM_WATTS, 350, "350.0 W");
    check_print(PT_FORM_BYTES, NAN, "-");
    check_print(PT_FORM_SHARE, 0, "0.0 %");
    check_print(PT_FORM_SHARE, 0.6625, "66.3 %"); /* as a browser rounds it */
    check_print(PT_FORM_NUMBER, 1.005, "1.00");
    check_print(PT_FORM_BYTES, 0, "0 B");
    check_print(PT_FORM_BYTES, 1023, "1023 B");
    check_print(PT_FORM_BYTES, 1024, "1.0 KiB");
    check_print(PT_FORM_BYTES, 1048575, "1.0 MiB");
    check_print(PT_FORM_BYTES, 10 * 1048576 - 1, "10 MiB");
    check_print(PT_FORM_BYTES, 2.4 * 1073741824, "2.4 GiB");
    check_print(PT_FORM_BYTES, 5e15, "4547 TiB");
    check_print(PT_FORM_BYTES_PER_S, 31.4 * 1048576, "31 MiB/s");
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
    assert_in_range(s->point_count, PT_SUMMARY_POINTS / 2, PT_SUMMARY_POINTS);
    assert_true(s->point_count * s->samples_per_point >= 10000);
    assert_true((s->point_count - 1) * s->samples_per_point < 10000);
    assert_true(highest(s, PT_FIGURE_DISK_READ) == 1000000);
    assert_true(s->points[PT_FIGURE_DISK_READ][4321 / s->samples_per_point] == 1000000);
    assert_true(s->totals.sums[PT_FIGURE_DISK_READ].peak == 1000000);
    assert_true(s->totals.sums[PT_FIGURE_DISK_READ].sum == 9998 * 10 + 1000000);
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
    s->cost = (struct pt_own_cost){ .cpu_ns = SECOND / 50,
                                    .peak_bytes = 5 << 20,
                                    .elapsed_ns = 2 * SECOND };
    char *text = printed(s, true);
    assert_non_null(strstr(text, "Disk read             1.5 MiB/s  2.0 MiB/s   ▄█\n"));
    assert_non_null(strstr(text, "Pitot used 20.0 ms of CPU time (1.00 % of one CPU), 5.0 MiB; "
                                 "2 late ticks were skipped\n"));
    assert_null(strstr(text, "Memory"));
    pt_free(text);
    s->cost.elapsed_ns = 1000 * SECOND;
    text = printed(s, false);
    assert_non_null(strstr(text, "(< 0.01 % of one CPU)"));
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
        FIGURE_TEST(a_group_shared_with_others_gives_no_cpu_of_its_own,
                    "C327: a cgroup shared with others gives no CPU of its own"),
        FIGURE_TEST(goodput_is_the_smaller_share_of_both_objectives,
                    "goodput is the smaller share of both objectives"),
        FIGURE_TEST(goodput_needs_both_histograms, "goodput needs both histograms"),
        FIGURE_TEST(goodput_needs_recorded_objectives, "goodput needs recorded objectives"),
        FIGURE_TEST(waits_of_training_are_per_step, "waits of training are per step"),
        FIGURE_TEST(peak_memory_is_the_highest_over_any_time,
                    "peak memory is the highest over any time"),
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
