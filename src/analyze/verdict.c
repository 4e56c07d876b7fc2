#include "analyze/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WINDOWS_MIN 4
#define SECONDS_MIN 1.5
/* Held windows below which a verdict is not sure of itself. */
#define WINDOWS_SURE 5
#define REPORTED     0.25 /* confidence below which a verdict is not worth a line */

static const struct pt_rule *const families[] = {
    pt_rules_cpu, pt_rules_memory, pt_rules_disk,     pt_rules_network,
    pt_rules_gpu, pt_rules_engine, pt_rules_observer,
};

const struct pt_rule *pt_rule_at(size_t index) {
    for (size_t f = 0; f < PT_COUNT(families); f++)
        for (const struct pt_rule *rule = families[f]; rule->id; rule++)
            if (index-- == 0)
                return rule;
    return NULL;
}

bool pt_condition_holds(const struct pt_condition *c, double value) {
    return c->direction == '>' ? value > c->threshold : value < c->threshold; /* NAN: false */
}

void pt_condition_print(const struct pt_condition *c, char *into, size_t capacity) {
    char limit[32];
    pt_signal_print(c->signal, c->threshold, limit, sizeof limit);
    snprintf(into, capacity, "%s %s %s", pt_signal_infos[c->signal].name,
             c->direction == '>' ? "above" : "below", limit);
}

static int condition_count(const struct pt_condition *conditions) {
    int count = 0;
    while (count < PT_RULE_CONDITIONS && conditions[count].direction)
        count++;
    return count;
}

/* 0 at the threshold, 1 where there is no doubt. */
static double strength(const struct pt_condition *c, double value) {
    return fmax(0, fmin(1, (value - c->threshold) / (c->certain - c->threshold)));
}

static bool is_precondition(const struct pt_condition *c) {
    return c->threshold == c->certain;
}

static bool form_holds(const struct pt_rule_form *form, const struct pt_signals *s, size_t window) {
    int count = condition_count(form->needs);
    for (int i = 0; i < count; i++)
        if (!pt_condition_holds(&form->needs[i], s->values[form->needs[i].signal][window]))
            return false;
    return count > 0;
}

/* Where a form holds: how long, how many windows, and the longest stretch of them. */
struct holding {
    double seconds;
    size_t windows, longest_from, longest_to; /* [from, to) */
};

static struct holding find_holding(const struct pt_rule_form *form, const struct pt_signals *s) {
    struct holding h = { 0 };
    size_t from = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!form_holds(form, s, i)) {
            from = i + 1;
            continue;
        }
        h.windows++;
        h.seconds += pt_window_seconds(&s->windows->windows[i]);
        if (i + 1 - from > h.longest_to - h.longest_from) {
            h.longest_from = from;
            h.longest_to = i + 1;
        }
    }
    return h;
}

static double since_start(const struct pt_signals *s, int64_t mono_ns) {
    return (double)(mono_ns - s->windows->first_mono_ns) / 1e9;
}

/* Over a stretch of windows in each of which it is known. */
static double mean_over(const struct pt_signals *s, enum pt_signal_id id, size_t from, size_t to) {
    double sum = 0, seconds = 0;
    for (size_t i = from; i < to; i++) {
        sum += s->values[id][i] * pt_window_seconds(&s->windows->windows[i]);
        seconds += pt_window_seconds(&s->windows->windows[i]);
    }
    return sum / seconds;
}

/* Values of the longest stretch, and how strongly they speak wherever the form holds. */
static double weigh_signals(const struct pt_rule_form *form, const struct pt_signals *s,
                            const struct holding *h, struct pt_verdict *v) {
    double strengths = 0;
    int counted = 0;
    v->signal_count = condition_count(form->needs);
    for (int c = 0; c < v->signal_count; c++) {
        const struct pt_condition *need = &form->needs[c];
        double sum = 0;
        for (size_t i = 0; i < s->count; i++)
            if (form_holds(form, s, i))
                sum += s->values[need->signal][i];
        v->signals[c] = (struct pt_verdict_signal){
            .signal = need->signal,
            .value = mean_over(s, need->signal, h->longest_from, h->longest_to),
            .from = since_start(s, s->windows->windows[h->longest_from].start_ns),
            .to = since_start(s, s->windows->windows[h->longest_to - 1].end_ns),
        };
        if (!is_precondition(need)) {
            strengths += strength(need, sum / (double)h->windows);
            counted++;
        }
    }
    return counted > 0 ? strengths / counted : 0;
}

/* In the windows where the form holds; in all of them without a form. */
static void look_against(const struct pt_rule_form *form, const struct pt_signals *s,
                         struct pt_verdict *v) {
    int count = condition_count(v->rule->against);
    for (int c = 0; c < count; c++) {
        const struct pt_condition *against = &v->rule->against[c];
        size_t known = 0, found = 0;
        for (size_t i = 0; i < s->count; i++) {
            double value = s->values[against->signal][i];
            if (isnan(value) || (form && !form_holds(form, s, i)))
                continue;
            known++;
            found += pt_condition_holds(against, value);
        }
        v->against[c] = known > 0 ? (double)found / (double)known : NAN;
    }
}

static double worst_against(const struct pt_verdict *v) {
    double worst = 0;
    for (int c = 0; c < condition_count(v->rule->against); c++)
        worst = fmax(worst, v->against[c]);
    return worst;
}

void pt_verdict_look_against(struct pt_verdict *v, const struct pt_signals *s) {
    look_against(NULL, s, v);
    v->confidence *= 1 - 0.6 * worst_against(v);
}

static bool evaluate_form(const struct pt_rule *rule, const struct pt_rule_form *form,
                          const struct pt_signals *s, struct pt_verdict *v) {
    struct holding h = find_holding(form, s);
    if (h.windows == 0)
        return false;
    *v = (struct pt_verdict){ .rule = rule, .share = h.seconds / s->seconds };
    double speaks = weigh_signals(form, s, &h, v);
    look_against(form, s, v);
    v->confidence = 0.6 + 0.39 * speaks;
    if (h.windows < WINDOWS_SURE)
        v->confidence *= 0.6;
    v->confidence *= 1 - 0.6 * worst_against(v);
    if (form->ceiling > 0)
        v->confidence = fmin(v->confidence, form->ceiling);
    return true;
}

static double rank(const struct pt_verdict *v) {
    return v->confidence * (v->rule->is_event ? 1 : 0.4 + 0.6 * fmin(1, v->share));
}

static bool evaluate(const struct pt_rule *rule, const struct pt_signals *s,
                     struct pt_verdict *best) {
    bool holds = false;
    if (rule->evaluate) {
        *best = (struct pt_verdict){ .rule = rule };
        holds = rule->evaluate(s, best);
        best->rule = rule;
        if (holds)
            pt_verdict_look_against(best, s);
        return holds;
    }
    for (int f = 0; f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++) {
        struct pt_verdict v;
        if (evaluate_form(rule, &rule->forms[f], s, &v) && (!holds || rank(&v) > rank(best))) {
            *best = v;
            holds = true;
        }
    }
    return holds;
}

/* One form with all its signals is enough. */
static bool is_checkable(const struct pt_rule *rule, const struct pt_signals *s) {
    if (rule->evaluate)
        return pt_signal_is_known(s, rule->looks_at);
    for (int f = 0; f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++) {
        bool has_all = true;
        for (int c = 0; c < condition_count(rule->forms[f].needs); c++)
            has_all &= pt_signal_is_known(s, rule->forms[f].needs[c].signal);
        if (has_all)
            return true;
    }
    return false;
}

static bool is_confident(const struct pt_verdict *v) {
    return v->confidence >= PT_VERDICT_CONFIDENT &&
           (v->rule->is_event || v->share >= PT_VERDICT_SHARE);
}

/* A queue because the KV cache is full is not two findings: the cause goes first. */
static void lower_explained(struct pt_explanation *x) {
    for (int i = 0; i < x->verdict_count; i++) {
        if (!is_confident(&x->verdicts[i]))
            continue;
        const char *const *explains = x->verdicts[i].rule->explains;
        for (int e = 0; e < (int)PT_COUNT(x->verdicts[i].rule->explains) && explains[e]; e++)
            for (int k = 0; k < x->verdict_count; k++)
                if (strcmp(x->verdicts[k].rule->id, explains[e]) == 0 &&
                    x->verdicts[k].confidence >= x->verdicts[i].confidence * 0.9)
                    x->verdicts[k].confidence = x->verdicts[i].confidence * 0.9;
    }
}

static int by_rank(const void *a, const void *b) {
    const struct pt_verdict *x = a, *y = b;
    if (is_confident(x) != is_confident(y))
        return is_confident(x) ? -1 : 1;
    double difference = rank(y) - rank(x);
    return difference > 0 ? 1 : difference < 0 ? -1 : strcmp(x->rule->id, y->rule->id);
}

void pt_explanation_decide(struct pt_explanation *x) {
    lower_explained(x);
    qsort(x->verdicts, (size_t)x->verdict_count, sizeof *x->verdicts, by_rank);
    if (x->verdict_count > 0 && is_confident(&x->verdicts[0])) {
        x->status = PT_EXPLAIN_BOUND;
    } else if (x->verdict_count > 0) {
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because,
                 "there are signs of %s, but they are weak or contradicted",
                 x->verdicts[0].rule->id);
    } else {
        x->status = PT_EXPLAIN_NOTHING;
    }
}

void pt_explain(struct pt_explanation *x, const struct pt_signals *s) {
    const struct pt_rule *rule;
    *x = (struct pt_explanation){ .seconds = s->seconds, .window_count = s->count };
    if (s->count < WINDOWS_MIN || s->seconds < SECONDS_MIN) {
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because,
                 "the run is too short, %.1f s in %zu windows; %.1f s in %d are needed", s->seconds,
                 s->count, SECONDS_MIN, WINDOWS_MIN);
        return;
    }
    if (!pt_signal_is_known(s, PT_SIGNAL_CPU_BUSY)) {
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because, "the run holds no CPU times of the machine");
        return;
    }
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        struct pt_verdict v;
        if (!is_checkable(rule, s))
            x->not_checked[x->not_checked_count++] = rule->id;
        else if (evaluate(rule, s, &v) && v.confidence >= REPORTED &&
                 (rule->is_event || v.share >= PT_VERDICT_SHARE))
            x->verdicts[x->verdict_count++] = v;
    }
    pt_explanation_decide(x);
}
