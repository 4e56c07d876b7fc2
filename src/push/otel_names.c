#include "push/otel_names.h"

#include <stdio.h>
#include <stdlib.h>

const struct pt_otel_name pt_otel_names[] = {
    { "core", "user", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=user" },
    { "core", "kernel", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=system" },
    { "core", "idle", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=idle" },
    { "core", "iowait", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=iowait" },
    { "core", "irq", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=interrupt" },
    { "core", "softirq", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=softirq" },
    { "core", "nice", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=nice" },
    { "core", "steal", "system.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=steal" },
    { "core", "mhz", "system.cpu.frequency", "Hz", PT_OTLP_GAUGE },
    { "mem", "total", "system.memory.limit", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "mem", "free", "system.memory.linux.available", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "mem", "used", "system.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.memory.state=used" },
    { "mem", "unused", "system.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.memory.state=free" },
    { "mem", "cached", "system.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.memory.state=cached" },
    { "mem", "buffers", "system.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.memory.state=buffers" },
    { "mem", "shared", "system.memory.linux.shared", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "mem", "swap_used", "system.paging.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.paging.state=used" },
    { "mem", "swap_free", "system.paging.usage", "By", PT_OTLP_UP_DOWN_COUNTER,
      "system.paging.state=free" },
    { "mem", "faults", "system.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=minor" },
    { "mem", "major_faults", "system.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=major" },
    { "mem", "swap_in", "system.paging.operations", "{operation}", PT_OTLP_COUNTER,
      "system.paging.direction=in" },
    { "mem", "swap_out", "system.paging.operations", "{operation}", PT_OTLP_COUNTER,
      "system.paging.direction=out" },
    { "drive", "io_ms", "system.disk.io_time", "s", PT_OTLP_COUNTER },
    { "drive", "read_bytes", "system.disk.io", "By", PT_OTLP_COUNTER, "disk.io.direction=read" },
    { "drive", "reads", "system.disk.operations", "{operation}", PT_OTLP_COUNTER,
      "disk.io.direction=read" },
    { "drive", "read_ms", "system.disk.operation_time", "s", PT_OTLP_COUNTER,
      "disk.io.direction=read" },
    { "drive", "merged_reads", "system.disk.merged", "{operation}", PT_OTLP_COUNTER,
      "disk.io.direction=read" },
    { "drive", "write_bytes", "system.disk.io", "By", PT_OTLP_COUNTER, "disk.io.direction=write" },
    { "drive", "writes", "system.disk.operations", "{operation}", PT_OTLP_COUNTER,
      "disk.io.direction=write" },
    { "drive", "write_ms", "system.disk.operation_time", "s", PT_OTLP_COUNTER,
      "disk.io.direction=write" },
    { "drive", "merged_writes", "system.disk.merged", "{operation}", PT_OTLP_COUNTER,
      "disk.io.direction=write" },
    { "interface", "rx_bytes", "system.network.io", "By", PT_OTLP_COUNTER,
      "network.io.direction=receive" },
    { "interface", "rx_packets", "system.network.packet.count", "{packet}", PT_OTLP_COUNTER,
      "network.io.direction=receive" },
    { "interface", "rx_errors", "system.network.errors", "{error}", PT_OTLP_COUNTER,
      "network.io.direction=receive" },
    { "interface", "rx_drops", "system.network.packet.dropped", "{packet}", PT_OTLP_COUNTER,
      "network.io.direction=receive" },
    { "interface", "tx_bytes", "system.network.io", "By", PT_OTLP_COUNTER,
      "network.io.direction=transmit" },
    { "interface", "tx_packets", "system.network.packet.count", "{packet}", PT_OTLP_COUNTER,
      "network.io.direction=transmit" },
    { "interface", "tx_errors", "system.network.errors", "{error}", PT_OTLP_COUNTER,
      "network.io.direction=transmit" },
    { "interface", "tx_drops", "system.network.packet.dropped", "{packet}", PT_OTLP_COUNTER,
      "network.io.direction=transmit" },
    { "process_totals", "processes", "system.process.count", "{process}", PT_OTLP_UP_DOWN_COUNTER,
      NULL },
    { "cpu", "forks", "system.process.created", "{process}", PT_OTLP_COUNTER },
    { "container", "cpu_time", "container.cpu.time", "s", PT_OTLP_COUNTER },
    { "container", "memory_used", "container.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "container", "working_set", "container.memory.working_set", "By", PT_OTLP_UP_DOWN_COUNTER,
      NULL },
    { "container", "memory_anon", "container.memory.rss", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "container", "disk_read", "container.disk.io", "By", PT_OTLP_COUNTER,
      "disk.io.direction=read" },
    { "container", "disk_written", "container.disk.io", "By", PT_OTLP_COUNTER,
      "disk.io.direction=write" },
    { "container", "network_received", "container.network.io", "By", PT_OTLP_COUNTER,
      "network.io.direction=receive" },
    { "container", "network_sent", "container.network.io", "By", PT_OTLP_COUNTER,
      "network.io.direction=transmit" },
    { "container", "minor_faults", "container.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=minor" },
    { "container", "major_faults", "container.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=major" },
    { "process", "user", "process.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=user" },
    { "process", "kernel", "process.cpu.time", "s", PT_OTLP_COUNTER, "cpu.mode=system" },
    { "process", "resident", "process.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "process", "virtual_memory", "process.memory.virtual", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "process", "threads", "process.thread.count", "{thread}", PT_OTLP_UP_DOWN_COUNTER },
    { "process", "voluntary", "process.context_switches", "{context_switch}", PT_OTLP_COUNTER,
      "process.context_switch.type=voluntary" },
    { "process", "nonvoluntary", "process.context_switches", "{context_switch}", PT_OTLP_COUNTER,
      "process.context_switch.type=involuntary" },
    { "process", "minor_faults", "process.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=minor" },
    { "process", "major_faults", "process.paging.faults", "{fault}", PT_OTLP_COUNTER,
      "system.paging.fault.type=major" },
    { "process", "read_bytes", "process.disk.io", "By", PT_OTLP_COUNTER, "disk.io.direction=read" },
    { "process", "write_bytes", "process.disk.io", "By", PT_OTLP_COUNTER,
      "disk.io.direction=write" },
    { "gpu", "utilization", "hw.gpu.utilization", "1", PT_OTLP_GAUGE, "hw.gpu.task=general" },
    { "gpu", "encoder", "hw.gpu.utilization", "1", PT_OTLP_GAUGE, "hw.gpu.task=encoder" },
    { "gpu", "decoder", "hw.gpu.utilization", "1", PT_OTLP_GAUGE, "hw.gpu.task=decoder" },
    { "gpu", "memory_used", "hw.gpu.memory.usage", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "gpu", "memory_total", "hw.gpu.memory.limit", "By", PT_OTLP_UP_DOWN_COUNTER },
    { "gpu", "pcie_rx_bytes", "hw.gpu.io", "By", PT_OTLP_COUNTER, "network.io.direction=receive" },
    { "gpu", "pcie_tx_bytes", "hw.gpu.io", "By", PT_OTLP_COUNTER, "network.io.direction=transmit" },
    { "gpu", "power", "hw.power", "W", PT_OTLP_GAUGE, "hw.type=gpu" },
    { "gpu", "energy", "hw.energy", "J", PT_OTLP_COUNTER, "hw.type=gpu" },
    { "energy", "energy", "hw.energy", "J", PT_OTLP_COUNTER, "hw.type=cpu" },
    { "gpu", "temperature", "hw.temperature", "Cel", PT_OTLP_GAUGE, "hw.type=gpu" },
    { "gpu", "fan", "hw.fan.speed_ratio", "1", PT_OTLP_GAUGE },
    { "gpu", "ecc_single", "hw.errors", "{error}", PT_OTLP_COUNTER,
      "hw.type=gpu,error.type=corrected" },
    { "gpu", "ecc_double", "hw.errors", "{error}", PT_OTLP_COUNTER,
      "hw.type=gpu,error.type=uncorrected" },
    { "engines", "latency_ttft_s_sum", "gen_ai.server.time_to_first_token", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_SUM },
    { "engines", "latency_ttft_s_count", "gen_ai.server.time_to_first_token", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_COUNT },
    { "engines", "latency_inter_token_s_sum", "gen_ai.server.time_per_output_token", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_SUM },
    { "engines", "latency_inter_token_s_count", "gen_ai.server.time_per_output_token", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_COUNT },
    { "engines", "latency_e2e_s_sum", "gen_ai.server.request.duration", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_SUM },
    { "engines", "latency_e2e_s_count", "gen_ai.server.request.duration", "s",
      PT_OTLP_SUMMED_HISTOGRAM, NULL, PT_OTEL_COUNT },
};
const size_t pt_otel_name_count = PT_COUNT(pt_otel_names);

const struct pt_otel_key pt_otel_keys[] = {
    { "core", "number", "cpu.logical_number", true },
    { "drive", "name", "system.device", false },
    { "interface", "name", "network.interface.name", false },
    { "container", "id", "container.id", false },
    { "process", "id", "process.pid", true },
    { "gpu", "index", "hw.id", false },
    { "energy", "domain", "hw.id", false },
};
const size_t pt_otel_key_count = PT_COUNT(pt_otel_keys);

static const struct pt_otel_name *find_name(const char *table, const char *column) {
    for (size_t i = 0; i < pt_otel_name_count; i++)
        if (strcmp(pt_otel_names[i].table, table) == 0 &&
            strcmp(pt_otel_names[i].column, column) == 0)
            return &pt_otel_names[i];
    return NULL;
}

static struct pt_otel_metric *add(struct pt_otel_index *x, const struct pt_table *table,
                                  const char *column) {
    pt_grow(&x->metrics, &x->capacity, x->count + 1, sizeof *x->metrics);
    struct pt_otel_metric *m = &x->metrics[x->count++];
    *m = (struct pt_otel_metric){ .known = find_name(table->name, column), .table = table };
    if (m->known)
        snprintf(m->name, sizeof m->name, "%s", m->known->name);
    else
        snprintf(m->name, sizeof m->name, "pitot.%s.%s", table->name, column);
    return m;
}

static int by_family(const void *a, const void *b) {
    const struct pt_otel_metric *x = a, *y = b;
    return strcmp(x->family, y->family);
}

void pt_otel_index_init(struct pt_otel_index *x, const struct pt_schema *schema) {
    *x = (struct pt_otel_index){ 0 };
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const struct pt_table *table = schema->tables[t];
        for (int c = 0; c < table->column_count; c++) {
            struct pt_metric metric;
            if (pt_metric_of(table, c, &metric))
                memcpy(add(x, table, table->columns[c].short_name)->family, metric.name,
                       sizeof metric.name);
        }
        if (pt_table_has_info(table))
            snprintf(add(x, table, "info")->family, PT_METRIC_NAME_BYTES, "pitot_%s_info",
                     table->name);
    }
    if (x->count > 0)
        qsort(x->metrics, x->count, sizeof *x->metrics, by_family);
}

void pt_otel_index_release(struct pt_otel_index *x) {
    pt_free(x->metrics);
    *x = (struct pt_otel_index){ 0 };
}

const struct pt_otel_metric *pt_otel_find(const struct pt_otel_index *x, struct pt_str family) {
    struct pt_otel_metric key;
    if (family.len >= sizeof key.family || x->count == 0)
        return NULL;
    pt_str_copy(key.family, sizeof key.family, family);
    return bsearch(&key, x->metrics, x->count, sizeof *x->metrics, by_family);
}

const struct pt_otel_key *pt_otel_key_of(const struct pt_table *table, struct pt_str label) {
    for (size_t i = 0; i < pt_otel_key_count; i++)
        if (strcmp(pt_otel_keys[i].table, table->name) == 0 &&
            pt_str_eq(pt_str_from(pt_otel_keys[i].column), label))
            return &pt_otel_keys[i];
    return NULL;
}

struct pt_str pt_otel_unit(struct pt_str unit) {
    static const struct {
        const char *prometheus, *ucum;
    } units[] = {
        { "", "1" },          { "bytes", "By" }, { "seconds", "s" }, { "ratio", "1" },
        { "celsius", "Cel" }, { "hertz", "Hz" }, { "joules", "J" },  { "watts", "W" },
    };
    for (size_t i = 0; i < PT_COUNT(units); i++)
        if (pt_str_eq(unit, pt_str_from(units[i].prometheus)))
            return pt_str_from(units[i].ucum);
    return unit;
}
