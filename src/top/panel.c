#include "top/panel.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>

#define NUMBER_WIDTH 9
#define TEXT_WIDTH   16
#define COLUMNS_MOST 16

struct chosen_column {
    const char *heading;
    const char *column; /* of the table; "TABLE.COLUMN": of rows of that table with the same pId */
    int width, least;
    const char *otherwise;
};

/* What is shown where. A column narrower than what it holds is cut; the last one takes the rest. */
static const struct {
    const char *title, *table, *sort;
    struct chosen_column columns[COLUMNS_MOST];
} chosen[] = {
    { "processes",
      "process",
      "pCpuTimeNs",
      { { "PID", "pId", 7, 0, NULL },
        { "UID", "pUid", 5, 90, NULL },
        { "S", "pState", 1, 0, NULL },
        { "CPU", "pCpuTimeNs", 7, 0, NULL },
        { "RSS", "pResidentSetSize", 6, 0, NULL },
        { "THR", "pNumThreads", 4, 0, NULL },
        { "READ", "pReadBytes", 8, 76, NULL },
        { "WRITE", "pWriteBytes", 8, 76, NULL },
        { "MAJFLT", "pMajorFaults", 7, 140, NULL },
        { "SWITCHES", "pVoluntaryContextSwitches", 9, 140, NULL },
        { "GPU", "gpu_process.gSmUtil", 6, 0, NULL },
        { "GPU MEM", "gpu_process.gUsedMemoryMb", 7, 0, NULL },
        { "COMMAND", "pCmdline", 0, 0, "pName" } } },
    { "containers",
      "container",
      "cCpuTime",
      { { "CPU", "cCpuTime", 7, 0, NULL },
        { "LIMIT", "cCpuTightestLimit", 5, 100, NULL },
        { "THROTTLED", "cCpuThrottledTime", 9, 0, NULL },
        { "MEM", "cMemoryUsed", 6, 0, NULL },
        { "LIMIT", "cMemoryTightestLimit", 6, 76, NULL },
        { "READ", "cDiskReadBytes", 8, 76, NULL },
        { "WRITE", "cDiskWriteBytes", 8, 76, NULL },
        { "RECEIVED", "cNetworkBytesRecvd", 8, 120, NULL },
        { "SENT", "cNetworkBytesSent", 8, 120, NULL },
        { "TASKS", "cPidsCurrent", 5, 100, NULL },
        { "OOM", "cOomKills", 5, 120, NULL },
        { "RUNTIME", "cRuntime", 10, 90, NULL },
        { "NAME", "cName", 0, 0, "cId" } } },
    { "GPUs",
      "gpu",
      "gGpuIndex",
      { { "GPU", "gGpuIndex", 3, 0, NULL },
        { "BUSY", "gUtilizationGpu", 6, 0, NULL },
        { "SM", "gSmActive", 6, 110, NULL },
        { "TENSOR", "gTensorActive", 6, 110, NULL },
        { "DRAM", "gDramBandwidth", 6, 110, NULL },
        { "USED", "gMemoryUsedMb", 6, 0, NULL },
        { "TOTAL", "gMemoryTotalMb", 6, 0, NULL },
        { "POWER", "gPowerDrawW", 7, 0, NULL },
        { "LIMIT", "gPowerLimitW", 7, 90, NULL },
        { "TEMP", "gTemperatureC", 4, 0, NULL },
        { "CLOCK", "gClockSmMhz", 8, 76, NULL },
        { "PCIE IN", "gPcieRxBytes", 8, 140, NULL },
        { "PCIE OUT", "gPcieTxBytes", 8, 140, NULL },
        { "THROTTLE", "gThrottle", 12, 76, NULL },
        { "NAME", "gName", 0, 0, "gUuid" } } },
    { "GPU processes",
      "gpu_process",
      "gSmUtil",
      { { "GPU", "gGpuIndex", 3, 0, NULL },
        { "PID", "pId", 7, 0, NULL },
        { "HOST PID", "gHostPid", 8, 90, NULL },
        { "TYPE", "gType", 8, 0, NULL },
        { "SM", "gSmUtil", 6, 0, NULL },
        { "MEM BUSY", "gMemUtil", 8, 0, NULL },
        { "MEM", "gUsedMemoryMb", 6, 0, NULL },
        { "COMPUTE", "gComputeTime", 7, 100, NULL },
        { "NAME", "pName", 0, 0, NULL } } },
    { "engines",
      "engines",
      "tokens_generation_total",
      { { "TOKENS", "tokens_generation_total", 8, 0, NULL },
        { "PROMPT", "tokens_prompt_total", 8, 0, NULL },
        { "RUN", "system_requests_running", 4, 0, NULL },
        { "WAIT", "system_requests_waiting", 4, 0, NULL },
        { "DONE", "requests_finished_total", 7, 100, NULL },
        { "KV", "cache_kv_usage_percent", 6, 0, NULL },
        { "TTFT p50", "latency_ttft_s_p50", 8, 0, NULL },
        { "TTFT p99", "latency_ttft_s_p99", 8, 100, NULL },
        { "TOKEN p50", "latency_inter_token_s_p50", 9, 0, NULL },
        { "TOKEN p99", "latency_inter_token_s_p99", 9, 100, NULL },
        { "STATE", "eState", 7, 120, NULL },
        { "ENGINE", "eEngine", 8, 120, NULL },
        { "MODEL", "eModel", 0, 0, "eUrl" } } },
    { "disks",
      "drive",
      "dIOTime",
      { { "DISK", "dName", 12, 0, NULL },
        { "BUSY", "dIOTime", 7, 0, NULL },
        { "READ", "dReadBytes", 9, 0, NULL },
        { "WRITE", "dWriteBytes", 9, 0, NULL },
        { "READS", "dSuccessfulReads", 9, 0, NULL },
        { "WRITES", "dSuccessfulWrites", 9, 0, NULL },
        { "OPEN", "dIOInProgress", 5, 0, NULL },
        { "FLUSHES", "dFlushes", 8, 90, NULL } } },
    { "network",
      "interface",
      "iBytesRecvd",
      { { "INTERFACE", "iName", 15, 0, NULL },
        { "RECEIVED", "iBytesRecvd", 9, 0, NULL },
        { "SENT", "iBytesSent", 9, 0, NULL },
        { "PACKETS IN", "iPacketsRecvd", 10, 0, NULL },
        { "PACKETS OUT", "iPacketsSent", 11, 0, NULL },
        { "ERRORS IN", "iErrorsRecvd", 9, 100, NULL },
        { "ERRORS OUT", "iErrorsSent", 10, 100, NULL },
        { "DROPS IN", "iDropsRecvd", 8, 90, NULL },
        { "DROPS OUT", "iDropsSent", 9, 90, NULL } } },
    { "pressure",
      "pressure",
      NULL,
      { { "RESOURCE", "psiResource", 10, 0, NULL },
        { "SOME", "psiSomeTotal", 8, 0, NULL },
        { "10 s", "psiSomeAvg10", 8, 0, NULL },
        { "60 s", "psiSomeAvg60", 8, 0, NULL },
        { "300 s", "psiSomeAvg300", 8, 0, NULL },
        { "FULL", "psiFullTotal", 8, 0, NULL },
        { "10 s", "psiFullAvg10", 8, 0, NULL },
        { "60 s", "psiFullAvg60", 8, 90, NULL } } },
};

static struct pt_panel_column plain_column(const struct pt_schema *schema, int table, int column) {
    const struct pt_column *c = &schema->tables[table]->columns[column];
    int heading = (int)strlen(c->short_name);
    int width = c->type == PT_STRING ? TEXT_WIDTH : NUMBER_WIDTH;
    return (struct pt_panel_column){ .heading = c->short_name,
                                     .table = table,
                                     .column = column,
                                     .otherwise = -1,
                                     .joined_by = -1,
                                     .width = heading > width ? heading : width };
}

static void add_all_columns(struct pt_panel *p, const struct pt_schema *schema) {
    int count = schema->tables[p->table]->column_count;
    p->all.list = pt_calloc((size_t)count, sizeof *p->all.list);
    for (int c = 0; c < count; c++)
        p->all.list[p->all.count++] = plain_column(schema, p->table, c);
}

/* false: a schema of another Pitot may lack it. */
static bool resolve(const struct pt_schema *schema, int table, const struct chosen_column *from,
                    struct pt_panel_column *into) {
    const char *dot = strchr(from->column, '.');
    const char *column = dot ? dot + 1 : from->column;
    *into = (struct pt_panel_column){ .heading = from->heading,
                                      .table = table,
                                      .otherwise = -1,
                                      .joined_by = -1,
                                      .width = from->width,
                                      .least = from->least };
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
    if (from->otherwise)
        into->otherwise = pt_table_find(schema->tables[into->table], from->otherwise);
    return into->column >= 0;
}

static void add_chosen_columns(struct pt_panel *p, const struct pt_schema *schema, size_t which) {
    p->chosen.list = pt_calloc(COLUMNS_MOST, sizeof *p->chosen.list);
    for (int i = 0; i < COLUMNS_MOST && chosen[which].columns[i].heading; i++) {
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
    add_all_columns(p, schema);
    if (which)
        add_chosen_columns(p, schema, *which);
}

static bool is_chosen(const char *table) {
    for (size_t i = 0; i < PT_COUNT(chosen); i++)
        if (strcmp(chosen[i].table, table) == 0)
            return true;
    return false;
}

void pt_panels_init(struct pt_panels *p, const struct pt_schema *schema) {
    *p = (struct pt_panels){ .list = pt_calloc(schema->table_count, sizeof *p->list) };
    for (size_t i = 0; i < PT_COUNT(chosen); i++) {
        int table = pt_schema_find(schema, chosen[i].table);
        if (table >= 0)
            add_panel(p, schema, table, chosen[i].title, &i);
    }
    for (uint32_t t = 0; t < schema->table_count; t++)
        if (!is_chosen(schema->tables[t]->name))
            add_panel(p, schema, (int)t, schema->tables[t]->name, NULL);
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
    return screen_columns >= c->least &&
           (c->joined_by < 0 || pt_rates_rows(r, c->table)->row_count > 0);
}

bool pt_panel_is_text(const struct pt_panel_column *c, const struct pt_rates *r) {
    return r->schema->tables[c->table]->columns[c->column].type == PT_STRING;
}

/* A process may be on several GPUs: their sum. */
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
    return pt_rates_at(r, c->table, row, c->column);
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
    return text.len > 0 ? text : text_in(rows, row, c->otherwise);
}
