#include "analyze/leak.h"

#include "analyze/trend.h"

#include <math.h>

#define S(name)   PT_FIGURE_##name

#define LEAK_SKIP 0.25 /* of the run: programs allocate while they start */

enum { LASTING, CONFIRMED, UNCONFIRMED }; /* PT_LEAK_FORMS */

static void add_signal(struct pt_verdict *v, enum pt_figure_id id, double value,
                       const struct pt_trend *t) {
    v->signals[v->signal_count++] =
        (struct pt_verdict_signal){ .signal = id, .value = value, .from = t->from, .to = t->to };
}

/* Memory and its growth rate. */
struct watched {
    enum pt_figure_id level, growth;
};

/* Steady growth of one signal, confirmed by an independent count that grows at about the same pace.
 * If that count is too noisy, as memory of a whole machine can be, the verdict is weak. */
static bool find_leak(const struct pt_rule *rule, const struct pt_signals *s, struct watched memory,
                      const struct watched *witnesses, size_t witness_count, struct pt_verdict *v) {
    const struct pt_rule_form *forms = rule->forms;
    const struct pt_condition *length =
        &forms[LASTING].needs[pt_condition_count(forms[LASTING].needs, PT_RULE_CONDITIONS) - 1];
    struct pt_trend own, witness;
    struct pt_facts facts;
    pt_facts_init(&facts);
    if (!pt_trend_find(s, memory.level, LEAK_SKIP, &own))
        return false;
    facts.values[S(TREND_GROWTH)] = own.last - own.first;
    facts.values[S(TREND_GROWTH_SHARE)] = (own.last - own.first) / fabs(own.first);
    facts.values[S(TREND_FIT)] = own.r_squared;
    facts.values[S(TREND_EVENNESS)] = own.least_quarter;
    facts.values[S(TREND_SECONDS)] = own.seconds;
    if (!pt_form_holds(&forms[UNCONFIRMED], &facts))
        return false;
    v->share = own.seconds / s->seconds;
    v->confidence = forms[UNCONFIRMED].ceiling;
    add_signal(v, memory.growth, own.slope_per_second, &own);
    add_signal(v, memory.level, own.last, &own);
    for (size_t i = 0; i < witness_count; i++) {
        if (!pt_trend_find(s, witnesses[i].level, LEAK_SKIP, &witness))
            continue;
        double pace = witness.slope_per_second / own.slope_per_second;
        facts.values[S(WITNESS_FIT)] = witness.r_squared;
        facts.values[S(WITNESS_DISAGREEMENT)] = pace > 0 ? fmax(pace, 1 / pace) : NAN;
        facts.values[S(WITNESS_CHANGE)] = fabs(pace);
        if (pt_condition_holds(&rule->never, facts.values[rule->never.signal]))
            return false;
        if (!pt_form_holds(&forms[CONFIRMED], &facts))
            continue;
        add_signal(v, witnesses[i].growth, witness.slope_per_second, &witness);
        v->confidence = forms[CONFIRMED].ceiling;
        if (pt_form_holds(&forms[LASTING], &facts))
            v->confidence = 0.65 + 0.3 * fmin(1, own.seconds / length->certain) * own.r_squared;
        return true;
    }
    return true;
}

bool pt_find_memory_leak(const struct pt_rule *rule, const struct pt_signals *s,
                         struct pt_verdict *v) {
    static const struct watched memory = { S(OWN_RSS), S(OWN_RSS_GROWTH) };
    static const struct watched witnesses[] = { { S(OWN_ANON), S(OWN_ANON_GROWTH) },
                                                { S(MEM_ANON), S(MEM_ANON_GROWTH) } };
    return find_leak(rule, s, memory, witnesses, PT_COUNT(witnesses), v);
}

bool pt_find_gpu_leak(const struct pt_rule *rule, const struct pt_signals *s,
                      struct pt_verdict *v) {
    static const struct watched memory = { S(GPU_MEMORY), S(GPU_MEMORY_GROWTH) };
    static const struct watched witnesses[] = { { S(GPU_PROCESS_MEMORY), S(GPU_PROCESS_GROWTH) } };
    return find_leak(rule, s, memory, witnesses, PT_COUNT(witnesses), v);
}
