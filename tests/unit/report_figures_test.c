/* The figures of a report: of one run, and of the ranks of a merged one. */
#include "json_text.h"

#include "derive/bucket_rows.h"
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

#define HISTOGRAM_COLUMNS(X, t)                   \
    X(t, url, "eUrl", KEY, STRING, NONE, 0, "")   \
    X(t, name, "hName", KEY, STRING, NONE, 0, "") \
    PT_BUCKET_COLUMNS(X, t, SECONDS)
PT_TABLE(engine_histogram, PT_TABLE_ROWS(EVENTS, "engine_histograms", NULL), "", HISTOGRAM_COLUMNS,
         "scrape");

#define GPU_COLUMNS(X, t)                                       \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "")             \
    X(t, energy, "gEnergyMj", COUNTER, I64, MILLIJOULES, 0, "") \
    X(t, power, "gPowerDrawW", GAUGE, F64, WATTS, 0, "")
PT_TABLE(gpu, PT_TABLE_FILE("gpus", "gpu"), "", GPU_COLUMNS, "nvml");

enum { MEM, DISK, TOTALS, HISTOGRAM, GPU, TABLE_COUNT };
static const struct pt_table *const tables[] = { &mem_table, &disk_table, &process_totals_table,
                                                 &engine_histogram_table, &gpu_table };
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

static void begin_slots(struct fixture *f, const struct pt_ranks *ranks, uint32_t samples,
                        int64_t length_ns, uint32_t slots) {
    *f = (struct fixture){ .time_ns = SECOND };
    if (ranks) {
        f->ranks = *ranks;
        const struct pt_schema *const schemas[] = { &schema };
        assert_int_equal(pt_rank_schema_make(&f->merged, schemas, 1, NULL), 0);
    }
    const struct pt_schema *all = ranks ? &f->merged : &schema;
    pt_curve_axis_init(&f->axis, SECOND, SECOND + length_ns, samples, slots);
    pt_report_figures_init(&f->figures, all, &f->axis, &no_basis, &f->ranks);
    pt_sample_init(&f->sample, all);
}

static void begin(struct fixture *f, const struct pt_ranks *ranks, uint32_t samples) {
    begin_slots(f, ranks, samples, samples * SECOND, samples);
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
    pt_report_figures_add(&f->figures, &f->sample, pt_curve_axis_at(&f->axis, f->next, f->time_ns));
    f->next++;
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
    assert_true(is_near(peak_of(&f, "Memory used"), 4000 * (double)MB));
    assert_true(is_near(peak_of(&f, "Command: memory"), 300 * (double)MB));
    assert_true(is_near(peak_of(&f, "Disk read"), 40 * (double)MB));
    /* 400 MB from the first read of the first to the last of the last */
    assert_true(is_near(mean_of(&f, "Disk read"), 400 * (double)MB / 10.2));
    /* from 1.0, 1.1 and 1.2 s on: 11.7 s of a fifth */
    assert_true(is_near(mean_of(&f, "Command: CPU"), 11.7 / 5 / 10.2));
    assert_true(is_near(mean_of(&f, "Memory used"), 4000 * (double)MB));
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
    assert_true(peak_of(&f, "Command: memory") <= 350 * (double)MB);
    const struct pt_report_figure *rss = figure_of(&f, "Command: memory");
    assert_true(is_near(rss->sums[f.next - 1] / rss->weights[f.next - 1], 250 * (double)MB));
    end(&f);
}

static void put_bucket(struct fixture *f, double above, double le, int64_t count) {
    struct pt_batch *b = &f->sample.batches[HISTOGRAM];
    put_row(f, HISTOGRAM, NULL);
    pt_set_str(b, engine_histogram_url, PT_STR("http://engine"));
    pt_set_str(b, engine_histogram_name, PT_STR("ttft"));
    pt_bucket_row_set(b, engine_histogram_above, above, le, count, 1);
}

/* 90 requests of up to 0.1 s in the second slot, 10 of one to two seconds in the fourth. */
static void quantiles_count_for_what_was_seen(void **state) {
    (void)state;
    struct fixture f;
    begin(&f, NULL, 4);
    for (int i = 0; i < 4; i++) {
        f.time_ns = (i + 1) * SECOND;
        if (i == 1)
            put_bucket(&f, 0, 0.1, 90);
        if (i == 3)
            put_bucket(&f, 1, 2, 10);
        put_machine(&f, NULL, MB, 0, MB);
        take(&f);
    }
    pt_report_figures_end(&f.figures);
    const struct pt_report_figure *p99 = figure_of(&f, "First token, p99");
    const double drawn[] = { NAN, 0.099, NAN, 1.99 };
    for (uint32_t i = 0; i < 4; i++) {
        double value = p99->curve.values[2 * i];
        assert_true(isnan(drawn[i]) ? isnan(value) : fabs(value - drawn[i]) < 1e-9);
    }
    const struct pt_report_latency *ttft = &f.figures.latencies[PT_LATENCY_TTFT];
    double counts[2][4] = { { 0, 90, 0, 0 }, { 0, 0, 0, 10 } };
    size_t seen = 0;
    for (size_t b = 0; b < ttft->count; b++) {
        double total = 0;
        for (uint32_t i = 0; i < 4; i++)
            total += ttft->buckets[b].counts[i];
        if (total == 0)
            continue;
        assert_true(ttft->buckets[b].le == (seen == 0 ? 0.1 : 2));
        for (uint32_t i = 0; i < 4; i++)
            assert_true(ttft->buckets[b].counts[i] == counts[seen][i]);
        seen++;
    }
    assert_int_equal(seen, 2);
    end(&f);
}

#define MS          (SECOND / 1000)
#define GPUS        8
#define TICKS       500 /* of 20 ms */

#define LEAST_WATTS (GPUS * 150.0)
#define MOST_WATTS  (GPUS * 240.0)

/* Power of a GPU at a time. */
static double gpu_watts(int gpu, int64_t time_ns) {
    return 195 + 45 * sin((double)time_ns / 1e9 * 2 + 0.1 * gpu);
}

static double gpu_joules(int gpu, int64_t time_ns) {
    return 195 * (double)time_ns / 1e9 - 22.5 * cos((double)time_ns / 1e9 * 2 + 0.1 * gpu);
}

/* GPUs are read one after the other every 100 ms, by a thread of their own; their counters are
 * updated every `update_ns`. A sample shows the last readings. */
static void put_gpus(struct fixture *f, bool has_counter, int64_t update_ns, bool has_power) {
    for (int gpu = 0; gpu < GPUS; gpu++) {
        struct pt_batch *b = &f->sample.batches[GPU];
        int64_t late_ns = (gpu + 1) * 7 * MS;
        int64_t read_ns = (f->time_ns - late_ns) / (100 * MS) * (100 * MS) + late_ns;
        int64_t updated_ns = read_ns / update_ns * update_ns;
        pt_batch_add_row(b);
        pt_set_time(b, 0, read_ns);
        pt_set_i64(b, gpu_index, gpu);
        if (has_counter)
            pt_set_i64(b, gpu_energy, (int64_t)(gpu_joules(gpu, updated_ns) * 1000));
        if (has_power)
            pt_set_f64(b, gpu_power, gpu_watts(gpu, read_ns));
    }
}

/* Of the models of processor and memory: constant, because their use is unknown. */
static double modelled_watts(const struct pt_energy_report *report) {
    double joules = 0;
    for (size_t i = 0; i < report->source_count; i++)
        joules += report->sources[i].from < 0 ? report->sources[i].joules.value : 0;
    return joules / report->seconds;
}

static void check_power(bool has_counter, int64_t update_ns, bool has_power, uint32_t slots) {
    struct fixture f;
    struct pt_energy_report report;
    double sum = 0, seconds = 0;
    begin_slots(&f, NULL, TICKS, (TICKS - 1) * 20 * MS, slots);
    assert_true(f.axis.is_whole == (slots == TICKS));
    for (int i = 0; i < TICKS; i++) {
        f.time_ns = SECOND + i * 20 * MS;
        put_machine(&f, NULL, MB, 0, MB);
        put_gpus(&f, has_counter, update_ns, has_power);
        take(&f);
    }
    pt_report_figures_end(&f.figures);
    pt_energy_report_make(&report, pt_report_figures_meter(&f.figures), &no_basis);
    const struct pt_report_figure *power = figure_of(&f, "Power");
    struct pt_curve_range drawn = pt_curve_range_of(&power->curve);
    /* counters are whole millijoules */
    assert_true(drawn.low >= LEAST_WATTS + modelled_watts(&report) - 0.5);
    assert_true(drawn.high <= MOST_WATTS + modelled_watts(&report) + 0.5);
    for (uint32_t i = 0; i < f.axis.count; i++) {
        sum += power->sums[i];
        seconds += power->weights[i];
    }
    assert_true(is_near(sum, report.figures[PT_ENERGY_TOTAL].value));
    assert_true(is_near(seconds, report.seconds));
    pt_energy_report_release(&report);
    end(&f);
}

static void power_stays_within_its_sources(void **state) {
    (void)state;
    const uint32_t slots[] = { TICKS, 50 };
    for (size_t i = 0; i < PT_COUNT(slots); i++) {
        check_power(true, 1, false, slots[i]);
        check_power(true, 1, true, slots[i]);
        check_power(false, 1, true, slots[i]);
        check_power(true, 170 * MS, true, slots[i]); /* some readings see no growth */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_machine_counts_once_and_ranks_are_added,
                "in a merged report a machine counts once, and ranks are added"),
        PT_TEST(a_rank_that_has_ended_is_not_counted_on, "a rank that has ended is not counted on"),
        PT_TEST(quantiles_count_for_what_was_seen,
                "quantiles of the engine count for the requests they are of"),
        PT_TEST(power_stays_within_its_sources,
                "power over time stays within that of the GPUs, and adds up to the energy"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
