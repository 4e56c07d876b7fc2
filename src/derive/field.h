/* derive/field.h -- the columns that code reads by name, one line each.
 *
 * Figures (derive/figure.h) are for numbers of a run; a field is for code that reads rows: events,
 * the rows of one engine, the keys of a process. A column's name stands in its collector and here,
 * nowhere else, so that tools/check-columns finds every use. */
#ifndef PT_DERIVE_FIELD_H
#define PT_DERIVE_FIELD_H

#include "model/sample.h"

/* X(constant, table, column) */
#define PT_FIELDS(X)                                                  \
    X(HISTOGRAM_NAME, "engine_histogram", "hName")                    \
    X(SPAN_PROCESS, "span", "sPid")                                   \
    X(SPAN_THREAD, "span", "sThread")                                 \
    X(SPAN_NAME, "span", "sName")                                     \
    X(SPAN_START, "span", "sStart")                                   \
    X(SPAN_DURATION, "span", "sDuration")                             \
    X(SPAN_ARGUMENT, "span", "sArgument")                             \
    X(SPAN_REQUEST, "span", "sRequest")                               \
    X(SPAN_WORK, "span", "sWork")                                     \
    X(SPAN_TEXT, "span", "sText")                                     \
    X(METRIC_LABELS, "app_metric", "aLabels")                         \
    X(METRIC_KIND, "app_metric", "aKind")                             \
    X(METRIC_UNIT, "app_metric", "aUnit")                             \
    X(METRIC_VALUE, "app_metric", "aValue")                           \
    X(METRIC_COUNT, "app_metric", "aCount")                           \
    X(METRIC_SUM, "app_metric", "aSum")                               \
    X(METRIC_BUCKETS, "app_metric", "aBuckets")                       \
    X(MARK_TEXT, "mark", "mText")                                     \
    X(ALERT_RULE, "alert", "aRule")                                   \
    X(ALERT_ENTITY, "alert", "aEntity")                               \
    X(ALERT_METRIC, "alert", "aMetric")                               \
    X(ALERT_STATE, "alert", "aState")                                 \
    X(ALERT_VALUE, "alert", "aValue")                                 \
    X(ALERT_THRESHOLD, "alert", "aThreshold")                         \
    X(PROCESS_COMMAND, "process", "pCmdline")                         \
    X(COLLECTOR_EVENT, "collector", "colAction")                      \
    X(COLLECTOR_NAME, "collector", "colName")                         \
    X(COLLECTOR_CPU, "collector", "colCpuTime")                       \
    X(COLLECTOR_PEAK, "collector", "colPeakRss")                      \
    X(CORE_NUMBER, "core", "cpuNumber")                               \
    X(LOAD_5, "cpu", "vLoadAvg5")                                     \
    X(LOAD_15, "cpu", "vLoadAvg15")                                   \
    X(OOM_KILLS, "mem", "vOomKills")                                  \
    X(GROUP_IS_RECORDED, "container", "cIsRecorded")                  \
    X(GROUP_OOM_KILLS, "container", "cOomKills")                      \
    X(GROUP_LIMIT_HITS, "container", "cMemoryLimitHits")              \
    X(GROUP_MEMORY_LIMIT, "container", "cMemoryTightestLimit")        \
    X(ENERGY_DOMAIN, "energy", "eDomain")                             \
    X(ENERGY_JOULES, "energy", "eEnergyUj")                           \
    X(ENERGY_PROBLEM, "energy", "eProblem")                           \
    X(GPU_INDEX, "gpu", "gGpuIndex")                                  \
    X(GPU_BUSY, "gpu", "gUtilizationGpu")                             \
    X(GPU_MEMORY, "gpu", "gMemoryUsedMb")                             \
    X(GPU_MEMORY_TOTAL, "gpu", "gMemoryTotalMb")                      \
    X(GPU_POWER, "gpu", "gPowerDrawW")                                \
    X(GPU_ENERGY, "gpu", "gEnergyMj")                                 \
    X(GPU_TEMPERATURE, "gpu", "gTemperatureC")                        \
    X(GPU_CLOCK, "gpu", "gClockSmMhz")                                \
    X(GPU_CLOCK_GRAPHICS, "gpu", "gClockGraphicsMhz")                 \
    X(ENGINE_INTER_TOKEN_P50, "engines", "latency_inter_token_s_p50") \
    X(ENGINE_TOKENS, "engines", "tokens_generation_total")            \
    X(ENGINE_RUNNING, "engines", "system_requests_running")           \
    X(ENGINE_URL, "engines", "eUrl")                                  \
    X(ENGINE_KIND, "engines", "eEngine")                              \
    X(ENGINE_MODEL, "engines", "eModel")                              \
    X(ENGINE_STATE, "engines", "eState")                              \
    X(ENGINE_PROBLEM, "engines", "eProblem")                          \
    X(ENGINE_CONFIG, "engines", "eConfig")

#define PT_FIELD_ENUM_(constant, ...) PT_FIELD_##constant,
enum pt_field_id { PT_FIELDS(PT_FIELD_ENUM_) PT_FIELD_COUNT };

struct pt_field {
    const char *table, *column;
};

extern const struct pt_field pt_fields[PT_FIELD_COUNT];

/* The index of its table in a schema, or -1. */
int pt_field_table(const struct pt_schema *schema, enum pt_field_id id);
/* The index of its column in its table, or -1. */
int pt_field_column(const struct pt_table *table, enum pt_field_id id);
/* The rows of its table in a sample; NULL: the schema has no such table. */
const struct pt_batch *pt_field_rows(const struct pt_sample *sample, enum pt_field_id id);
/* Its cell in a row of that table. Null, another type or no such column: "" or NAN. */
struct pt_str pt_field_text(const struct pt_batch *rows, uint32_t row, enum pt_field_id id);
double pt_field_number(const struct pt_batch *rows, uint32_t row, enum pt_field_id id);
/* The columns of a table with metrics of programs as rows; -1: it has no such column. */
struct pt_metric_columns {
    int process, name, labels, kind, unit, value, count, sum, buckets;
};

struct pt_metric_columns pt_metric_columns_of(const struct pt_table *table);

/* Is this the column of the field? */
bool pt_field_is(enum pt_field_id id, const struct pt_table *table, const struct pt_column *column);

#endif
