/* report/charts.h -- the charts of one table: one chart per column, one line per selected entity.
 * Names and units of columns come from the schema. */
#ifndef PT_REPORT_CHARTS_H
#define PT_REPORT_CHARTS_H

#include "base/json.h"
#include "derive/percentiles.h"
#include "report/blob.h"
#include "report/curve.h"
#include "report/entities.h"
#include "report/latency_slots.h"
#include "store/subject.h"

struct pt_charts {
    struct pt_report_entities entities;
    struct pt_curve *curves; /* by column, one per selected entity; may be empty */
    const struct pt_curve_axis *axis;
    uint64_t row_count;
    struct pt_percentiles percentiles;
    struct pt_report_latency *latencies; /* as curves, in the first column of each histogram */
    struct pt_classic_histogram grown;   /* what a cell has grown by in a sample */
    uint64_t bucket_count, growth_count; /* buckets that grew; samples in which some did */
    struct pt_subject subject;           /* the caller fills it before writing */
};

void pt_charts_init(struct pt_charts *c, const struct pt_schema *schema,
                    const struct pt_table *table); /* borrows */
void pt_charts_release(struct pt_charts *c);

/* The first pass. `table`: its index in the schema of the sample. */
void pt_charts_survey(struct pt_charts *c, const struct pt_sample *sample, uint32_t table);
/* Between the passes. Returns the number of curves; a bucket is as long as two. */
uint64_t pt_charts_choose(struct pt_charts *c);
/* The second pass. */
void pt_charts_begin(struct pt_charts *c, const struct pt_curve_axis *axis); /* borrows */
void pt_charts_add(struct pt_charts *c, const struct pt_sample *sample, uint32_t table,
                   uint32_t bucket);

/* After the last sample. */
void pt_charts_end(struct pt_charts *c);

void pt_charts_write(const struct pt_charts *c, struct pt_json *j, struct pt_blob *blob);

#endif
