/* Signals of runs with known content: every number here was computed by hand.
 *
 * A signal that a case does not list must be unknown. Counters grow by so much a second, samples
 * are half a second apart, and the window looked at ends two seconds after the start. */
#include "tracks.h"

#include "analyze/signal.h"

#define S(name)   PT_FIGURE_##name
#define MIB       1048576.0
#define WINDOW    3
#define TOLERANCE 1e-9

struct expected {
    enum pt_figure_id id;
    double value;
};

struct made {
    struct track_set *set;
    struct pt_journal_reader reader;
    struct pt_windows *windows;
    struct pt_signals signals;
};

static void make(struct made *m, const struct track *tracks, double link_bytes_per_s) {
    char path[] = "/tmp/pitot-signal-XXXXXX";
    struct pt_err err = { "" };
    *m = (struct made){ .set = test_calloc(1, sizeof *m->set),
                        .windows = test_calloc(1, sizeof *m->windows) };
    tracks_add(m->set, tracks);
    tracks_write(m->set, 10, 0.5, path);
    assert_int_equal(pt_journal_open(&m->reader, path, &err), 0);
    pt_windows_init(m->windows, &m->reader.schema, pt_signal_wants);
    assert_int_equal(pt_windows_read(m->windows, &m->reader), 0);
    pt_signals_make(&m->signals, m->windows, link_bytes_per_s);
    unlink(path);
}

static void end(struct made *m) {
    pt_signals_release(&m->signals);
    pt_windows_release(m->windows);
    pt_journal_reader_close(&m->reader);
    test_free(m->windows);
    test_free(m->set);
}

static double value_of(const struct track *tracks, enum pt_figure_id id) {
    struct made m;
    make(&m, tracks, NAN);
    double value = m.signals.values[id][WINDOW];
    end(&m);
    return value;
}

static void check(const struct track *tracks, double link_bytes_per_s,
                  const struct expected *expected, size_t count) {
    struct made m;
    make(&m, tracks, link_bytes_per_s);
    assert_int_equal(m.signals.count, 20);
    assert_true(fabs(m.signals.seconds - 10) < TOLERANCE);
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        double wanted = NAN, found = m.signals.values[id][WINDOW];
        for (size_t i = 0; i < count; i++)
            if ((int)expected[i].id == id)
                wanted = expected[i].value;
        if (isnan(wanted) != isnan(found) ||
            fabs(wanted - found) > TOLERANCE * fmax(1, fabs(wanted)))
            fail_msg("%s is %g instead of %g", pt_figures[id].name, found, wanted);
        assert_int_equal(pt_signal_is_known(&m.signals, (enum pt_figure_id)id), !isnan(wanted));
    }
    end(&m);
}

#define CHECK(tracks, link, expected) check(tracks, link, expected, PT_COUNT(expected))

static void a_machine_has_known_signals(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "cpu", NULL, "vCpuTimeUserMode", 'c', 60, 0 },
        { "cpu", NULL, "vCpuTimeKernelMode", 'c', 20, 0 },
        { "cpu", NULL, "vCpuNice", 'c', 5, 0 },
        { "cpu", NULL, "vCpuTimeIntSrvc", 'c', 3, 0 },
        { "cpu", NULL, "vCpuTimeSoftIntSrvc", 'c', 2, 0 },
        { "cpu", NULL, "vCpuSteal", 'c', 10, 0 },
        { "cpu", NULL, "vCpuIdleTime", 'c', 80, 0 },
        { "cpu", NULL, "vCpuTimeIOWait", 'c', 20, 0 },
        { "cpu", NULL, "vThreadsRunnable", 'g', 6, 0 },
        { "cpu", NULL, "vProcessesBlocked", 'g', 4, 0 },
        { "core", "0", "cpuIdleTime", 'c', 40, 0 },
        { "core", "0", "cpuTimeIOWait", 'c', 10, 0 },
        { "core", "1", "cpuIdleTime", 'c', 70, 0 },
        { "mem", NULL, "vMemoryTotal", 'g', 1000, 0 },
        { "mem", NULL, "vMemoryFree", 'g', 250, 0 },
        { "mem", NULL, "vPgScanDirect", 'c', 7, 0 },
        { "mem", NULL, "vPgRefaultFile", 'c', 11, 0 },
        { "mem", NULL, "vSwapIn", 'c', 3, 0 },
        { "mem", NULL, "vSwapOut", 'c', 5, 0 },
        { "mem", NULL, "vSwapUsed", 'g', 500, 0 },
        { "mem", NULL, "vMajorPageFault", 'c', 13, 0 },
        { "mem", NULL, "vOomKills", 'c', 2, 0 },
        { "mem", NULL, "vMemoryAnon", 'g', 700, 0 },
        { "pressure", "cpu", "psiSomeTotal", 'c', 100000, 0 },
        { "pressure", "memory", "psiSomeTotal", 'c', 200000, 0 },
        { "pressure", "io", "psiSomeTotal", 'c', 300000, 0 },
        { "drive", "sda", "dIOTime", 'c', 400, 0 },
        { "drive", "sda", "dWeightedIOTime", 'c', 1500, 0 },
        { "drive", "sdb", "dIOTime", 'c', 900, 0 },
        { "drive", "sdb", "dWeightedIOTime", 'c', 1200, 0 },
        { "disk", NULL, "vDiskReadBytes", 'c', 30, 0 },
        { "disk", NULL, "vDiskWriteBytes", 'c', 12, 0 },
        { "net", NULL, "vNetworkBytesRecvd", 'c', 100, 0 },
        { "net", NULL, "vNetworkBytesSent", 'c', 50, 0 },
        { "net", NULL, "vNetworkDropsRecvd", 'c', 1, 0 },
        { "net", NULL, "vNetworkDropsSent", 'c', 2, 0 },
        { "net", NULL, "vNetworkErrorsRecvd", 'c', 4, 0 },
        { "net", NULL, "vNetworkErrorsSent", 'c', 8, 0 },
        { "collector", "pitot", "colCpuTime", 'c', 1e8, 0 },
        { "collector", "pitot", "colLateTicks", 'c', 2, 0 },
        { "collector", "pitot", "colDroppedTicks", 'c', 3, 0 },
        { "collector", "pitot", "colTime", 'c', 5e8, 0 }, /* of all collectors: not one of them */
        { "collector", "cpu", "colTime", 'c', 1e7, 0 },
        { "collector", "mem", "colTime", 'c', 2e7, 0 },
        { 0 },
    };
    static const struct expected expected[] = {
        { S(CPU_BUSY), 0.45 },    { S(MACHINE_BUSY), 0.45 },  { S(CPU_STEAL), 0.05 },
        { S(CPU_IOWAIT), 0.1 },   { S(CPU_RUNNABLE), 3 },     { S(CPU_PRESSURE), 0.1 },
        { S(CPU_COUNT), 2 },      { S(CORE_BUSIEST), 0.5 },   { S(MEM_AVAILABLE), 0.25 },
        { S(MEM_PRESSURE), 0.2 }, { S(MEM_SCAN), 7 },         { S(MEM_REFAULT), 11 },
        { S(MEM_SWAP), 8 },       { S(MEM_SWAP_USED), 500 },  { S(MEM_MAJOR_FAULTS), 13 },
        { S(MEM_OOM_KILLS), 2 },  { S(MEM_ANON), 700 },       { S(IO_PRESSURE), 0.3 },
        { S(DISK_BUSY), 0.9 },    { S(DISK_QUEUE), 1.5 },     { S(DISK_RATE), 42 },
        { S(DISK_BLOCKED), 4 },   { S(DISK_READ), 30 },       { S(DISK_WRITTEN), 12 },
        { S(NET_RECEIVED), 100 }, { S(NET_SENT), 50 },        { S(NET_RATE), 150 },
        { S(NET_DROPS), 15 },     { S(PITOT_CPU), 0.1 },      { S(PITOT_SHARE), 0.1 / 0.9 },
        { S(PITOT_LATE), 1004 },  { S(PITOT_DROPPED), 1006 }, { S(PITOT_LOST), 5 },
        { S(PITOT_CALLS), 0.03 }, { S(MEM_TOTAL), 1000 },
    };
    CHECK(tracks, NAN, expected);
}

static void a_command_has_known_signals(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "cpu", NULL, "vCpuTimeUserMode", 'c', 90, 0 },
        { "cpu", NULL, "vCpuIdleTime", 'c', 110, 0 },
        { "core", "0", "cpuIdleTime", 'c', 130, 0 }, /* more than there is: clocks differ */
        { "core", "1", "cpuIdleTime", 'c', 130, 0 },
        { "collector", "pitot", "colCpuTime", 'c', 1e8, 0 },
        { "container", "/a", "cCpuTime", 'c', 5e8, 0 },
        { "container", "/b", "cCpuTime", 'c', 6e8, 0 },
        { "container", "/a", "cCpuPressureSome", 'c', 1e5, 0 },
        { "container", "/b", "cCpuPressureSome", 'c', 2e5, 0 },
        { "container", "/a", "cCpuThrottledTime", 'c', 1e8, 0 },
        { "container", "/b", "cCpuThrottledTime", 'c', 3e8, 0 },
        { "container", "/a", "cCpuPeriods", 'c', 10, 0 },
        { "container", "/b", "cCpuPeriods", 'c', 10, 0 },
        { "container", "/c", "cCpuPeriods", 'c', 0, 0 },
        { "container", "/a", "cCpuThrottledPeriods", 'c', 1, 0 },
        { "container", "/b", "cCpuThrottledPeriods", 'c', 4, 0 },
        { "container", "/c", "cCpuThrottledPeriods", 'c', 4, 0 },
        { "container", "/a", "cCpuTightestLimit", 'g', 4, 0 },
        { "container", "/b", "cCpuTightestLimit", 'g', 0.8, 0 },
        { "container", "/a", "cNumProcessors", 'g', 2, 0 },
        { "container", "/b", "cNumProcessors", 'g', 1, 0 },
        { "container", "/a", "cMemoryAnon", 'g', 100, 0 },
        { "container", "/b", "cMemoryAnon", 'g', 90, 0 },
        { "container", "/a", "cMemoryLimitHits", 'c', 1, 0 },
        { "container", "/b", "cMemoryLimitHits", 'c', 2, 0 },
        { "container", "/a", "cOomKills", 'c', 1, 0 },
        { "container", "/b", "cOomKills", 'c', 3, 0 },
        { "container", "/a", "cMemoryPressureSome", 'c', 3e5, 0 },
        { "container", "/b", "cMemoryPressureSome", 'c', 4e5, 0 },
        { "container", "/a", "cIoPressureSome", 'c', 5e5, 0 },
        { "container", "/b", "cIoPressureSome", 'c', 6e5, 0 },
        /* the working set and the tightest limit, if they are known */
        { "container", "/a", "cWorkingSet", 'g', 50, 0 },
        { "container", "/a", "cMemoryUsed", 'g', 99, 0 },
        { "container", "/a", "cMemoryTightestLimit", 'g', 100, 0 },
        { "container", "/a", "cMemoryLimit", 'g', 51, 0 },
        { "container", "/b", "cMemoryUsed", 'g', 60, 0 },
        { "container", "/b", "cMemoryLimit", 'g', 80, 0 },
        { "container", "/c", "cMemoryUsed", 'g', 60, 0 },
        { "container", "/c", "cMemoryLimit", 'g', 0, 0 },
        { "process_totals", NULL, "pTreeResidentSetSize", 'g', 12345, 0 },
        { "process_totals", NULL, "pTreeCpuTime", 'c', 9e8, 0 },
        { "process", "python3", "pCpuTimeNs", 'c', 4e8, 0 },
        { "process", "python3", "pNumThreads", 'g', 3, 0 },
        { "process", "python3", "pVoluntaryContextSwitches", 'c', 100, 0 },
        { "process", "python3.11", "pCpuTimeNs", 'c', 7e8, 0 },
        { "process", "python3.11", "pNumThreads", 'g', 5, 0 },
        { "process", "python3.11", "pVoluntaryContextSwitches", 'c', 200, 0 },
        { "process", "python2", "pCpuTimeNs", 'c', 6e8, 0 },
        { "process", "python2", "pNumThreads", 'g', 9, 0 },
        { "process", "python2", "pVoluntaryContextSwitches", 'c', 400, 0 },
        { "process", "pytho", "pCpuTimeNs", 'c', 8e8, 0 },
        { "process", "pytho", "pNumThreads", 'g', 7, 0 },
        { "process", "pytho", "pVoluntaryContextSwitches", 'c', 300, 0 },
        { 0 },
    };
    static const struct expected expected[] = {
        { S(CPU_BUSY), 0.45 },
        { S(CPU_STEAL), 0 },
        { S(CPU_IOWAIT), 0 },
        { S(CPU_COUNT), 2 },
        { S(CORE_BUSIEST), 0 },
        { S(OWN_CPU), 0.5 },
        { S(OWN_CPU_SHARE), 0.625 },
        { S(OWN_CPU_PRESSURE), 0.1 },
        { S(OWN_QUOTA_USE), 0.625 },
        { S(OWN_THROTTLED), 0.4 },
        { S(OWN_THROTTLED_TIME), 0.3 },
        { S(OWN_HOTTEST), 0.8 },
        { S(OWN_SWITCHES), 1000 },
        { S(PYTHON_CPU), 0.7 },
        { S(PYTHON_THREADS), 5 },
        { S(PYTHON_SWITCHES), 200 },
        { S(OTHERS_CPU), 0.15 }, /* 0.45 of two CPUs, without its 0.5 and Pitot's 0.1 */
        { S(OWN_PEAK_MEMORY), 12345 },
        { S(OWN_RSS), 12345 },
        { S(OWN_ANON), 90 },
        { S(OWN_MEMORY_SHARE), 0.75 },
        { S(OWN_LIMIT_HITS), 2 },
        { S(OWN_OOM_KILLS), 3 },
        { S(OWN_MEMORY_PRESSURE), 0.3 },
        { S(OWN_IO_PRESSURE), 0.5 },
        { S(PITOT_CPU), 0.1 },
        { S(PITOT_SHARE), 0.1 / 0.6 },
    };
    CHECK(tracks, NAN, expected);
}

/* Its processes stand for it; others have the rest, but never less than nothing. */
static void a_command_without_a_cgroup_has_the_time_of_its_processes(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "cpu", NULL, "vCpuTimeUserMode", 'c', 80, 0 },
        { "cpu", NULL, "vCpuIdleTime", 'c', 120, 0 },
        { "core", "0", "cpuIdleTime", 'c', 60, 0 },
        { "core", "1", "cpuIdleTime", 'c', 60, 0 },
        { "process_totals", NULL, "pTreeCpuTime", 'c', 9e8, 0 },
        { 0 },
    };
    static const struct expected expected[] = {
        { S(CPU_BUSY), 0.4 },       { S(CPU_STEAL), 0 },      { S(CPU_IOWAIT), 0 },
        { S(CPU_COUNT), 2 },        { S(CORE_BUSIEST), 0.4 }, { S(OWN_CPU), 0.9 },
        { S(OWN_CPU_SHARE), 0.45 }, { S(OTHERS_CPU), 0 },
    };
    CHECK(tracks, NAN, expected);
}

static void without_idle_time_the_cpus_are_unknown(void **state) {
    (void)state;
    static const struct track busy[] = { { "cpu", NULL, "vCpuTimeUserMode", 'c', 80, 0 },
                                         { "cpu", NULL, "vProcessesBlocked", 'g', 1, 0 },
                                         { 0 } };
    static const struct track still[] = { { "cpu", NULL, "vCpuIdleTime", 'c', 0, 0 },
                                          { "cpu", NULL, "vProcessesBlocked", 'g', 1, 0 },
                                          { 0 } };
    static const struct expected expected[] = { { S(DISK_BLOCKED), 1 } };
    CHECK(busy, NAN, expected);
    CHECK(still, NAN, expected);
}

static void a_sum_of_which_a_part_is_unknown_is_the_rest(void **state) {
    (void)state;
    static const struct track in[] = { { "mem", NULL, "vSwapIn", 'c', 3, 0 },
                                       { "mem", NULL, "vSwapOut", 'c', NAN, 0 },
                                       { 0 } };
    static const struct track out[] = { { "mem", NULL, "vSwapIn", 'c', NAN, 0 },
                                        { "mem", NULL, "vSwapOut", 'c', 5, 0 },
                                        { 0 } };
    static const struct expected expected_in[] = { { S(MEM_SWAP), 3 } };
    static const struct expected expected_out[] = { { S(MEM_SWAP), 5 } };
    CHECK(in, NAN, expected_in);
    CHECK(out, NAN, expected_out);
}

/* The busier direction of the busiest interface; not of those that pass the bytes of others. */
static void a_link_is_as_full_as_its_busiest_interface(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "interface", "eth0", "iIsCounted", 'g', 1, 0 },
        { "interface", "eth0", "iBytesRecvd", 'c', 80, 0 },
        { "interface", "eth0", "iBytesSent", 'c', 20, 0 },
        { "interface", "br0", "iIsCounted", 'g', 0, 0 },
        { "interface", "br0", "iBytesRecvd", 'c', 900, 0 },
        { "interface", "seldom", "iIsCounted", 'g', 0.45, 0 }, /* in some of the samples */
        { "interface", "seldom", "iBytesRecvd", 'c', 800, 0 },
        { "interface", "often", "iIsCounted", 'g', 0.55, 0 },
        { "interface", "often", "iBytesRecvd", 'c', 10, 0 },
        { "interface", "often", "iBytesSent", 'c', 95, 0 },
        { 0 },
    };
    static const struct expected expected[] = { { S(NET_BUSIEST), 95 },
                                                { S(NET_LINK_SHARE), 0.095 } };
    CHECK(tracks, 1000, expected);
    check(tracks, NAN, expected, 1);
}

static void an_engine_has_known_signals(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "engine", NULL, "system_requests_running", 'g', 5, 0 },
        { "engine", NULL, "system_requests_waiting", 'g', 6, 0 },
        { "engine", NULL, "cache_kv_usage_percent", 'g', 0.7, 0 },
        { "engine", NULL, "system_preemptions_total", 'c', 2, 0 },
        { "engine", NULL, "tokens_generation_total", 'c', 100, 0 },
        { "engine", NULL, "tokens_prompt_total", 'c', 300, 0 },
        { "engine", NULL, "requests_finished_total", 'c', 4, 0 },
        { "engine", NULL, "latency_ttft_s_p50", 'g', 0.25, 0 },
        { "engine", NULL, "latency_queue_s_sum", 'c', 1, 0 },
        { "engine", NULL, "latency_e2e_s_sum", 'c', 4, 0 },
        { "engine", NULL, "latency_prefill_s_sum", 'c', 3, 0 },
        { "engine", NULL, "latency_decode_s_sum", 'c', 7, 0 },
        { "engine", NULL, "latency_inter_token_s_p50", 'g', 0.02, 0 },
        { "engine", NULL, "latency_inter_token_s_p99", 'g', 0.1, 0 },
        { 0 },
    };
    static const struct expected expected[] = {
        { S(ENGINE_RUNNING), 5 },
        { S(ENGINE_WAITING), 6 },
        { S(ENGINE_QUEUE_RATIO), 1.2 },
        { S(ENGINE_KV), 0.7 },
        { S(ENGINE_PREEMPTIONS), 2 },
        { S(ENGINE_TOKENS), 100 },
        { S(ENGINE_PROMPT_TOKENS), 300 },
        { S(ENGINE_FINISHED), 4 },
        { S(ENGINE_TTFT_P50), 0.25 },
        { S(ENGINE_QUEUE_SHARE), 0.25 },
        { S(ENGINE_PREFILL_SHARE), 0.3 },
        { S(ENGINE_TOKEN_SPREAD), 5 },
        { S(ENGINE_INTER_TOKEN_P50), 0.02 },
        { S(ENGINE_INTER_TOKEN_P99), 0.1 },
    };
    CHECK(tracks, NAN, expected);
    /* of nothing there is no share */
    static const struct track idle[] = { { "engine", NULL, "latency_queue_s_sum", 'c', 1, 0 },
                                         { "engine", NULL, "latency_e2e_s_sum", 'c', 0, 0 },
                                         { 0 } };
    check(idle, NAN, NULL, 0);
}

static void gpus_have_known_signals(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "gpu", "0", "gUtilizationGpu", 'g', 80, 0 },
        { "gpu", "1", "gUtilizationGpu", 'g', 60, 0 },
        { "gpu", "0", "gUtilizationMem", 'g', 50, 0 },
        { "gpu", "1", "gUtilizationMem", 'g', 30, 0 },
        { "gpu", "0", "gDramBandwidth", 'g', 20, 0 },
        { "gpu", "1", "gDramBandwidth", 'g', 40, 0 },
        { "gpu", "0", "gSmActive", 'g', 10, 0 },
        { "gpu", "1", "gSmActive", 'g', 30, 0 },
        { "gpu", "0", "gTensorActive", 'g', 1, 0 },
        { "gpu", "1", "gTensorActive", 'g', 3, 0 },
        { "gpu", "0", "gMemoryUsedMb", 'g', 100, 0 },
        { "gpu", "1", "gMemoryUsedMb", 'g', 300, 0 },
        { "gpu", "0", "gMemoryTotalMb", 'g', 1000, 0 },
        { "gpu", "1", "gMemoryTotalMb", 'g', 400, 0 },
        { "gpu", "0", "gViolationPower", 'c', 1e8, 0 },
        { "gpu", "1", "gViolationPower", 'c', 2e8, 0 },
        { "gpu", "0", "gViolationThermal", 'c', 3e8, 0 },
        { "gpu", "1", "gViolationThermal", 'c', 1e8, 0 },
        { "gpu", "0", "gTemperatureC", 'g', 70, 0 },
        { "gpu", "1", "gTemperatureC", 'g', 80, 0 },
        { "gpu", "0", "gPowerDrawW", 'g', 100, 0 },
        { "gpu", "1", "gPowerDrawW", 'g', 200, 0 },
        { "gpu", "0", "gPowerLimitW", 'g', 400, 0 },
        { "gpu", "1", "gPowerLimitW", 'g', 500, 0 },
        { "gpu", "0", "gClockSmMhz", 'g', 1000, 0 },
        { "gpu", "0", "gClockGraphicsMhz", 'g', 1000, 500 },
        /* where there is no SM clock: 1200 of 2000 MHz at the end */
        { "gpu", "1", "gClockGraphicsMhz", 'g', 1000, 100 },
        { "gpu", "0", "gPcieTxKbps", 'g', 1000000, 0 },
        { "gpu", "0", "gPcieRxKbps", 'g', 2000000, 0 },
        { "gpu", "0", "gPcieGeneration", 'g', 4, 0 },
        { "gpu", "0", "gPcieWidth", 'g', 8, 0 },
        { "gpu", "1", "gPcieTxKbps", 'g', 1000000, 0 },
        { "gpu", "1", "gPcieGeneration", 'g', 3, 0 },
        { "gpu", "1", "gPcieWidth", 'g', 16, 0 },
        { "gpu_process", "7", "gUsedMemoryMb", 'g', 50, 0 },
        { "gpu_process", "8", "gUsedMemoryMb", 'g', 20, 0 },
        { 0 },
    };
    static const struct expected expected[] = {
        { S(GPU_UTIL), 0.7 },
        { S(GPU_MEM_UTIL), 0.4 },
        { S(GPU_DRAM), 0.3 },
        { S(GPU_SM), 0.2 },
        { S(GPU_TENSOR), 0.02 },
        { S(GPU_MEMORY_SHARE), 0.75 },
        { S(GPU_MEMORY), 400 * MIB },
        { S(GPU_MEMORY_TOTAL), 1400 * MIB },
        { S(GPU_PROCESS_MEMORY), 70 * MIB },
        { S(GPU_PROCESS_SHARE), 0.05 },
        { S(GPU_POWER_SHARE), 0.4 },
        { S(GPU_THROTTLED), 0.5 },
        { S(GPU_CLOCK_SHARE), 0.6 },
        { S(GPU_POWER), 300 },
        { S(GPU_TEMPERATURE), 80 },
        { S(GPU_PCIE_SHARE), 2 / (1.969 * 8) },
    };
    CHECK(tracks, NAN, expected);
}

static void a_pcie_lane_carries_what_its_generation_does(void **state) {
    (void)state;
    static const double gigabytes[] = { NAN, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563, NAN, NAN };
    for (size_t i = 0; i < PT_COUNT(gigabytes); i++) {
        const struct track tracks[] = { { "gpu", "0", "gPcieTxKbps", 'g', 1000000, 0 },
                                        { "gpu", "0", "gPcieGeneration", 'g', (double)i, 0 },
                                        { "gpu", "0", "gPcieWidth", 'g', 2, 0 },
                                        { 0 } };
        double share = value_of(tracks, S(GPU_PCIE_SHARE)), wanted = 0.5 / gigabytes[i];
        assert_int_equal(isnan(share), isnan(wanted));
        assert_true(isnan(wanted) || fabs(share - wanted) < TOLERANCE);
    }
}

static void the_option_that_records_a_signal_is_known(void **state) {
    (void)state;
    for (int id = 0; id < PT_FIGURE_COUNT; id++) {
        const char *name = pt_figures[id].name, *option = pt_signal_option((enum pt_figure_id)id);
        bool is_of_profile = strncmp(name, "profile.", 8) == 0;
        bool is_of_processes =
            strncmp(name, "python.", 7) == 0 || id == S(OWN_HOTTEST) || id == S(OWN_SWITCHES);
        if (is_of_profile)
            assert_string_equal(option, "--cpu");
        else if (is_of_processes)
            assert_string_equal(option, "-p");
        else
            assert_null(option);
    }
}

static void shares_are_printed_as_percent(void **state) {
    (void)state;
    char text[32];
    pt_figure_print(S(CPU_BUSY), 0.45, text, sizeof text);
    assert_string_equal(text, "45.0 %");
    pt_figure_print(S(CPU_COUNT), 2, text, sizeof text);
    assert_string_equal(text, "2.00");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_machine_has_known_signals, "C234: signals of a machine have known answers"),
        PT_TEST(a_command_has_known_signals, "C234: signals of a command have known answers"),
        PT_TEST(a_command_without_a_cgroup_has_the_time_of_its_processes,
                "C234: without a cgroup, the CPU time of a command is that of its processes"),
        PT_TEST(without_idle_time_the_cpus_are_unknown,
                "C234: without idle time, signals of the CPUs are unknown"),
        PT_TEST(a_sum_of_which_a_part_is_unknown_is_the_rest,
                "C234: a sum of which one part is unknown is the sum of the others"),
        PT_TEST(a_link_is_as_full_as_its_busiest_interface,
                "C234: a link is as full as its busiest interface"),
        PT_TEST(an_engine_has_known_signals, "C234: signals of an engine have known answers"),
        PT_TEST(gpus_have_known_signals, "C234: signals of GPUs have known answers"),
        PT_TEST(a_pcie_lane_carries_what_its_generation_does,
                "C234: the capacity of a PCIe lane is that of its generation, if that is known"),
        PT_TEST(the_option_that_records_a_signal_is_known,
                "C236: a signal that needs an option names it"),
        PT_TEST(shares_are_printed_as_percent, "C236: shares are printed as percent"),
    };
    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
