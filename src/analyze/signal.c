#include "analyze/signal.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

#define PT_SIGNAL_INFO_(constant, name, format, help) \
    [PT_SIGNAL_##constant] = { name, PT_FORMAT_##format, help },
const struct pt_signal_info pt_signal_infos[PT_SIGNAL_COUNT] = { PT_SIGNALS(PT_SIGNAL_INFO_) };

/* How several rows are combined. */
enum fold { SUM, MEAN, MIN, MAX };

/* A signal that is a column times a factor. Several lines for one signal are added, without unknown
 * ones. */
struct direct {
    enum pt_signal_id signal;
    const char *table, *column, *key; /* NULL: any key */
    enum fold fold;
    double factor;
};

#define S(name) PT_SIGNAL_##name
static const struct direct directs[] = {
    { S(CPU_PRESSURE), "pressure", "psiSomeTotal", "cpu", SUM, 1e-6 },
    { S(OWN_CPU), "container", "cCpuTime", NULL, MIN, 1e-9 },
    { S(OWN_CPU_PRESSURE), "container", "cCpuPressureSome", NULL, MIN, 1e-6 },
    { S(OWN_THROTTLED_TIME), "container", "cCpuThrottledTime", NULL, MAX, 1e-9 },
    { S(OWN_HOTTEST), "process", "pCpuTimeNs", NULL, MAX, 1e-9 },
    { S(OWN_SWITCHES), "process", "pVoluntaryContextSwitches", NULL, SUM, 1 },
    { S(MEM_PRESSURE), "pressure", "psiSomeTotal", "memory", SUM, 1e-6 },
    { S(MEM_SCAN), "mem", "vPgScanDirect", NULL, SUM, 1 },
    { S(MEM_REFAULT), "mem", "vPgRefaultFile", NULL, SUM, 1 },
    { S(MEM_SWAP), "mem", "vSwapIn", NULL, SUM, 1 },
    { S(MEM_SWAP), "mem", "vSwapOut", NULL, SUM, 1 },
    { S(MEM_SWAP_USED), "mem", "vSwapUsed", NULL, SUM, 1 },
    { S(MEM_MAJOR_FAULTS), "mem", "vMajorPageFault", NULL, SUM, 1 },
    { S(MEM_OOM_KILLS), "mem", "vOomKills", NULL, SUM, 1 },
    { S(MEM_ANON), "mem", "vMemoryAnon", NULL, SUM, 1 },
    { S(OWN_RSS), "process_totals", "pTreeResidentSetSize", NULL, SUM, 1 },
    { S(OWN_ANON), "container", "cMemoryAnon", NULL, MIN, 1 },
    { S(OWN_LIMIT_HITS), "container", "cMemoryLimitHits", NULL, MAX, 1 },
    { S(OWN_OOM_KILLS), "container", "cOomKills", NULL, MAX, 1 },
    { S(OWN_MEMORY_PRESSURE), "container", "cMemoryPressureSome", NULL, MIN, 1e-6 },
    { S(OWN_IO_PRESSURE), "container", "cIoPressureSome", NULL, MIN, 1e-6 },
    { S(IO_PRESSURE), "pressure", "psiSomeTotal", "io", SUM, 1e-6 },
    { S(DISK_BUSY), "drive", "dIOTime", NULL, MAX, 1e-3 },
    { S(DISK_QUEUE), "drive", "dWeightedIOTime", NULL, MAX, 1e-3 },
    { S(DISK_RATE), "disk", "vDiskReadBytes", NULL, SUM, 1 },
    { S(DISK_RATE), "disk", "vDiskWriteBytes", NULL, SUM, 1 },
    { S(DISK_BLOCKED), "cpu", "vProcessesBlocked", NULL, SUM, 1 },
    { S(NET_RATE), "net", "vNetworkBytesRecvd", NULL, SUM, 1 },
    { S(NET_RATE), "net", "vNetworkBytesSent", NULL, SUM, 1 },
    { S(NET_DROPS), "net", "vNetworkDropsRecvd", NULL, SUM, 1 },
    { S(NET_DROPS), "net", "vNetworkDropsSent", NULL, SUM, 1 },
    { S(NET_DROPS), "net", "vNetworkErrorsRecvd", NULL, SUM, 1 },
    { S(NET_DROPS), "net", "vNetworkErrorsSent", NULL, SUM, 1 },
    { S(ENGINE_RUNNING), "engine", "system_requests_running", NULL, SUM, 1 },
    { S(ENGINE_WAITING), "engine", "system_requests_waiting", NULL, SUM, 1 },
    { S(ENGINE_KV), "engine", "cache_kv_usage_percent", NULL, MAX, 1 },
    { S(ENGINE_PREEMPTIONS), "engine", "system_preemptions_total", NULL, SUM, 1 },
    { S(ENGINE_TOKENS), "engine", "tokens_generation_total", NULL, SUM, 1 },
    { S(ENGINE_PROMPT_TOKENS), "engine", "tokens_prompt_total", NULL, SUM, 1 },
    { S(ENGINE_FINISHED), "engine", "requests_finished_total", NULL, SUM, 1 },
    { S(ENGINE_TTFT), "engine", "latency_ttft_s_p50", NULL, MAX, 1 },
    { S(GPU_UTIL), "gpu", "gUtilizationGpu", NULL, MEAN, 0.01 },
    { S(GPU_MEM_UTIL), "gpu", "gUtilizationMem", NULL, MEAN, 0.01 },
    { S(GPU_DRAM), "gpu", "gDramBandwidth", NULL, MEAN, 0.01 },
    { S(GPU_SM), "gpu", "gSmActive", NULL, MEAN, 0.01 },
    { S(GPU_TENSOR), "gpu", "gTensorActive", NULL, MEAN, 0.01 },
    { S(GPU_MEMORY), "gpu", "gMemoryUsedMb", NULL, SUM, 1048576 },
    { S(GPU_PROCESS_MEMORY), "gpu_process", "gUsedMemoryMb", NULL, SUM, 1048576 },
    { S(GPU_THROTTLED), "gpu", "gViolationPower", NULL, MAX, 1e-9 },
    { S(GPU_THROTTLED), "gpu", "gViolationThermal", NULL, MAX, 1e-9 },
    { S(GPU_TEMPERATURE), "gpu", "gTemperatureC", NULL, MAX, 1 },
    { S(PITOT_CPU), "collector", "colCpuTime", "pitot", SUM, 1e-9 },
    { S(PITOT_LATE), "collector", "colLateTicks", "pitot", SUM, 1 },
    { S(PITOT_LATE), "collector", "colDroppedTicks", "pitot", SUM, 1 },
};

/* Columns that only the functions below use. */
static const struct {
    const char *table, *column;
} inputs[] = {
    { "cpu", "vCpuTimeUserMode" },
    { "cpu", "vCpuTimeKernelMode" },
    { "cpu", "vCpuNice" },
    { "cpu", "vCpuTimeIntSrvc" },
    { "cpu", "vCpuTimeSoftIntSrvc" },
    { "cpu", "vCpuSteal" },
    { "cpu", "vCpuIdleTime" },
    { "cpu", "vCpuTimeIOWait" },
    { "cpu", "vThreadsRunnable" },
    { "core", "cpuIdleTime" },
    { "core", "cpuTimeIOWait" },
    { "mem", "vMemoryTotal" },
    { "mem", "vMemoryFree" },
    { "container", "cCpuTightestLimit" },
    { "container", "cNumProcessors" },
    { "container", "cCpuPeriods" },
    { "container", "cCpuThrottledPeriods" },
    { "container", "cWorkingSet" },
    { "container", "cMemoryUsed" },
    { "container", "cMemoryTightestLimit" },
    { "container", "cMemoryLimit" },
    { "process", "pNumThreads" },
    { "process_totals", "pTreeCpuTime" },
    { "interface", "iIsCounted" },
    { "interface", "iBytesRecvd" },
    { "interface", "iBytesSent" },
    { "engine", "latency_queue_s_sum" },
    { "engine", "latency_e2e_s_sum" },
    { "engine", "latency_prefill_s_sum" },
    { "engine", "latency_decode_s_sum" },
    { "engine", "latency_inter_token_s_p50" },
    { "engine", "latency_inter_token_s_p99" },
    { "engines", "tokens_generation_total" },
    { "engines", "system_requests_running" },
    { "engines", "latency_inter_token_s_p50" },
    { "gpu", "gMemoryTotalMb" },
    { "gpu", "gPowerDrawW" },
    { "gpu", "gPowerLimitW" },
    { "gpu", "gClockSmMhz" },
    { "gpu", "gClockGraphicsMhz" },
    { "gpu", "gPcieTxKbps" },
    { "gpu", "gPcieRxKbps" },
    { "gpu", "gPcieGeneration" },
    { "gpu", "gPcieWidth" },
    { "collector", "colTime" },
};

bool pt_signal_wants(const struct pt_table *table, const struct pt_column *column) {
    for (size_t i = 0; i < PT_COUNT(directs); i++)
        if (strcmp(directs[i].table, table->name) == 0 &&
            strcmp(directs[i].column, column->name) == 0)
            return true;
    for (size_t i = 0; i < PT_COUNT(inputs); i++)
        if (strcmp(inputs[i].table, table->name) == 0 &&
            strcmp(inputs[i].column, column->name) == 0)
            return true;
    return false;
}

struct folded {
    double sum, min, max;
    size_t count;
};

static void fold_value(struct folded *f, double value) {
    if (isnan(value))
        return;
    f->sum += value;
    f->min = f->count == 0 || value < f->min ? value : f->min;
    f->max = f->count == 0 || value > f->max ? value : f->max;
    f->count++;
}

static double folded_value(const struct folded *f, enum fold fold) {
    if (f->count == 0)
        return NAN;
    return fold == SUM    ? f->sum
           : fold == MEAN ? f->sum / (double)f->count
           : fold == MIN  ? f->min
                          : f->max;
}

/* The rows of a table in one window. */
struct rows {
    const struct pt_windows *windows;
    const struct pt_entity *entity;
    int table;
    size_t place, window;
};

static struct rows rows_of(const struct pt_windows *w, const char *table, size_t window) {
    return (struct rows){ w, NULL, pt_schema_find(w->schema, table), 0, window };
}

static bool next_row(struct rows *r) {
    r->entity = r->table >= 0 ? pt_windows_next(r->windows, r->table, &r->place) : NULL;
    return r->entity != NULL;
}

static const struct pt_window_series *series(const struct rows *r, const char *column) {
    return pt_windows_series(r->windows, r->entity, column);
}

static double cell(const struct rows *r, const char *column) {
    return pt_series_at(series(r, column), r->window);
}

static double direct_at(const struct pt_windows *w, const struct direct *d, size_t window) {
    struct folded folded = { 0 };
    for (struct rows r = rows_of(w, d->table, window); next_row(&r);)
        if (!d->key || strcmp(d->key, r.entity->key) == 0)
            fold_value(&folded, cell(&r, d->column));
    return folded_value(&folded, d->fold) * d->factor;
}

/* The first row of a table. */
static double first_at(const struct pt_windows *w, const char *table, const char *column,
                       size_t window) {
    return direct_at(
        w, &(struct direct){ .table = table, .column = column, .fold = SUM, .factor = 1 }, window);
}

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

static double share_of(double part, double whole) {
    return whole > 0 ? part / whole : NAN;
}

static double own_at(const struct pt_windows *w, const char *column, enum fold fold,
                     size_t window) {
    return direct_at(
        w, &(struct direct){ .table = "container", .column = column, .fold = fold, .factor = 1 },
        window);
}

static double count_cpus(const struct pt_windows *w) {
    size_t count = 0;
    for (struct rows r = rows_of(w, "core", 0); next_row(&r);)
        count++;
    return count > 0 ? (double)count : NAN;
}

/* CPU times that the kernel does not count are 0. */
static void make_cpu(struct pt_signals *s, size_t i) {
    static const char *const busy_columns[] = { "vCpuTimeUserMode", "vCpuTimeKernelMode",
                                                "vCpuNice", "vCpuTimeIntSrvc",
                                                "vCpuTimeSoftIntSrvc" };
    const struct pt_windows *w = s->windows;
    double busy = 0, idle = first_at(w, "cpu", "vCpuIdleTime", i);
    double steal = or_zero(first_at(w, "cpu", "vCpuSteal", i));
    double iowait = or_zero(first_at(w, "cpu", "vCpuTimeIOWait", i));
    for (size_t c = 0; c < PT_COUNT(busy_columns); c++)
        busy += or_zero(first_at(w, "cpu", busy_columns[c], i));
    double total = busy + idle + steal + iowait; /* NAN without idle */
    if (!(total > 0))
        return;
    s->values[S(CPU_BUSY)][i] = busy / total;
    s->values[S(CPU_STEAL)][i] = steal / total;
    s->values[S(CPU_IOWAIT)][i] = iowait / total;
    double cpus = s->values[S(CPU_COUNT)][i];
    s->values[S(CPU_RUNNABLE)][i] = first_at(w, "cpu", "vThreadsRunnable", i) / cpus;
    double own = s->values[S(OWN_CPU)][i], pitot = or_zero(s->values[S(PITOT_CPU)][i]);
    if (isnan(own))
        s->values[S(MACHINE_BUSY)][i] = busy / total;
    else
        s->values[S(OTHERS_CPU)][i] = fmax(0, busy / total - (own + pitot) / cpus);
    s->values[S(PITOT_SHARE)][i] =
        share_of(s->values[S(PITOT_CPU)][i], isnan(own) ? busy / total * cpus : own + pitot);
}

static void make_cores(struct pt_signals *s, size_t i) {
    struct folded folded = { 0 };
    for (struct rows r = rows_of(s->windows, "core", i); next_row(&r);) {
        double idle = cell(&r, "cpuIdleTime") + or_zero(cell(&r, "cpuTimeIOWait"));
        fold_value(&folded, fmax(0, 1 - idle / 100));
    }
    s->values[S(CORE_BUSIEST)][i] = folded_value(&folded, MAX);
}

/* The command can use all CPUs, its cpuset, or its quota. */
static void make_own_cpu(struct pt_signals *s, size_t i) {
    const struct pt_windows *w = s->windows;
    if (isnan(s->values[S(OWN_CPU)][i]))
        s->values[S(OWN_CPU)][i] = first_at(w, "process_totals", "pTreeCpuTime", i) * 1e-9;
    double own = s->values[S(OWN_CPU)][i], quota = own_at(w, "cCpuTightestLimit", MIN, i);
    double usable = fmin(count_cpus(w), own_at(w, "cNumProcessors", MIN, i)); /* fmin skips NAN */
    s->values[S(OWN_QUOTA_USE)][i] = own / quota;
    s->values[S(OWN_CPU_SHARE)][i] = own / fmin(usable, quota);
}

static void make_python(struct pt_signals *s, size_t i) {
    for (struct rows r = rows_of(s->windows, "process", i); next_row(&r);) {
        double cpu = cell(&r, "pCpuTimeNs") * 1e-9;
        /* the interpreter's default name; a program that renames itself is not recognised */
        bool is_python = strncmp(r.entity->name, "python", 6) == 0;
        if (!is_python || isnan(cpu) || s->values[S(PYTHON_CPU)][i] >= cpu)
            continue;
        s->values[S(PYTHON_CPU)][i] = cpu;
        s->values[S(PYTHON_THREADS)][i] = cell(&r, "pNumThreads");
        s->values[S(PYTHON_SWITCHES)][i] = cell(&r, "pVoluntaryContextSwitches");
    }
}

static void make_throttling(struct pt_signals *s, size_t i) {
    struct folded folded = { 0 };
    for (struct rows r = rows_of(s->windows, "container", i); next_row(&r);) {
        double periods = cell(&r, "cCpuPeriods");
        double throttled = cell(&r, "cCpuThrottledPeriods");
        if (periods > 0)
            fold_value(&folded, throttled / periods);
    }
    s->values[S(OWN_THROTTLED)][i] = folded_value(&folded, MAX);
}

static void make_memory(struct pt_signals *s, size_t i) {
    const struct pt_windows *w = s->windows;
    struct folded folded = { 0 };
    s->values[S(MEM_AVAILABLE)][i] =
        first_at(w, "mem", "vMemoryFree", i) / first_at(w, "mem", "vMemoryTotal", i);
    for (struct rows r = rows_of(w, "container", i); next_row(&r);) {
        double used = cell(&r, "cWorkingSet");
        double limit = cell(&r, "cMemoryTightestLimit");
        if (isnan(used))
            used = cell(&r, "cMemoryUsed");
        if (isnan(limit))
            limit = cell(&r, "cMemoryLimit");
        if (limit > 0)
            fold_value(&folded, used / limit);
    }
    s->values[S(OWN_MEMORY_SHARE)][i] = folded_value(&folded, MAX);
}

static void make_network(struct pt_signals *s, size_t i, double link_bytes_per_s) {
    struct folded folded = { 0 };
    for (struct rows r = rows_of(s->windows, "interface", i); next_row(&r);) {
        if (cell(&r, "iIsCounted") < 0.5)
            continue;
        /* links are full duplex */
        fold_value(&folded, cell(&r, "iBytesRecvd"));
        fold_value(&folded, cell(&r, "iBytesSent"));
    }
    s->values[S(NET_LINK_SHARE)][i] = folded_value(&folded, MAX) / link_bytes_per_s;
}

static void make_engine(struct pt_signals *s, size_t i) {
    const struct pt_windows *w = s->windows;
    double prefill = first_at(w, "engine", "latency_prefill_s_sum", i);
    s->values[S(ENGINE_QUEUE_SHARE)][i] = share_of(first_at(w, "engine", "latency_queue_s_sum", i),
                                                   first_at(w, "engine", "latency_e2e_s_sum", i));
    s->values[S(ENGINE_PREFILL_SHARE)][i] =
        share_of(prefill, prefill + first_at(w, "engine", "latency_decode_s_sum", i));
    s->values[S(ENGINE_TOKEN_SPREAD)][i] =
        share_of(first_at(w, "engine", "latency_inter_token_s_p99", i),
                 first_at(w, "engine", "latency_inter_token_s_p50", i));
}

/* Bytes per second in one direction, without line coding overhead. */
static double pcie_capacity(double generation, double lanes) {
    static const double per_lane[] = { NAN, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9 };
    if (!(generation >= 1 && generation < (double)PT_COUNT(per_lane)))
        return NAN;
    return per_lane[(int)generation] * lanes;
}

static double highest_clock(const struct pt_window_series *clock) {
    double highest = NAN;
    for (size_t i = 0; clock && i < clock->point_count; i++)
        highest = fmax(highest, pt_series_at(clock, i));
    return highest;
}

static void make_gpu(struct pt_signals *s, size_t i) {
    struct folded memory = { 0 }, power = { 0 }, clock = { 0 }, pcie = { 0 }, total = { 0 };
    for (struct rows r = rows_of(s->windows, "gpu", i); next_row(&r);) {
        double total_mb = cell(&r, "gMemoryTotalMb");
        const struct pt_window_series *sm = series(&r, "gClockSmMhz");
        if (!sm || sm->point_count == 0)
            sm = series(&r, "gClockGraphicsMhz");
        double capacity = pcie_capacity(cell(&r, "gPcieGeneration"), cell(&r, "gPcieWidth"));
        double traffic = fmax(cell(&r, "gPcieTxKbps"), cell(&r, "gPcieRxKbps"));
        fold_value(&total, total_mb * 1048576);
        fold_value(&memory, cell(&r, "gMemoryUsedMb") / total_mb);
        fold_value(&power, cell(&r, "gPowerDrawW") / cell(&r, "gPowerLimitW"));
        fold_value(&clock, pt_series_at(sm, i) / highest_clock(sm));
        fold_value(&pcie, traffic * 1000 / capacity);
    }
    s->values[S(GPU_MEMORY_SHARE)][i] = folded_value(&memory, MAX);
    s->values[S(GPU_POWER_SHARE)][i] = folded_value(&power, MAX);
    s->values[S(GPU_CLOCK_SHARE)][i] = folded_value(&clock, MIN);
    s->values[S(GPU_PCIE_SHARE)][i] = folded_value(&pcie, MAX);
    s->values[S(GPU_PROCESS_SHARE)][i] =
        s->values[S(GPU_PROCESS_MEMORY)][i] / folded_value(&total, SUM);
}

static void make_collecting(struct pt_signals *s, size_t i) {
    struct folded folded = { 0 };
    for (struct rows r = rows_of(s->windows, "collector", i); next_row(&r);)
        if (strcmp(r.entity->key, "pitot") != 0)
            fold_value(&folded, cell(&r, "colTime") * 1e-9);
    s->values[S(PITOT_CALLS)][i] = folded_value(&folded, SUM);
}

static void make_directs(struct pt_signals *s, size_t i) {
    for (size_t d = 0; d < PT_COUNT(directs); d++) {
        double *value = &s->values[directs[d].signal][i];
        double part = direct_at(s->windows, &directs[d], i);
        bool is_first = d == 0 || directs[d - 1].signal != directs[d].signal;
        *value = is_first || isnan(*value) ? part : *value + or_zero(part);
    }
}

void pt_signals_make(struct pt_signals *s, const struct pt_windows *w, double link_bytes_per_s) {
    *s = (struct pt_signals){ .windows = w, .count = w->count };
    double cpus = count_cpus(w);
    for (int id = 0; id < PT_SIGNAL_COUNT; id++) {
        s->values[id] = pt_calloc(w->count + 1, sizeof *s->values[id]);
        for (size_t i = 0; i < w->count; i++)
            s->values[id][i] = NAN;
    }
    for (size_t i = 0; i < w->count; i++) {
        s->seconds += pt_window_seconds(&w->windows[i]);
        s->values[S(CPU_COUNT)][i] = cpus;
        make_directs(s, i);
        make_own_cpu(s, i);
        make_cpu(s, i);
        make_cores(s, i);
        make_python(s, i);
        make_throttling(s, i);
        make_memory(s, i);
        make_network(s, i, link_bytes_per_s);
        make_engine(s, i);
        make_gpu(s, i);
        make_collecting(s, i);
    }
}

void pt_signals_release(struct pt_signals *s) {
    for (int id = 0; id < PT_SIGNAL_COUNT; id++)
        pt_free(s->values[id]);
    *s = (struct pt_signals){ 0 };
}

const char *pt_signal_option(enum pt_signal_id id) {
    static const struct {
        enum pt_signal_id signal;
        const char *option;
    } options[] = {
        { S(OWN_HOTTEST), "-p" },    { S(OWN_SWITCHES), "-p" },    { S(PYTHON_CPU), "-p" },
        { S(PYTHON_THREADS), "-p" }, { S(PYTHON_SWITCHES), "-p" }, { S(PROFILE_LOCK), "--cpu" },
        { S(PROFILE_GIL), "--cpu" },
    };
    for (size_t i = 0; i < PT_COUNT(options); i++)
        if (options[i].signal == id)
            return options[i].option;
    return NULL;
}

bool pt_signal_is_known(const struct pt_signals *s, enum pt_signal_id id) {
    for (size_t i = 0; i < s->count; i++)
        if (!isnan(s->values[id][i]))
            return true;
    return false;
}

void pt_signal_print(enum pt_signal_id id, double value, char *into, size_t capacity) {
    enum pt_figure_format format = pt_signal_infos[id].format;
    pt_figure_print(format, format == PT_FORMAT_PERCENT ? value * 100 : value, into, capacity);
}
