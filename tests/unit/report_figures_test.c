/* The figures of a report: of one run, and of the ranks of a merged one. */
#include "json_text.h"

#include "report/figures.h"

#include <math.h>

#define SECOND            INT64_C(1000000000)
#define MB                INT64_C(1048576)

#define MEM_COLUMNS(X, t) X(t, used, "vMemoryUsed", GAUGE, I64, BYTES, 0, "")
PT_TABLE(mem, PT_TABLE_MAIN("mem"), "", MEM_COLUMNS, "meminfo");

#define DISK_COLUMNS(X, t) X(t, read, "vDiskReadBytes", COUNTER, I64, BYTES, 0, "")
PT_TABLE(disk, PT_TABLE_MAIN("disk"), "", DISK_COLUMNS, "diskstats");

#define TOTALS_COLUMNS(X, t)                                    \
    X(t, rss, "pTreeResidentSetSize", GAUGE, I64, BYTES, 0, "") \
    X(t, cpu, "pTreeCpuTime", COUNTER, I64, NANOSECONDS, 0, "")
PT_TABLE(process_totals, PT_TABLE_MAIN("process"), "", TOTALS_COLUMNS, "proc");

#define ENGINE_COLUMNS(X, t)                                            \
    X(t, tokens, "tokens_generation_total", COUNTER, F64, COUNT, 0, "") \
    X(t, count, "latency_ttft_s_count", COUNTER, F64, COUNT, 0, "")     \
    X(t, p50, "latency_ttft_s_p50", GAUGE, F64, SECONDS, 0, "")         \
    X(t, p90, "latency_ttft_s_p90", GAUGE, F64, SECONDS, 0, "")         \
    X(t, p95, "latency_ttft_s_p95", GAUGE, F64, SECONDS, 0, "")         \
    X(t, p99, "latency_ttft_s_p99", GAUGE, F64, SECONDS, 0, "")
PT_TABLE(engine, PT_TABLE_MAIN("engine"), "", ENGINE_COLUMNS, "scrape");

enum { MEM, DISK, TOTALS, ENGINE, TABLE_COUNT };
static const struct pt_table *const tables[] = { &mem_table, &disk_table, &process_totals_table,
                                                 &engine_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };

static const struct pt_energy_basis no_basis;

/* Figures of N samples, each a time slot of its own. */
struct fixture {
    struct pt_ranks ranks;
    struct pt_schema merged;
    struct pt_curve_axis axis;
    struct pt_report_figures figures;
    struct pt_sample sample;
    int64_t time_ns;
    uint32_t next;
};

static void begin(struct fixture *f, const struct pt_ranks *ranks, uint32_t samples) {
    *f = (struct fixture){ .time_ns = SECOND };
    if (ranks) {
        f->ranks = *ranks;
        const struct pt_schema *const schemas[] = { &schema };
        assert_int_equal(pt_rank_schema_make(&f->merged, schemas, 1, NULL), 0);
    }
    const struct pt_schema *all = ranks ? &f->merged : &schema;
    pt_curve_axis_init(&f->axis, SECOND, (samples + 1) * SECOND, samples, samples);
    pt_report_figures_init(&f->figures, all, &f->axis, &no_basis, &f->ranks);
    pt_sample_init(&f->sample, all);
}

static void end(struct fixture *f) {
    pt_sample_release(&f->sample);
    pt_report_figures_release(&f->figures);
    if (f->ranks.count > 0)
        pt_rank_schema_release(&f->merged);
}

/* A row of a table with the label of its rank in front, if there are ranks; its first column. */
static int put_row(struct fixture *f, int table, const char *rank) {
    struct pt_batch *b = &f->sample.batches[table];
    pt_batch_add_row(b);
    pt_set_time(b, 0, f->time_ns);
    if (!rank)
        return 0;
    pt_set_str(b, 0, pt_str_from(rank));
    return 1;
}

static void put_machine(struct fixture *f, const char *rank, int64_t used, int64_t read,
                        int64_t rss) {
    int first = put_row(f, MEM, rank);
    pt_set_i64(&f->sample.batches[MEM], first + mem_used, used);
    first = put_row(f, DISK, rank);
    pt_set_i64(&f->sample.batches[DISK], first + disk_read, read);
    first = put_row(f, TOTALS, rank);
    pt_set_i64(&f->sample.batches[TOTALS], first + process_totals_rss, rss);
    /* a fifth of a CPU until the fifth second, and nothing then */
    int64_t cpu_ns = (f->time_ns < 5 * SECOND ? f->time_ns : 5 * SECOND) / 5;
    pt_set_i64(&f->sample.batches[TOTALS], first + process_totals_cpu, cpu_ns);
}

static void take(struct fixture *f) {
    f->sample.mono_ns = f->time_ns;
    pt_report_figures_add(&f->figures, &f->sample, f->next++);
    pt_sample_clear(&f->sample);
}

/* The figure with that label; the JSON lists those that are known, in their order. */
static const struct pt_report_figure *figure_of(struct fixture *f, const char *label) {
    struct pt_out out;
    struct pt_json j = { .out = &out };
    struct pt_blob blob = { 0 };
    const struct pt_report_figure *figure = f->figures.list, *found = NULL;
    memory_open(&out);
    pt_json_object(&j, NULL);
    pt_report_figures_write(&f->figures, &j, &blob);
    pt_json_end(&j);
    char *text = memory_text(&out);
    json_t *root = parsed(text);
    for (size_t i = 0; i < json_array_size(at(root, "figures")); i++, figure++) {
        while (!figure->is_known)
            figure++;
        json_t *one = json_array_get(at(root, "figures"), i);
        if (strcmp(json_string_value(at(one, "label")), label) == 0)
            found = figure;
    }
    json_decref(root);
    pt_free(text);
    pt_blob_release(&blob);
    if (!found)
        fail_msg("there is no figure %s", label);
    return found;
}

static double mean_of(struct fixture *f, const char *label) {
    const struct pt_report_figure *figure = figure_of(f, label);
    double sum = 0, weight = 0;
    for (uint32_t i = 0; i < f->axis.count; i++) {
        sum += figure->sums[i];
        weight += figure->weights[i];
    }
    return sum / weight;
}

static double peak_of(struct fixture *f, const char *label) {
    return pt_curve_range_of(&figure_of(f, label)->curve).high;
}

static bool is_near(double a, double b) {
    return fabs(a - b) <= 1e-6 * fabs(b);
}

static char zero[] = "0", one[] = "1", two[] = "2", boot_a[] = "boot a", boot_b[] = "boot b";

/* Ranks 0 and 1 share a machine that reads 10 MB/s, that of rank 2 reads 30; each has 100 MB. */
static void a_machine_counts_once_and_ranks_are_added(void **state) {
    (void)state;
    char *labels[] = { zero, one, two }, *machines[] = { boot_a, boot_a, boot_b };
    const struct pt_ranks ranks = { .labels = labels, .machines = machines, .count = 3 };
    struct fixture f;
    begin(&f, &ranks, 33);
    for (int i = 0; i < 11; i++)
        for (int rank = 0; rank < 3; rank++) {
            f.time_ns = (i + 1) * SECOND + rank * SECOND / 10;
            put_machine(&f, labels[rank], (rank < 2 ? 1000 : 3000) * MB,
                        i * (rank < 2 ? 10 : 30) * MB, 100 * MB);
            take(&f);
        }
    pt_report_figures_end(&f.figures);
    assert_true(is_near(peak_of(&f, "Memory"), 4000 * (double)MB));
    assert_true(is_near(peak_of(&f, "Recorded tree: RSS"), 300 * (double)MB));
    assert_true(is_near(peak_of(&f, "Disk read"), 40 * (double)MB));
    /* 400 MB from the first read of the first to the last of the last */
    assert_true(is_near(mean_of(&f, "Disk read"), 400 * (double)MB / 10.2));
    /* from 1.0, 1.1 and 1.2 s on: 11.7 s of a fifth */
    assert_true(is_near(mean_of(&f, "Recorded tree: CPU"), 11.7 / 5 / 10.2));
    assert_true(is_near(mean_of(&f, "Memory"), 4000 * (double)MB));
    end(&f);
}

/* Rank 1 goes on alone: what rank 0 had is no longer there. */
static void a_rank_that_has_ended_is_not_counted_on(void **state) {
    (void)state;
    char *labels[] = { zero, one }, *machines[] = { boot_a, boot_b };
    const struct pt_ranks ranks = { .labels = labels, .machines = machines, .count = 2 };
    struct fixture f;
    begin(&f, &ranks, 40);
    for (int i = 0; i < 20; i++)
        for (int rank = i < 10 ? 0 : 1; rank < 2; rank++) {
            f.time_ns = (i + 1) * SECOND + rank;
            put_machine(&f, labels[rank], 1000 * MB, 0, i < 10 ? 100 * MB : 250 * MB);
            take(&f);
        }
    assert_true(peak_of(&f, "Recorded tree: RSS") <= 350 * (double)MB);
    const struct pt_report_figure *rss = figure_of(&f, "Recorded tree: RSS");
    assert_true(is_near(rss->sums[f.next - 1] / rss->weights[f.next - 1], 250 * (double)MB));
    end(&f);
}

static void put_engine(struct fixture *f, double count, double seconds) {
    struct pt_batch *b = &f->sample.batches[ENGINE];
    put_row(f, ENGINE, NULL);
    pt_set_f64(b, engine_tokens, count * 10);
    pt_set_f64(b, engine_count, count);
    for (int c = engine_p50; c <= engine_p99; c++)
        pt_set_f64(b, c, seconds);
}

/* 90 requests of 0.1 s in one second, 10 of 2 s in three: a request counts, not a second. */
static void quantiles_count_for_what_was_seen(void **state) {
    (void)state;
    static const struct {
        double count, seconds;
        int64_t read_ns; /* a scrape that is seen again has the time it had */
    } scrapes[] = { { 7, 0.5, 1 }, { 97, 0.1, 2 }, { 97, 0.1, 2 }, { 107, 2, 5 } };
    struct fixture f;
    begin(&f, NULL, 4);
    for (size_t i = 0; i < PT_COUNT(scrapes); i++) {
        f.time_ns = scrapes[i].read_ns * SECOND;
        put_engine(&f, scrapes[i].count, scrapes[i].seconds);
        f.time_ns = (int64_t)(i + 1) * SECOND;
        put_machine(&f, NULL, MB, 0, MB);
        take(&f);
    }
    const struct pt_report_figure *p99 = figure_of(&f, "First token, p99");
    const double weights[] = { 0, 90, 0, 10 };
    for (uint32_t i = 0; i < 4; i++)
        assert_true(p99->weights[i] == weights[i]);
    assert_true(is_near(p99->sums[3] / p99->weights[3], 2));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_machine_counts_once_and_ranks_are_added,
                "in a merged report a machine counts once, and ranks are added"),
        PT_TEST(a_rank_that_has_ended_is_not_counted_on, "a rank that has ended is not counted on"),
        PT_TEST(quantiles_count_for_what_was_seen,
                "quantiles of the engine count for the requests they are of"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
