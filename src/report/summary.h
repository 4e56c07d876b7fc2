/* report/summary.h -- the text at the end of a run: the main figures over the whole run (means,
 * and percentiles of all requests), their peaks and curves. */
#ifndef PT_REPORT_SUMMARY_H
#define PT_REPORT_SUMMARY_H

#include "analyze/run_energy.h"
#include "base/out.h"
#include "report/engine_contacts.h"
#include "store/own_cost.h"
#include "store/subject.h"

/* A curve of bounded size over a run of any length: when it is full, neighbours are merged and each
 * point covers twice as many samples. Keeps the peaks. */
#define PT_SUMMARY_POINTS 64

struct pt_summary {
    struct pt_figure_stream figures;
    struct pt_figure_totals totals;
    double points[PT_FIGURE_COUNT][PT_SUMMARY_POINTS]; /* NaN = unknown */
    unsigned point_count, samples_per_point, samples_in_point;
    uint64_t sample_count;
    int64_t first_mono_ns, last_mono_ns;
    struct pt_energy_meter energy;
    struct pt_engine_contacts engines;
    struct pt_energy_basis energy_basis; /* the caller can fill these before printing */
    struct pt_own_cost cost;
    struct pt_subject subject;
};

void pt_summary_init(struct pt_summary *s, const struct pt_schema *schema);
void pt_summary_add(struct pt_summary *s, const struct pt_sample *sample);
void pt_summary_release(struct pt_summary *s);

/* Prints the figures and Pitot's overhead. `use_unicode`: also curves. */
void pt_summary_print(const struct pt_summary *s, struct pt_out *out, bool use_unicode);

#endif
