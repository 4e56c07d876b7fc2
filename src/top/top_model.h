/* top/top_model.h -- the data that the screen shows, fed sample by sample: live or from a run. */
#ifndef PT_TOP_TOP_MODEL_H
#define PT_TOP_TOP_MODEL_H

#include "derive/field.h"
#include "derive/figure.h"
#include "top/trail.h"

#define PT_TOP_GPUS 64 /* with a curve */

struct pt_top_model {
    struct pt_rates rates;
    struct pt_figure_stream figures;
    struct pt_trail curves[PT_FIGURE_COUNT];
    struct pt_trail gpus[PT_TOP_GPUS]; /* by row of the table */
    uint64_t sample_count;             /* since the last clear */
    char event[160]; /* the last event: a mark, an alert, a step of the governor */
    int64_t event_ns;
};

void pt_top_model_init(struct pt_top_model *m, const struct pt_schema *schema); /* borrows */
void pt_top_model_release(struct pt_top_model *m);
/* Drops the data, before a jump in time. */
void pt_top_model_clear(struct pt_top_model *m);
void pt_top_model_add(struct pt_top_model *m, const struct pt_sample *sample);

/* Rows of the table of a field, now. */
uint32_t pt_top_model_rows(const struct pt_top_model *m, enum pt_field_id id);
/* Its value, as pt_rates_at(); NAN: unknown, or no such row. */
double pt_top_model_value(const struct pt_top_model *m, enum pt_field_id id, uint32_t row);

#endif
