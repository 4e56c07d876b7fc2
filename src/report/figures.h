/* report/figures.h -- the figures a report shows first, and what is needed to compute each anew for
 * any part of the run: of every stretch of time a weighted sum and the weight. */
#ifndef PT_REPORT_FIGURES_H
#define PT_REPORT_FIGURES_H

#include "analyze/energy.h"
#include "base/json.h"
#include "report/blob.h"
#include "report/curve.h"

struct pt_report_figure {
    struct pt_curve curve;
    double *sums, *weights; /* a stretch each; weights are seconds */
    double before;          /* value of a counter */
    int64_t before_ns;      /* its time; 0: nothing before */
    uint32_t before_stretch;
    bool is_known;
};

struct pt_report_figures {
    const struct pt_curve_axis *axis;
    const struct pt_schema *schema;
    struct pt_report_figure *list; /* one for each line of the table in figures.c */
    int64_t last_ns;               /* of the sample before */

    struct pt_figure_reader reader;
    struct pt_energy_meter meter;
    const struct pt_energy_basis *basis;
    uint32_t energy_stretch; /* the one the meter is in */
};

/* Borrows all but `f`. */
void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis);
void pt_report_figures_release(struct pt_report_figures *f);

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t stretch);
/* After the last sample. */
void pt_report_figures_end(struct pt_report_figures *f);

/* The members "figures" and "cards"; known figures only. */
void pt_report_figures_write(const struct pt_report_figures *f, struct pt_json *j,
                             struct pt_blob *blob);

#endif
