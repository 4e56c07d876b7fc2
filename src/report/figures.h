/* report/figures.h -- the main figures of a report. Each bucket of time has a weighted sum and a
 * weight, so that the page can compute a figure for any part of the run.
 *
 * The ranks of a merged run are combined: figures of a machine count once per machine, figures of a
 * rank once per rank; they are added or averaged (`together`). */
#ifndef PT_REPORT_FIGURES_H
#define PT_REPORT_FIGURES_H

#include "analyze/run_energy.h"
#include "base/json.h"
#include "report/blob.h"
#include "report/curve.h"
#include "store/rank.h"

struct pt_report_figure {
    struct pt_curve curve;
    double *sums, *weights; /* per bucket; weights are seconds or requests */
    int64_t covered_ns;     /* of added ranks: weights exist up to here */
    bool is_known;
};

/* State of the run, or of one rank. */
struct pt_report_source;
/* A line of the table in figures.c, or a main figure without one. */
struct pt_report_spec;

struct pt_report_figures {
    const struct pt_curve_axis *axis;
    const struct pt_schema *schema; /* of a source */
    struct pt_report_spec *specs;
    struct pt_report_figure *list; /* one per spec */
    int count;                     /* of both */
    struct pt_report_source *sources;
    size_t source_count;
    const struct pt_ranks *ranks;
    const struct pt_energy_basis *basis;
};

/* Borrows all arguments. `ranks`: of a merged run, otherwise empty. */
void pt_report_figures_init(struct pt_report_figures *f, const struct pt_schema *schema,
                            const struct pt_curve_axis *axis, const struct pt_energy_basis *basis,
                            const struct pt_ranks *ranks);
void pt_report_figures_release(struct pt_report_figures *f);

void pt_report_figures_add(struct pt_report_figures *f, const struct pt_sample *sample,
                           uint32_t bucket);
/* After the last sample. */
void pt_report_figures_end(struct pt_report_figures *f);

/* The meter of the run, or of the first rank. */
const struct pt_energy_meter *pt_report_figures_meter(const struct pt_report_figures *f);

/* The members "figures" and "cards"; known figures only. */
void pt_report_figures_write(const struct pt_report_figures *f, struct pt_json *j,
                             struct pt_blob *blob);

#endif
