/* The collectors of the machine: exact values on the mock tree, captured trees, odd input. */
#include "capture.h"
#include "tree.h"

#include "base/clock.h"
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/cpu_times.h"
#include "source/kernel/diskstats.h"
#include "source/kernel/keyed.h"
#include "source/kernel/netdev.h"
#include "source/kernel/psi.h"

#include <errno.h>
#include <math.h>

/* One collector on a tree of its own. */
struct host {
    struct tree tree;
    struct pt_fs fs;
    struct pt_target target;
    struct pt_thinning thinning;
    struct pt_text text;
    struct pt_context context;
    const struct pt_collector *type;
    void *state;
    struct pt_batch rows[PT_COLLECTOR_TABLES];
    int rc; /* of the last collect */
};

static const struct pt_collector *find_collector(const char *name) {
    size_t i = 0;
    while (pt_collectors[i] && strcmp(pt_collectors[i]->name, name) != 0)
        i++;
    return pt_collectors[i];
}

static void open_at(struct host *h, const char *collector, const char *proc, const char *sys) {
    struct pt_err err = { "" };
    if (pt_fs_open(&h->fs, proc, sys, "/", &err))
        fail_msg("%s", err.text);
    h->context = (struct pt_context){ .fs = &h->fs,
                                      .text = &h->text,
                                      .target = &h->target,
                                      .thinning = &h->thinning,
                                      .interval_ns = PT_NS_PER_SECOND,
                                      .now_ns = 1000 * PT_NS_PER_SECOND,
                                      .fd_budget = 100 };
    h->type = find_collector(collector);
    assert_non_null(h->type);
    h->state = pt_calloc(1, h->type->state_size + 1);
    for (int i = 0; i < PT_COLLECTOR_TABLES && h->type->tables[i]; i++)
        pt_batch_init(&h->rows[i], h->type->tables[i]);
    if (h->type->open)
        assert_int_equal(h->type->open(h->state, &h->context, &err), 0);
}

static void open_collector(struct host *h, const char *collector) {
    char proc[PATH_MAX], sys[PATH_MAX];
    tree_directory(&h->tree, "proc");
    tree_directory(&h->tree, "sys");
    pt_str_copy(proc, sizeof proc, pt_str_from(tree_path(&h->tree, "proc")));
    pt_str_copy(sys, sizeof sys, pt_str_from(tree_path(&h->tree, "sys")));
    open_at(h, collector, proc, sys);
}

static void collect(struct host *h) {
    for (int i = 0; i < PT_COLLECTOR_TABLES && h->type->tables[i]; i++)
        pt_batch_clear(&h->rows[i]);
    h->rc = h->type->collect(h->state, &h->context, h->rows);
    h->context.now_ns += h->context.interval_ns;
    h->context.tick++;
}

static void close_collector(struct host *h) {
    if (h->type->close)
        h->type->close(h->state);
    pt_free(h->state);
    pt_text_release(&h->text);
    for (int i = 0; i < PT_COLLECTOR_TABLES && h->type->tables[i]; i++)
        pt_batch_release(&h->rows[i]);
    pt_fs_close(&h->fs);
    if (h->tree.root[0])
        tree_remove(&h->tree);
}

/* An empty tree, or the mock machine, and one collection. */
static void start_empty(struct host *h) {
    *h = (struct host){ 0 };
    tree_make(&h->tree);
}

static void start_mock(struct host *h, const char *collector) {
    start_empty(h);
    tree_generate(&h->tree);
    open_collector(h, collector);
    collect(h);
    assert_int_equal(h->rc, 0);
}

static int column_of(const struct pt_batch *b, const char *name) {
    int column = pt_table_find(b->table, name);
    if (column < 0)
        fail_msg("there is no column %s", name);
    return column;
}

static void check_i64(const struct pt_batch *b, uint32_t row, const char *name, int64_t expected) {
    int column = column_of(b, name);
    if (row >= b->row_count || pt_is_null(b, row, column))
        fail_msg("%s of row %u is null, expected %lld", name, row, (long long)expected);
    if (pt_get_i64(b, row, column) != expected)
        fail_msg("%s of row %u is %lld, expected %lld", name, row,
                 (long long)pt_get_i64(b, row, column), (long long)expected);
}

static void check_f64(const struct pt_batch *b, uint32_t row, const char *name, double expected) {
    int column = column_of(b, name);
    if (row >= b->row_count || pt_is_null(b, row, column))
        fail_msg("%s of row %u is null, expected %g", name, row, expected);
    if (fabs(pt_get_f64(b, row, column) - expected) > 1e-9 * fabs(expected))
        fail_msg("%s of row %u is %.17g, expected %.17g", name, row, pt_get_f64(b, row, column),
                 expected);
}

static void check_null(const struct pt_batch *b, uint32_t row, const char *name) {
    assert_true(row < b->row_count);
    if (!pt_is_null(b, row, column_of(b, name)))
        fail_msg("%s of row %u is not null", name, row);
}

static void check_all_null(const struct pt_batch *b, uint32_t row) {
    for (int i = 0; i < b->table->column_count; i++)
        check_null(b, row, b->table->columns[i].name);
}

struct expected {
    const char *column;
    int64_t value;
};

static void check_row(const struct pt_batch *b, uint32_t row, const struct expected *expected) {
    for (; expected->column; expected++)
        check_i64(b, row, expected->column, expected->value);
}

/* The row whose key column has that text. */
static uint32_t row_of(const struct pt_batch *b, const char *key) {
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_str_eq(pt_get_str(b, row, 0), pt_str_from(key)))
            return row;
    fail_msg("there is no row %s", key);
    return 0;
}

static bool has_row(const struct pt_batch *b, const char *key) {
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_str_eq(pt_get_str(b, row, 0), pt_str_from(key)))
            return true;
    return false;
}

/* CPU */

static void cpu_times_are_exact(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "cpu");
    assert_int_equal(h.rows[0].row_count, 1);
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vCpuTime", 15000 },
                                         { "vCpuTimeUserMode", 10000 },
                                         { "vCpuTimeKernelMode", 5000 },
                                         { "vCpuIdleTime", 200000 },
                                         { "vCpuTimeIOWait", 1000 },
                                         { "vCpuTimeIntSrvc", 50 },
                                         { "vCpuTimeSoftIntSrvc", 150 },
                                         { "vCpuNice", 100 },
                                         { "vCpuSteal", 20 },
                                         { "vCpuGuest", 40 },
                                         { NULL, 0 } });
    close_collector(&h);
}

static void switches_load_and_frequency_come_from_their_files(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "cpu");
    check_i64(&h.rows[0], 0, "vCpuContextSwitches", 123456789);
    check_f64(&h.rows[0], 0, "vLoadAvg", 0.5);
    check_f64(&h.rows[0], 0, "vLoadAvg5", 0.75);
    check_f64(&h.rows[0], 0, "vLoadAvg15", 1.25);
    check_f64(&h.rows[0], 0, "vCpuMhz", 2300);
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vThreads", 321 },
                                         { "vThreadsRunnable", 3 },
                                         { "vProcessesBlocked", 1 },
                                         { "vForks", 4242 },
                                         { "vInterrupts", 987654 },
                                         { "vSoftInterrupts", 555555 },
                                         { NULL, 0 } });
    close_collector(&h);
}

static void each_value_has_the_time_of_its_own_read(void **state) {
    (void)state;
    struct host h;
    int64_t before_ns = pt_mono_ns();
    start_mock(&h, "cpu");
    int64_t last_ns = before_ns;
    for (int source = 0; source < 3; source++) {
        int64_t time_ns = pt_get_time(&h.rows[0], 0, source);
        assert_true(time_ns >= last_ns && time_ns <= pt_mono_ns());
        last_ns = time_ns;
    }
    close_collector(&h);
}

static void every_cpu_has_a_row(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "cpu");
    assert_int_equal(h.rows[1].row_count, 4);
    for (uint32_t cpu = 0; cpu < 4; cpu++) {
        int64_t n = cpu + 1;
        check_row(&h.rows[1], cpu,
                  (const struct expected[]){ { "cpuNumber", cpu },
                                             { "cpuTime", n * 1500 },
                                             { "cpuTimeUserMode", n * 1000 },
                                             { "cpuTimeKernelMode", n * 500 },
                                             { "cpuIdleTime", n * 20000 },
                                             { "cpuTimeIOWait", n * 100 },
                                             { "cpuTimeIntSrvc", n * 5 },
                                             { "cpuTimeSoftIntSrvc", n * 15 },
                                             { "cpuNice", n * 10 },
                                             { "cpuSteal", n * 2 },
                                             { NULL, 0 } });
        check_f64(&h.rows[1], cpu, "cpuMhz", 2000 + 200 * cpu);
    }
    close_collector(&h);
}

static void a_tick_is_not_always_a_centisecond(void **state) {
    (void)state;
    assert_int_equal(pt_ticks_to_cs(12345, 100), 12345);
    assert_int_equal(pt_ticks_to_cs(1000, 250), 400);
    assert_int_equal(pt_ticks_to_cs(1024, 1024), 100);
    assert_int_equal(pt_ticks_to_cs(INT64_MAX, 1000), INT64_MAX / 10);
}

static void cpus_may_come_and_go(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/stat",
             "cpu  10 0 5 1 0 0 0 0 0 0\ncpu0 10 0 5 1 0 0 0 0 0 0\nctxt 7\n");
    open_collector(&h, "cpu");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 1);
    tree_put(&h.tree, "proc/stat",
             "cpu  30 0 5 1 0 0 0 0 0 0\ncpu0 10 0 5 1 0 0 0 0 0 0\ncpu2 20 0 0 1 0 0 0 0 0 0\n"
             "cpu3 0 0 0 1 0 0 0 0 0 0\nctxt 8\n");
    tree_put(&h.tree, "sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "1500000\n");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 3);
    check_i64(&h.rows[1], 1, "cpuNumber", 2);
    check_i64(&h.rows[1], 1, "cpuTimeUserMode", 20);
    check_null(&h.rows[1], 1, "cpuMhz");
    check_i64(&h.rows[0], 0, "vCpuContextSwitches", 8);
    for (int i = 0; i < 10; i++)
        collect(&h);
    check_f64(&h.rows[1], 2, "cpuMhz", 1500);
    check_f64(&h.rows[0], 0, "vCpuMhz", 1500);
    close_collector(&h);
}

static void a_frequency_that_cannot_be_read_any_more_is_unknown(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "cpu");
    assert_int_equal(
        unlink(tree_path(&h.tree, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq")), 0);
    collect(&h);
    check_null(&h.rows[1], 0, "cpuMhz");
    check_f64(&h.rows[0], 0, "vCpuMhz", 2400);
    close_collector(&h);
}

static void without_cpufreq_the_frequency_is_that_of_cpuinfo(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/stat", "cpu  1 2 3 4\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n");
    tree_put(&h.tree, "proc/cpuinfo",
             "processor\t: 0\ncpu MHz\t\t: 2299.998\n\nprocessor\t: 1\ncpu MHz\t\t: 1200.002\n");
    open_collector(&h, "cpu");
    collect(&h);
    check_f64(&h.rows[1], 0, "cpuMhz", 2299.998);
    check_f64(&h.rows[0], 0, "vCpuMhz", 1750);
    close_collector(&h);
}

static void old_kernels_have_fewer_fields(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/stat", "cpu  10 20 30 40\ncpu0 10 20 3");
    open_collector(&h, "cpu");
    collect(&h);
    check_i64(&h.rows[0], 0, "vCpuTime", 40);
    check_i64(&h.rows[0], 0, "vCpuIdleTime", 40);
    check_null(&h.rows[0], 0, "vCpuTimeIOWait");
    check_null(&h.rows[0], 0, "vCpuSteal");
    check_null(&h.rows[0], 0, "vCpuContextSwitches");
    check_null(&h.rows[0], 0, "vLoadAvg");
    check_null(&h.rows[0], 0, "vCpuMhz");
    check_null(&h.rows[1], 0, "cpuIdleTime");
    close_collector(&h);
}

static void an_absurd_number_is_null_and_those_after_it_are_right(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/stat",
             "cpu  9223372036854775807 1 9223372036854775807 18446744073709551611 -3 6 7x 8\n"
             "cpufoo 1 2 3 4\n"
             "cpu99999999999999999999 1 2 3 4\n"
             "cpu18446744073709551615 1 2 3 4\n"
             "cpu0 5 6 7 8\n"
             "ctxt 18446744073709551615\nprocesses -1\nprocs_blocked 4\n");
    tree_put(&h.tree, "proc/loadavg", "0.5 0.75 1.25 3/321\n");
    open_collector(&h, "cpu");
    collect(&h);
    assert_int_equal(h.rc, 0);
    check_i64(&h.rows[0], 0, "vCpuTimeUserMode", INT64_MAX);
    check_null(&h.rows[0], 0, "vCpuTime");
    check_null(&h.rows[0], 0, "vCpuIdleTime");
    check_null(&h.rows[0], 0, "vCpuTimeIOWait");
    check_i64(&h.rows[0], 0, "vCpuTimeIntSrvc", 6);
    check_null(&h.rows[0], 0, "vCpuTimeSoftIntSrvc");
    check_i64(&h.rows[0], 0, "vCpuSteal", 8);
    check_null(&h.rows[0], 0, "vCpuContextSwitches");
    check_null(&h.rows[0], 0, "vForks");
    check_i64(&h.rows[0], 0, "vProcessesBlocked", 4);
    check_null(&h.rows[0], 0, "vLoadAvg");
    assert_int_equal(h.rows[1].row_count, 1);
    check_i64(&h.rows[1], 0, "cpuNumber", 0);
    check_i64(&h.rows[1], 0, "cpuTime", 12);
    close_collector(&h);
}

static void a_missing_file_is_an_error_that_heals(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    open_collector(&h, "cpu");
    collect(&h);
    assert_int_equal(h.rc, -ENOENT);
    assert_int_equal(h.rows[0].row_count, 1);
    check_all_null(&h.rows[0], 0);
    tree_put(&h.tree, "proc/stat", "cpu  10 20 30 40\n");
    collect(&h);
    assert_int_equal(h.rc, 0);
    check_i64(&h.rows[0], 0, "vCpuTime", 40);
    close_collector(&h);
}

/* Memory */

static void memory_is_exact_bytes(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "mem");
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vMemoryTotal", INT64_C(16384000) * 1024 },
                                         { "vMemoryFree", INT64_C(8192000) * 1024 },
                                         { "vMemoryUsed", INT64_C(8448000) * 1024 },
                                         { "vMemoryBuffers", INT64_C(512000) * 1024 },
                                         { "vMemoryCached", INT64_C(3328000) * 1024 },
                                         { "vMemoryUnused", INT64_C(4096000) * 1024 },
                                         { "vMemoryAnon", INT64_C(4100000) * 1024 },
                                         { "vMemoryShmem", INT64_C(123000) * 1024 },
                                         { "vMemoryDirty", INT64_C(2048) * 1024 },
                                         { "vMemoryWriteback", INT64_C(64) * 1024 },
                                         { "vMemoryMapped", INT64_C(700000) * 1024 },
                                         { "vMemorySlab", INT64_C(400000) * 1024 },
                                         { "vMemoryPageTables", INT64_C(48000) * 1024 },
                                         { "vMemoryCommitted", INT64_C(9000000) * 1024 },
                                         { "vHugePagesTotal", 8 },
                                         { "vHugePagesFree", 6 },
                                         { NULL, 0 } });
    check_f64(&h.rows[0], 0, "vMemoryPercent", 50);
    close_collector(&h);
}

static void swap_and_faults_are_exact(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "mem");
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vSwapTotal", INT64_C(2048000) * 1024 },
                                         { "vSwapFree", INT64_C(1536000) * 1024 },
                                         { "vSwapUsed", INT64_C(512000) * 1024 },
                                         { "vPgFault", 999750 },
                                         { "vMajorPageFault", 250 },
                                         { "vSwapIn", 10 },
                                         { "vSwapOut", 20 },
                                         { "vPgScanDirect", 300 },
                                         { "vOomKills", 1 },
                                         { NULL, 0 } });
    check_null(&h.rows[0], 0, "vPgRefaultFile");
    close_collector(&h);
}

static void what_a_sum_lacks_makes_it_unknown(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/meminfo",
             "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 10 kB\nCached: 20 kB\n"
             "SwapTotal: 5 kB\nSwapFree: 7 kB\n");
    tree_put(&h.tree, "proc/vmstat", "pgfault 5\npgmajfault 6\n");
    open_collector(&h, "mem");
    collect(&h);
    check_i64(&h.rows[0], 0, "vMemoryTotal", 1024000);
    check_null(&h.rows[0], 0, "vMemoryFree");
    check_null(&h.rows[0], 0, "vMemoryPercent");
    check_null(&h.rows[0], 0, "vMemoryUsed");
    check_null(&h.rows[0], 0, "vMemoryCached");
    check_null(&h.rows[0], 0, "vSwapUsed");
    check_null(&h.rows[0], 0, "vPgFault");
    check_i64(&h.rows[0], 0, "vMajorPageFault", 6);
    close_collector(&h);
}

static void absurd_memory_is_unknown(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/meminfo",
             "MemTotal: 100 kB\nMemFree: 9223372036854775807 kB\nMemAvailable: 200 kB\n"
             "Buffers: -1 kB\nCached: 9007199254740991 kB\nSwapTotal: many kB\n"
             "SReclaimable: 9007199254740991 kB\nDirty: 3\n");
    open_collector(&h, "mem");
    collect(&h);
    assert_int_equal(h.rc, -ENOENT);
    check_i64(&h.rows[0], 0, "vMemoryTotal", 102400);
    check_null(&h.rows[0], 0, "vMemoryUnused");
    check_null(&h.rows[0], 0, "vMemoryBuffers");
    check_null(&h.rows[0], 0, "vMemoryCached");
    check_null(&h.rows[0], 0, "vMemoryUsed");
    check_null(&h.rows[0], 0, "vMemoryPercent");
    check_null(&h.rows[0], 0, "vSwapTotal");
    check_i64(&h.rows[0], 0, "vMemoryDirty", 3072);
    close_collector(&h);
}

static void keys_are_found_in_any_order_and_again_when_it_changes(void **state) {
    (void)state;
    const struct pt_str keys[] = { { "a", 1 }, { "b", 1 }, { "c:", 2 } };
    struct pt_keyed order = { 0 };
    int64_t values[3];
    bool is_present[3];
    pt_keyed_read(&order, keys, 3, pt_scan_of(PT_STR("c: 3 kB\nab 9\na 1\nb\n")), values,
                  is_present);
    assert_true(is_present[0] && !is_present[1] && is_present[2]);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[2], 3);
    pt_keyed_read(&order, keys, 3, pt_scan_of(PT_STR("c: 4\na 5\n")), values, is_present);
    assert_int_equal(values[0], 5);
    assert_int_equal(values[2], 4);
    pt_keyed_read(&order, keys, 3, pt_scan_of(PT_STR("a 6\nb 7\n")), values, is_present);
    assert_true(is_present[0] && is_present[1] && !is_present[2]);
    assert_int_equal(values[0], 6);
    assert_int_equal(values[1], 7);
    pt_keyed_read(&order, keys, 3, pt_scan_of(PT_STR("")), values, is_present);
    assert_false(is_present[0] || is_present[1] || is_present[2]);
}

/* pgscan_direct is a key of its own beside pgscan_direct_throttle, pgalloc_dma beside _dma32. */
static void a_key_is_not_the_start_of_a_longer_one(void **state) {
    (void)state;
    const struct pt_str keys[] = { PT_STR("pgscan_direct"), PT_STR("pgalloc_dma") };
    struct pt_keyed order = { 0 };
    int64_t values[2];
    bool is_present[2];
    pt_keyed_read(&order, keys, 2,
                  pt_scan_of(PT_STR("pgscan_direct 5\npgscan_direct_throttle 7\n"
                                    "pgalloc_dma32 9\n")),
                  values, is_present);
    assert_true(is_present[0] && !is_present[1]);
    assert_int_equal(values[0], 5);
    /* as learnt: the first line is another one now */
    pt_keyed_read(&order, keys, 2, pt_scan_of(PT_STR("pgscan_direct2 8\npgscan_direct\t6\n")),
                  values, is_present);
    assert_true(is_present[0]);
    assert_int_equal(values[0], 6);
}

/* Disks */

static void disk_totals_are_exact(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "disk");
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vDiskReadBytes", 163840000 },
                                         { "vDiskWriteBytes", 245760000 },
                                         { "vDiskSuccessfulReads", 4000 },
                                         { "vDiskSuccessfulWrites", 6000 },
                                         { "vDiskReadTime", 1100 },
                                         { "vDiskWriteTime", 2400 },
                                         { "vDiskIOTime", 3000 },
                                         { "vDiskIOInProgress", 3 },
                                         { "vDiskSectorReads", 320000 },
                                         { "vDiskSectorWrites", 480000 },
                                         { "vDiskMergedReads", 400 },
                                         { "vDiskMergedWrites", 600 },
                                         { "vDiskWeightedIOTime", 3500 },
                                         { "vDiskDiscardBytes", 409600 },
                                         { "vDiskFlushes", 60 },
                                         { NULL, 0 } });
    close_collector(&h);
}

static void each_whole_disk_has_a_row(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "disk");
    assert_int_equal(h.rows[1].row_count, 2);
    check_row(&h.rows[1], row_of(&h.rows[1], "sda"),
              (const struct expected[]){ { "dReadBytes", 40960000 },
                                         { "dWriteBytes", 81920000 },
                                         { "dSuccessfulReads", 1000 },
                                         { "dSuccessfulWrites", 2000 },
                                         { "dReadTime", 500 },
                                         { "dWriteTime", 1500 },
                                         { "dIOTime", 1800 },
                                         { "dIOInProgress", 2 },
                                         { "dMergedReads", 100 },
                                         { "dMergedWrites", 200 },
                                         { "dWeightedIOTime", 2000 },
                                         { "dDiscardBytes", 409600 },
                                         { "dFlushes", 20 },
                                         { NULL, 0 } });
    check_i64(&h.rows[1], row_of(&h.rows[1], "nvme0n1"), "dSuccessfulReads", 3000);
    close_collector(&h);
}

static void names_tell_disks_from_partitions_and_virtual_devices(void **state) {
    (void)state;
    const char *const disks[] = { "sda",     "sdaa",     "vda",        "xvda",        "hda",
                                  "nvme0n1", "nvme10n2", "mmcblk0",    "pmem0",       "nbd0",
                                  "rbd3",    "dasda",    "cciss/c0d0", "mmcblk0boot0" };
    const char *const others[] = {
        "sda1",   "sdaa12", "vda3",         "xvda1", "nvme0n1p1", "loop0",     "ram15",
        "zram0",  "dm-0",   "md127",        "fd0",   "sr0",       "mmcblk0p2", "nvme10n2p11",
        "nbd0p1", "dasda1", "cciss/c0d0p1", "drbd0", "bcache0",   "zd16",      ""
    };
    for (size_t i = 0; i < PT_COUNT(disks); i++)
        if (!pt_disk_name_is_whole(pt_str_from(disks[i])))
            fail_msg("%s is a disk", disks[i]);
    for (size_t i = 0; i < PT_COUNT(others); i++)
        if (pt_disk_name_is_whole(pt_str_from(others[i])))
            fail_msg("%s is not a disk", others[i]);
}

/* With /sys the name matters less: xvda1 can be a whole disk, cciss has a slash in its name. */
static void sys_block_says_what_a_disk_is(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/diskstats",
             " 202 1 xvda1 1 0 8 0 0 0 0 0 0 0 0\n 104 0 cciss/c0d0 2 0 8 0 0 0 0 0 0 0 0\n"
             " 8 0 sdz 4 0 8 0 0 0 0 0 0 0 0\n 7 0 loop0 8 0 8 0 0 0 0 0 0 0 0\n");
    tree_directory(&h.tree, "sys/block/xvda1");
    tree_directory(&h.tree, "sys/block/cciss!c0d0");
    tree_directory(&h.tree, "sys/block/loop0");
    open_collector(&h, "disk");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 2);
    assert_true(has_row(&h.rows[1], "xvda1") && has_row(&h.rows[1], "cciss/c0d0"));
    check_i64(&h.rows[0], 0, "vDiskSuccessfulReads", 3);
    close_collector(&h);
}

static void a_disk_may_appear_and_vanish_during_the_run(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/diskstats", "   8 0 sda 1 0 8 0 0 0 0 0 0 0 0\n");
    open_collector(&h, "disk");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 1);
    tree_put(&h.tree, "proc/diskstats",
             "   8 16 sdb 2 0 8 0 0 0 0 0 0 0 0\n   8 17 sdb1 2 0 8 0 0 0 0 0 0 0 0\n"
             "   8 0 sda 1 0 8 0 0 0 0 0 0 0 0\n");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 2);
    check_i64(&h.rows[1], row_of(&h.rows[1], "sda"), "dSuccessfulReads", 1);
    check_i64(&h.rows[0], 0, "vDiskSuccessfulReads", 3);
    tree_put(&h.tree, "proc/diskstats", "   8 17 sdb1 2 0 8 0 0 0 0 0 0 0 0\n");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 0);
    check_all_null(&h.rows[0], 0);
    close_collector(&h);
}

/* A total that lacks a part would be wrong. */
static void an_unreadable_disk_makes_the_total_unknown(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/diskstats",
             "8 0 sda 1 0 18014398509481984 0 0 0 9223372036854775807 0 -1 5 6\n"
             "8 16 sdb 2 0 8 0 0 0 9223372036854775807 0 0 7\n"
             "8 32\nnonsense\n");
    open_collector(&h, "disk");
    collect(&h);
    assert_int_equal(h.rc, 0);
    assert_int_equal(h.rows[1].row_count, 2);
    check_i64(&h.rows[0], 0, "vDiskSuccessfulReads", 3);
    check_null(&h.rows[0], 0, "vDiskReadBytes"); /* more than 2^63 bytes */
    check_i64(&h.rows[0], 0, "vDiskSectorReads", 18014398509481992);
    check_null(&h.rows[0], 0, "vDiskSectorWrites"); /* the sum does not fit */
    check_null(&h.rows[0], 0, "vDiskIOInProgress"); /* the kernel bug of old: below zero */
    check_i64(&h.rows[0], 0, "vDiskIOTime", 12);
    check_null(&h.rows[0], 0, "vDiskWeightedIOTime"); /* sdb's line is cut */
    check_null(&h.rows[0], 0, "vDiskFlushes");
    check_null(&h.rows[1], 0, "dIOInProgress");
    check_i64(&h.rows[1], 0, "dWeightedIOTime", 6);
    close_collector(&h);
}

static void a_machine_without_diskstats_or_pressure_switches_them_off(void **state) {
    (void)state;
    const char *const collectors[] = { "disk", "net", "pressure" };
    for (size_t i = 0; i < PT_COUNT(collectors); i++) {
        struct host h;
        start_empty(&h);
        open_collector(&h, collectors[i]);
        collect(&h);
        assert_int_equal(h.rc, -ENODATA);
        assert_int_equal(h.rows[0].row_count, 0);
        close_collector(&h);
    }
}

/* Network */

static void network_totals_are_exact(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "net");
    check_row(&h.rows[0], 0,
              (const struct expected[]){ { "vNetworkBytesRecvd", 6000000 },
                                         { "vNetworkBytesSent", 3000000 },
                                         { "vNetworkPacketsRecvd", 50000 },
                                         { "vNetworkPacketsSent", 25000 },
                                         { "vNetworkErrorsRecvd", 3 },
                                         { "vNetworkErrorsSent", 1 },
                                         { "vNetworkDropsRecvd", 8 },
                                         { "vNetworkDropsSent", 2 },
                                         { NULL, 0 } });
    close_collector(&h);
}

static void every_interface_but_loopback_has_a_row(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "net");
    assert_int_equal(h.rows[1].row_count, 5);
    assert_false(has_row(&h.rows[1], "lo"));
    check_row(&h.rows[1], row_of(&h.rows[1], "eth0"),
              (const struct expected[]){ { "iIsCounted", 1 },
                                         { "iBytesRecvd", 5000000 },
                                         { "iBytesSent", 2500000 },
                                         { "iPacketsRecvd", 40000 },
                                         { "iPacketsSent", 20000 },
                                         { "iErrorsRecvd", 3 },
                                         { "iErrorsSent", 1 },
                                         { "iDropsRecvd", 7 },
                                         { "iDropsSent", 2 },
                                         { NULL, 0 } });
    check_i64(&h.rows[1], row_of(&h.rows[1], "docker0"), "iIsCounted", 0);
    check_i64(&h.rows[1], row_of(&h.rows[1], "veth1a2b3c4"), "iIsCounted", 0);
    close_collector(&h);
}

/* Lines of /proc/net/dev with that many bytes received, and nothing else. */
static void put_interfaces(struct host *h, const struct expected *interfaces) {
    char text[4096] = "Inter-|   Receive\n face |bytes\n";
    for (; interfaces->column; interfaces++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s: %lld 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
                 interfaces->column, (long long)interfaces->value);
    }
    tree_put(&h->tree, "proc/net/dev", text);
}

static void check_received(struct host *h, int64_t bytes) {
    collect(h);
    assert_int_equal(h->rc, 0);
    check_i64(&h->rows[0], 0, "vNetworkBytesRecvd", bytes);
}

static void bonds_bridges_and_vlans_pass_the_same_bytes_again(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    put_interfaces(&h, (const struct expected[]){ { "lo", 1 },
                                                  { "ens1", 2 },
                                                  { "ens2", 4 },
                                                  { "bond0", 8 },
                                                  { "bond0.100", 16 },
                                                  { "br0", 32 },
                                                  { "vethabc", 64 },
                                                  { "wg0", 128 },
                                                  { NULL, 0 } });
    const char *const entries[] = { "lo/mtu",
                                    "ens1/device/vendor",
                                    "ens2/device/vendor",
                                    "ens1/upper_bond0",
                                    "bond0/bonding/mode",
                                    "bond0/lower_ens1",
                                    "bond0.100/lower_bond0",
                                    "br0/bridge/stp_state",
                                    "vethabc/mtu",
                                    "wg0/mtu" };
    for (size_t i = 0; i < PT_COUNT(entries); i++) {
        char path[128];
        snprintf(path, sizeof path, "sys/class/net/%s", entries[i]);
        tree_put(&h.tree, path, "");
    }
    open_collector(&h, "net");
    check_received(&h, 2 + 4);
    close_collector(&h);
}

static void a_virtual_function_below_a_synthetic_interface_counts_once(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    put_interfaces(&h, (const struct expected[]){ { "eth0", 100 }, { "enP1s1", 90 }, { NULL, 0 } });
    tree_put(&h.tree, "sys/class/net/eth0/device/vendor", "");
    tree_put(&h.tree, "sys/class/net/eth0/lower_enP1s1", "");
    tree_put(&h.tree, "sys/class/net/enP1s1/device/vendor", "");
    assert_int_equal(symlink("../eth0", tree_path(&h.tree, "sys/class/net/enP1s1/master")), 0);
    open_collector(&h, "net");
    check_received(&h, 100);
    close_collector(&h);
}

static void in_a_container_the_interfaces_without_a_device_count(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    put_interfaces(&h,
                   (const struct expected[]){
                       { "lo", 1 }, { "eth0", 2 }, { "tun0", 4 }, { "eth0.7", 8 }, { NULL, 0 } });
    tree_put(&h.tree, "sys/class/net/lo/mtu", "");
    tree_put(&h.tree, "sys/class/net/eth0/mtu", "");
    tree_put(&h.tree, "sys/class/net/tun0/mtu", "");
    tree_put(&h.tree, "sys/class/net/eth0.7/lower_eth0", "");
    open_collector(&h, "net");
    check_received(&h, 2 + 4);
    close_collector(&h);
}

static void without_sys_the_names_decide(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    put_interfaces(&h, (const struct expected[]){ { "lo", 1 },
                                                  { "enp3s0", 2 },
                                                  { "docker0", 4 },
                                                  { "veth12", 8 },
                                                  { "br-1a2b", 16 },
                                                  { "enp3s0.5", 32 },
                                                  { "bond0", 64 },
                                                  { "tunl0", 128 },
                                                  { "ib0", 256 },
                                                  { NULL, 0 } });
    open_collector(&h, "net");
    check_received(&h, 2 + 256);
    put_interfaces(&h, (const struct expected[]){
                           { "lo", 1 }, { "tun0", 2 }, { "veth0", 4 }, { "br0", 8 }, { NULL, 0 } });
    check_received(&h, 2 + 4); /* only a VPN and a veth: a network namespace */
    close_collector(&h);
}

static void an_interface_may_appear_and_vanish_during_the_run(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    put_interfaces(&h, (const struct expected[]){ { "lo", 1 }, { "tun0", 2 }, { NULL, 0 } });
    open_collector(&h, "net");
    check_received(&h, 2);
    put_interfaces(&h,
                   (const struct expected[]){
                       { "eth0", 4 }, { "lo", 1 }, { "tun0", 2 }, { "veth9", 8 }, { NULL, 0 } });
    check_received(&h, 4);
    assert_int_equal(h.rows[1].row_count, 3);
    put_interfaces(&h, (const struct expected[]){ { "lo", 1 }, { NULL, 0 } });
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 0);
    check_all_null(&h.rows[0], 0);
    close_collector(&h);
}

static void absurd_traffic_is_unknown(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/net/dev",
             "Inter-|   Receive\n face |bytes\n"
             "eth0:9223372036854775807 18446744073709551616 3 4 0 0 0 0 5 6 7 8\n"
             "eth1: 1 2 3 4 0 0 0 0 5\n: 1 2 3\n no colon\n");
    open_collector(&h, "net");
    collect(&h);
    assert_int_equal(h.rows[1].row_count, 2);
    check_null(&h.rows[0], 0, "vNetworkBytesRecvd");
    check_null(&h.rows[0], 0, "vNetworkPacketsRecvd");
    check_i64(&h.rows[0], 0, "vNetworkErrorsRecvd", 6);
    check_i64(&h.rows[0], 0, "vNetworkBytesSent", 10);
    check_null(&h.rows[0], 0, "vNetworkPacketsSent");
    check_i64(&h.rows[1], 0, "iBytesRecvd", INT64_MAX);
    check_null(&h.rows[1], 0, "iPacketsRecvd");
    close_collector(&h);
}

/* Pressure */

static void pressure_has_a_row_for_each_resource(void **state) {
    (void)state;
    struct host h;
    start_mock(&h, "pressure");
    assert_int_equal(h.rows[0].row_count, 3);
    check_i64(&h.rows[0], row_of(&h.rows[0], "cpu"), "psiSomeTotal", 1000000);
    check_i64(&h.rows[0], row_of(&h.rows[0], "memory"), "psiSomeTotal", 200000);
    check_i64(&h.rows[0], row_of(&h.rows[0], "memory"), "psiFullTotal", 100000);
    check_i64(&h.rows[0], row_of(&h.rows[0], "io"), "psiSomeTotal", 3000000);
    check_i64(&h.rows[0], row_of(&h.rows[0], "io"), "psiFullTotal", 1500000);
    close_collector(&h);
}

static void a_broken_pressure_line_is_unknown(void **state) {
    (void)state;
    struct pt_pressure p;
    pt_pressure_parse(pt_scan_of(PT_STR("some avg10=0.10 avg60=2.00 avg300=3.85 total=15\n"
                                        "full avg10=0.20 avg60=3.00 total=25\n")),
                      &p);
    assert_true(p.some.is_present);
    assert_true(p.some.avg10 == 0.1 && p.some.avg60 == 2 && p.some.avg300 == 3.85);
    assert_int_equal(p.some.total_us, 15);
    assert_false(p.full.is_present);
}

static void pressure_that_fails_once_is_read_again(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
    tree_directory(&h.tree, "proc/pressure/io"); /* reading it fails with EISDIR */
    open_collector(&h, "pressure");
    collect(&h);
    assert_int_equal(h.rc, -EISDIR);
    assert_int_equal(h.rows[0].row_count, 1);
    assert_int_equal(rmdir(tree_path(&h.tree, "proc/pressure/io")), 0);
    tree_put(&h.tree, "proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2\n");
    collect(&h);
    assert_int_equal(h.rc, 0);
    check_i64(&h.rows[0], row_of(&h.rows[0], "io"), "psiSomeTotal", 2);
    close_collector(&h);
}

/* Captured trees: the expected values are the words of the files, read here in another way. */

static char *file_text(const char *directory, const char *name) {
    char path[PATH_MAX];
    assert_true(snprintf(path, sizeof path, "%s/%s", directory, name) < PATH_MAX);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    char *text = pt_calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

/* The n-th number (from 0) after `label`, which starts a line but for blanks. */
static int64_t number_after(const char *text, const char *label, int n) {
    for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
        const char *at = line + strspn(line, " ");
        if (strncmp(at, label, strlen(label)) != 0)
            continue;
        char *end = (char *)at + strlen(label);
        int64_t value = strtoll(end, &end, 10);
        while (n-- > 0)
            value = strtoll(end, &end, 10);
        return value;
    }
    fail_msg("there is no line %s", label);
    return 0;
}

static void open_fixture(struct host *h, const char *collector, const char *root, const char *sys) {
    char proc[PATH_MAX];
    assert_true(snprintf(proc, sizeof proc, "%s/proc", root) < PATH_MAX);
    *h = (struct host){ 0 };
    open_at(h, collector, proc, sys);
    collect(h);
}

#define OUR_VM      OURS "captured-vm"
#define THEIR_PROCS THEIRS "procfs/prometheus-procfs"

static void check_captured_cpu(const char *root, uint32_t last_cpu, double load) {
    struct host h;
    char label[16], *stat = file_text(root, "proc/stat");
    snprintf(label, sizeof label, "cpu%u ", last_cpu);
    open_fixture(&h, "cpu", root, "/dev/shm");
    check_i64(&h.rows[0], 0, "vCpuTime",
              number_after(stat, "cpu ", 0) + number_after(stat, "cpu ", 2));
    check_i64(&h.rows[0], 0, "vCpuTimeSoftIntSrvc", number_after(stat, "cpu ", 6));
    check_i64(&h.rows[0], 0, "vCpuContextSwitches", number_after(stat, "ctxt", 0));
    check_i64(&h.rows[1], last_cpu, "cpuIdleTime", number_after(stat, label, 3));
    check_f64(&h.rows[0], 0, "vLoadAvg", load);
    close_collector(&h);
    pt_free(stat);
}

static void check_captured_memory(const char *root, int64_t swap_used_kib, bool has_available) {
    struct host h;
    char *meminfo = file_text(root, "proc/meminfo");
    open_fixture(&h, "mem", root, "/dev/shm");
    int64_t used = number_after(meminfo, "MemTotal:", 0) - number_after(meminfo, "MemFree:", 0) -
                   number_after(meminfo, "Buffers:", 0) - number_after(meminfo, "Cached:", 0) -
                   number_after(meminfo, "SReclaimable:", 0);
    check_i64(&h.rows[0], 0, "vMemoryUsed", used * 1024);
    check_i64(&h.rows[0], 0, "vSwapUsed", swap_used_kib * 1024);
    if (has_available)
        check_i64(&h.rows[0], 0, "vMemoryFree", number_after(meminfo, "MemAvailable:", 0) * 1024);
    else
        check_null(&h.rows[0], 0, "vMemoryFree");
    close_collector(&h);
    pt_free(meminfo);
}

/* Theirs is of a kernel older than MemAvailable. */
static void a_captured_stat_and_meminfo_give_their_own_numbers(void **state) {
    (void)state;
    char root[PATH_MAX];
    find_capture(OUR_VM, root);
    check_captured_cpu(root, 1, 10.47);
    check_captured_memory(root, 32840, true);
    if (find_capture(THEIR_PROCS, root)) {
        check_captured_cpu(root, 3, 0.02);
        check_captured_memory(root, 0, false);
    }
}

static void check_captured_disks(const char *root, const char *const *disks, uint32_t count) {
    struct host h;
    char *text = file_text(root, "proc/diskstats");
    int64_t reads = 0, sectors_written = 0;
    for (uint32_t i = 0; i < count; i++) {
        char *at = strstr(text, disks[i]);
        assert_non_null(at);
        at += strlen(disks[i]);
        for (int field = 0; field < 7; field++) {
            int64_t value = strtoll(at, &at, 10);
            reads += field == 0 ? value : 0;
            sectors_written += field == 6 ? value : 0;
        }
    }
    open_fixture(&h, "disk", root, "/dev/shm");
    assert_int_equal(h.rows[1].row_count, count);
    check_i64(&h.rows[0], 0, "vDiskSuccessfulReads", reads);
    check_i64(&h.rows[0], 0, "vDiskWriteBytes", sectors_written * 512);
    close_collector(&h);
    pt_free(text);
}

/* Ours also wrote to a loop device and swapped to zram: both end up in memory or on vda. */
static void captured_diskstats_count_whole_disks_alone(void **state) {
    (void)state;
    static const char *const ours[] = { " vda " };
    static const char *const theirs[] = { " sda ",     " mmcblk0 ", " vda ",
                                          " nvme0n1 ", " sdb ",     " sdc " };
    char root[PATH_MAX];
    find_capture(OUR_VM, root);
    check_captured_disks(root, ours, PT_COUNT(ours));
    if (find_capture(THEIR_PROCS, root))
        check_captured_disks(root, theirs, PT_COUNT(theirs));
}

struct captured_traffic {
    const char *root;
    bool has_sys;
    const char *cards[2];
};

static void check_captured_traffic(const struct captured_traffic *c, const char *root) {
    static const struct {
        const char *column;
        int field;
    } columns[] = {
        { "vNetworkBytesRecvd", 0 },
        { "vNetworkDropsRecvd", 3 },
        { "vNetworkPacketsSent", 9 },
    };
    char sys[PATH_MAX + 8], *text = file_text(root, "proc/net/dev");
    struct host h;
    snprintf(sys, sizeof sys, "%s/sys", root);
    open_fixture(&h, "net", root, c->has_sys ? sys : "/dev/shm");
    for (size_t i = 0; i < PT_COUNT(columns); i++) {
        int64_t sum = 0;
        for (size_t card = 0; card < PT_COUNT(c->cards) && c->cards[card]; card++)
            sum += number_after(text, c->cards[card], columns[i].field);
        check_i64(&h.rows[0], 0, columns[i].column, sum);
    }
    close_collector(&h);
    pt_free(text);
}

/* Ours has a bridge and a veth pair with traffic: known by /sys, or else by their names. */
static void captured_traffic_counts_the_cards_alone(void **state) {
    (void)state;
    static const struct captured_traffic cases[] = {
        { OUR_VM, true, { "eth0:", NULL } },
        { OUR_VM, false, { "eth0:", NULL } },
        { THEIR_PROCS, false, { "eth0:", NULL } },
        { THEIRS "procfs/dynolog-root", true, { "eth0:", "eth1:" } },
    };
    char root[PATH_MAX];
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        if (find_capture(cases[i].root, root))
            check_captured_traffic(&cases[i], root);
}

struct captured_pressure {
    const char *root;
    int64_t io_some_total, io_full_total;
    double io_full_average;
    bool has_cpu_full; /* kernels before 5.13 do not have it */
};

static void captured_pressure_gives_its_own_numbers(void **state) {
    (void)state;
    static const struct captured_pressure cases[] = {
        { OUR_VM, 24835290, 13791806, 0.68, true },
        { THEIR_PROCS, 15, 25, 4.95, false },
    };
    char root[PATH_MAX];
    struct host h;
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        if (!find_capture(cases[i].root, root))
            continue;
        open_fixture(&h, "pressure", root, "/dev/shm");
        uint32_t io = row_of(&h.rows[0], "io"), cpu = row_of(&h.rows[0], "cpu");
        check_i64(&h.rows[0], io, "psiSomeTotal", cases[i].io_some_total);
        check_i64(&h.rows[0], io, "psiFullTotal", cases[i].io_full_total);
        check_f64(&h.rows[0], io, "psiFullAvg300", cases[i].io_full_average);
        if (cases[i].has_cpu_full)
            check_i64(&h.rows[0], cpu, "psiFullTotal", 0);
        else
            check_null(&h.rows[0], cpu, "psiFullTotal");
        close_collector(&h);
    }
}

/* Whatever this machine is, its own files must be readable. */
static void this_machine_has_sound_values(void **state) {
    (void)state;
    struct host h = { 0 };
    open_at(&h, "mem", "/proc", "/sys");
    collect(&h);
    const struct pt_batch *b = &h.rows[0];
    int total = column_of(b, "vMemoryTotal"), used = column_of(b, "vMemoryUsed");
    assert_false(pt_is_null(b, 0, total));
    assert_true(pt_get_i64(b, 0, total) > 0);
    if (!pt_is_null(b, 0, used))
        assert_in_range(pt_get_i64(b, 0, used), 0, pt_get_i64(b, 0, total));
    close_collector(&h);
}

/* At 1 ms CPU times and vmstat are read every tenth tick; rows in between repeat the last read. */
static void fast_ticks_repeat_what_changes_slowly(void **state) {
    (void)state;
    struct host h;
    start_empty(&h);
    tree_put(&h.tree, "proc/stat", "cpu  100 0 0 0\ncpu0 60 0 0 0\ncpu1 40 0 0 0\n");
    open_collector(&h, "cpu");
    h.context.interval_ns = PT_NS_PER_MS;
    for (int i = 0; i < 21; i++) {
        collect(&h);
        assert_int_equal(h.rc, 0);
        assert_int_equal(h.rows[0].row_count, 1);
        assert_int_equal(h.rows[1].row_count, 2);
        check_i64(&h.rows[0], 0, "vCpuTimeUserMode", 100 + i / 10);
        check_i64(&h.rows[1], 1, "cpuTimeUserMode", 40 + i / 10);
        char text[128];
        snprintf(text, sizeof text, "cpu  %d 0 0 0\ncpu0 60 0 0 0\ncpu1 %d 0 0 0\n",
                 100 + (i + 1) / 10, 40 + (i + 1) / 10);
        tree_put(&h.tree, "proc/stat", i % 10 == 9 ? text : "cpu  1 0 0 0\ncpu0 1 0 0 0\n");
    }
    close_collector(&h);
    start_empty(&h);
    tree_put(&h.tree, "proc/meminfo", "MemTotal: 8 kB\nMemAvailable: 4 kB\n");
    tree_put(&h.tree, "proc/vmstat", "pgfault 100\npgmajfault 0\nworkingset_refault_file 5\n");
    open_collector(&h, "mem");
    h.context.interval_ns = PT_NS_PER_MS;
    for (int i = 0; i < 21; i++) {
        collect(&h);
        check_i64(&h.rows[0], 0, "vPgFault", 100 + i / 10);
        if (i < 10)
            check_i64(&h.rows[0], 0, "vPgRefaultFile", 5);
        check_i64(&h.rows[0], 0, "vMemoryFree", (4 + i) * 1024); /* at every tick */
        char text[64];
        snprintf(text, sizeof text, "MemTotal: 8 kB\nMemAvailable: %d kB\n", 5 + i);
        tree_put(&h.tree, "proc/meminfo", text);
        snprintf(text, sizeof text, "pgfault %d\npgmajfault 0\n",
                 i % 10 == 9 ? 100 + (i + 1) / 10 : 1);
        tree_put(&h.tree, "proc/vmstat", text);
    }
    close_collector(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(fast_ticks_repeat_what_changes_slowly,
                "C041: fast ticks repeat what is read every 10 ms"),
        PT_TEST(cpu_times_are_exact, "C040 C041 C042 C043 C044 C045 C046 C047 C048: CPU times of "
                                     "the machine are exact centiseconds"),
        PT_TEST(switches_load_and_frequency_come_from_their_files,
                "C049 C050 C051 C052: context switches, load and frequency come from their files"),
        PT_TEST(each_value_has_the_time_of_its_own_read,
                "C028: each value has the time of its own read"),
        PT_TEST(every_cpu_has_a_row, "every CPU has a row with its own times and frequency"),
        PT_TEST(a_tick_is_not_always_a_centisecond,
                "C040: ticks become centiseconds, whatever CLK_TCK is"),
        PT_TEST(cpus_may_come_and_go, "C052: CPUs may come and go"),
        PT_TEST(a_frequency_that_cannot_be_read_any_more_is_unknown,
                "C051: a frequency that cannot be read any more is unknown"),
        PT_TEST(without_cpufreq_the_frequency_is_that_of_cpuinfo,
                "C051: without cpufreq the frequency is that of cpuinfo"),
        PT_TEST(old_kernels_have_fewer_fields, "C044 C048: old kernels have fewer fields"),
        PT_TEST(an_absurd_number_is_null_and_those_after_it_are_right,
                "C031: an absurd number is null and those after it are right"),
        PT_TEST(a_missing_file_is_an_error_that_heals, "a missing file is an error that heals"),
        PT_TEST(memory_is_exact_bytes,
                "C053 C054 C055 C056 C057 C058 C064: memory is exact bytes by decision 3"),
        PT_TEST(swap_and_faults_are_exact,
                "C059 C060 C061 C062 C063: swap and page faults are exact"),
        PT_TEST(what_a_sum_lacks_makes_it_unknown,
                "C055 C057 C061 C062: what a sum lacks makes it unknown"),
        PT_TEST(absurd_memory_is_unknown, "C053 C058: absurd memory is unknown"),
        PT_TEST(a_key_is_not_the_start_of_a_longer_one,
                "a key of a kernel file is not the start of a longer one"),
        PT_TEST(keys_are_found_in_any_order_and_again_when_it_changes,
                "keys are found in any order, and again when it changes"),
        PT_TEST(disk_totals_are_exact, "C065 C066 C067 C068 C069 C070 C071 C072 C074: totals of "
                                       "the disks are exact"),
        PT_TEST(each_whole_disk_has_a_row, "C073: each whole disk has a row, and nothing else has"),
        PT_TEST(names_tell_disks_from_partitions_and_virtual_devices,
                "C073: names tell disks from partitions and virtual devices"),
        PT_TEST(sys_block_says_what_a_disk_is, "C073: /sys/block says what a whole disk is"),
        PT_TEST(a_disk_may_appear_and_vanish_during_the_run,
                "C073: a disk may appear and vanish during the run"),
        PT_TEST(an_unreadable_disk_makes_the_total_unknown,
                "C065 C066 C072: an unreadable disk makes the total unknown, not smaller"),
        PT_TEST(a_machine_without_diskstats_or_pressure_switches_them_off,
                "a machine without disks, network or pressure switches them off"),
        PT_TEST(network_totals_are_exact, "C075 C076 C077 C078 C079 C080 C081 C082: totals of the "
                                          "network are exact"),
        PT_TEST(every_interface_but_loopback_has_a_row,
                "C083: every interface but loopback has a row"),
        PT_TEST(bonds_bridges_and_vlans_pass_the_same_bytes_again,
                "C075: bonds, bridges and VLANs pass the same bytes again"),
        PT_TEST(a_virtual_function_below_a_synthetic_interface_counts_once,
                "C075: a virtual function below a synthetic interface counts once"),
        PT_TEST(in_a_container_the_interfaces_without_a_device_count,
                "C075: in a container the interfaces without a device count"),
        PT_TEST(without_sys_the_names_decide, "C075: without /sys the names decide"),
        PT_TEST(an_interface_may_appear_and_vanish_during_the_run,
                "C083: an interface may appear and vanish during the run"),
        PT_TEST(absurd_traffic_is_unknown, "C075 C077: absurd traffic is unknown"),
        PT_TEST(pressure_has_a_row_for_each_resource, "pressure has a row for each resource"),
        PT_TEST(a_broken_pressure_line_is_unknown, "a broken line of pressure is unknown"),
        PT_TEST(pressure_that_fails_once_is_read_again, "pressure that fails once is read again"),
        PT_TEST(a_captured_stat_and_meminfo_give_their_own_numbers,
                "C040 C055: a captured stat and meminfo give their own numbers"),
        PT_TEST(captured_diskstats_count_whole_disks_alone,
                "C065 C073: captured diskstats count their whole disks alone"),
        PT_TEST(captured_traffic_counts_the_cards_alone,
                "C075 C083: captured traffic counts the cards alone"),
        PT_TEST(captured_pressure_gives_its_own_numbers, "captured pressure gives its own numbers"),
        PT_TEST(this_machine_has_sound_values, "C053 C055: this machine has sound values"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
