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
#include "report/latency_slots.h"
#include "report/power.h"
#include "store/rank.h"
#include "store/subject.h"

struct pt_report_figure {
    struct pt_curve curve;
    double *sums, *weights; /* per bucket; weights are seconds or requests */
    int64_t covered_ns;     /* of added ranks: weights exist up to here */
    double peak;            /* of the samples */
    bool is_wanted, is_known;
};

/* State of the run, or of one rank. */
struct pt_report_source;

struct pt_report_figures {
    struct pt_subject subject; /* the caller fills it before writing */
    const struct pt_curve_axis *axis;
    struct pt_report_figure *list; /* those of the catalogue, then those of the energy meter */
    int count;
    struct pt_report_latency latencies[PT_LATENCY_COUNT];
    struct pt_report_source *sources;
    size_t source_count;
    const struct pt_ranks *ranks;
    const struct pt_energy_basis *basis;
    int64_t *ends; /* of the time slots so far */
    uint32_t end_count;
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

/* The members "figures", "latencies" and "cards"; known figures only. */
void pt_report_figures_write(const struct pt_report_figures *f, struct pt_json *j,
                             struct pt_blob *blob);

#endif
