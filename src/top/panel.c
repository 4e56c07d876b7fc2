#include "top/panel.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

#define NUMBER_WIDTH 9
#define TEXT_WIDTH   16
#define COLUMNS_MAX  16

struct chosen_column {
    const char *heading;
    const char *column; /* of the table; "TABLE.COLUMN": of rows of that table with the same pId */
    int width, min_screen_columns;
    const char *otherwise[2];
};

/* The panels. Text wider than its column is cut; the last column takes the remaining width. */
static const struct {
    const char *title, *table, *sort;
    struct chosen_column columns[COLUMNS_MAX];
} chosen[] = {
    { "processes",
      "process",
      "pCpuTimeNs",
      { { "PID", "pId", 7, 0 },
        { "UID", "pUid", 5, 90 },
        { "S", "pState", 1, 0 },
        { "CPU", "pCpuTimeNs", 7, 0, { "pCpuTimeUserMode", "pCpuTimeKernelMode" } },
        { "RSS", "pResidentSetSize", 6, 0 },
        { "THR", "pNumThreads", 4, 0 },
        { "READ", "pReadBytes", 8, 76 },
        { "WRITE", "pWriteBytes", 8, 76 },
        { "MAJFLT", "pMajorFaults", 7, 140 },
        { "SWITCHES", "pVoluntaryContextSwitches", 9, 140 },
        { "GPU", "gpu_process.gSmUtil", 6, 0 },
        { "GPU MEM", "gpu_process.gUsedMemoryMb", 7, 0 },
        { "COMMAND", "pCmdline", 0, 0, { "pName" } } } },
    { "containers",
      "container",
      "cCpuTime",
      { { "CPU", "cCpuTime", 7, 0 },
        { "LIMIT", "cCpuTightestLimit", 5, 100 },
        { "THROTTLED", "cCpuThrottledTime", 9, 0 },
        { "MEM", "cMemoryUsed", 6, 0 },
        { "LIMIT", "cMemoryTightestLimit", 6, 76 },
        { "READ", "cDiskReadBytes", 8, 76 },
        { "WRITE", "cDiskWriteBytes", 8, 76 },
        { "RECEIVED", "cNetworkBytesRecvd", 8, 120 },
        { "SENT", "cNetworkBytesSent", 8, 120 },
        { "TASKS", "cPidsCurrent", 5, 100 },
        { "OOM", "cOomKills", 5, 120 },
        { "RUNTIME", "cRuntime", 10, 90 },
        { "NAME", "cName", 0, 0, { "cId" } } } },
    { "GPUs",
      "gpu",
      "gGpuIndex",
      { { "GPU", "gGpuIndex", 3, 0 },
        { "BUSY", "gUtilizationGpu", 6, 0 },
        { "SM", "gSmActive", 6, 110 },
        { "TENSOR", "gTensorActive", 6, 110 },
        { "DRAM", "gDramBandwidth", 6, 110 },
        { "USED", "gMemoryUsedMb", 6, 0 },
        { "TOTAL", "gMemoryTotalMb", 6, 0 },
        { "POWER", "gPowerDrawW", 7, 0 },
        { "LIMIT", "gPowerLimitW", 7, 90 },
        { "TEMP", "gTemperatureC", 4, 0 },
        { "CLOCK", "gClockSmMhz", 8, 76 },
        { "PCIE IN", "gPcieRxBytes", 8, 140 },
        { "PCIE OUT", "gPcieTxBytes", 8, 140 },
        { "THROTTLE", "gThrottle", 12, 76 },
        { "NAME", "gName", 0, 0, { "gUuid" } } } },
    { "GPU processes",
      "gpu_process",
      "gSmUtil",
      { { "GPU", "gGpuIndex", 3, 0 },
        { "PID", "pId", 7, 0 },
        { "HOST PID", "gHostPid", 8, 90 },
        { "TYPE", "gType", 8, 0 },
        { "SM", "gSmUtil", 6, 0 },
        { "MEM BUSY", "gMemUtil", 8, 0 },
        { "MEM", "gUsedMemoryMb", 6, 0 },
        { "COMPUTE", "gComputeTime", 7, 100 },
        { "NAME", "pName", 0, 0 } } },
    { "engines",
      "engines",
      "tokens_generation_total",
      { { "TOKENS", "tokens_generation_total", 8, 0 },
        { "PROMPT", "tokens_prompt_total", 8, 0 },
        { "RUN", "system_requests_running", 4, 0 },
        { "WAIT", "system_requests_waiting", 4, 0 },
        { "DONE", "requests_finished_total", 7, 100 },
        { "KV", "cache_kv_usage_percent", 6, 0 },
        { "TTFT p50", "latency_ttft_s_p50", 8, 0 },
        { "TTFT p99", "latency_ttft_s_p99", 8, 100 },
        { "TOKEN p50", "latency_inter_token_s_p50", 9, 0 },
        { "TOKEN p99", "latency_inter_token_s_p99", 9, 100 },
        { "STATE", "eState", 7, 120 },
        { "ENGINE", "eEngine", 8, 120 },
        { "MODEL", "eModel", 0, 0, { "eUrl" } } } },
    { "disks",
      "drive",
      "dIOTime",
      { { "DISK", "dName", 12, 0 },
        { "BUSY", "dIOTime", 7, 0 },
        { "READ", "dReadBytes", 9, 0 },
        { "WRITE", "dWriteBytes", 9, 0 },
        { "READS", "dSuccessfulReads", 9, 0 },
        { "WRITES", "dSuccessfulWrites", 9, 0 },
        { "OPEN", "dIOInProgress", 5, 0 },
        { "FLUSHES", "dFlushes", 8, 90 } } },
    { "network",
      "interface",
      "iBytesRecvd",
      { { "INTERFACE", "iName", 15, 0 },
        { "RECEIVED", "iBytesRecvd", 9, 0 },
        { "SENT", "iBytesSent", 9, 0 },
        { "PACKETS IN", "iPacketsRecvd", 10, 0 },
        { "PACKETS OUT", "iPacketsSent", 11, 0 },
        { "ERRORS IN", "iErrorsRecvd", 9, 100 },
        { "ERRORS OUT", "iErrorsSent", 10, 100 },
        { "DROPS IN", "iDropsRecvd", 8, 90 },
        { "DROPS OUT", "iDropsSent", 9, 90 } } },
    { "pressure",
      "pressure",
      NULL,
      { { "RESOURCE", "psiResource", 10, 0 },
        { "SOME", "psiSomeTotal", 8, 0 },
        { "10 s", "psiSomeAvg10", 8, 0 },
        { "60 s", "psiSomeAvg60", 8, 0 },
        { "300 s", "psiSomeAvg300", 8, 0 },
        { "FULL", "psiFullTotal", 8, 0 },
        { "10 s", "psiFullAvg10", 8, 0 },
        { "60 s", "psiFullAvg60", 8, 90 } } },
};

static struct pt_panel_column plain_column(const struct pt_schema *schema, int table, int column) {
    const struct pt_column *c = &schema->tables[table]->columns[column];
    int heading = (int)strlen(c->short_name);
    int width = c->type == PT_STRING ? TEXT_WIDTH : NUMBER_WIDTH;
    return (struct pt_panel_column){ .heading = c->short_name,
                                     .table = table,
                                     .column = column,
                                     .otherwise = { -1, -1 },
                                     .joined_by = -1,
                                     .width = heading > width ? heading : width };
}

/* False: the schema of another Pitot version may lack it. */
static bool resolve(const struct pt_schema *schema, int table, const struct chosen_column *from,
                    struct pt_panel_column *into) {
    const char *dot = strchr(from->column, '.');
    const char *column = dot ? dot + 1 : from->column;
    *into = (struct pt_panel_column){ .heading = from->heading,
                                      .table = table,
                                      .otherwise = { -1, -1 },
                                      .joined_by = -1,
                                      .width = from->width,
                                      .min_screen_columns = from->min_screen_columns };
    if (dot) {
        char name[64];
        into->table = pt_schema_find(
            schema, pt_str_copy(name, sizeof name,
                                (struct pt_str){ from->column, (size_t)(dot - from->column) }));
        if (into->table < 0)
            return false;
        into->joined_by = pt_table_find(schema->tables[into->table], "pId");
        if (into->joined_by < 0)
            return false;
    }
    into->column = pt_table_find(schema->tables[into->table], column);
    for (int i = 0; i < 2 && from->otherwise[i]; i++)
        into->otherwise[i] = pt_table_find(schema->tables[into->table], from->otherwise[i]);
    return into->column >= 0;
}

static void add_chosen_columns(struct pt_panel *p, const struct pt_schema *schema, size_t which) {
    p->chosen.list = pt_calloc(COLUMNS_MAX, sizeof *p->chosen.list);
    for (int i = 0; i < COLUMNS_MAX && chosen[which].columns[i].heading; i++) {
        const struct chosen_column *from = &chosen[which].columns[i];
        if (!resolve(schema, p->table, from, &p->chosen.list[p->chosen.count]))
            continue;
        if (chosen[which].sort && strcmp(from->column, chosen[which].sort) == 0)
            p->sort = p->chosen.count;
        p->chosen.count++;
    }
}

static void add_panel(struct pt_panels *panels, const struct pt_schema *schema, int table,
                      const char *title, const size_t *which) {
    const struct pt_table *t = schema->tables[table];
    struct pt_panel *p = &panels->list[panels->count++];
    *p = (struct pt_panel){ .title = title, .table = table, .sort = -1 };
    p->id = pt_table_find(t, "pId");
    p->parent = pt_table_find(t, "pParentId");
    p->is_recorded = pt_table_find(t, "pIsRecorded");
    if (p->is_recorded < 0)
        p->is_recorded = pt_table_find(t, "cIsRecorded");
    p->is_single = true;
    for (int c = 0; c < t->column_count; c++)
        p->is_single &= t->columns[c].kind != PT_KEY;
    p->all.list = pt_calloc(t->column_count, sizeof *p->all.list);
    for (int c = 0; c < t->column_count; c++)
        p->all.list[p->all.count++] = plain_column(schema, table, c);
    if (which)
        add_chosen_columns(p, schema, *which);
}

void pt_panels_init(struct pt_panels *p, const struct pt_schema *schema) {
    *p = (struct pt_panels){ .list = pt_calloc(schema->table_count, sizeof *p->list) };
    for (size_t i = 0; i < PT_COUNT(chosen); i++) {
        int table = pt_schema_find(schema, chosen[i].table);
        if (table >= 0)
            add_panel(p, schema, table, chosen[i].title, &i);
    }
    for (uint32_t t = 0; t < schema->table_count; t++) {
        const char *name = schema->tables[t]->name;
        bool is_chosen = false;
        for (size_t i = 0; i < PT_COUNT(chosen); i++)
            is_chosen |= strcmp(chosen[i].table, name) == 0;
        if (!is_chosen)
            add_panel(p, schema, (int)t, name, NULL);
    }
}

void pt_panels_release(struct pt_panels *p) {
    for (int i = 0; i < p->count; i++) {
        pt_free(p->list[i].chosen.list);
        pt_free(p->list[i].all.list);
    }
    pt_free(p->list);
    *p = (struct pt_panels){ 0 };
}

int pt_panels_find(const struct pt_panels *p, const struct pt_schema *schema, const char *name) {
    for (int i = 0; i < p->count; i++)
        if (strcasecmp(p->list[i].title, name) == 0 ||
            strcasecmp(schema->tables[p->list[i].table]->name, name) == 0)
            return i;
    return -1;
}

bool pt_panel_has_rows(const struct pt_panel *p, const struct pt_rates *r) {
    return pt_rates_rows(r, p->table)->row_count > 0;
}

bool pt_panel_shows(const struct pt_panel_column *c, const struct pt_rates *r, int screen_columns) {
    return screen_columns >= c->min_screen_columns &&
           (c->joined_by < 0 || pt_rates_rows(r, c->table)->row_count > 0);
}

bool pt_panel_is_text(const struct pt_panel_column *c, const struct pt_rates *r) {
    return r->schema->tables[c->table]->columns[c->column].type == PT_STRING;
}

/* A process may use several GPUs: sum them. */
static double joined_value(const struct pt_panel_column *c, const struct pt_rates *r, double id) {
    const struct pt_batch *rows = pt_rates_rows(r, c->table);
    double sum = NAN;
    for (uint32_t row = 0; row < rows->row_count; row++) {
        double value = pt_rates_at(r, c->table, row, c->column);
        if (pt_rates_at(r, c->table, row, c->joined_by) == id && !isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

double pt_panel_value(const struct pt_panel *p, const struct pt_panel_column *c,
                      const struct pt_rates *r, uint32_t row) {
    if (c->joined_by >= 0)
        return joined_value(c, r, pt_rates_at(r, p->table, row, p->id));
    double value = pt_rates_at(r, c->table, row, c->column);
    if (!isnan(value) || c->otherwise[0] < 0)
        return value;
    value = pt_rates_at(r, c->table, row, c->otherwise[0]);
    return c->otherwise[1] < 0 ? value : value + pt_rates_at(r, c->table, row, c->otherwise[1]);
}

static struct pt_str text_in(const struct pt_batch *rows, uint32_t row, int column) {
    if (column < 0 || pt_is_null(rows, row, column))
        return PT_STR("");
    return pt_get_str(rows, row, column);
}

struct pt_str pt_panel_text(const struct pt_panel *p, const struct pt_panel_column *c,
                            const struct pt_rates *r, uint32_t row) {
    const struct pt_batch *rows = pt_rates_rows(r, p->table);
    struct pt_str text = text_in(rows, row, c->column);
    return text.len > 0 ? text : text_in(rows, row, c->otherwise[0]);
}
