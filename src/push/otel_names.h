/* push/otel_names.h -- OpenTelemetry names of our columns.
 *
 * A column's line has its name in one version of the semantic conventions, and what belongs to it:
 *
 *     .otel = "system.paging.faults {fault} system.paging.fault.type=minor"
 *
 * is the metric, the unit if it is not a base unit, and attributes, separated by commas. "sum" and
 * "count" after the name make two columns a histogram without buckets. Of a key it is the
 * attribute; "text" after it: not an integer. Other columns are called pitot.TABLE.COLUMN. Values
 * are already in base units (model/metric.h), which are those of the conventions. */
#ifndef PT_PUSH_OTEL_NAMES_H
#define PT_PUSH_OTEL_NAMES_H

#include "model/metric.h"
#include "model/sample.h"
#include "format/metrics/otlp.h"

#define PT_OTEL_VERSION "1.44.0" /* version of the semantic conventions */

/* Columns that are part of a histogram without known buckets. */
enum pt_otel_part { PT_OTEL_WHOLE, PT_OTEL_SUM, PT_OTEL_COUNT };

struct pt_otel_name {
    char name[PT_METRIC_NAME_BYTES];
    struct pt_str unit;
    enum pt_otlp_kind kind;
    const char *attributes; /* "cpu.mode=user", comma-separated; or "" */
    enum pt_otel_part part;
};

/* A key of a table as an attribute. */
struct pt_otel_key {
    struct pt_str attribute;
    bool is_integer;
};

/* False: the column has no name there. */
bool pt_otel_name_of(const struct pt_table *table, int column, struct pt_otel_name *name);

/* A Prometheus family as an OpenTelemetry metric. */
struct pt_otel_metric {
    char family[PT_METRIC_NAME_BYTES];
    const struct pt_table *table;
    int column;    /* -1: the table's infos */
    bool is_known; /* otherwise only the name is set */
    struct pt_otel_name otel;
};

/* The metrics of a schema, by the names of their families. {0} is empty. */
struct pt_otel_index {
    struct pt_otel_metric *metrics;
    size_t count, capacity;
};

void pt_otel_index_init(struct pt_otel_index *x, const struct pt_schema *schema);
void pt_otel_index_release(struct pt_otel_index *x);
/* NULL: not a column, but a metric that a program named itself. */
const struct pt_otel_metric *pt_otel_find(const struct pt_otel_index *x, struct pt_str family);

/* The attribute of a table's label; false: it keeps its name. */
bool pt_otel_key_of(const struct pt_table *table, struct pt_str label, struct pt_otel_key *key);

/* The UCUM unit for a Prometheus unit (seconds: s); others are returned unchanged. */
struct pt_str pt_otel_unit(struct pt_str unit);

#endif
