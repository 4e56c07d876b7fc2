#include "analyze/run_energy.h"

#include "analyze/carbon.h"
#include "analyze/power_model.h"

#include <math.h>
#include <stdio.h>

#define JOULES_PER_KWH 3.6e6
#define PUE_INDUSTRY   1.56 /* mean of data centres in the industry */
/* Reads are not exactly at the start and end of a run. */
#define GAP_SHARE  0.02
#define GAP_S      0.05
#define PHASE_LOW  0.5
#define PHASE_HIGH 1.5

const struct pt_energy_figure pt_energy_figures[PT_ENERGY_FIGURE_COUNT] = {
    [PT_ENERGY_TOTAL] = { "energy", "Total", "J" },
    [PT_ENERGY_POWER] = { "power", "Mean power", "W" },
    [PT_ENERGY_KWH] = { "electricity", "Electricity", "kWh" },
    [PT_ENERGY_PUE] = { "pue", "PUE", "" },
    [PT_ENERGY_INTENSITY] = { "carbon_intensity", "Carbon intensity", "g/kWh" },
    [PT_ENERGY_CO2E] = { "co2e", "Carbon", "g CO2e" },
    [PT_ENERGY_COST] = { "cost", "Cost", NULL },
    [PT_ENERGY_TREE] = { "recorded_tree", "Recorded tree", "J" },
    [PT_ENERGY_PREFILL] = { "prefill", "Prefill", "J" },
    [PT_ENERGY_DECODE] = { "decode", "Decode", "J" },
    [PT_ENERGY_ENGINE_IDLE] = { "engine_idle", "Engine idle", "J" },
    [PT_ENERGY_PER_REQUEST] = { "energy_per_request", "Per request", "J" },
    [PT_ENERGY_PER_1000_TOKENS] = { "energy_per_1000_tokens", "Per 1,000 tokens", "J" },
    [PT_ENERGY_PER_1000_GENERATED] = { "energy_per_1000_generated_tokens", "Per 1,000 generated",
                                       "J" },
    [PT_ENERGY_CO2E_PER_REQUEST] = { "co2e_per_request", "Per request", "g CO2e" },
    [PT_ENERGY_CO2E_PER_1000_TOKENS] = { "co2e_per_1000_tokens", "Per 1,000 tokens", "g CO2e" },
    [PT_ENERGY_COST_PER_REQUEST] = { "cost_per_request", "Per request", NULL },
    [PT_ENERGY_COST_PER_1000_TOKENS] = { "cost_per_1000_tokens", "Per 1,000 tokens", NULL },
};

/* Accuracy of each kind of counter, by the name of its domain. ROLE_PART: the energy is also in
 * another domain. */
enum role { ROLE_PSYS, ROLE_PACKAGE, ROLE_MEMORY, ROLE_PART, ROLE_GPU };

static const struct domain_kind {
    const char *prefix;
    enum role role;
    double low, high;
    const char *method;
} domain_kinds[] = {
    { "psys", ROLE_PSYS, 0.9, 1.1, "RAPL counter of the platform" },
    { "package", ROLE_PACKAGE, 0.95, 1.05, "RAPL counter" },
    { "dram", ROLE_MEMORY, 0.8, 1.2, "RAPL counter" },
    { "", ROLE_PART, 0.95, 1.05, "RAPL counter, part of the package" },
};
static const struct domain_kind gpu_counter = { "", ROLE_GPU, 0.95, 1.05, "energy counter" };
static const struct domain_kind gpu_power = { "", ROLE_GPU, 0.9, 1.1, "power, trapezoid rule" };

static double sum_of(const struct pt_energy_series *s) {
    return s->joules[PT_ENERGY_IDLE] + s->joules[PT_ENERGY_BUSY];
}

/* A counter that never grows (psys on some machines) measures nothing. */
static bool uses_counter(const struct pt_energy_meter_source *s) {
    return sum_of(&s->counter) > 0;
}

static const struct domain_kind *kind_of(const struct pt_energy_meter_source *s) {
    size_t i = 0;
    if (s->is_gpu)
        return uses_counter(s) ? &gpu_counter : &gpu_power;
    while (!pt_str_starts(pt_str_from(s->name), pt_str_from(domain_kinds[i].prefix)))
        i++;
    return &domain_kinds[i];
}

/* Fills gaps with the mean of the measured part; the true value can be from 0 to twice that. */
static void fill_gap(struct pt_estimate *e, double covered_s, double run_s) {
    double factor = run_s / covered_s;
    if (run_s - covered_s <= GAP_SHARE * run_s + GAP_S)
        return;
    char method[sizeof e->method];
    snprintf(method, sizeof method, "%s", e->method);
    e->value *= factor;
    e->high *= 2 * factor - 1;
    e->provenance = PT_MODELLED;
    pt_estimate_explain(e, "%.80s; measured for %.0f %% of the run", method, 100 / factor);
}

static struct pt_energy_source *add_source(struct pt_energy_report *r, const char *name) {
    pt_grow(&r->sources, &r->source_capacity, r->source_count + 1, sizeof *r->sources);
    struct pt_energy_source *s = &r->sources[r->source_count++];
    *s = (struct pt_energy_source){ 0 };
    pt_str_copy(s->name, sizeof s->name, pt_str_from(name));
    return s;
}

static double share_of_busy(const double joules[PT_ENERGY_STATES]) {
    double sum = joules[PT_ENERGY_IDLE] + joules[PT_ENERGY_BUSY];
    return sum > 0 ? joules[PT_ENERGY_BUSY] / sum : 0;
}

static void add_measured(struct pt_energy_report *r, const struct pt_energy_meter *m,
                         size_t index) {
    const struct pt_energy_meter_source *from = &m->sources[index];
    const struct pt_energy_series *series = uses_counter(from) ? &from->counter : &from->power;
    const struct domain_kind *kind = kind_of(from);
    struct pt_energy_source *s = add_source(r, from->name);
    s->from = (int)index;
    s->uses_counter = uses_counter(from);
    if (sum_of(series) <= 0)
        return;
    s->busy_share = share_of_busy(series->joules);
    s->joules =
        pt_estimate_of(sum_of(series), kind->low, kind->high, PT_MEASURED, "%s", kind->method);
    fill_gap(&s->joules, series->covered_s, r->seconds);
}

static bool has_measured(const struct pt_energy_meter *m, enum role role) {
    for (size_t i = 0; i < m->source_count; i++)
        if (kind_of(&m->sources[i])->role == role && uses_counter(&m->sources[i]))
            return true;
    return false;
}

static void add_sources(struct pt_energy_report *r, const struct pt_energy_meter *m,
                        const struct pt_energy_basis *basis) {
    bool has_psys = has_measured(m, ROLE_PSYS), has_package = has_measured(m, ROLE_PACKAGE);
    bool has_memory = has_measured(m, ROLE_MEMORY);
    for (size_t i = 0; i < m->source_count; i++) {
        enum role role = kind_of(&m->sources[i])->role;
        add_measured(r, m, i);
        /* the platform includes packages and memory; a package includes its cores */
        r->sources[i].is_counted =
            role == ROLE_GPU || role == ROLE_PSYS || (role != ROLE_PART && !has_psys);
        if (role != ROLE_GPU && !pt_estimate_is_known(&r->sources[i].joules))
            r->sources[i].is_counted = false; /* the model is used instead */
    }
    if (!has_psys && !has_package) {
        struct pt_estimate full = pt_power_full(basis);
        struct pt_energy_source *s = add_source(r, "CPU");
        s->from = PT_ENERGY_FROM_PROCESSOR_MODEL;
        s->is_counted = true;
        s->busy_share = share_of_busy(m->share_s);
        s->joules =
            pt_estimate_scaled(&full, m->share_s[PT_ENERGY_IDLE] + m->share_s[PT_ENERGY_BUSY]);
        if (m->unknown_s > GAP_SHARE * r->seconds)
            pt_estimate_explain(&s->joules, "%.120s; utilisation unknown for %.0f %% of the run",
                                full.method, m->unknown_s / r->seconds * 100);
    }
    if (!has_psys && !has_memory) {
        struct pt_estimate watts = pt_power_memory(basis);
        struct pt_energy_source *s = add_source(r, "Memory");
        s->from = PT_ENERGY_FROM_MEMORY_MODEL;
        s->is_counted = true;
        s->busy_share = share_of_busy(m->seconds);
        s->joules = pt_estimate_scaled(&watts, r->seconds);
    }
}

static void sum_up(struct pt_energy_report *r) {
    struct pt_estimate *total = &r->figures[PT_ENERGY_TOTAL];
    size_t used = 0;
    for (size_t i = 0; i < r->source_count; i++) {
        const struct pt_energy_source *s = &r->sources[i];
        if (!s->is_counted)
            continue;
        pt_estimate_add(total, &s->joules);
        if (used < sizeof total->method)
            used += (size_t)snprintf(total->method + used, sizeof total->method - used, "%s%s%s",
                                     used ? " + " : "", s->name,
                                     pt_estimate_is_known(&s->joules) ? "" : " (unknown)");
    }
    r->figures[PT_ENERGY_POWER] = pt_estimate_scaled(total, 1 / r->seconds);
    pt_estimate_explain(&r->figures[PT_ENERGY_POWER], "total / time");
    r->figures[PT_ENERGY_KWH] = pt_estimate_scaled(total, 1 / JOULES_PER_KWH);
    pt_estimate_explain(&r->figures[PT_ENERGY_KWH], "total / 3.6e6");
}

static struct pt_estimate given(const struct pt_given *g) {
    return pt_estimate_of(g->value, 1, 1, PT_GIVEN, "given");
}

static void add_carbon(struct pt_energy_report *r, const struct pt_energy_basis *basis) {
    struct pt_estimate *f = r->figures;
    r->uses_carbon_table = !basis->carbon_intensity.is_given;
    f[PT_ENERGY_PUE] =
        basis->pue.is_given
            ? given(&basis->pue)
            : pt_estimate_of(1, 1, PUE_INDUSTRY, PT_ASSUMED,
                             "machine only; the mean of data centres is %.2f (see --pue)",
                             PUE_INDUSTRY);
    f[PT_ENERGY_INTENSITY] = basis->carbon_intensity.is_given
                                 ? given(&basis->carbon_intensity)
                                 : pt_carbon_intensity(pt_carbon_find(pt_str_from(basis->region)));
    struct pt_estimate facility = pt_estimate_times(&f[PT_ENERGY_KWH], &f[PT_ENERGY_PUE]);
    f[PT_ENERGY_CO2E] = pt_estimate_times(&facility, &f[PT_ENERGY_INTENSITY]);
    pt_estimate_explain(&f[PT_ENERGY_CO2E], "electricity x PUE x carbon intensity");
}

static void add_cost(struct pt_energy_report *r, const struct pt_energy_basis *basis) {
    struct pt_estimate *cost = &r->figures[PT_ENERGY_COST];
    struct pt_estimate part;
    if (basis->price_kwh.is_given) {
        part = pt_estimate_times(&r->figures[PT_ENERGY_KWH], &r->figures[PT_ENERGY_PUE]);
        part = pt_estimate_scaled(&part, basis->price_kwh.value);
        pt_estimate_add(cost, &part);
    }
    if (basis->price_hour.is_given) {
        part = pt_estimate_of(r->seconds / 3600 * basis->price_hour.value, 1, 1, PT_MEASURED, "%s",
                              "");
        pt_estimate_add(cost, &part);
    }
    pt_estimate_explain(cost, "%s%s%s",
                        basis->price_kwh.is_given ? "electricity x PUE x price per kWh" : "",
                        basis->price_kwh.is_given && basis->price_hour.is_given ? " + " : "",
                        basis->price_hour.is_given ? "time x price per hour" : "");
}

/* Energy of GPUs above their power before the command started. */
static bool add_gpus_of_tree(struct pt_energy_report *r, const struct pt_energy_meter *m,
                             struct pt_estimate *tree) {
    bool has_any = false;
    for (size_t i = 0; i < m->source_count; i++) {
        struct pt_estimate e = r->sources[i].joules;
        double idle = m->sources[i].first_watts * r->seconds;
        if (!m->sources[i].has_first_watts || !pt_estimate_is_known(&e))
            continue;
        e.value = fmax(e.value - idle, 0);
        e.low = fmax(e.low - idle, 0);
        e.high = fmax(e.high - idle, 0);
        pt_estimate_add(tree, &e);
        has_any = true;
    }
    return has_any;
}

static void add_tree(struct pt_energy_report *r, const struct pt_energy_meter *m,
                     const struct pt_energy_basis *basis) {
    struct pt_estimate *tree = &r->figures[PT_ENERGY_TREE];
    if (!basis->cpu_threads.is_given || m->tree_busy_s <= 0)
        return;
    double share = fmin(m->tree_cpu_s / (m->tree_busy_s * basis->cpu_threads.value), 1);
    for (size_t i = 0; i < r->source_count; i++) {
        struct pt_estimate part = pt_estimate_scaled(&r->sources[i].joules, share);
        struct pt_str name = pt_str_from(r->sources[i].name);
        bool is_processor = pt_str_starts(name, PT_STR("psys")) || pt_str_eq(name, PT_STR("CPU")) ||
                            pt_str_starts(name, PT_STR("package"));
        if (r->sources[i].is_counted && is_processor)
            pt_estimate_add(tree, &part);
    }
    bool has_gpus = basis->has_command.value > 0 && add_gpus_of_tree(r, m, tree);
    if (tree->provenance == PT_MEASURED)
        tree->provenance = PT_MODELLED;
    pt_estimate_explain(tree,
                        "CPU energy x %.0f %% (its share of busy CPU time), including idle power "
                        "(not measured before the run)%s",
                        share * 100, has_gpus ? "; GPU energy above the power at the start" : "");
}

static struct pt_estimate phase(const struct pt_estimate *busy, double share, const char *name) {
    struct pt_estimate e =
        pt_estimate_of(busy->value * share, PHASE_LOW, PHASE_HIGH, PT_ASSUMED,
                       "energy while the engine was busy x %s share of request time", name);
    e.low = busy->low * share * PHASE_LOW;
    e.high = fmin(busy->high * share * PHASE_HIGH, busy->high);
    return e;
}

static void add_phases(struct pt_energy_report *r, const struct pt_energy_meter *m) {
    struct pt_estimate busy = { 0 }, *idle = &r->figures[PT_ENERGY_ENGINE_IDLE];
    double prefill_s = m->counts[PT_ENERGY_PREFILL_S];
    double decode_s = m->counts[PT_ENERGY_DECODE_S];
    if (!m->has_engine)
        return;
    for (size_t i = 0; i < r->source_count; i++) {
        const struct pt_energy_source *s = &r->sources[i];
        struct pt_estimate part = pt_estimate_scaled(&s->joules, s->busy_share);
        struct pt_estimate rest = pt_estimate_scaled(&s->joules, 1 - s->busy_share);
        if (!s->is_counted)
            continue;
        pt_estimate_add(&busy, &part);
        pt_estimate_add(idle, &rest);
    }
    pt_estimate_explain(idle, "energy of the intervals without engine activity");
    if (!pt_estimate_is_known(&busy) || prefill_s + decode_s <= 0)
        return;
    r->figures[PT_ENERGY_PREFILL] = phase(&busy, prefill_s / (prefill_s + decode_s), "the prefill");
    r->figures[PT_ENERGY_DECODE] = phase(&busy, decode_s / (prefill_s + decode_s), "the decode");
}

static void add_quotients(struct pt_energy_report *r, const struct pt_energy_meter *m) {
    double requests = m->counts[PT_ENERGY_REQUESTS];
    double generated = m->counts[PT_ENERGY_GENERATED_TOKENS];
    double tokens = m->counts[PT_ENERGY_PROMPT_TOKENS] + generated;
    const struct {
        enum pt_energy_figure_id quotient, of;
        double divisor;
        const char *what;
    } quotients[] = {
        { PT_ENERGY_PER_REQUEST, PT_ENERGY_TOTAL, requests, "finished requests" },
        { PT_ENERGY_PER_1000_TOKENS, PT_ENERGY_TOTAL, tokens / 1000, "thousand tokens" },
        { PT_ENERGY_PER_1000_GENERATED, PT_ENERGY_TOTAL, generated / 1000,
          "thousand generated tokens" },
        { PT_ENERGY_CO2E_PER_REQUEST, PT_ENERGY_CO2E, requests, "finished requests" },
        { PT_ENERGY_CO2E_PER_1000_TOKENS, PT_ENERGY_CO2E, tokens / 1000, "thousand tokens" },
        { PT_ENERGY_COST_PER_REQUEST, PT_ENERGY_COST, requests, "finished requests" },
        { PT_ENERGY_COST_PER_1000_TOKENS, PT_ENERGY_COST, tokens / 1000, "thousand tokens" },
    };
    for (size_t i = 0; i < PT_COUNT(quotients); i++) {
        struct pt_estimate *e = &r->figures[quotients[i].quotient];
        if (quotients[i].divisor <= 0)
            continue;
        *e = pt_estimate_scaled(&r->figures[quotients[i].of], 1 / quotients[i].divisor);
        pt_estimate_explain(e, "whole machine / %g %s", quotients[i].divisor, quotients[i].what);
    }
}

void pt_energy_report_make(struct pt_energy_report *r, const struct pt_energy_meter *m,
                           const struct pt_energy_basis *basis) {
    *r = (struct pt_energy_report){ .seconds = (double)(m->last_ns - m->first_ns) / 1e9,
                                    .currency = basis->currency,
                                    .has_denied_counters = m->has_denied };
    if (r->seconds <= 0)
        return;
    add_sources(r, m, basis);
    sum_up(r);
    add_carbon(r, basis);
    add_cost(r, basis);
    add_tree(r, m, basis);
    add_phases(r, m);
    add_quotients(r, m);
}

void pt_energy_report_release(struct pt_energy_report *r) {
    pt_free(r->sources);
    *r = (struct pt_energy_report){ 0 };
}
