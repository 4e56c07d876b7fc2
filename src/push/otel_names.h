/* push/otel_names.h -- OpenTelemetry names of our columns.
 *
 * One table, of one version of the semantic conventions. Other columns are called
 * pitot.TABLE.COLUMN. Values are already in base units (model/metric.h), which are those of the
 * conventions. */
#ifndef PT_PUSH_OTEL_NAMES_H
#define PT_PUSH_OTEL_NAMES_H

#include "model/metric.h"
#include "model/sample.h"
#include "format/metrics/otlp.h"

#define PT_OTEL_VERSION "1.44.0" /* version of the semantic conventions */

/* Columns that are part of a histogram without known buckets. */
enum pt_otel_part { PT_OTEL_WHOLE, PT_OTEL_SUM, PT_OTEL_COUNT };

struct pt_otel_name {
    const char *table, *column; /* ours: the short name of the column */
    const char *name, *unit;    /* OpenTelemetry's */
    enum pt_otlp_kind kind;
    const char *attributes; /* "cpu.mode=user", comma-separated; or NULL */
    enum pt_otel_part part;
};

/* A key of a table as an attribute. */
struct pt_otel_key {
    const char *table, *column, *attribute;
    bool is_integer;
};

extern const struct pt_otel_name pt_otel_names[];
extern const size_t pt_otel_name_count;
extern const struct pt_otel_key pt_otel_keys[];
extern const size_t pt_otel_key_count;

/* A Prometheus family as an OpenTelemetry metric. */
struct pt_otel_metric {
    char family[PT_METRIC_NAME_BYTES];
    char name[PT_METRIC_NAME_BYTES];
    const struct pt_otel_name *known; /* or NULL */
    const struct pt_table *table;
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

/* The attribute name of a table's label, or NULL: unchanged. */
const struct pt_otel_key *pt_otel_key_of(const struct pt_table *table, struct pt_str label);

/* The UCUM unit for a Prometheus unit (seconds: s); others are returned unchanged. */
struct pt_str pt_otel_unit(struct pt_str unit);

#endif
