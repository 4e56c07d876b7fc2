#include "derive/figure.h"

#include "base/mem.h"
#include "derive/bucket_rows.h"
#include "derive/field.h"

#include <math.h>

const struct pt_figure pt_figures[PT_FIGURE_COUNT] = {
#define FIGURE(constant, name, title, form, better, together, importance, help) \
    { name, title, PT_FORM_##form, PT_##better, PT_##together, PT_##importance, help },
    PT_FIGURES(FIGURE)
};

int pt_figure_find(const char *name) {
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        if (strcmp(pt_figures[i].name, name) == 0)
            return i;
    return -1;
}

#define F(name) PT_FIGURE_##name

int pt_figure_limit(enum pt_figure_id id) {
    static const struct {
        enum pt_figure_id figure, limit;
    } limits[] = {
        { F(MEM_USED), F(MEM_TOTAL) },
        { F(GPU_MEMORY), F(GPU_MEMORY_TOTAL) },
        { F(OWN_CPU), F(CPU_COUNT) },
    };
    for (size_t i = 0; i < PT_COUNT(limits); i++)
        if (limits[i].figure == id)
            return (int)limits[i].limit;
    return -1;
}

bool pt_figure_is_peak(enum pt_figure_id id) {
    return id == F(OWN_PEAK_MEMORY);
}

const char *pt_figure_together_name(enum pt_figure_together together) {
    static const char *const names[] = { "ranks added", "ranks averaged", "machines added",
                                         "machines averaged", "histograms merged" };
    return names[together];
}

/* A figure that is one column, over the rows of a table. Several lines for one figure are added,
 * without unknown ones. */
struct direct {
    enum pt_figure_id figure;
    const char *table, *column, *key; /* NULL: any key */
    enum pt_combine combine;
    bool is_total; /* the counter itself: it starts with the run */
    bool is_own;   /* of a cgroup: not if other processes are in it */
};

#define SUM   PT_COMBINE_SUM
#define MEAN  PT_COMBINE_MEAN
#define MAX   PT_COMBINE_MAX
#define LEAST PT_COMBINE_WORST

static const struct direct directs[] = {
    { F(CPU_LOAD), "cpu", "vLoadAvg", NULL, SUM },
    { F(CPU_PRESSURE), "pressure", "psiSomeTotal", "cpu", SUM },
    { F(OWN_CPU_PRESSURE), "container", "cCpuPressureSome", NULL, LEAST, .is_own = true },
    { F(OWN_THROTTLED_TIME), "container", "cCpuThrottledTime", NULL, MAX },
    { F(OWN_HOTTEST), "process", "pCpuTimeNs", NULL, MAX },
    { F(OWN_RUN_DELAY), "process", "pRunDelay", NULL, SUM },
    { F(OWN_SWITCHES), "process", "pVoluntaryContextSwitches", NULL, SUM },
    { F(MEM_USED), "mem", "vMemoryUsed", NULL, SUM },
    { F(MEM_TOTAL), "mem", "vMemoryTotal", NULL, SUM },
    { F(MEM_PRESSURE), "pressure", "psiSomeTotal", "memory", SUM },
    { F(MEM_SCAN), "mem", "vPgScanDirect", NULL, SUM },
    { F(MEM_REFAULT), "mem", "vPgRefaultFile", NULL, SUM },
    { F(MEM_SWAP), "mem", "vSwapIn", NULL, SUM },
    { F(MEM_SWAP), "mem", "vSwapOut", NULL, SUM },
    { F(MEM_SWAP_USED), "mem", "vSwapUsed", NULL, SUM },
    { F(MEM_MAJOR_FAULTS), "mem", "vMajorPageFault", NULL, SUM },
    { F(MEM_OOM_KILLS), "mem", "vOomKills", NULL, SUM },
    { F(MEM_ANON), "mem", "vMemoryAnon", NULL, SUM },
    { F(OWN_RSS), "process_totals", "pTreeResidentSetSize", NULL, SUM },
    { F(OWN_ANON), "container", "cMemoryAnon", NULL, LEAST, .is_own = true },
    { F(OWN_LIMIT_HITS), "container", "cMemoryLimitHits", NULL, MAX },
    { F(OWN_OOM_KILLS), "container", "cOomKills", NULL, MAX },
    { F(OWN_MEMORY_PRESSURE), "container", "cMemoryPressureSome", NULL, LEAST, .is_own = true },
    { F(OWN_IO_PRESSURE), "container", "cIoPressureSome", NULL, LEAST, .is_own = true },
    { F(IO_PRESSURE), "pressure", "psiSomeTotal", "io", SUM },
    { F(DISK_BUSY), "drive", "dIOTime", NULL, MAX },
    { F(DISK_QUEUE), "drive", "dWeightedIOTime", NULL, MAX },
    { F(DISK_READ), "disk", "vDiskReadBytes", NULL, SUM },
    { F(DISK_WRITTEN), "disk", "vDiskWriteBytes", NULL, SUM },
    { F(DISK_RATE), "disk", "vDiskReadBytes", NULL, SUM },
    { F(DISK_RATE), "disk", "vDiskWriteBytes", NULL, SUM },
    { F(DISK_BLOCKED), "cpu", "vProcessesBlocked", NULL, SUM },
    { F(NET_RECEIVED), "net", "vNetworkBytesRecvd", NULL, SUM },
    { F(NET_SENT), "net", "vNetworkBytesSent", NULL, SUM },
    { F(NET_RATE), "net", "vNetworkBytesRecvd", NULL, SUM },
    { F(NET_RATE), "net", "vNetworkBytesSent", NULL, SUM },
    { F(NET_DROPS), "net", "vNetworkDropsRecvd", NULL, SUM },
    { F(NET_DROPS), "net", "vNetworkDropsSent", NULL, SUM },
    { F(NET_DROPS), "net", "vNetworkErrorsRecvd", NULL, SUM },
    { F(NET_DROPS), "net", "vNetworkErrorsSent", NULL, SUM },
    { F(ENGINE_RUNNING), "engine", "system_requests_running", NULL, SUM },
    { F(ENGINE_WAITING), "engine", "system_requests_waiting", NULL, SUM },
    { F(ENGINE_KV), "engine", "cache_kv_usage_percent", NULL, MAX },
    { F(ENGINE_PREFILL_BUSY), "engine", "latency_batch_prefill_s_sum", NULL, SUM },
    { F(ENGINE_REMOTE), "engine", "remote_engines", NULL, SUM },
    { F(ENGINE_PREEMPTIONS), "engine", "system_preemptions_total", NULL, SUM },
    { F(ENGINE_TOKENS), "engine", "tokens_generation_total", NULL, SUM },
    { F(ENGINE_PROMPT_TOKENS), "engine", "tokens_prompt_total", NULL, SUM },
    { F(ENGINE_FINISHED), "engine", "requests_finished_total", NULL, SUM },
    /* of journals without histograms: the worst quantile of a scrape */
    { F(ENGINE_TTFT_P50), "engine", "latency_ttft_s_p50", NULL, MAX },
    { F(ENGINE_TTFT_P90), "engine", "latency_ttft_s_p90", NULL, MAX },
    { F(ENGINE_TTFT_P95), "engine", "latency_ttft_s_p95", NULL, MAX },
    { F(ENGINE_TTFT_P99), "engine", "latency_ttft_s_p99", NULL, MAX },
    { F(ENGINE_INTER_TOKEN_P50), "engine", "latency_inter_token_s_p50", NULL, MAX },
    { F(ENGINE_INTER_TOKEN_P90), "engine", "latency_inter_token_s_p90", NULL, MAX },
    { F(ENGINE_INTER_TOKEN_P95), "engine", "latency_inter_token_s_p95", NULL, MAX },
    { F(ENGINE_INTER_TOKEN_P99), "engine", "latency_inter_token_s_p99", NULL, MAX },
    { F(ENGINE_E2E_P50), "engine", "latency_e2e_s_p50", NULL, MAX },
    { F(ENGINE_E2E_P90), "engine", "latency_e2e_s_p90", NULL, MAX },
    { F(ENGINE_E2E_P95), "engine", "latency_e2e_s_p95", NULL, MAX },
    { F(ENGINE_E2E_P99), "engine", "latency_e2e_s_p99", NULL, MAX },
    { F(GPU_UTIL), "gpu", "gUtilizationGpu", NULL, MEAN },
    { F(GPU_MEM_UTIL), "gpu", "gUtilizationMem", NULL, MEAN },
    { F(GPU_DRAM), "gpu", "gDramBandwidth", NULL, MEAN },
    { F(GPU_SM), "gpu", "gSmActive", NULL, MEAN },
    { F(GPU_TENSOR), "gpu", "gTensorActive", NULL, MEAN },
    { F(GPU_MEMORY), "gpu", "gMemoryUsedMb", NULL, SUM },
    { F(GPU_MEMORY_TOTAL), "gpu", "gMemoryTotalMb", NULL, SUM },
    { F(GPU_POWER), "gpu", "gPowerDrawW", NULL, SUM },
    { F(GPU_PROCESS_MEMORY), "gpu_process", "gUsedMemoryMb", NULL, SUM },
    { F(GPU_THROTTLED), "gpu", "gViolationPower", NULL, MAX },
    { F(GPU_THROTTLED), "gpu", "gViolationThermal", NULL, MAX },
    { F(GPU_TEMPERATURE), "gpu", "gTemperatureC", NULL, MAX },
    { F(PITOT_CPU), "collector", "colCpuTime", "pitot", SUM },
    { F(PITOT_MEMORY), "collector", "colRss", "pitot", SUM },
    { F(PITOT_LATE), "collector", "colLateTicks", "pitot", SUM, true },
    { F(PITOT_DROPPED), "collector", "colDroppedTicks", "pitot", SUM, true },
    { F(PITOT_STARVED), "collector", "colRunDelay", "pitot", SUM, true },
    { F(PITOT_LOST), "collector", "colLateTicks", "pitot", SUM },
    { F(PITOT_LOST), "collector", "colDroppedTicks", "pitot", SUM },
};

/* Columns of the functions below. */
#define INPUTS(X)                                                  \
    X(CPU_USER, "cpu", "vCpuTimeUserMode")                         \
    X(CPU_KERNEL, "cpu", "vCpuTimeKernelMode")                     \
    X(CPU_NICE, "cpu", "vCpuNice")                                 \
    X(CPU_IRQ, "cpu", "vCpuTimeIntSrvc")                           \
    X(CPU_SOFTIRQ, "cpu", "vCpuTimeSoftIntSrvc")                   \
    X(CPU_STEAL, "cpu", "vCpuSteal")                               \
    X(CPU_IDLE, "cpu", "vCpuIdleTime")                             \
    X(CPU_IOWAIT, "cpu", "vCpuTimeIOWait")                         \
    X(RUNNABLE, "cpu", "vThreadsRunnable")                         \
    X(CORE_USED, "core", "cpuTime")                                \
    X(CORE_IDLE, "core", "cpuIdleTime")                            \
    X(CORE_IOWAIT, "core", "cpuTimeIOWait")                        \
    X(MEM_TOTAL, "mem", "vMemoryTotal")                            \
    X(MEM_FREE, "mem", "vMemoryFree")                              \
    X(GROUP_CPU, "container", "cCpuTime")                          \
    X(GROUP_IS_SHARED, "container", "cIsShared")                   \
    X(GROUP_CPU_LIMIT, "container", "cCpuTightestLimit")           \
    X(GROUP_CPUS, "container", "cNumProcessors")                   \
    X(PERIODS, "container", "cCpuPeriods")                         \
    X(THROTTLED, "container", "cCpuThrottledPeriods")              \
    X(WORKING_SET, "container", "cWorkingSet")                     \
    X(GROUP_MEMORY, "container", "cMemoryUsed")                    \
    X(TIGHTEST, "container", "cMemoryTightestLimit")               \
    X(GROUP_LIMIT, "container", "cMemoryLimit")                    \
    X(TREE_CPU, "process_totals", "pTreeCpuTime")                  \
    X(TREE_RSS, "process_totals", "pTreeResidentSetSize")          \
    X(PROCESS_CPU, "process", "pCpuTimeNs")                        \
    X(PROCESS_PEAK, "process", "pPeakResidentSetSize")             \
    X(PROCESS_THREADS, "process", "pNumThreads")                   \
    X(PROCESS_SWITCHES, "process", "pVoluntaryContextSwitches")    \
    X(IS_COUNTED, "interface", "iIsCounted")                       \
    X(LINK_IN, "interface", "iBytesRecvd")                         \
    X(LINK_OUT, "interface", "iBytesSent")                         \
    X(QUEUE_TIME, "engine", "latency_queue_s_sum")                 \
    X(E2E_TIME, "engine", "latency_e2e_s_sum")                     \
    X(PREFILL_TIME, "engine", "latency_prefill_s_sum")             \
    X(BATCH_PREFILL_TIME, "engine", "latency_batch_prefill_s_sum") \
    X(BATCH_DECODE_TIME, "engine", "latency_batch_decode_s_sum")   \
    X(REQUEST_CAPACITY, "engine", "system_requests_capacity")      \
    X(DECODE_TIME, "engine", "latency_decode_s_sum")               \
    X(FINISHED, "engine", "requests_finished_total")               \
    X(TTFT_OBJECTIVE, "engine", "objective_ttft_s")                \
    X(TOKEN_OBJECTIVE, "engine", "objective_inter_token_s")        \
    X(GPU_USED, "gpu", "gMemoryUsedMb")                            \
    X(GPU_TOTAL, "gpu", "gMemoryTotalMb")                          \
    X(GPU_POWER, "gpu", "gPowerDrawW")                             \
    X(GPU_POWER_LIMIT, "gpu", "gPowerLimitW")                      \
    X(PCIE_OUT, "gpu", "gPcieTxKbps")                              \
    X(PCIE_IN, "gpu", "gPcieRxKbps")                               \
    X(PCIE_GENERATION, "gpu", "gPcieGeneration")                   \
    X(PCIE_WIDTH, "gpu", "gPcieWidth")                             \
    X(COLLECTING, "collector", "colTime")

#define INPUT_ENUM(constant, table, column) IN_##constant,
enum input { INPUTS(INPUT_ENUM) INPUT_COUNT };

static const struct {
    const char *table, *column;
} inputs[INPUT_COUNT] = {
#define INPUT_NAMES(constant, table, column) { table, column },
    INPUTS(INPUT_NAMES)
};

/* Columns of the inputs, then of the directs. */
struct pt_figure_place {
    int table, column; /* of the schema; -1: none */
};

#define PLACE_COUNT (INPUT_COUNT + PT_COUNT(directs))

static void names_of(size_t place, const char **table, const char **column) {
    *table = place < INPUT_COUNT ? inputs[place].table : directs[place - INPUT_COUNT].table;
    *column = place < INPUT_COUNT ? inputs[place].column : directs[place - INPUT_COUNT].column;
}

bool pt_figure_wants(const struct pt_table *table, const struct pt_column *column) {
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const char *table_name, *column_name;
        names_of(i, &table_name, &column_name);
        if (strcmp(column_name, column->name) == 0 && strcmp(table_name, table->name) == 0)
            return true;
    }
    return false;
}

bool pt_figure_is_amount(enum pt_figure_id id) {
    return pt_figures[id].form == PT_FORM_PER_S || pt_figures[id].form == PT_FORM_BYTES_PER_S ||
           pt_figures[id].form == PT_FORM_WATTS;
}

bool pt_figure_stream_reads(const struct pt_figure_stream *s, int table) {
    return s->rates.is_wanted[table] || table == s->histograms || table == s->steps.table;
}

/* A journal may have any columns. */
static void find_spans(struct pt_figure_steps *steps, const struct pt_schema *schema) {
    steps->table = pt_field_table(schema, PT_FIELD_SPAN_NAME);
    if (steps->table < 0)
        return;
    const struct pt_table *t = schema->tables[steps->table];
    steps->name = pt_field_column(t, PT_FIELD_SPAN_NAME);
    steps->duration = pt_field_column(t, PT_FIELD_SPAN_DURATION);
    if (steps->name < 0 || steps->duration < 0 || t->columns[steps->name].type != PT_STRING ||
        t->columns[steps->duration].type == PT_STRING)
        steps->table = -1;
}

void pt_figure_stream_init(struct pt_figure_stream *s, const struct pt_schema *schema) {
    *s = (struct pt_figure_stream){ 0 };
    pt_rates_init(&s->rates, schema, pt_figure_wants, true);
    s->places = pt_calloc(PLACE_COUNT, sizeof *s->places);
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        const char *table, *column;
        names_of(i, &table, &column);
        struct pt_figure_place *p = &s->places[i];
        p->table = pt_schema_find(schema, table);
        p->column = p->table < 0 ? -1 : pt_table_find(schema->tables[p->table], column);
    }
    s->histograms = pt_field_table(schema, PT_FIELD_HISTOGRAM_NAME);
    find_spans(&s->steps, schema);
    pt_figure_stream_clear(s);
}

void pt_figure_stream_release(struct pt_figure_stream *s) {
    pt_rates_release(&s->rates);
    for (int i = 0; i < PT_LATENCY_COUNT; i++)
        pt_classic_histogram_release(&s->latencies[i].histogram);
    pt_free(s->places);
    pt_names_release(&s->steps.names);
    pt_free(s->steps.roles);
    *s = (struct pt_figure_stream){ 0 };
}

void pt_figure_stream_clear(struct pt_figure_stream *s) {
    pt_rates_clear(&s->rates);
    memset(s->steps.seconds, 0, sizeof s->steps.seconds);
    s->peak_memory_mark = NAN;
    for (int i = 0; i < PT_FIGURE_COUNT; i++) {
        s->now[i] = (struct pt_figure_value){ .value = NAN };
        s->held[i] = s->now[i];
        s->covered_ns[i] = 0;
    }
}

/* --- reading ------------------------------------------------------------------------------- */

static uint32_t row_count(const struct pt_figure_stream *s, size_t place) {
    const struct pt_figure_place *p = &s->places[place];
    return p->column < 0 ? 0 : pt_rates_rows(&s->rates, p->table)->row_count;
}

/* Of its table, also if the schema lacks the column. */
static uint32_t table_rows(const struct pt_figure_stream *s, size_t place) {
    int table = s->places[place].table;
    return table < 0 ? 0 : pt_rates_rows(&s->rates, table)->row_count;
}

static const struct pt_rate *rate_in(const struct pt_figure_stream *s, size_t place, uint32_t row) {
    const struct pt_figure_place *p = &s->places[place];
    return pt_rates_get(&s->rates, p->table, row, p->column);
}

/* NAN: no such row or column, or unknown. */
static double value_in(const struct pt_figure_stream *s, size_t place, uint32_t row) {
    return row < row_count(s, place) ? rate_in(s, place, row)->value : NAN;
}

static double or_zero(double value) {
    return isnan(value) ? 0 : value;
}

struct folded {
    double sum, min, max;
    uint32_t count;
};

static void fold_value(struct folded *f, double value) {
    if (isnan(value))
        return;
    f->sum += value;
    f->min = f->count == 0 || value < f->min ? value : f->min;
    f->max = f->count == 0 || value > f->max ? value : f->max;
    f->count++;
}

static double folded_value(const struct folded *f, enum pt_combine combine) {
    if (f->count == 0)
        return NAN;
    return combine == SUM    ? f->sum
           : combine == MEAN ? f->sum / f->count
           : combine == MAX  ? f->max
                             : f->min;
}

/* --- what a sample adds -------------------------------------------------------------------- */

/* The time that is new: from the first to the last instant of the values, without what an earlier
 * sample has covered already. */
static void cover(struct pt_figure_stream *s, enum pt_figure_id id, int64_t from_ns,
                  int64_t to_ns) {
    struct pt_figure_value *v = &s->now[id];
    v->from_ns = s->covered_ns[id] > from_ns ? s->covered_ns[id] : from_ns;
    v->to_ns = to_ns > v->from_ns ? to_ns : v->from_ns;
    s->covered_ns[id] = v->to_ns;
}

/* The first value of a run covers no time. It weighs a nanosecond, so that it counts if it is
 * alone. */
static double weight_of(const struct pt_figure_value *v) {
    int64_t covered_ns = v->to_ns - v->from_ns;
    return (double)(covered_ns > 0 ? covered_ns : 1) / 1e9;
}

/* A level that held since the previous sample. */
static void set_level(struct pt_figure_stream *s, enum pt_figure_id id, double value) {
    struct pt_figure_value *v = &s->now[id];
    if (isnan(value))
        return;
    v->value = value;
    cover(s, id, s->rates.mono_ns - s->rates.interval_ns, s->rates.mono_ns);
    v->weight = weight_of(v);
    v->sum = value * v->weight;
}

/* A share: `part` of `whole` in the time that `rate` covers, both per second. Nothing is added if
 * that was not read again. */
static void set_share(struct pt_figure_stream *s, enum pt_figure_id id, double part, double whole,
                      const struct pt_rate *rate) {
    struct pt_figure_value *v = &s->now[id];
    if (!(whole > 0) || isnan(part))
        return;
    v->value = part / whole;
    if (!rate || rate->to_ns <= rate->from_ns)
        return;
    cover(s, id, rate->from_ns, rate->to_ns);
    v->weight = whole * pt_rate_seconds(rate);
    v->sum = part * pt_rate_seconds(rate);
}

/* Something that happened so often in that time. */
static void set_growth(struct pt_figure_stream *s, enum pt_figure_id id, double sum,
                       int64_t from_ns, int64_t to_ns) {
    struct pt_figure_value *v = &s->now[id];
    cover(s, id, from_ns, to_ns);
    v->weight = weight_of(v);
    v->sum = sum;
    v->value = sum / v->weight;
}

/* Remembers a new value; without one the last stays for `lasts_ns`. */
static void hold(struct pt_figure_stream *s, enum pt_figure_id id, int64_t lasts_ns) {
    struct pt_figure_value *now = &s->now[id], *held = &s->held[id];
    if (!isnan(now->value))
        *held = *now;
    else if (held->to_ns && s->rates.mono_ns - held->to_ns <= lasts_ns)
        now->value = held->value;
}

/* Also processes that are not recorded are in this cgroup. */
static bool is_shared(const struct pt_figure_stream *s, uint32_t row) {
    return value_in(s, IN_GROUP_IS_SHARED, row) > 0.5;
}

/* --- figures of one column ----------------------------------------------------------------- */

static bool has_key(const struct pt_batch *rows, uint32_t row, const char *key) {
    char text[64];
    if (!key)
        return true;
    pt_row_key(rows, row, text, sizeof text);
    return strcmp(text, key) == 0;
}

/* Growth of all rows is added up as it was read, so that sums are exact also where rows are read at
 * different times. */
static void add_direct(struct pt_figure_stream *s, size_t index, bool is_first) {
    const struct direct *d = &directs[index];
    size_t place = INPUT_COUNT + index;
    uint32_t rows = row_count(s, place);
    struct pt_figure_value *v = &s->now[d->figure];
    struct folded folded = { 0 };
    double grown = 0;
    int64_t from_ns = INT64_MAX, to_ns = 0;
    for (uint32_t row = 0; row < rows; row++) {
        const struct pt_rate *rate = rate_in(s, place, row);
        if (!has_key(pt_rates_rows(&s->rates, s->places[place].table), row, d->key) ||
            (d->is_own && is_shared(s, row)))
            continue;
        fold_value(&folded, d->is_total && rate->track.has_value ? rate->track.value : rate->value);
        if (isnan(rate->value) || rate->to_ns <= rate->from_ns)
            continue;
        grown += rate->value * pt_rate_seconds(rate);
        from_ns = rate->from_ns < from_ns ? rate->from_ns : from_ns;
        to_ns = rate->to_ns > to_ns ? rate->to_ns : to_ns;
    }
    double value = folded_value(&folded, d->combine);
    if (isnan(value))
        return;
    bool is_counter =
        !d->is_total &&
        s->rates.schema->tables[s->places[place].table]->columns[s->places[place].column].kind ==
            PT_COUNTER;
    if (!is_counter && is_first) {
        set_level(s, d->figure, value);
        return;
    }
    bool is_added = !is_first && !isnan(v->value);
    v->value = is_added ? v->value + value : value;
    if (to_ns == 0)
        return;
    if (!is_added || v->weight == 0) {
        cover(s, d->figure, from_ns, to_ns);
        v->weight = (double)(v->to_ns - v->from_ns) / 1e9;
    }
    v->sum += d->combine == SUM ? grown : value * (double)(v->to_ns - v->from_ns) / 1e9;
}

static void add_directs(struct pt_figure_stream *s) {
    for (size_t i = 0; i < PT_COUNT(directs); i++)
        add_direct(s, i, i == 0 || directs[i - 1].figure != directs[i].figure);
}

/* --- figures of several columns ------------------------------------------------------------ */

static double fold_rows(const struct pt_figure_stream *s, enum input in, enum pt_combine combine) {
    struct folded folded = { 0 };
    for (uint32_t row = 0; row < row_count(s, in); row++)
        fold_value(&folded, value_in(s, in, row));
    return folded_value(&folded, combine);
}

/* The command's own cgroup counts exactly; elsewhere its processes are added. It can use all CPUs,
 * its cpuset, or its quota. */
static void add_own_cpu(struct pt_figure_stream *s, double cpus) {
    const struct pt_rate *own = NULL;
    for (uint32_t row = 0; row < row_count(s, IN_GROUP_CPU); row++) {
        const struct pt_rate *rate = rate_in(s, IN_GROUP_CPU, row);
        if (!isnan(rate->value) && !is_shared(s, row) && (!own || rate->value < own->value))
            own = rate;
    }
    if (!own && row_count(s, IN_TREE_CPU) > 0)
        own = rate_in(s, IN_TREE_CPU, 0);
    if (!own || isnan(own->value))
        return;
    double quota = fold_rows(s, IN_GROUP_CPU_LIMIT, LEAST);
    double usable = fmin(cpus, fold_rows(s, IN_GROUP_CPUS, LEAST)); /* fmin skips NAN */
    set_share(s, F(OWN_CPU), own->value, 1, own);
    set_share(s, F(OWN_QUOTA_USE), own->value, quota, own);
    set_share(s, F(OWN_CPU_SHARE), own->value, fmin(usable, quota), own);
}

/* A CPU time that the kernel does not count is 0. False: it is counted, but unknown: reset. */
static bool add_time(const struct pt_figure_stream *s, enum input in, double *sum) {
    double value = value_in(s, in, 0);
    bool is_counted =
        row_count(s, in) > 0 &&
        !pt_is_null(pt_rates_rows(&s->rates, s->places[in].table), 0, s->places[in].column);
    *sum += or_zero(value);
    return !is_counted || !isnan(value);
}

static void add_cpu(struct pt_figure_stream *s, double cpus) {
    static const enum input busy_inputs[] = { IN_CPU_USER, IN_CPU_KERNEL, IN_CPU_NICE, IN_CPU_IRQ,
                                              IN_CPU_SOFTIRQ };
    double busy = 0, steal = 0;
    bool is_known = row_count(s, IN_CPU_IDLE) > 0 &&
                    !pt_is_null(pt_rates_rows(&s->rates, s->places[IN_CPU_IDLE].table), 0,
                                s->places[IN_CPU_IDLE].column) &&
                    add_time(s, IN_CPU_STEAL, &steal);
    for (size_t i = 0; i < PT_COUNT(busy_inputs); i++)
        is_known &= add_time(s, busy_inputs[i], &busy);
    /* idle times can decrease slightly */
    double iowait = or_zero(value_in(s, IN_CPU_IOWAIT, 0));
    double total = busy + or_zero(value_in(s, IN_CPU_IDLE, 0)) + steal + iowait;
    if (!is_known || !(total > 0))
        return;
    const struct pt_rate *rate = rate_in(s, IN_CPU_IDLE, 0);
    double own = s->now[F(OWN_CPU)].value, pitot = or_zero(s->now[F(PITOT_CPU)].value);
    set_share(s, F(CPU_BUSY), busy, total, rate);
    set_share(s, F(CPU_STEAL), steal, total, rate);
    set_share(s, F(CPU_IOWAIT), iowait, total, rate);
    if (isnan(own))
        set_share(s, F(MACHINE_BUSY), busy, total, rate);
    else if (cpus > 0)
        set_share(s, F(OTHERS_CPU), fmax(0, busy / total - (own + pitot) / cpus), 1, rate);
    set_level(s, F(CPU_RUNNABLE), value_in(s, IN_RUNNABLE, 0) / cpus);
    set_share(s, F(PITOT_SHARE), s->now[F(PITOT_CPU)].value,
              isnan(own) ? busy / total * cpus : own + pitot, rate);
}

double pt_figure_core_busy(const struct pt_figure_stream *s, uint32_t core) {
    if (core >= row_count(s, IN_CORE_IDLE))
        return NAN;
    double idle = value_in(s, IN_CORE_IDLE, core) + or_zero(value_in(s, IN_CORE_IOWAIT, core));
    bool stands_still = idle == 0 && value_in(s, IN_CORE_USED, core) == 0; /* shorter than a tick */
    return isnan(idle) || stands_still ? NAN : fmin(1, fmax(0, 1 - idle));
}

static void add_cores(struct pt_figure_stream *s) {
    struct folded folded = { 0 };
    uint32_t count = row_count(s, IN_CORE_IDLE);
    for (uint32_t row = 0; row < count; row++)
        fold_value(&folded, pt_figure_core_busy(s, row));
    if (count > 0)
        set_share(s, F(CORE_BUSIEST), folded_value(&folded, MAX), 1,
                  rate_in(s, IN_CORE_IDLE, count - 1));
}

/* The interpreter's default name; a program that renames itself is not recognised. */
static bool is_python(const struct pt_batch *rows, uint32_t row) {
    int name = pt_table_find_role(rows->table, PT_ROLE_NAME);
    for (int c = 0; name < 0 && c < rows->table->column_count; c++)
        if (rows->table->columns[c].kind == PT_INFO && rows->table->columns[c].type == PT_STRING)
            name = c;
    return name >= 0 && rows->table->columns[name].type == PT_STRING &&
           !pt_is_null(rows, row, name) &&
           pt_str_starts(pt_get_str(rows, row, name), PT_STR("python"));
}

static void add_python(struct pt_figure_stream *s) {
    const struct pt_rate *busiest = NULL;
    uint32_t which = 0;
    for (uint32_t row = 0; row < row_count(s, IN_PROCESS_CPU); row++) {
        const struct pt_rate *rate = rate_in(s, IN_PROCESS_CPU, row);
        if (isnan(rate->value) || (busiest && busiest->value >= rate->value) ||
            !is_python(pt_rates_rows(&s->rates, s->places[IN_PROCESS_CPU].table), row))
            continue;
        busiest = rate;
        which = row;
    }
    if (!busiest)
        return;
    set_share(s, F(PYTHON_CPU), busiest->value, 1, busiest);
    set_level(s, F(PYTHON_THREADS), value_in(s, IN_PROCESS_THREADS, which));
    set_level(s, F(PYTHON_SWITCHES), value_in(s, IN_PROCESS_SWITCHES, which));
}

/* The row with the largest share decides. */
static void add_throttling(struct pt_figure_stream *s) {
    uint32_t worst = UINT32_MAX;
    double most = NAN;
    for (uint32_t row = 0; row < row_count(s, IN_PERIODS); row++) {
        double share = value_in(s, IN_THROTTLED, row) / value_in(s, IN_PERIODS, row);
        if (isfinite(share) && !(share <= most)) {
            most = share;
            worst = row;
        }
    }
    if (worst != UINT32_MAX)
        set_share(s, F(OWN_THROTTLED), value_in(s, IN_THROTTLED, worst),
                  value_in(s, IN_PERIODS, worst), rate_in(s, IN_PERIODS, worst));
}

static void add_memory(struct pt_figure_stream *s) {
    struct folded folded = { 0 };
    set_level(s, F(MEM_AVAILABLE), value_in(s, IN_MEM_FREE, 0) / value_in(s, IN_MEM_TOTAL, 0));
    for (uint32_t row = 0; row < table_rows(s, IN_GROUP_MEMORY); row++) {
        double used = value_in(s, IN_WORKING_SET, row), limit = value_in(s, IN_TIGHTEST, row);
        if (isnan(used))
            used = value_in(s, IN_GROUP_MEMORY, row);
        if (isnan(limit))
            limit = value_in(s, IN_GROUP_LIMIT, row);
        if (limit > 0)
            fold_value(&folded, used / limit);
    }
    set_level(s, F(OWN_MEMORY_SHARE), folded_value(&folded, MAX));
}

/* Samples miss short peaks; the kernel's mark of a process does not. A mark that has risen was
 * reached since the previous sample. The peak of a cgroup is not used: it includes file pages. */
static void add_peak_memory(struct pt_figure_stream *s) {
    double peak = value_in(s, IN_TREE_RSS, 0), mark = fold_rows(s, IN_PROCESS_PEAK, MAX);
    if (mark > s->peak_memory_mark)
        peak = fmax(peak, mark);
    s->peak_memory_mark = fmax(s->peak_memory_mark, mark);
    set_level(s, F(OWN_PEAK_MEMORY), peak);
}

/* Links are full duplex. */
static void add_network(struct pt_figure_stream *s) {
    const struct pt_rate *most = NULL;
    for (uint32_t row = 0; row < table_rows(s, IN_LINK_IN); row++) {
        if (value_in(s, IN_IS_COUNTED, row) < 0.5)
            continue;
        for (enum input in = IN_LINK_IN; in <= IN_LINK_OUT; in++) {
            const struct pt_rate *rate = row < row_count(s, in) ? rate_in(s, in, row) : NULL;
            if (rate && !isnan(rate->value) && (!most || rate->value > most->value))
                most = rate;
        }
    }
    if (most)
        set_share(s, F(NET_BUSIEST), most->value, 1, most);
}

static void add_engine(struct pt_figure_stream *s) {
    double prefill = value_in(s, IN_PREFILL_TIME, 0);
    double running = s->now[F(ENGINE_RUNNING)].value, waiting = s->now[F(ENGINE_WAITING)].value;
    double capacity = value_in(s, IN_REQUEST_CAPACITY, 0);
    if (running > 0)
        set_level(s, F(ENGINE_QUEUE_RATIO), waiting / running);
    if (capacity > 0)
        set_level(s, F(ENGINE_BATCH_SHARE), running / capacity);
    if (row_count(s, IN_E2E_TIME) > 0)
        set_share(s, F(ENGINE_QUEUE_SHARE), value_in(s, IN_QUEUE_TIME, 0),
                  value_in(s, IN_E2E_TIME, 0), rate_in(s, IN_E2E_TIME, 0));
    double batch_prefill = value_in(s, IN_BATCH_PREFILL_TIME, 0);
    if (row_count(s, IN_PREFILL_TIME) > 0 && !isnan(prefill))
        set_share(s, F(ENGINE_PREFILL_SHARE), prefill, prefill + value_in(s, IN_DECODE_TIME, 0),
                  rate_in(s, IN_PREFILL_TIME, 0));
    else if (row_count(s, IN_BATCH_PREFILL_TIME) > 0) /* never of a batch and of requests */
        set_share(s, F(ENGINE_PREFILL_SHARE), batch_prefill,
                  batch_prefill + value_in(s, IN_BATCH_DECODE_TIME, 0),
                  rate_in(s, IN_BATCH_PREFILL_TIME, 0));
}

/* Bytes per second in one direction, without line coding overhead. */
static double pcie_capacity(double generation, double lanes) {
    static const double per_lane[] = { NAN, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9 };
    if (!(generation >= 1 && generation < (double)PT_COUNT(per_lane)))
        return NAN;
    return per_lane[(int)generation] * lanes;
}

static void add_gpu(struct pt_figure_stream *s) {
    struct folded memory = { 0 }, power = { 0 }, pcie = { 0 };
    for (uint32_t row = 0; row < table_rows(s, IN_GPU_TOTAL); row++) {
        double capacity =
            pcie_capacity(value_in(s, IN_PCIE_GENERATION, row), value_in(s, IN_PCIE_WIDTH, row));
        double traffic = fmax(value_in(s, IN_PCIE_OUT, row), value_in(s, IN_PCIE_IN, row));
        fold_value(&memory, value_in(s, IN_GPU_USED, row) / value_in(s, IN_GPU_TOTAL, row));
        fold_value(&power, value_in(s, IN_GPU_POWER, row) / value_in(s, IN_GPU_POWER_LIMIT, row));
        fold_value(&pcie, traffic * 1000 / capacity);
    }
    set_level(s, F(GPU_MEMORY_SHARE), folded_value(&memory, MAX));
    set_level(s, F(GPU_POWER_SHARE), folded_value(&power, MAX));
    set_level(s, F(GPU_PCIE_SHARE), folded_value(&pcie, MAX));
    set_level(s, F(GPU_PROCESS_SHARE),
              s->now[F(GPU_PROCESS_MEMORY)].value / fold_rows(s, IN_GPU_TOTAL, SUM));
}

static void add_collecting(struct pt_figure_stream *s) {
    double sum = 0;
    const struct pt_rate *rate = NULL;
    for (uint32_t row = 0; row < row_count(s, IN_COLLECTING); row++) {
        const struct pt_rate *one = rate_in(s, IN_COLLECTING, row);
        if (isnan(one->value) ||
            has_key(pt_rates_rows(&s->rates, s->places[IN_COLLECTING].table), row, "pitot"))
            continue;
        sum += one->value;
        rate = one;
    }
    if (rate)
        set_share(s, F(PITOT_CALLS), sum, 1, rate);
}

/* --- latencies ----------------------------------------------------------------------------- */

static const struct {
    enum pt_figure_id figure;
    enum pt_latency_id latency;
    double level;
} quantiles[] = {
#define QUANTILES(name)                                        \
    { F(ENGINE_##name##_P50), PT_LATENCY_##name, 0.5 },        \
        { F(ENGINE_##name##_P90), PT_LATENCY_##name, 0.9 },    \
        { F(ENGINE_##name##_P95), PT_LATENCY_##name, 0.95 }, { \
        F(ENGINE_##name##_P99), PT_LATENCY_##name, 0.99        \
    }
    QUANTILES(TTFT),
    QUANTILES(INTER_TOKEN),
    QUANTILES(E2E),
};

bool pt_figure_is_quantile(enum pt_figure_id id, enum pt_latency_id *latency, double *level) {
    for (size_t i = 0; i < PT_COUNT(quantiles); i++)
        if (quantiles[i].figure == id) {
            *latency = quantiles[i].latency;
            *level = quantiles[i].level;
            return true;
        }
    return false;
}

/* A row of the table of histograms. */
static void add_bucket(struct pt_figure_stream *s, const struct pt_batch *rows, uint32_t row,
                       int first, int name) {
    static const char *const names[] = { "ttft", "inter_token", "e2e" };
    struct pt_bucket_time time = pt_bucket_row_time(rows, row, first);
    for (int i = 0; i < PT_LATENCY_COUNT; i++) {
        struct pt_latency_growth *l = &s->latencies[i];
        if (pt_is_null(rows, row, name) ||
            !pt_str_eq(pt_get_str(rows, row, name), pt_str_from(names[i])))
            continue;
        pt_bucket_row_add_to(rows, row, first, &l->histogram);
        l->from_ns = l->to_ns && l->from_ns < time.from_ns ? l->from_ns : time.from_ns;
        l->to_ns = time.to_ns > l->to_ns ? time.to_ns : l->to_ns;
    }
}

static double share_within(const struct pt_classic_histogram *h, double objective) {
    double all = pt_classic_histogram_count_to(h, INFINITY);
    return all > 0 ? pt_classic_histogram_count_to(h, objective) / all : 1;
}

/* Requests with their first token since the last scrape, times the smaller of the two shares within
 * their objectives: the joint share is not larger than either. */
static void add_goodput(struct pt_figure_stream *s) {
    const struct pt_latency_growth *ttft = &s->latencies[PT_LATENCY_TTFT];
    const struct pt_classic_histogram *tokens = &s->latencies[PT_LATENCY_INTER_TOKEN].histogram;
    double ttft_s = value_in(s, IN_TTFT_OBJECTIVE, 0), token_s = value_in(s, IN_TOKEN_OBJECTIVE, 0);
    if (!s->has_latency[PT_LATENCY_TTFT] || !s->has_latency[PT_LATENCY_INTER_TOKEN] ||
        isnan(ttft_s) || isnan(token_s))
        return;
    int64_t from_ns = ttft->from_ns, to_ns = ttft->to_ns;
    if (row_count(s, IN_FINISHED) > 0) { /* each scrape counts, also those without requests */
        const struct pt_rate *scrape = rate_in(s, IN_FINISHED, 0);
        from_ns = scrape->to_ns > scrape->from_ns ? scrape->from_ns : from_ns;
        to_ns = scrape->to_ns > scrape->from_ns ? scrape->to_ns : to_ns;
    }
    double share = fmin(share_within(&ttft->histogram, ttft_s), share_within(tokens, token_s));
    if (to_ns > from_ns)
        set_growth(s, F(ENGINE_GOODPUT),
                   share * pt_classic_histogram_count_to(&ttft->histogram, INFINITY), from_ns,
                   to_ns);
}

/* Between two scrapes the last values stay for as long as their column says. */
static void add_latencies(struct pt_figure_stream *s, const struct pt_sample *sample) {
    const struct pt_batch *rows = s->histograms < 0 ? NULL : &sample->batches[s->histograms];
    int first = rows ? pt_bucket_rows_find(rows->table) : -1;
    int name = first < 0 ? -1 : pt_field_column(rows->table, PT_FIELD_HISTOGRAM_NAME);
    for (int i = 0; i < PT_LATENCY_COUNT; i++) {
        pt_classic_histogram_clear(&s->latencies[i].histogram);
        s->latencies[i].from_ns = s->latencies[i].to_ns = 0;
    }
    if (name < 0)
        return;
    for (uint32_t row = 0; row < rows->row_count; row++)
        add_bucket(s, rows, row, first, name);
    for (int i = 0; i < PT_LATENCY_COUNT; i++)
        s->has_latency[i] |= s->latencies[i].histogram.count > 0;
    int64_t lasts_ns = pt_column_lasts_ns(&rows->table->columns[first], s->rates.interval_ns);
    for (size_t i = 0; i < PT_COUNT(quantiles); i++) {
        const struct pt_latency_growth *l = &s->latencies[quantiles[i].latency];
        struct pt_figure_value *now = &s->now[quantiles[i].figure];
        *now = (struct pt_figure_value){ .value = NAN };
        if (l->histogram.count > 0) {
            double count = pt_classic_histogram_count(&l->histogram);
            double value = pt_classic_histogram_quantile(&l->histogram, quantiles[i].level).value;
            *now = (struct pt_figure_value){ value, value * count, count, l->from_ns, l->to_ns };
        }
        hold(s, quantiles[i].figure, lasts_ns);
    }
    add_goodput(s);
    hold(s, F(ENGINE_GOODPUT), lasts_ns);
}

/* --- training ------------------------------------------------------------------------------- */

/* A step can take longer than the time between samples. */
#define STEPS_KNOWN 3
#define NAMES_MAX   4096

/* Time in spans of that role since the previous step, per step. */
static void add_per_step(struct pt_figure_stream *s, enum pt_figure_id id, enum pt_span_role role,
                         double count) {
    double *seconds = &s->steps.seconds[role];
    if (!s->steps.has_role[role])
        return;
    if (count > 0) {
        set_level(s, id, *seconds / count);
        s->now[id].sum = *seconds;
        s->now[id].weight = count;
        *seconds = 0;
    }
    double step_ns = s->held[F(TRAIN_STEP_TIME)].value * 1e9;
    int64_t lasts_ns = (int64_t)fmax((double)s->rates.interval_ns, step_ns) * STEPS_KNOWN;
    hold(s, id, lasts_ns);
}

/* A program has few names and many spans. */
static enum pt_span_role role_of(struct pt_figure_steps *steps, struct pt_str name) {
    uint32_t id = pt_names_find(&steps->names, name);
    if (id == PT_NAMES_NONE && steps->names.count == NAMES_MAX)
        return pt_span_role(name);
    if (id == PT_NAMES_NONE) {
        id = pt_names_add(&steps->names, name);
        pt_grow(&steps->roles, &steps->role_capacity, id + 1, sizeof *steps->roles);
        steps->roles[id] = pt_span_role(name);
    }
    return steps->roles[id];
}

static void add_steps(struct pt_figure_stream *s, const struct pt_sample *sample) {
    static const struct {
        enum pt_figure_id figure;
        enum pt_span_role role;
    } figures[] = { { F(TRAIN_STEP_TIME), PT_SPAN_STEP },
                    { F(TRAIN_DATA_WAIT), PT_SPAN_DATA_WAIT },
                    { F(TRAIN_COLLECTIVE_WAIT), PT_SPAN_COLLECTIVE } };
    const struct pt_figure_steps *at = &s->steps;
    const struct pt_batch *rows = at->table < 0 ? NULL : &sample->batches[at->table];
    double count = 0;
    for (uint32_t row = 0; rows && row < rows->row_count; row++) {
        if (pt_is_null(rows, row, at->name) || pt_is_null(rows, row, at->duration))
            continue;
        enum pt_span_role role = role_of(&s->steps, pt_get_str(rows, row, at->name));
        s->steps.has_role[role] = true;
        s->steps.seconds[role] += pt_get_number(rows, row, at->duration) / 1e9;
        count += role == PT_SPAN_STEP;
    }
    for (size_t i = 0; i < PT_COUNT(figures); i++)
        add_per_step(s, figures[i].figure, figures[i].role, count);
}

bool pt_figure_stream_add(struct pt_figure_stream *s, const struct pt_sample *sample) {
    if (!pt_sample_has_state(sample))
        return false;
    pt_rates_add(&s->rates, sample);
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        s->now[i] = (struct pt_figure_value){ .value = NAN };
    uint32_t cores = row_count(s, IN_CORE_IDLE);
    double cpus = cores > 0 ? (double)cores : (double)NAN;
    set_level(s, F(CPU_COUNT), cpus);
    add_directs(s);
    add_own_cpu(s, cpus);
    add_cpu(s, cpus);
    add_cores(s);
    add_python(s);
    add_throttling(s);
    add_memory(s);
    add_peak_memory(s);
    add_network(s);
    add_engine(s);
    add_gpu(s);
    add_collecting(s);
    add_latencies(s, sample);
    add_steps(s, sample);
    return true;
}

void pt_figure_accumulate(enum pt_figure_id id, double *sum, double *weight, double more_sum,
                          double more_weight) {
    enum pt_latency_id latency;
    double level;
    if (!pt_figure_is_peak(id) && !pt_figure_is_quantile(id, &latency, &level)) {
        *sum += more_sum;
        *weight += more_weight;
    } else if (more_weight > 0 && (*weight == 0 || more_sum / more_weight > *sum)) {
        *sum = more_sum / more_weight;
        *weight = 1;
    }
}

void pt_figure_totals_add(struct pt_figure_totals *t, const struct pt_figure_stream *s) {
    for (int i = 0; i < PT_FIGURE_COUNT; i++) {
        const struct pt_figure_value *v = &s->now[i];
        struct pt_figure_sums *sums = &t->sums[i];
        if (isnan(v->value))
            continue;
        pt_figure_accumulate((enum pt_figure_id)i, &sums->sum, &sums->weight, v->sum, v->weight);
        sums->peak = sums->is_known ? fmax(sums->peak, v->value) : v->value;
        sums->is_known = true;
    }
    for (int i = 0; i < PT_LATENCY_COUNT; i++)
        pt_classic_histogram_merge(&t->latencies[i], &s->latencies[i].histogram);
}

void pt_figure_totals_release(struct pt_figure_totals *t) {
    for (int i = 0; i < PT_LATENCY_COUNT; i++)
        pt_classic_histogram_release(&t->latencies[i]);
}

double pt_figure_totals_value(const struct pt_figure_totals *t, enum pt_figure_id id) {
    enum pt_latency_id latency;
    double level;
    if (pt_figure_is_quantile(id, &latency, &level) && t->latencies[latency].count > 0)
        return pt_classic_histogram_quantile(&t->latencies[latency], level).value;
    return t->sums[id].weight > 0 ? t->sums[id].sum / t->sums[id].weight : NAN;
}
