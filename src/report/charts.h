/* report/charts.h -- the charts of one table: one chart per column, one line per selected entity.
 * Names and units of columns come from the schema. */
#ifndef PT_REPORT_CHARTS_H
#define PT_REPORT_CHARTS_H

#include "base/json.h"
#include "report/blob.h"
#include "report/curve.h"
#include "report/entities.h"

struct pt_charts {
    struct pt_report_entities entities;
    struct pt_curve *curves; /* by column, one per selected entity; may be empty */
    const struct pt_curve_axis *axis;
    uint64_t row_count;
};

void pt_charts_init(struct pt_charts *c, const struct pt_table *table); /* borrows */
void pt_charts_release(struct pt_charts *c);

/* The first pass. */
void pt_charts_survey(struct pt_charts *c, const struct pt_batch *rows, int64_t mono_ns);
/* Between the passes. Returns the number of curves. */
uint64_t pt_charts_choose(struct pt_charts *c);
/* The second pass. */
void pt_charts_begin(struct pt_charts *c, const struct pt_curve_axis *axis); /* borrows */
void pt_charts_add(struct pt_charts *c, const struct pt_batch *rows, int64_t mono_ns,
                   uint32_t bucket);

void pt_charts_write(const struct pt_charts *c, struct pt_json *j, struct pt_blob *blob);

#endif
