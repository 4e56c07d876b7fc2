#include "report/power.h"

#include "base/mem.h"

#include <math.h>

/* Evenly over its time. What was read after the sample began is of its slot. */
static void spread(const struct pt_report_power *p, struct pt_power_series *s,
                   const struct pt_growth *growth, const int64_t *ends, uint32_t slot) {
    int64_t until_ns = growth->to_ns;
    if (growth->to_ns <= growth->from_ns)
        return;
    if (!s->amounts) {
        s->amounts = pt_calloc(p->axis->count, sizeof *s->amounts);
        s->seconds = pt_calloc(p->axis->count, sizeof *s->seconds);
    }
    for (uint32_t i = slot;; i--) {
        int64_t start_ns = i > 0 && ends[i - 1] > growth->from_ns ? ends[i - 1] : growth->from_ns;
        if (until_ns > start_ns) {
            double seconds = (double)(until_ns - start_ns) / 1e9;
            s->amounts[i] += pt_growth_rate(growth) * seconds;
            s->seconds[i] += seconds;
            until_ns = start_ns;
        }
        if (start_ns == growth->from_ns)
            return;
    }
}

void pt_report_power_add(struct pt_report_power *p, const struct pt_energy_meter *meter,
                         const int64_t *ends, uint32_t slot) {
    size_t before = p->source_capacity;
    pt_grow(&p->sources, &p->source_capacity, meter->source_count, sizeof *p->sources);
    if (p->source_capacity > before)
        memset(p->sources + before, 0, (p->source_capacity - before) * sizeof *p->sources);
    for (size_t i = 0; i < meter->source_count; i++) {
        spread(p, &p->sources[i].counter, &meter->sources[i].counter.grown, ends, slot);
        spread(p, &p->sources[i].power, &meter->sources[i].power.grown, ends, slot);
    }
    struct pt_growth time = meter->share_grown;
    time.amount = pt_growth_seconds(&time);
    spread(p, &p->share, &meter->share_grown, ends, slot);
    spread(p, &p->time, &time, ends, slot);
}

static double total_of(const struct pt_power_series *s, uint32_t count) {
    double total = 0;
    for (uint32_t i = 0; i < count; i++)
        total += s->amounts[i];
    return total;
}

/* What a source shows in a slot: its power if it measures it, because a counter that the device
 * updates rarely says too little about a short time. NAN: nothing. */
static double level_of(const struct pt_power_series *shown, const struct pt_power_series *counted,
                       double factor, uint32_t slot) {
    if (shown && shown->amounts && shown->seconds[slot] > 0)
        return shown->amounts[slot] / shown->seconds[slot];
    return counted->seconds[slot] > 0 ? factor * counted->amounts[slot] / counted->seconds[slot]
                                      : (double)NAN;
}

/* Where a source shows nothing, its last value holds; before the first one, the first. */
static void add_levels(const struct pt_report_power *p, const struct pt_power_series *shown,
                       const struct pt_power_series *counted, double factor, double *watts) {
    double held = NAN;
    for (uint32_t i = 0; i < p->axis->count && isnan(held); i++)
        held = level_of(shown, counted, factor, i);
    for (uint32_t i = 0; i < p->axis->count; i++) {
        double level = level_of(shown, counted, factor, i);
        held = isnan(level) ? held : level;
        if (p->time.seconds[i] > 0)
            watts[i] = (isnan(watts[i]) ? 0 : watts[i]) + held;
    }
}

static void add_source(const struct pt_report_power *p, const struct pt_energy_source *source,
                       double *joules, double *watts) {
    const struct pt_power_series *counted = &p->time, *shown = NULL;
    bool is_modelled = source->from < 0;
    if (source->from == PT_ENERGY_FROM_PROCESSOR_MODEL)
        counted = &p->share;
    if (!is_modelled) {
        const struct pt_power_source *measured = &p->sources[source->from];
        counted = source->uses_counter ? &measured->counter : &measured->power;
        shown = &measured->power;
    }
    double total = counted->amounts ? total_of(counted, p->axis->count) : 0;
    if (!(total > 0))
        return;
    /* the report fills gaps, and knows the watts of the models */
    double factor = source->joules.value / total;
    for (uint32_t i = 0; i < p->axis->count; i++)
        joules[i] += factor * counted->amounts[i];
    add_levels(p, shown, counted, is_modelled ? factor : 1, watts);
}

void pt_report_power_sum(const struct pt_report_power *p, const struct pt_energy_report *report,
                         double *joules, double *watts, double *seconds) {
    if (!p->time.amounts)
        return;
    for (size_t i = 0; i < report->source_count; i++)
        if (report->sources[i].is_counted && pt_estimate_is_known(&report->sources[i].joules))
            add_source(p, &report->sources[i], joules, watts);
    for (uint32_t i = 0; i < p->axis->count; i++)
        seconds[i] = fmax(seconds[i], p->time.seconds[i]);
}

static void release_series(struct pt_power_series *s) {
    pt_free(s->amounts);
    pt_free(s->seconds);
}

void pt_report_power_release(struct pt_report_power *p) {
    for (size_t i = 0; i < p->source_capacity; i++) {
        release_series(&p->sources[i].counter);
        release_series(&p->sources[i].power);
    }
    pt_free(p->sources);
    release_series(&p->share);
    release_series(&p->time);
}
