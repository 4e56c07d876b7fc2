/* report/figures.h -- the figures a report shows first, and what is needed to compute each anew for
 * any part of the run: of every stretch of time a weighted sum and the weight.
 *
 * The ranks of a merged run are put together: what belongs to a machine counts once for each, what
 * belongs to a rank for each rank; it is added or averaged, as it makes sense. */
#ifndef PT_REPORT_FIGURES_H
#define PT_REPORT_FIGURES_H

#include "analyze/run_energy.h"
#include "base/json.h"
#include "report/blob.h"
#include "report/curve.h"
#include "store/rank.h"

struct pt_report_figure {
    struct pt_curve curve;
    double *sums, *weights; /* a stretch each; weights are seconds, or how many there were */
    int64_t covered_ns;     /* of ranks that are added: up to here there is a weight */
    bool is_known;
};

/* What is known of the runs, or the one run, that figures are made of. */
struct pt_report_source;
/* A line of the table in figures.c, or a main figure that has none there. */
struct pt_report_spec;

struct pt_report_figures {
    const struct pt_curve_axis *axis;
    const struct pt_schema *schema; /* of a source */
    struct pt_report_spec *specs;
    struct pt_report_figure *list; /* one for each of `specs` */
    int count;                     /* of both */
    struct pt_report_source *sources;
    size_t source_count;
    const struct pt_ranks *ranks;
    const struct pt_energy_basis *basis;
};

/* Borrows all but `f`. `ranks`: of a merged run; none otherwise. */
void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis,
                            const struct pt_ranks *ranks);
void pt_report_figures_release(struct pt_report_figures *f);

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t stretch);
/* After the last sample. */
void pt_report_figures_end(struct pt_report_figures *f);

/* The meter of the run, or of the first rank. */
const struct pt_energy_meter *pt_report_figures_meter(const struct pt_report_figures *f);

/* The members "figures" and "cards"; known figures only. */
void pt_report_figures_write(const struct pt_report_figures *f, struct pt_json *j,
                             struct pt_blob *blob);

#endif
