/* Energy, carbon and cost: every expected number here was computed by hand. */
#include "json_text.h"

#include "analyze/carbon.h"
#include "analyze/run_energy.h"
#include "analyze/power_model.h"
#include "base/clock.h"
#include "collect/collector.h"
#include "source/kernel/rapl.h"
#include "report/energy_text.h"

#include <math.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#define SECOND PT_NS_PER_SECOND
#define RANGE  UINT64_C(262143328850)

static void assert_near(double actual, double expected) {
    double error = actual - expected;
    if (!(error <= 1e-9 * expected + 1e-12 && -error <= 1e-9 * expected + 1e-12))
        fail_msg("%.17g is not %.17g", actual, expected);
}

static void assert_estimate(const struct pt_estimate *e, double low, double value, double high,
                            enum pt_provenance provenance) {
    assert_string_equal(pt_provenance_name(e->provenance), pt_provenance_name(provenance));
    assert_near(e->value, value);
    assert_near(e->low, low);
    assert_near(e->high, high);
}

/* RAPL */

static void a_counter_goes_on_behind_its_range(void **state) {
    (void)state;
    struct pt_rapl_counter c = { .range_uj = RANGE };
    assert_int_equal(pt_rapl_counter_see(&c, RANGE - 1000000, SECOND), RANGE - 1000000);
    assert_int_equal(pt_rapl_counter_see(&c, 500000, 2 * SECOND), RANGE + 500000);
    assert_int_equal(pt_rapl_counter_see(&c, 700000, 3 * SECOND), RANGE + 700000);
    assert_int_equal(pt_rapl_counter_see(&c, 0, 300 * SECOND), 2 * RANGE);
}

static void a_counter_that_was_reset_falls(void **state) {
    (void)state;
    struct pt_rapl_counter c = { .range_uj = RANGE };
    pt_rapl_counter_see(&c, 5000000, SECOND);
    /* a turn would have been 262 kW */
    assert_int_equal(pt_rapl_counter_see(&c, 1000000, 2 * SECOND), 1000000);
    assert_int_equal(pt_rapl_counter_see(&c, 3000000, 3 * SECOND), 3000000);

    struct pt_rapl_counter unknown = { 0 };
    pt_rapl_counter_see(&unknown, 5000000, SECOND);
    assert_int_equal(pt_rapl_counter_see(&unknown, 4000000, 100 * SECOND), 4000000);

    struct pt_rapl_counter odd = { .range_uj = 10 }; /* larger than its own range */
    pt_rapl_counter_see(&odd, 5000000, SECOND);
    assert_int_equal(pt_rapl_counter_see(&odd, 4000000, 100 * SECOND), 4000000);
}

static void zone_names_are_told_apart(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_zone;
        int zone, part;
    } cases[] = {
        { "intel-rapl:0", true, 0, -1 },
        { "intel-rapl:12:3", true, 12, 3 },
        { "intel-rapl", false, 0, 0 },
        { "intel-rapl-mmio:0", false, 0, 0 },
        { "intel-rapl:", false, 0, 0 },
        { "intel-rapl:0:", false, 0, 0 },
        { "intel-rapl:0:1:2", false, 0, 0 },
        { "intel-rapl:x", false, 0, 0 },
        { "intel-rapl: 1", false, 0, 0 },
        { "dtpm:0", false, 0, 0 },
        { "intel-rapl:99999999999999999999", false, 0, 0 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        int zone = -2, part = -2;
        assert_int_equal(pt_rapl_zone_parse(pt_str_from(cases[i].name), &zone, &part),
                         cases[i].is_zone);
        if (cases[i].is_zone) {
            assert_int_equal(zone, cases[i].zone);
            assert_int_equal(part, cases[i].part);
        }
    }
}

/* A sysfs of our own. */
struct tree {
    char path[64];
    struct pt_fs fs;
};

static void put(const struct tree *t, const char *zone, const char *file, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "class/powercap/%s", zone);
    (void)mkdirat(t->fs.sys, "class", 0755);
    (void)mkdirat(t->fs.sys, "class/powercap", 0755);
    (void)mkdirat(t->fs.sys, path, 0755);
    snprintf(path, sizeof path, "class/powercap/%s/%s", zone, file);
    int fd = openat(t->fs.sys, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void open_tree(struct tree *t) {
    struct pt_err err;
    snprintf(t->path, sizeof t->path, "/tmp/pitot-energy-XXXXXX");
    assert_non_null(mkdtemp(t->path));
    assert_int_equal(pt_fs_open(&t->fs, t->path, t->path, t->path, &err), 0);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static void close_tree(struct tree *t) {
    pt_fs_close(&t->fs);
    nftw(t->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void two_sockets(const struct tree *t) {
    put(t, "intel-rapl:1", "name", "package-1\n");
    put(t, "intel-rapl:1", "energy_uj", "2000000\n");
    put(t, "intel-rapl:1:0", "name", "dram\n");
    put(t, "intel-rapl:1:0", "energy_uj", "20\n");
    put(t, "intel-rapl:0", "name", "package-0\n");
    put(t, "intel-rapl:0", "energy_uj", "1000000\n");
    put(t, "intel-rapl:0", "max_energy_range_uj", "262143328850\n");
    put(t, "intel-rapl:0:0", "name", "core\n"); /* its counter cannot be read */
    put(t, "intel-rapl:2", "name", "psys\n");
    put(t, "intel-rapl:2", "energy_uj", "garbage\n");
    put(t, "intel-rapl-mmio:0", "name", "package-0\n");
    put(t, "intel-rapl-mmio:0", "energy_uj", "7\n");
}

static void zones_are_named_after_their_package(void **state) {
    (void)state;
    static const struct {
        const char *domain;
        int status;
        uint64_t total_uj;
    } expected[] = {
        { "package-0", 0, 1000000 }, { "core-0", -ENOENT, 0 }, { "package-1", 0, 2000000 },
        { "dram-1", 0, 20 },         { "psys", -EINVAL, 0 },
    };
    struct tree t;
    struct pt_rapl r;
    open_tree(&t);
    two_sockets(&t);
    assert_int_equal(pt_rapl_open(&r, &t.fs), 0);
    assert_int_equal(r.zone_count, PT_COUNT(expected));
    for (size_t i = 0; i < r.zone_count; i++) {
        assert_string_equal(r.zones[i].domain, expected[i].domain);
        assert_int_equal(pt_rapl_read(&r, &r.zones[i], &t.fs, SECOND), expected[i].status);
        assert_int_equal(r.zones[i].status, expected[i].status);
        assert_int_equal(r.zones[i].counter.total_uj, expected[i].total_uj);
    }
    pt_rapl_close(&r);
    close_tree(&t);
}

static struct pt_batch collected(const struct pt_collector *c, void *memory, const struct tree *t,
                                 int64_t interval_ns) {
    struct pt_context context = { .fs = &t->fs, .interval_ns = interval_ns };
    struct pt_batch rows;
    struct pt_err err;
    pt_batch_init(&rows, c->tables[0]);
    assert_int_equal(c->open(memory, &context, &err), 0);
    assert_int_equal(c->collect(memory, &context, &rows), 0);
    return rows;
}

extern const struct pt_collector pt_energy_collector; /* collect/energy.c */

static void the_collector_says_why_a_value_is_missing(void **state) {
    (void)state;
    struct tree t;
    open_tree(&t);
    two_sockets(&t);
    const struct pt_collector *c = &pt_energy_collector;
    void *memory = pt_calloc(1, c->state_size);
    /* the long interval starts the thread that reads in between */
    struct pt_batch rows = collected(c, memory, &t, 120 * SECOND);
    int domain = pt_table_find(rows.table, "eDomain"),
        energy = pt_table_find(rows.table, "eEnergyUj");
    int problem = pt_table_find(rows.table, "eProblem");
    assert_int_equal(rows.row_count, 5);
    assert_str_eq(pt_get_str(&rows, 0, domain), "package-0");
    assert_int_equal(pt_get_i64(&rows, 0, energy), 1000000);
    assert_true(pt_is_null(&rows, 0, problem));
    assert_true(pt_get_time(&rows, 0, 0) > 0);
    assert_true(pt_is_null(&rows, 1, energy));
    assert_str_eq(pt_get_str(&rows, 1, problem), "No such file or directory");
    pt_batch_release(&rows);
    c->close(memory);
    pt_free(memory);
    close_tree(&t);
}

static void a_machine_without_counters_has_no_table(void **state) {
    (void)state;
    struct tree t;
    struct pt_err err;
    open_tree(&t);
    struct pt_context context = { .fs = &t.fs, .interval_ns = SECOND };
    const struct pt_collector *c = &pt_energy_collector;
    void *memory = pt_calloc(1, c->state_size);
    assert_int_equal(c->open(memory, &context, &err), -ENODATA);
    c->close(memory);
    put(&t, "intel-rapl", "enabled", "1\n");
    assert_int_equal(c->open(memory, &context, &err), -ENODATA);
    c->close(memory);
    pt_free(memory);
    close_tree(&t);
}

/* Runs made by hand: tables with the columns that count, a function per reading. */

#define ENERGY_COLUMNS(X, t)                                    \
    X(t, domain, "eDomain", KEY, STRING, NONE, 0, "")           \
    X(t, energy, "eEnergyUj", COUNTER, I64, MICROJOULES, 0, "") \
    X(t, problem, "eProblem", INFO, STRING, NONE, 0, "")
PT_TABLE(energy, PT_TABLE_FILE("energy", "energy"), "", ENERGY_COLUMNS, "test");

#define GPU_COLUMNS(X, t)                                \
    X(t, index, "gIndex", KEY, I64, NONE, 0, "")         \
    X(t, energy, "gEnergyMj", COUNTER, I64, NONE, 0, "") \
    X(t, power, "gPowerDrawW", GAUGE, F64, WATTS, 0, "")
PT_TABLE(gpu, PT_TABLE_FILE("gpus", "nvidia"), "", GPU_COLUMNS, "test");

#define ENGINE_COLUMNS(X, t)                                               \
    X(t, running, "system_requests_running", GAUGE, F64, COUNT, 0, "")     \
    X(t, requests, "requests_finished_total", COUNTER, F64, COUNT, 0, "")  \
    X(t, prompt, "tokens_prompt_total", COUNTER, F64, COUNT, 0, "")        \
    X(t, generated, "tokens_generation_total", COUNTER, F64, COUNT, 0, "") \
    X(t, prefill, "latency_prefill_s_sum", COUNTER, F64, SECONDS, 0, "")   \
    X(t, decode, "latency_decode_s_sum", COUNTER, F64, SECONDS, 0, "")
PT_TABLE(engine, PT_TABLE_MAIN("vllm"), "", ENGINE_COLUMNS, "test");

static const struct pt_table *const tables[] = { &energy_table, &gpu_table, &engine_table };
static const struct pt_schema schema = { tables, PT_COUNT(tables) };

struct run {
    struct pt_energy_meter meter;
    struct pt_sample sample;
    struct pt_figure_stream figures;
    double cpu_busy, own_cpu; /* NAN: unknown */
    struct pt_energy_basis basis;
    struct pt_energy_report report;
};

static void begin(struct run *r) {
    *r = (struct run){ 0 };
    pt_energy_meter_init(&r->meter, &schema);
    pt_sample_init(&r->sample, &schema);
    pt_figure_stream_init(&r->figures, &schema);
    r->cpu_busy = 0;
    r->own_cpu = NAN;
}

static void at_second(struct run *r, double seconds) {
    pt_sample_clear(&r->sample);
    r->sample.mono_ns = 1000 * SECOND + (int64_t)(seconds * 1e9);
}

static void busy(struct run *r, double cpu_percent, double tree_percent) {
    r->cpu_busy = cpu_percent / 100;
    r->own_cpu = tree_percent / 100;
}

static void domain(struct run *r, const char *name, int64_t microjoules) {
    struct pt_batch *b = &r->sample.batches[0];
    pt_batch_add_row(b);
    pt_set_time(b, 0, r->sample.mono_ns);
    pt_set_str(b, energy_domain, pt_str_from(name));
    if (microjoules >= 0)
        pt_set_i64(b, energy_energy, microjoules);
    else
        pt_set_str(b, energy_problem, PT_STR("permission denied"));
}

static void gpu(struct run *r, int index, int64_t millijoules, double watts) {
    struct pt_batch *b = &r->sample.batches[1];
    pt_batch_add_row(b);
    pt_set_time(b, 0, r->sample.mono_ns);
    pt_set_i64(b, gpu_index, index);
    if (millijoules >= 0)
        pt_set_i64(b, gpu_energy, millijoules);
    if (watts >= 0)
        pt_set_f64(b, gpu_power, watts);
}

static void engine(struct run *r, double requests, double prompt, double generated, double prefill,
                   double decode) {
    struct pt_batch *b = &r->sample.batches[2];
    pt_batch_add_row(b);
    pt_set_f64(b, engine_requests, requests);
    pt_set_f64(b, engine_prompt, prompt);
    pt_set_f64(b, engine_generated, generated);
    pt_set_f64(b, engine_prefill, prefill);
    pt_set_f64(b, engine_decode, decode);
}

static void take(struct run *r) {
    pt_figure_stream_add(&r->figures, &r->sample);
    r->figures.now[PT_FIGURE_CPU_BUSY].value = r->cpu_busy;
    r->figures.now[PT_FIGURE_OWN_CPU].value = r->own_cpu;
    pt_energy_meter_add(&r->meter, &r->sample, &r->figures);
}

static void finish(struct run *r) {
    pt_energy_report_make(&r->report, &r->meter, &r->basis);
}

static void end(struct run *r) {
    pt_energy_report_release(&r->report);
    pt_energy_meter_release(&r->meter);
    pt_figure_stream_release(&r->figures);
    pt_sample_release(&r->sample);
}

static const struct pt_energy_source *source(const struct run *r, const char *name) {
    for (size_t i = 0; i < r->report.source_count; i++)
        if (strcmp(r->report.sources[i].name, name) == 0)
            return &r->report.sources[i];
    fail_msg("no source %s", name);
    return NULL;
}

static bool has_source(const struct run *r, const char *name) {
    for (size_t i = 0; i < r->report.source_count; i++)
        if (strcmp(r->report.sources[i].name, name) == 0)
            return true;
    return false;
}

static const struct pt_estimate *figure(const struct run *r, enum pt_energy_figure_id id) {
    return &r->report.figures[id];
}

static void packages_and_memory_are_added_cores_are_not(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        at_second(&r, i * 10);
        domain(&r, "package-0", 5000000 + i * 300000000);
        domain(&r, "core-0", i * 200000000);
        domain(&r, "uncore-0", i * 50000000);
        domain(&r, "package-1", i * 100000000);
        domain(&r, "dram-0", i * 40000000);
        take(&r);
    }
    finish(&r);
    assert_estimate(&source(&r, "package-0")->joules, 285, 300, 315, PT_MEASURED);
    assert_true(source(&r, "package-0")->is_counted);
    assert_false(source(&r, "core-0")->is_counted);
    assert_false(source(&r, "uncore-0")->is_counted);
    assert_estimate(&source(&r, "dram-0")->joules, 32, 40, 48, PT_MEASURED);
    assert_estimate(figure(&r, PT_ENERGY_TOTAL), 285 + 95 + 32, 440, 315 + 105 + 48, PT_MEASURED);
    assert_near(figure(&r, PT_ENERGY_POWER)->value, 44);
    assert_false(has_source(&r, "CPU"));
    assert_false(has_source(&r, "Memory"));
    end(&r);
}

static void the_platform_holds_the_packages(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        at_second(&r, i * 10);
        domain(&r, "package-0", i * 300000000);
        domain(&r, "dram-0", i * 40000000);
        domain(&r, "psys", i * 500000000);
        take(&r);
    }
    finish(&r);
    assert_estimate(figure(&r, PT_ENERGY_TOTAL), 450, 500, 550, PT_MEASURED);
    end(&r);
}

static void a_platform_counter_that_stands_still_is_passed_over(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        at_second(&r, i * 10);
        domain(&r, "package-0", i * 300000000);
        domain(&r, "dram-0", i * 40000000);
        domain(&r, "psys", 0);
        take(&r);
    }
    finish(&r);
    assert_near(figure(&r, PT_ENERGY_TOTAL)->value, 340);
    assert_int_equal(source(&r, "psys")->joules.provenance, PT_UNKNOWN);
    end(&r);
}

static void a_reset_counter_leaves_a_gap_that_is_told(void **state) {
    (void)state;
    static const int64_t millions[] = { 1000, 1100, 1200, 50, 150 }; /* 10 s apart */
    struct run r;
    begin(&r);
    for (int i = 0; i < 5; i++) {
        at_second(&r, i * 10);
        domain(&r, "package-0", millions[i] * 1000000);
        domain(&r, "dram-0", i * 1000000);
        take(&r);
    }
    finish(&r);
    /* 300 J seen in 30 of 40 s: 400 J, at least what was seen, at most 500 J in the measure */
    assert_estimate(&source(&r, "package-0")->joules, 285, 400, 315 * (2 * 40.0 / 30 - 1),
                    PT_MODELLED);
    assert_non_null(strstr(source(&r, "package-0")->joules.method, "measured for 75 % of the run"));
    end(&r);
}

static void counters_that_may_not_be_read_give_way_to_the_model(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    r.basis.cpu_sockets = (struct pt_given){ true, 1 };
    for (int i = 0; i < 2; i++) {
        at_second(&r, i * 10);
        domain(&r, "package-0", -1);
        take(&r);
    }
    finish(&r);
    assert_true(r.report.has_denied_counters);
    assert_estimate(&source(&r, "CPU")->joules, 8.5, 85, 340, PT_MODELLED);
    end(&r);
}

static void gpu_power_is_integrated_by_the_trapezoid_rule(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    at_second(&r, 0);
    gpu(&r, 0, -1, 100);
    gpu(&r, 1, 7000, 50);
    take(&r);
    at_second(&r, 1);
    gpu(&r, 0, -1, 200);
    gpu(&r, 1, 67000, 60);
    take(&r);
    at_second(&r, 3);
    gpu(&r, 0, -1, 100);
    gpu(&r, 1, 187000, 60);
    take(&r);
    finish(&r);
    assert_estimate(&source(&r, "gpu-0")->joules, 405, 150 + 300, 495, PT_MEASURED);
    assert_estimate(&source(&r, "gpu-1")->joules, 171, 180, 189, PT_MEASURED);
    end(&r);
}

static void a_reading_shown_again_is_counted_once(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i <= 4; i++) {
        at_second(&r, i);
        gpu(&r, 0, -1, 100);
        pt_set_time(&r.sample.batches[1], 0, 1000 * SECOND + i / 2 * 2 * SECOND);
        take(&r);
    }
    finish(&r);
    assert_near(source(&r, "gpu-0")->joules.value, 400);
    end(&r);
}

static void no_line_is_drawn_while_a_gpu_is_lost(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i <= 10; i++) {
        at_second(&r, i);
        if (i < 4 || i > 6)
            gpu(&r, 0, -1, i < 4 ? 100 : 500);
        take(&r);
    }
    finish(&r);
    /* 3 s of 100 W and 3 s of 500 W are known of 10 s */
    assert_estimate(&source(&r, "gpu-0")->joules, 1800 * 0.9, 3000, 1800 * 1.1 * (20.0 / 6 - 1),
                    PT_MODELLED);
    end(&r);
}

static void a_gpu_that_says_nothing_is_unknown_and_named(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    for (int i = 0; i < 2; i++) {
        at_second(&r, i);
        gpu(&r, 0, -1, -1);
        take(&r);
    }
    finish(&r);
    assert_int_equal(source(&r, "gpu-0")->joules.provenance, PT_UNKNOWN);
    assert_non_null(strstr(figure(&r, PT_ENERGY_TOTAL)->method, "gpu-0 (unknown)"));
    end(&r);
}

/* The model */

static void the_model_follows_its_curve(void **state) {
    (void)state;
    assert_near(pt_power_share(0), 0.1);
    assert_near(pt_power_share(0.25), 0.475);
    assert_near(pt_power_share(0.5), 0.85);
    assert_near(pt_power_share(0.75), 0.925);
    assert_near(pt_power_share(1), 1);
    assert_near(pt_power_share(-1), 0.1);
    assert_near(pt_power_share(7), 1);
}

/* TDP and threads of a socket, as the vendors' pages state them. */
static void processors_have_the_power_of_their_vendor(void **state) {
    (void)state;
    static const struct {
        const char *type;
        double watts, threads;
    } known[] = {
        { "EPYC 9965", 500, 384 },
        { "EPYC 9755", 500, 256 },
        { "EPYC 9654", 360, 192 },
        { "EPYC 9554", 360, 128 },
        { "EPYC 9354", 280, 64 },
        { "EPYC 7763", 280, 128 },
        { "EPYC 7742", 225, 128 },
        { "EPYC 7713", 225, 128 },
        { "EPYC 7702", 200, 128 },
        { "EPYC 7543", 225, 64 },
        { "EPYC 7402", 180, 48 },
        { "EPYC 7R13", 225, 96 },
        { "EPYC 7B12", 240, 128 },
        { "Platinum 8592+", 350, 128 },
        { "Platinum 8558P", 350, 96 },
        { "Platinum 8558U", 300, 96 },
        { "Platinum 8558", 330, 96 },
        { "Platinum 8480+", 350, 112 },
        { "Platinum 8470N", 300, 104 },
        { "Platinum 8470", 350, 104 },
        { "Platinum 8380H", 250, 56 },
        { "Platinum 8380", 270, 80 },
        { "Platinum 8375C", 300, 64 },
        { "Platinum 8358P", 240, 64 },
        { "Platinum 8358", 250, 64 },
        { "Platinum 8280", 205, 56 },
        { "Platinum 8275CL", 240, 48 },
        { "Platinum 8259CL", 210, 48 },
        { "Platinum 8175M", 240, 48 },
        { "Gold 6338N", 185, 64 },
        { "Gold 6338T", 165, 48 },
        { "Gold 6338", 205, 64 },
        { "Gold 6248R", 205, 48 },
        { "Gold 6248", 150, 40 },
        { "Gold 6230R", 150, 52 },
        { "Gold 6230", 125, 40 },
        { "Gold 6148", 150, 40 },
        { "E5-2690 v4", 135, 28 },
        { "E5-2686 v4", 145, 36 },
        { "E5-2680 v4", 120, 28 },
        { "Threadripper PRO 5975WX", 280, 64 },
        { "Ryzen 9 7950X3D", 120, 32 },
        { "Ryzen 9 7950X", 170, 32 },
        { "Ryzen 9 5950X", 105, 32 },
        { "Ryzen 9 5900X", 105, 24 },
        { "Ryzen 9 3900X", 105, 24 },
        { "Ryzen 7 5800X", 105, 16 },
        { "i9-13900K", 125, 32 },
        { "i9-11900K", 125, 16 },
        { "i9-10900K", 125, 20 },
        { "i7-8700K", 95, 12 },
        { "i7-1165G7", 28, 8 },
    };
    for (size_t i = 0; i < PT_COUNT(known); i++) {
        struct pt_energy_basis b = { 0 };
        char text[96];
        pt_str_copy(b.cpu_type, sizeof b.cpu_type, pt_str_from(known[i].type));
        struct pt_estimate full = pt_power_full(&b);
        assert_near(full.value, known[i].watts);
        b.is_guest = (struct pt_given){ true, 1 };
        b.cpu_threads = (struct pt_given){ true, known[i].threads / 2 };
        full = pt_power_full(&b);
        assert_near(full.value, known[i].watts / 2);
        snprintf(text, sizeof text, "%.0f of %.0f threads", known[i].threads / 2, known[i].threads);
        assert_non_null(strstr(full.method, text));
    }
}

static void memory_has_five_watts_a_module(void **state) {
    (void)state;
    struct pt_energy_basis b = { .memory_bytes = { true, 64.0 * 1024 * 1024 * 1024 } };
    struct pt_estimate memory = pt_power_memory(&b);
    assert_estimate(&memory, 5, 24, 40, PT_MODELLED);
    assert_non_null(strstr(memory.method, "64.0 GB x 0.375 W"));
    b.memory_bytes.is_given = false;
    assert_int_equal(pt_power_memory(&b).provenance, PT_UNKNOWN);
}

static void full_power_depends_on_what_is_known(void **state) {
    (void)state;
    struct pt_energy_basis b = { 0 };
    struct pt_estimate full = pt_power_full(&b);
    assert_estimate(&full, 8.5, 85, 340, PT_MODELLED);

    b.cpu_sockets = (struct pt_given){ true, 2 };
    b.cpu_threads = (struct pt_given){ true, 256 };
    pt_str_copy(b.cpu_type, sizeof b.cpu_type, PT_STR("AMD EPYC 7763 64-Core Processor"));
    full = pt_power_full(&b);
    assert_estimate(&full, 224, 560, 784, PT_MODELLED);

    b.is_guest = (struct pt_given){ true, 1 };
    b.cpu_threads.value = 4;
    full = pt_power_full(&b);
    assert_estimate(&full, 2.625, 8.75, 17.5, PT_MODELLED);

    pt_str_copy(b.cpu_type, sizeof b.cpu_type, PT_STR("AMD EPYC"));
    full = pt_power_full(&b);
    assert_estimate(&full, 2.1875, 10.9375, 32.8125, PT_MODELLED);

    /* the longer of two names that match */
    b.is_guest.value = 0;
    b.cpu_sockets.value = 1;
    pt_str_copy(b.cpu_type, sizeof b.cpu_type, PT_STR("Intel(R) Xeon(R) Platinum 8558P"));
    full = pt_power_full(&b);
    assert_near(full.value, 350);
}

static void modelled_energy_is_power_over_time(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    r.basis.cpu_sockets = (struct pt_given){ true, 1 };
    r.basis.memory_bytes = (struct pt_given){ true, 16.0 * 1024 * 1024 * 1024 };
    static const double percent[] = { 0, 0, 50, 100 };
    for (int i = 0; i < 4; i++) {
        at_second(&r, i * 10);
        busy(&r, percent[i], 0);
        take(&r);
    }
    finish(&r);
    /* 85 W x 10 s x (0.1 + 0.85 + 1); 16 GB x 0.375 W x 30 s, 5 W a module of 64 or 8 GB */
    assert_estimate(&source(&r, "CPU")->joules, 165.75, 1657.5, 6630, PT_MODELLED);
    assert_estimate(&source(&r, "Memory")->joules, 37.5, 180, 300, PT_MODELLED);
    assert_near(figure(&r, PT_ENERGY_TOTAL)->value, 1837.5);
    assert_near(figure(&r, PT_ENERGY_KWH)->value, 1837.5 / 3.6e6);
    end(&r);
}

static void unknown_utilisation_is_half_and_told(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    r.cpu_busy = NAN;
    at_second(&r, 0);
    take(&r);
    at_second(&r, 10);
    take(&r);
    finish(&r);
    assert_near(source(&r, "CPU")->joules.value, 425);
    assert_non_null(strstr(source(&r, "CPU")->joules.method, "unknown for 100 %"));
    assert_int_equal(source(&r, "Memory")->joules.provenance, PT_UNKNOWN);
    assert_near(figure(&r, PT_ENERGY_TOTAL)->value, 425);
    end(&r);
}

static void without_two_samples_nothing_is_known(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    finish(&r);
    for (int i = 0; i < PT_ENERGY_FIGURE_COUNT; i++)
        assert_int_equal(r.report.figures[i].provenance, PT_UNKNOWN);
    at_second(&r, 0);
    domain(&r, "package-0", 5);
    take(&r);
    finish(&r);
    for (int i = 0; i < PT_ENERGY_FIGURE_COUNT; i++)
        assert_int_equal(r.report.figures[i].provenance, PT_UNKNOWN);
    end(&r);
}

/* Carbon and money */

/* One kilowatt-hour in an hour, measured; the gap of memory is filled with a counter of 0. */
static void one_kwh(struct run *r) {
    begin(r);
    for (int i = 0; i < 2; i++) {
        at_second(r, i * 3600);
        domain(r, "psys", i * INT64_C(3600000000000));
        take(r);
    }
}

static void carbon_is_energy_times_pue_times_intensity(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    r.basis.pue = (struct pt_given){ true, 1.5 };
    pt_str_copy(r.basis.region, sizeof r.basis.region, PT_STR("de"));
    finish(&r);
    assert_near(figure(&r, PT_ENERGY_KWH)->value, 1);
    assert_estimate(figure(&r, PT_ENERGY_CO2E), 0.9 * 1.5 * 381 * 0.7, 571.5, 1.1 * 1.5 * 381 * 1.3,
                    PT_ASSUMED);
    assert_true(r.report.uses_carbon_table);

    pt_energy_report_release(&r.report);
    r.basis.carbon_intensity = (struct pt_given){ true, 100 };
    finish(&r);
    assert_estimate(figure(&r, PT_ENERGY_CO2E), 135, 150, 165, PT_MEASURED);
    assert_false(r.report.uses_carbon_table);
    end(&r);
}

static void without_assumptions_the_range_is_the_world(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    finish(&r);
    assert_estimate(figure(&r, PT_ENERGY_INTENSITY), 28, 475, 713, PT_ASSUMED);
    assert_estimate(figure(&r, PT_ENERGY_PUE), 1, 1, 1.56, PT_ASSUMED);
    assert_near(figure(&r, PT_ENERGY_CO2E)->high, 1.1 * 1.56 * 713);
    assert_int_equal(figure(&r, PT_ENERGY_COST)->provenance, PT_UNKNOWN);
    end(&r);
}

static void cost_is_electricity_and_hours(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    r.basis.pue = (struct pt_given){ true, 1.2 };
    r.basis.price_kwh = (struct pt_given){ true, 0.3 };
    finish(&r);
    assert_estimate(figure(&r, PT_ENERGY_COST), 0.324, 0.36, 0.396, PT_MEASURED);
    pt_energy_report_release(&r.report);
    r.basis.price_hour = (struct pt_given){ true, 2.5 };
    finish(&r);
    assert_estimate(figure(&r, PT_ENERGY_COST), 2.824, 2.86, 2.896, PT_MEASURED);
    end(&r);
}

/* Grams of CO2e per kWh and their year; docs/ENERGY.md says where they come from. */
static void regions_have_the_mean_of_their_year(void **state) {
    (void)state;
    static const struct pt_carbon_region known[] = {
        { "AE", "United Arab Emirates", 561, 2022 },
        { "AR", "Argentina", 354, 2023 },
        { "AT", "Austria", 111, 2023 },
        { "AU", "Australia", 549, 2023 },
        { "BE", "Belgium", 138, 2023 },
        { "BR", "Brazil", 98, 2023 },
        { "CA", "Canada", 170, 2023 },
        { "CH", "Switzerland", 35, 2023 },
        { "CL", "Chile", 291, 2023 },
        { "CN", "China", 582, 2023 },
        { "CZ", "Czechia", 450, 2023 },
        { "DE", "Germany", 381, 2023 },
        { "DK", "Denmark", 152, 2023 },
        { "ES", "Spain", 174, 2023 },
        { "FI", "Finland", 79, 2023 },
        { "FR", "France", 56, 2023 },
        { "GB", "United Kingdom", 238, 2023 },
        { "GR", "Greece", 337, 2023 },
        { "HK", "Hong Kong", 699, 2022 },
        { "ID", "Indonesia", 676, 2022 },
        { "IE", "Ireland", 291, 2023 },
        { "IL", "Israel", 583, 2022 },
        { "IN", "India", 713, 2023 },
        { "IS", "Iceland", 28, 2022 },
        { "IT", "Italy", 331, 2023 },
        { "JP", "Japan", 485, 2023 },
        { "KR", "South Korea", 431, 2023 },
        { "MX", "Mexico", 507, 2023 },
        { "NL", "Netherlands", 268, 2023 },
        { "NO", "Norway", 30, 2023 },
        { "NZ", "New Zealand", 113, 2023 },
        { "PL", "Poland", 662, 2023 },
        { "PT", "Portugal", 166, 2023 },
        { "RU", "Russia", 441, 2023 },
        { "SA", "Saudi Arabia", 707, 2022 },
        { "SE", "Sweden", 41, 2023 },
        { "SG", "Singapore", 471, 2023 },
        { "TR", "Turkey", 465, 2023 },
        { "TW", "Taiwan", 642, 2023 },
        { "US", "United States", 369, 2023 },
        { "ZA", "South Africa", 708, 2023 },
    };
    for (size_t i = 0; i < PT_COUNT(known); i++) {
        const struct pt_carbon_region *found = pt_carbon_find(pt_str_from(known[i].name));
        assert_non_null(found);
        assert_string_equal(found->code, known[i].code);
        assert_near(found->grams_per_kwh, known[i].grams_per_kwh);
        assert_int_equal(found->year, known[i].year);
        struct pt_estimate intensity = pt_carbon_intensity(found);
        double grams = known[i].grams_per_kwh;
        assert_estimate(&intensity, grams * 0.7, grams, grams * 1.3, PT_ASSUMED);
    }
    const struct pt_carbon_region *world = pt_carbon_find(PT_STR("world"));
    assert_int_equal(world->year, 2019);
    struct pt_estimate intensity = pt_carbon_intensity(world);
    assert_estimate(&intensity, 28, 475, 713, PT_ASSUMED);
    assert_ptr_equal(pt_carbon_find(PT_STR("usa")), pt_carbon_find(PT_STR("US")));
    assert_ptr_equal(pt_carbon_find(PT_STR("uae")), pt_carbon_find(PT_STR("AE")));
}

static void regions_are_found_by_code_and_name(void **state) {
    (void)state;
    assert_int_equal(pt_carbon_region_count, 41);
    assert_near(pt_carbon_find(PT_STR("FR"))->grams_per_kwh, 56);
    assert_near(pt_carbon_find(PT_STR("south korea"))->grams_per_kwh, 431);
    assert_ptr_equal(pt_carbon_find(PT_STR("UK")), pt_carbon_find(PT_STR("gb")));
    assert_near(pt_carbon_find(PT_STR("World"))->grams_per_kwh, 475);
    assert_null(pt_carbon_find(PT_STR("")));
    assert_null(pt_carbon_find(PT_STR("D")));
    assert_null(pt_carbon_find(PT_STR("Germany!")));
    for (size_t i = 1; i < pt_carbon_region_count; i++)
        assert_true(strcmp(pt_carbon_regions[i - 1].code, pt_carbon_regions[i].code) < 0);
}

/* Engine and tree */

static void engine_run(struct run *r) {
    begin(r);
    static const struct {
        double requests, prompt, generated, prefill, decode;
        int64_t millijoules;
    } steps[] = {
        { 100, 1000, 5000, 10, 40, 0 },
        { 100, 1000, 5000, 10, 40, 100000 }, /* idle: 100 J */
        { 104, 1400, 5600, 12, 46, 900000 }, /* busy: 800 J */
        { 104, 1400, 5600, 12, 46, 1000000 },
    };
    for (size_t i = 0; i < PT_COUNT(steps); i++) {
        at_second(r, (double)i);
        gpu(r, 0, steps[i].millijoules, -1);
        domain(r, "psys", (int64_t)i); /* a microjoule a second: all but nothing */
        engine(r, steps[i].requests, steps[i].prompt, steps[i].generated, steps[i].prefill,
               steps[i].decode);
        take(r);
    }
}

static void energy_per_request_token_and_phase(void **state) {
    (void)state;
    struct run r;
    engine_run(&r);
    finish(&r);
    double total = 1000 + 3e-6;
    assert_near(figure(&r, PT_ENERGY_TOTAL)->value, total);
    assert_near(figure(&r, PT_ENERGY_PER_REQUEST)->value, total / 4);
    assert_near(figure(&r, PT_ENERGY_PER_1000_TOKENS)->value, total);
    assert_near(figure(&r, PT_ENERGY_PER_1000_GENERATED)->value, total / 0.6);
    assert_near(figure(&r, PT_ENERGY_ENGINE_IDLE)->value, 200 + 2e-6);
    assert_near(figure(&r, PT_ENERGY_PREFILL)->value, (800 + 1e-6) * 2 / 8);
    assert_near(figure(&r, PT_ENERGY_DECODE)->value, (800 + 1e-6) * 6 / 8);
    assert_int_equal(figure(&r, PT_ENERGY_PREFILL)->provenance, PT_ASSUMED);
    assert_int_equal(figure(&r, PT_ENERGY_ENGINE_IDLE)->provenance, PT_MEASURED);
    /* not more than all of the busy time's energy */
    assert_near(figure(&r, PT_ENERGY_DECODE)->high, 800 * 1.05 + 1.1e-6);
    end(&r);
}

static void cost_and_carbon_per_request_and_token(void **state) {
    (void)state;
    struct run r;
    engine_run(&r);
    r.basis.price_kwh = (struct pt_given){ true, 0.36 };
    r.basis.carbon_intensity = (struct pt_given){ true, 720 };
    r.basis.pue = (struct pt_given){ true, 1 };
    finish(&r);
    const double kwh = (1000 + 3e-6) / 3.6e6;
    assert_near(figure(&r, PT_ENERGY_COST_PER_REQUEST)->value, kwh * 0.36 / 4);
    assert_near(figure(&r, PT_ENERGY_COST_PER_1000_TOKENS)->value, kwh * 0.36);
    assert_near(figure(&r, PT_ENERGY_CO2E_PER_REQUEST)->value, kwh * 720 / 4);
    assert_near(figure(&r, PT_ENERGY_CO2E_PER_1000_TOKENS)->value, kwh * 720);
    assert_string_equal(figure(&r, PT_ENERGY_CO2E_PER_REQUEST)->method,
                        "whole machine / 4 finished requests");
    end(&r);
}

/* No count grows while its only request is in the prefill. */
static void an_engine_with_one_request_is_not_idle(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    static const int64_t joules[] = { 0, 100, 107 };
    for (int i = 0; i < 3; i++) {
        at_second(&r, i);
        domain(&r, "psys", joules[i] * 1000000);
        engine(&r, 5, 0, 0, 1, 1);
        pt_set_f64(&r.sample.batches[2], engine_running, i == 1);
        take(&r);
    }
    finish(&r);
    assert_near(figure(&r, PT_ENERGY_ENGINE_IDLE)->value, 7);
    end(&r);
}

static void what_an_engine_did_up_to_a_restart_is_unknown(void **state) {
    (void)state;
    struct run r;
    begin(&r);
    static const double requests[] = { 100, 110, 3, 5 };
    for (int i = 0; i < 4; i++) {
        at_second(&r, i);
        domain(&r, "psys", i * 15000000);
        engine(&r, requests[i], 0, 0, 0, 0);
        take(&r);
    }
    finish(&r);
    assert_near(figure(&r, PT_ENERGY_PER_REQUEST)->value, 3.75); /* 45 J / (10 + 2) */
    assert_int_equal(figure(&r, PT_ENERGY_PER_1000_TOKENS)->provenance, PT_UNKNOWN);
    assert_int_equal(figure(&r, PT_ENERGY_PREFILL)->provenance, PT_UNKNOWN);
    end(&r);
}

static void without_an_engine_there_are_no_phases(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    finish(&r);
    for (int i = PT_ENERGY_PREFILL; i < PT_ENERGY_FIGURE_COUNT; i++)
        assert_int_equal(r.report.figures[i].provenance, PT_UNKNOWN);
    end(&r);
}

static void tree_run(struct run *r, bool has_command) {
    begin(r);
    r->basis.cpu_threads = (struct pt_given){ true, 4 };
    r->basis.has_command = (struct pt_given){ true, has_command };
    for (int i = 0; i < 2; i++) {
        at_second(r, i * 10);
        busy(r, 50, 100); /* one of the two busy CPUs */
        domain(r, "package-0", i * 300000000);
        domain(r, "dram-0", i * 40000000);
        gpu(r, 0, -1, i ? 220 : 20);
        take(r);
    }
    finish(r);
}

static void the_tree_gets_its_share_of_busy_time(void **state) {
    (void)state;
    struct run r;
    tree_run(&r, true);
    /* half of 300 J; GPU: 1200 J less 20 W x 10 s */
    assert_near(figure(&r, PT_ENERGY_TREE)->value, 150 + 1000);
    assert_int_equal(figure(&r, PT_ENERGY_TREE)->provenance, PT_MODELLED);
    assert_string_equal(figure(&r, PT_ENERGY_TREE)->method,
                        "CPU energy x 50 % (its share of busy CPU time), including idle power (not "
                        "measured before the run); GPU energy above the power at the start");
    end(&r);
    tree_run(&r, false);
    assert_near(figure(&r, PT_ENERGY_TREE)->value, 150);
    assert_string_equal(figure(&r, PT_ENERGY_TREE)->method,
                        "CPU energy x 50 % (its share of busy CPU time), including idle power (not "
                        "measured before the run)");
    end(&r);
}

/* Basis, estimates, output */

static void the_basis_survives_the_journal(void **state) {
    (void)state;
    struct pt_energy_basis b = { 0 }, back = { 0 };
    struct pt_buf text = { 0 };
    static const char *const pairs[][2] = {
        { "cpu-type", "AMD EPYC 7763 64-Core Processor" },
        { "cpu-threads", "4" },
        { "memory-bytes", "25274793984" },
        { "is-guest", "1" },
        { "region", "DE" },
        { "price-kwh", "0.3" },
        { "currency", "EUR" },
    };
    for (size_t i = 0; i < PT_COUNT(pairs); i++)
        assert_int_equal(
            pt_energy_basis_set(&b, pt_str_from(pairs[i][0]), pt_str_from(pairs[i][1]), NULL), 0);
    pt_energy_basis_write(&b, &text);
    assert_str_eq(pt_buf_as_str(&text), "cpu-type AMD EPYC 7763 64-Core Processor\n"
                                        "cpu-threads 4\nmemory-bytes 25274793984\nis-guest 1\n"
                                        "region DE\nprice-kwh 0.3\ncurrency EUR\n");
    pt_energy_basis_read(&back, pt_buf_as_str(&text));
    assert_memory_equal(&back, &b, sizeof b);
    pt_buf_release(&text);
}

static void wrong_assumptions_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *key, *value;
        int rc;
    } cases[] = {
        { "pue", "0.9", -EINVAL },
        { "pue", "x", -EINVAL },
        { "pue", "", -EINVAL },
        { "pue", "1.2 ", -EINVAL },
        { "price-kwh", "-1", -EINVAL },
        { "price-kwh", "nan", -EINVAL },
        { "price-hour", "inf", -EINVAL },
        { "carbon-intensity", "0", 0 },
        { "region", "Atlantis", -EINVAL },
        { "currency", "", -EINVAL },
        { "currency", "a\nregion", -EINVAL },
        { "colour", "red", -ENOENT },
        { "pue", "1", 0 },
        { "currency", "EUR", 0 },
    };
    struct pt_energy_basis b = { 0 };
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        assert_int_equal(
            pt_energy_basis_set(&b, pt_str_from(cases[i].key), pt_str_from(cases[i].value), NULL),
            cases[i].rc);
    /* of a note, what is understood is taken */
    struct pt_energy_basis note = { 0 };
    pt_energy_basis_read(&note, PT_STR("pue 0\n\nnew-key 5\npue 1.4\nregion\ncpu-threads 2"));
    assert_true(note.pue.is_given && note.pue.value == 1.4);
    assert_true(note.cpu_threads.is_given && note.cpu_threads.value == 2);
    assert_string_equal(note.region, "");
}

static void estimates_are_as_good_as_their_weakest_part(void **state) {
    (void)state;
    struct pt_estimate sum = { 0 };
    struct pt_estimate a = pt_estimate_of(10, 0.9, 1.1, PT_MEASURED, "a");
    struct pt_estimate b = pt_estimate_of(20, 0.5, 2, PT_MODELLED, "b"), unknown = { 0 };
    pt_estimate_add(&sum, &a);
    assert_estimate(&sum, 9, 10, 11, PT_MEASURED);
    pt_estimate_add(&sum, &unknown);
    pt_estimate_add(&sum, &b);
    assert_estimate(&sum, 19, 30, 51, PT_MODELLED);
    struct pt_estimate product = pt_estimate_times(&a, &b);
    assert_estimate(&product, 90, 200, 440, PT_MODELLED);
    product = pt_estimate_times(&a, &unknown);
    assert_int_equal(product.provenance, PT_UNKNOWN);
    product = pt_estimate_scaled(&a, 1 / 0.0);
    assert_int_equal(product.provenance, PT_UNKNOWN);
    product = pt_estimate_of(-1, 1, 1, PT_MEASURED, "a fall");
    assert_int_equal(product.provenance, PT_UNKNOWN);
}

static void ranges_and_values_are_printed_short(void **state) {
    (void)state;
    char text[64];
    struct pt_estimate e = pt_estimate_of(10, 0.6, 1.4, PT_MODELLED, "x");
    pt_estimate_print_range(&e, true, text, sizeof text);
    assert_string_equal(text, "±40 %");
    pt_estimate_print_range(&e, false, text, sizeof text);
    assert_string_equal(text, "+-40 %");
    e = pt_estimate_of(10, 0.4, 1.4, PT_MODELLED, "x");
    pt_estimate_print_range(&e, true, text, sizeof text);
    assert_string_equal(text, "-60/+40 %");
    e = pt_estimate_of(10, 1, 1, PT_GIVEN, "x");
    pt_estimate_print_range(&e, true, text, sizeof text);
    assert_string_equal(text, "");
    static const struct {
        double value;
        const char *text;
    } cases[] = { { 0, "0" },        { 1234567, "1234567" }, { 123.4, "123" },
                  { 12.34, "12.3" }, { 1, "1.00" },          { 0.00001234, "0.0000123" } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        pt_estimate_print_value(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

static void the_short_line_has_energy_carbon_and_cost(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    r.basis.carbon_intensity = (struct pt_given){ true, 100 };
    r.basis.price_kwh = (struct pt_given){ true, 0.3 };
    r.basis.pue = (struct pt_given){ true, 1 };
    pt_str_copy(r.basis.currency, sizeof r.basis.currency, PT_STR("EUR"));
    finish(&r);
    struct pt_out out;
    memory_open(&out);
    pt_energy_print_short(&r.report, true, &out);
    char *text = memory_text(&out);
    assert_string_equal(text, "3.60 MJ (measured ±10 %), 100 g CO2e, 0.300 EUR");
    pt_free(text);
    end(&r);
}

static void unknown_figures_are_null_in_json(void **state) {
    (void)state;
    struct run r;
    one_kwh(&r);
    finish(&r);
    struct pt_out out;
    memory_open(&out);
    pt_energy_print_json(&r.report, "u", &out);
    char *text = memory_text(&out);
    json_t *root = parsed(text);
    assert_text(root, "sources.0.name", "psys");
    assert_text(root, "figures.energy.provenance", "measured");
    assert_number(root, "figures.energy.value", 3.6e6);
    assert_null_at(root, "figures.cost.value");
    assert_text(root, "figures.cost.provenance", "unknown");
    assert_null_at(root, "figures.prefill.high");
    assert_text(root, "attribution", PT_CARBON_ATTRIBUTION);
    json_decref(root);
    pt_free(text);
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_counter_goes_on_behind_its_range, "C290: a counter goes on behind its range"),
        PT_TEST(a_counter_that_was_reset_falls, "C290: a counter that was reset falls"),
        PT_TEST(zone_names_are_told_apart, "C290: names of powercap zones are told apart"),
        PT_TEST(zones_are_named_after_their_package,
                "C290: zones are named after their package, and each keeps its own failure"),
        PT_TEST(the_collector_says_why_a_value_is_missing,
                "C290: the collector says why a value is missing"),
        PT_TEST(a_machine_without_counters_has_no_table,
                "C290: on a machine without counters the collector switches itself off"),
        PT_TEST(packages_and_memory_are_added_cores_are_not,
                "C290: packages and memory are added, cores are in their package already"),
        PT_TEST(the_platform_holds_the_packages, "C290: psys holds packages and memory"),
        PT_TEST(a_platform_counter_that_stands_still_is_passed_over,
                "C290: a counter that stands still measures nothing"),
        PT_TEST(a_reset_counter_leaves_a_gap_that_is_told,
                "C290: a reset leaves a gap, which widens the range and is reported"),
        PT_TEST(counters_that_may_not_be_read_give_way_to_the_model,
                "C290: counters that may not be read give way to the model, and that is reported"),
        PT_TEST(gpu_power_is_integrated_by_the_trapezoid_rule,
                "C290: GPU power is integrated by the trapezoid rule where there is no counter"),
        PT_TEST(a_reading_shown_again_is_counted_once,
                "C290: a reading shown again is counted once"),
        PT_TEST(no_line_is_drawn_while_a_gpu_is_lost,
                "C290: no line is drawn over the time in which a GPU was lost"),
        PT_TEST(a_gpu_that_says_nothing_is_unknown_and_named,
                "C290: a GPU that says nothing is unknown, not 0, and the total names it"),
        PT_TEST(the_model_follows_its_curve, "C290: the model follows its curve"),
        PT_TEST(processors_have_the_power_of_their_vendor,
                "C290: processors have the TDP that their vendor states"),
        PT_TEST(memory_has_five_watts_a_module,
                "C290: memory takes 0.375 W per GB, from 64 GB to 8 GB in a module of 5 W"),
        PT_TEST(full_power_depends_on_what_is_known,
                "C290: full power comes from the CPU's name, the share of a guest, or a default"),
        PT_TEST(modelled_energy_is_power_over_time, "C290: modelled energy is power over time"),
        PT_TEST(unknown_utilisation_is_half_and_told,
                "C290: unknown utilisation counts as half the power, and that is reported"),
        PT_TEST(without_two_samples_nothing_is_known, "C290: without two samples nothing is known"),
        PT_TEST(carbon_is_energy_times_pue_times_intensity,
                "C290: carbon is energy times PUE times intensity"),
        PT_TEST(without_assumptions_the_range_is_the_world,
                "C290: without a region the range is that of all countries; no price, no cost"),
        PT_TEST(cost_is_electricity_and_hours, "C290: cost is electricity and hours"),
        PT_TEST(regions_have_the_mean_of_their_year,
                "C290: regions have the carbon intensity of their year"),
        PT_TEST(regions_are_found_by_code_and_name, "C290: regions are found by code and name"),
        PT_TEST(energy_per_request_token_and_phase,
                "C290: energy per request, per 1,000 tokens and by phase"),
        PT_TEST(cost_and_carbon_per_request_and_token,
                "C290: cost and carbon per request and per 1,000 tokens"),
        PT_TEST(an_engine_with_one_request_is_not_idle,
                "C290: an engine with one running request is not idle"),
        PT_TEST(what_an_engine_did_up_to_a_restart_is_unknown,
                "C290: what an engine did between the last scrape and a restart is unknown"),
        PT_TEST(without_an_engine_there_are_no_phases, "C290: without an engine, no phases"),
        PT_TEST(the_tree_gets_its_share_of_busy_time,
                "C290: the recorded tree gets its share of busy time, and GPUs above idle"),
        PT_TEST(the_basis_survives_the_journal, "C290: the basis survives the journal"),
        PT_TEST(wrong_assumptions_are_refused, "C011 C290: wrong assumptions are refused"),
        PT_TEST(estimates_are_as_good_as_their_weakest_part,
                "C290: an estimate is as good as the weakest of its parts"),
        PT_TEST(ranges_and_values_are_printed_short, "C290: ranges and values are printed short"),
        PT_TEST(the_short_line_has_energy_carbon_and_cost,
                "C290: the line of the summary has energy, carbon and cost"),
        PT_TEST(unknown_figures_are_null_in_json, "C290: unknown figures are null in JSON"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
