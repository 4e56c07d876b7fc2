#include "analyze/figure.h"

#include <stdio.h>

const struct pt_figure pt_figures[PT_FIGURE_COUNT] = {
    [PT_FIGURE_CPU] = { "CPU", PT_FORMAT_PERCENT },
    [PT_FIGURE_MEMORY] = { "Memory", PT_FORMAT_BYTES },
    [PT_FIGURE_DISK_READ] = { "Disk read", PT_FORMAT_BYTES_PER_S },
    [PT_FIGURE_DISK_WRITE] = { "Disk written", PT_FORMAT_BYTES_PER_S },
    [PT_FIGURE_NET_RECEIVED] = { "Net received", PT_FORMAT_BYTES_PER_S },
    [PT_FIGURE_NET_SENT] = { "Net sent", PT_FORMAT_BYTES_PER_S },
    [PT_FIGURE_LOAD] = { "Load", PT_FORMAT_PLAIN },
    [PT_FIGURE_COMMAND_CPU] = { "Recorded tree: CPU", PT_FORMAT_PERCENT },
    [PT_FIGURE_COMMAND_MEMORY] = { "Recorded tree: RSS", PT_FORMAT_BYTES },
    [PT_FIGURE_GPU] = { "GPU", PT_FORMAT_PERCENT },
    [PT_FIGURE_GPU_MEMORY] = { "GPU memory", PT_FORMAT_BYTES },
    [PT_FIGURE_TOKENS] = { "Tokens generated", PT_FORMAT_PER_S },
    [PT_FIGURE_TTFT] = { "First token, p50", PT_FORMAT_SECONDS },
    [PT_FIGURE_INTER_TOKEN] = { "Inter-token, p50", PT_FORMAT_SECONDS },
    [PT_FIGURE_RUNNING] = { "Requests running", PT_FORMAT_PLAIN },
    [PT_FIGURE_WAITING] = { "Requests waiting", PT_FORMAT_PLAIN },
    [PT_FIGURE_KV_CACHE] = { "KV cache", PT_FORMAT_PERCENT },
};

/* The columns that figures are made of. */
enum input {
    IN_USER,
    IN_KERNEL,
    IN_NICE,
    IN_IRQ,
    IN_SOFTIRQ,
    IN_STEAL,
    IN_IDLE,
    IN_IOWAIT,
    IN_LOAD,
    IN_MEMORY,
    IN_DISK_READ,
    IN_DISK_WRITE,
    IN_NET_RECEIVED,
    IN_NET_SENT,
    IN_TREE_CPU,
    IN_TREE_RSS,
    IN_GROUP_CPU,
    IN_GROUP_IS_RECORDED,
    IN_GPU,
    IN_GPU_MEMORY_MB,
    IN_TOKENS,
    IN_TTFT,
    IN_INTER_TOKEN,
    IN_RUNNING,
    IN_WAITING,
    IN_KV_CACHE,
    INPUT_COUNT
};

static const struct {
    const char *table, *column;
} inputs[INPUT_COUNT] = {
    [IN_USER] = { "cpu", "vCpuTimeUserMode" },
    [IN_KERNEL] = { "cpu", "vCpuTimeKernelMode" },
    [IN_NICE] = { "cpu", "vCpuNice" },
    [IN_IRQ] = { "cpu", "vCpuTimeIntSrvc" },
    [IN_SOFTIRQ] = { "cpu", "vCpuTimeSoftIntSrvc" },
    [IN_STEAL] = { "cpu", "vCpuSteal" },
    [IN_IDLE] = { "cpu", "vCpuIdleTime" },
    [IN_IOWAIT] = { "cpu", "vCpuTimeIOWait" },
    [IN_LOAD] = { "cpu", "vLoadAvg" },
    [IN_MEMORY] = { "mem", "vMemoryUsed" },
    [IN_DISK_READ] = { "disk", "vDiskReadBytes" },
    [IN_DISK_WRITE] = { "disk", "vDiskWriteBytes" },
    [IN_NET_RECEIVED] = { "net", "vNetworkBytesRecvd" },
    [IN_NET_SENT] = { "net", "vNetworkBytesSent" },
    [IN_TREE_CPU] = { "process_totals", "pTreeCpuTime" },
    [IN_TREE_RSS] = { "process_totals", "pTreeResidentSetSize" },
    [IN_GROUP_CPU] = { "container", "cCpuTime" },
    [IN_GROUP_IS_RECORDED] = { "container", "cIsRecorded" },
    [IN_GPU] = { "gpu", "gUtilizationGpu" },
    [IN_GPU_MEMORY_MB] = { "gpu", "gMemoryUsedMb" },
    [IN_TOKENS] = { "engine", "tokens_generation_total" },
    [IN_TTFT] = { "engine", "latency_ttft_s_p50" },
    [IN_INTER_TOKEN] = { "engine", "latency_inter_token_s_p50" },
    [IN_RUNNING] = { "engine", "system_requests_running" },
    [IN_WAITING] = { "engine", "system_requests_waiting" },
    [IN_KV_CACHE] = { "engine", "cache_kv_usage_percent" },
};

static const struct {
    const char *suffix;
    double factor;
} byte_units[] = { { "B", 1 },
                   { "KiB", 1024 },
                   { "MiB", 1048576 },
                   { "GiB", 1073741824 },
                   { "TiB", 1099511627776.0 } };

/* The limits are those of the rounded number: 1 MiB, not 1024 KiB; 10 MiB, not 10.0 MiB. */
static void print_bytes(double value, const char *per, char *into, size_t capacity) {
    size_t i = 0;
    while (i + 1 < PT_COUNT(byte_units) && value / byte_units[i].factor >= 1023.5)
        i++;
    value /= byte_units[i].factor;
    snprintf(into, capacity, value < 9.95 && i > 0 ? "%.1f %s%s" : "%.0f %s%s", value,
             byte_units[i].suffix, per);
}

void pt_figure_print(enum pt_figure_format format, double value, char *into, size_t capacity) {
    switch (format) {
    case PT_FORMAT_PERCENT:
        snprintf(into, capacity, "%.1f %%", value);
        return;
    case PT_FORMAT_BYTES:
        print_bytes(value, "", into, capacity);
        return;
    case PT_FORMAT_BYTES_PER_S:
        print_bytes(value, "/s", into, capacity);
        return;
    case PT_FORMAT_PLAIN:
        snprintf(into, capacity, "%.2f", value);
        return;
    case PT_FORMAT_PER_S:
        snprintf(into, capacity, "%.1f /s", value);
        return;
    case PT_FORMAT_SECONDS:
        snprintf(into, capacity, value < 1 ? "%.1f ms" : "%.2f s",
                 value < 1 ? value * 1000 : value);
        return;
    }
}

void pt_figure_reader_init(struct pt_figure_reader *r, const struct pt_schema *schema) {
    *r = (struct pt_figure_reader){ .schema = schema };
    _Static_assert(INPUT_COUNT <= sizeof r->places / sizeof *r->places, "room for all inputs");
    pt_sample_init(&r->previous, schema);
    for (int i = 0; i < INPUT_COUNT; i++) {
        int table = pt_schema_find(schema, inputs[i].table);
        r->places[i].table = table;
        r->places[i].column =
            table < 0 ? -1 : pt_table_find(schema->tables[table], inputs[i].column);
    }
}

void pt_figure_reader_release(struct pt_figure_reader *r) {
    pt_sample_release(&r->previous);
}

static const struct pt_batch *batch_of(const struct pt_figure_reader *r,
                                       const struct pt_sample *sample, enum input input) {
    return r->places[input].column < 0 ? NULL : &sample->batches[r->places[input].table];
}

static bool value_in(const struct pt_figure_reader *r, const struct pt_sample *sample,
                     enum input input, uint32_t row, double *value) {
    const struct pt_batch *b = batch_of(r, sample, input);
    int column = r->places[input].column;
    if (!b || row >= b->row_count || pt_is_null(b, row, column))
        return false;
    *value = pt_get_number(b, row, column);
    return true;
}

static int64_t time_in(const struct pt_figure_reader *r, const struct pt_sample *sample,
                       enum input input, uint32_t row) {
    const struct pt_batch *b = batch_of(r, sample, input);
    return pt_get_time(b, row, b->table->columns[r->places[input].column].source);
}

/* Growth of a counter between the two samples; a counter that fell was reset: unknown. */
static bool growth(const struct pt_figure_reader *r, const struct pt_sample *now, enum input input,
                   double *value) {
    double before, after;
    if (!value_in(r, &r->previous, input, 0, &before) || !value_in(r, now, input, 0, &after) ||
        after < before)
        return false;
    *value = after - before;
    return true;
}

/* Growth per second, by the times of the two reads themselves. */
static bool rate(const struct pt_figure_reader *r, const struct pt_sample *now, enum input input,
                 double *value, double *seconds) {
    double grown;
    if (!growth(r, now, input, &grown))
        return false;
    double elapsed = (double)(time_in(r, now, input, 0) - time_in(r, &r->previous, input, 0)) / 1e9;
    if (elapsed <= 0)
        return false;
    *value = grown / elapsed;
    *seconds = elapsed;
    return true;
}

static bool is_absent(const struct pt_figure_reader *r, const struct pt_sample *now,
                      enum input input) {
    double value;
    return !value_in(r, &r->previous, input, 0, &value) && !value_in(r, now, input, 0, &value);
}

/* A kind of time that the kernel does not count is no time. Idle times may fall a little by the
 * way they are counted; if another one falls, the two samples are not of one count. */
static bool cpu_busy(const struct pt_figure_reader *r, const struct pt_sample *now, double *value) {
    double busy = 0, total = 0, part;
    for (int i = IN_USER; i <= IN_IOWAIT; i++) {
        bool is_idle = i == IN_IDLE || i == IN_IOWAIT;
        if (growth(r, now, (enum input)i, &part)) {
            total += part;
            busy += is_idle ? 0 : part;
        } else if (!is_idle && !is_absent(r, now, (enum input)i)) {
            return false;
        }
    }
    if (total <= 0)
        return false;
    *value = busy / total * 100;
    return true;
}

/* The row of the recorded command's own cgroup: the marked one that counts CPU. */
static bool group_row(const struct pt_figure_reader *r, const struct pt_sample *s, uint32_t *row) {
    const struct pt_batch *b = batch_of(r, s, IN_GROUP_IS_RECORDED);
    double is_recorded, cpu;
    for (uint32_t i = 0; b && i < b->row_count; i++)
        if (value_in(r, s, IN_GROUP_IS_RECORDED, i, &is_recorded) && is_recorded == 1 &&
            value_in(r, s, IN_GROUP_CPU, i, &cpu))
            return *row = i, true;
    return false;
}

static bool group_cpu(const struct pt_figure_reader *r, const struct pt_sample *now, double *value,
                      double *seconds) {
    uint32_t before_row, after_row;
    double before, after;
    if (!group_row(r, &r->previous, &before_row) || !group_row(r, now, &after_row) ||
        !value_in(r, &r->previous, IN_GROUP_CPU, before_row, &before) ||
        !value_in(r, now, IN_GROUP_CPU, after_row, &after) || after < before)
        return false;
    int64_t elapsed_ns = time_in(r, now, IN_GROUP_CPU, after_row) -
                         time_in(r, &r->previous, IN_GROUP_CPU, before_row);
    if (elapsed_ns <= 0)
        return false;
    *value = (after - before) / (double)elapsed_ns * 100;
    *seconds = (double)elapsed_ns / 1e9;
    return true;
}

static bool command_cpu(const struct pt_figure_reader *r, const struct pt_sample *now,
                        double *value, double *seconds) {
    if (group_cpu(r, now, value, seconds))
        return true;
    if (!rate(r, now, IN_TREE_CPU, value, seconds))
        return false;
    *value /= 1e7; /* nanoseconds a second to percent of one CPU */
    return true;
}

/* Only the tables with inputs; one that was thinned this time keeps its older rows. */
static void keep(struct pt_figure_reader *r, const struct pt_sample *sample) {
    r->previous.wall_ns = sample->wall_ns;
    r->previous.mono_ns = sample->mono_ns;
    for (int i = 0, last = -1; i < INPUT_COUNT; i++) {
        int table = r->places[i].table;
        if (table < 0 || table == last || sample->batches[table].row_count == 0)
            continue;
        pt_batch_copy(&r->previous.batches[table], &sample->batches[table]);
        last = table;
    }
    r->has_previous = true;
}

/* Over all rows of a table: the mean, or the sum times a factor. */
static bool rows_of(const struct pt_figure_reader *r, const struct pt_sample *now, enum input input,
                    bool is_mean, double factor, double *value) {
    const struct pt_batch *b = batch_of(r, now, input);
    double sum = 0, one;
    uint32_t count = 0;
    for (uint32_t i = 0; b && i < b->row_count; i++)
        if (value_in(r, now, input, i, &one)) {
            sum += one;
            count++;
        }
    if (count == 0)
        return false;
    *value = is_mean ? sum / count : sum * factor;
    return true;
}

static void compute(struct pt_figure_reader *r, const struct pt_sample *now) {
    static const struct {
        enum pt_figure_id figure;
        enum input input;
    } gauges[] = { { PT_FIGURE_MEMORY, IN_MEMORY },           { PT_FIGURE_LOAD, IN_LOAD },
                   { PT_FIGURE_COMMAND_MEMORY, IN_TREE_RSS }, { PT_FIGURE_TTFT, IN_TTFT },
                   { PT_FIGURE_INTER_TOKEN, IN_INTER_TOKEN }, { PT_FIGURE_RUNNING, IN_RUNNING },
                   { PT_FIGURE_WAITING, IN_WAITING } },
      rates[] = { { PT_FIGURE_DISK_READ, IN_DISK_READ },
                  { PT_FIGURE_DISK_WRITE, IN_DISK_WRITE },
                  { PT_FIGURE_NET_RECEIVED, IN_NET_RECEIVED },
                  { PT_FIGURE_NET_SENT, IN_NET_SENT },
                  { PT_FIGURE_TOKENS, IN_TOKENS } };
    for (int f = 0; f < PT_FIGURE_COUNT; f++)
        r->seconds[f] = r->has_previous ? (double)(now->mono_ns - r->previous.mono_ns) / 1e9 : 0;
    for (size_t i = 0; i < PT_COUNT(gauges); i++)
        r->is_known[gauges[i].figure] =
            value_in(r, now, gauges[i].input, 0, &r->values[gauges[i].figure]);
    for (size_t i = 0; i < PT_COUNT(rates); i++)
        r->is_known[rates[i].figure] =
            r->has_previous &&
            rate(r, now, rates[i].input, &r->values[rates[i].figure], &r->seconds[rates[i].figure]);
    r->is_known[PT_FIGURE_GPU] = rows_of(r, now, IN_GPU, true, 1, &r->values[PT_FIGURE_GPU]);
    r->is_known[PT_FIGURE_GPU_MEMORY] =
        rows_of(r, now, IN_GPU_MEMORY_MB, false, 1048576, &r->values[PT_FIGURE_GPU_MEMORY]);
    r->is_known[PT_FIGURE_KV_CACHE] =
        rows_of(r, now, IN_KV_CACHE, false, 100, &r->values[PT_FIGURE_KV_CACHE]);
    r->is_known[PT_FIGURE_CPU] = r->has_previous && cpu_busy(r, now, &r->values[PT_FIGURE_CPU]);
    r->is_known[PT_FIGURE_COMMAND_CPU] =
        r->has_previous &&
        command_cpu(r, now, &r->values[PT_FIGURE_COMMAND_CPU], &r->seconds[PT_FIGURE_COMMAND_CPU]);
}

bool pt_figure_reader_next(struct pt_figure_reader *r, const struct pt_sample *sample) {
    bool has_rows = false;
    for (int i = 0; i < INPUT_COUNT; i++)
        has_rows |= r->places[i].table >= 0 && sample->batches[r->places[i].table].row_count > 0;
    if (!has_rows)
        return false;
    compute(r, sample);
    keep(r, sample);
    return true;
}
