#include "analyze/rank_verdict.h"

#include <math.h>
#include <stdio.h>

static const struct pt_verdict *find_verdict(const struct pt_explanation *x,
                                             const struct pt_rule *rule) {
    for (int i = 0; i < x->verdict_count; i++)
        if (x->verdicts[i].rule == rule)
            return &x->verdicts[i];
    return NULL;
}

static double weight(const struct pt_verdict *v) {
    return v->confidence * fmin(1, v->share);
}

/* "rank 2", "ranks 0, 3" or "all ranks". */
static void name_ranks(const struct pt_rank_explanation *ranks, size_t count,
                       const struct pt_rule *rule, size_t holding, char *into, size_t capacity) {
    if (holding == count) {
        snprintf(into, capacity, "all ranks");
        return;
    }
    snprintf(into, capacity, holding == 1 ? "rank" : "ranks");
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(into);
        if (!find_verdict(&ranks[i].explanation, rule) || used + 1 >= capacity)
            continue;
        snprintf(into + used, capacity - used, "%s %s", is_first ? "" : ",", ranks[i].label);
        is_first = false;
    }
}

/* Of the ranks' verdicts of one rule, the strongest is kept. */
static bool join_rule(const struct pt_rank_explanation *ranks, size_t count,
                      const struct pt_rule *rule, struct pt_verdict *joined) {
    const struct pt_verdict *strongest = NULL;
    size_t holding = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pt_verdict *v = find_verdict(&ranks[i].explanation, rule);
        if (!v)
            continue;
        holding++;
        if (!strongest || weight(v) > weight(strongest))
            strongest = v;
    }
    if (!strongest)
        return false;
    *joined = *strongest;
    if (!*joined->entity)
        name_ranks(ranks, count, rule, holding, joined->entity, sizeof joined->entity);
    return true;
}

static bool is_checked(const struct pt_rank_explanation *ranks, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++) {
        const struct pt_explanation *x = &ranks[i].explanation;
        bool is_missing = *x->because != 0;
        for (int k = 0; k < x->not_checked_count; k++)
            is_missing |= strcmp(x->not_checked[k], id) == 0;
        if (!is_missing)
            return true;
    }
    return false;
}

/* Compares the steps of all ranks, or the pace of their engines if there are no steps. */
static bool find_straggler(const struct pt_stragglers *s, const struct pt_signals *workers,
                           const struct pt_rule *rule, double seconds, struct pt_verdict *v) {
    const struct pt_straggling *worst = pt_stragglers_worst(s);
    *v = (struct pt_verdict){ .rule = rule };
    if (!worst)
        return rule->evaluate(rule, workers, v);
    struct pt_str rank = s->ranks.list[worst->rank], name = s->names.list[worst->name];
    v->share = worst->slowest_share;
    v->confidence = pt_straggler_confidence(&rule->forms[PT_STRAGGLER_RANKS], worst->pace);
    if (worst->is_collective)
        v->confidence = 0.7; /* all wait for it; what it does outside the operation is unknown */
    const struct pt_verdict_signal signals[] = {
        { .signal = PT_FIGURE_RANK_PACE, .value = worst->pace, .to = seconds },
        { .signal = PT_FIGURE_RANK_SLOWEST, .value = worst->slowest_share, .to = seconds },
    };
    memcpy(v->signals, signals, sizeof signals);
    v->signal_count = (int)PT_COUNT(signals);
    snprintf(v->entity, sizeof v->entity, "rank %.*s, in %.*s", (int)rank.len, rank.at,
             (int)name.len, name.at);
    return true;
}

void pt_explain_ranks(struct pt_explanation *x, const struct pt_rank_explanation *ranks,
                      size_t count, const struct pt_stragglers *stragglers,
                      const struct pt_signals *workers) {
    const struct pt_rule *rule;
    *x = (struct pt_explanation){ 0 };
    for (size_t i = 0; i < count; i++) {
        x->seconds = fmax(x->seconds, ranks[i].explanation.seconds);
        if (ranks[i].explanation.window_count > x->window_count)
            x->window_count = ranks[i].explanation.window_count;
    }
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        struct pt_verdict v;
        bool is_straggler = strcmp(rule->id, "straggler") == 0;
        bool holds = is_straggler ? find_straggler(stragglers, workers, rule, x->seconds, &v)
                                  : join_rule(ranks, count, rule, &v);
        if (holds && is_straggler)
            pt_verdict_look_against(&v, workers);
        if (holds)
            x->verdicts[x->verdict_count++] = v;
        else if (!(is_straggler && stragglers->count > 0) && !is_checked(ranks, count, rule->id))
            x->not_checked[x->not_checked_count++] = rule->id;
    }
    pt_explanation_decide(x);
    for (size_t i = 0; i < count && x->verdict_count == 0; i++) {
        const struct pt_explanation *one = &ranks[i].explanation;
        if (one->status != PT_EXPLAIN_INCONCLUSIVE)
            continue;
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because, "rank %s: %.200s", ranks[i].label, one->because);
        return;
    }
}
