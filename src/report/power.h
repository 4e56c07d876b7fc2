/* report/power.h -- the power of the machine over time, from what the energy meter adds.
 *
 * Every source (a GPU, a RAPL domain, the model of the processor) has readings at times of its own,
 * most of them between two samples. So the energy between two readings is spread over the time
 * between them, and never given to the sample that happens to see it: a sample without a new
 * reading is not 0 W, and the next one not twice the power. The power of a slot is the sum of what
 * each source shows in it, so it stays within the sum of their extremes. */
#ifndef PT_REPORT_POWER_H
#define PT_REPORT_POWER_H

#include "analyze/run_energy.h"
#include "report/curve.h"

/* One series in each time slot. */
struct pt_power_series {
    double *amounts, *seconds; /* NULL: nothing yet */
};

struct pt_power_source {
    struct pt_power_series counter, power;
};

/* {0} and an axis are empty. */
struct pt_report_power {
    const struct pt_curve_axis *axis;
    struct pt_power_source *sources; /* as those of the meter */
    size_t source_capacity;
    struct pt_power_series share, time; /* for the models of processor and memory */
};

/* What the meter added with its last sample. `ends`: of the time slots, up to this one. */
void pt_report_power_add(struct pt_report_power *p, const struct pt_energy_meter *meter,
                         const int64_t *ends, uint32_t slot);

/* Adds to the energy, power and time of each slot. The energy of all slots is that of the report.
 * Power is NAN, and not added, where the run has no time. */
void pt_report_power_sum(const struct pt_report_power *p, const struct pt_energy_report *report,
                         double *joules, double *watts, double *seconds);
void pt_report_power_release(struct pt_report_power *p);

#endif
