#include "analyze/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define EVENT_SIGNALS 3 /* reported for an event */

static const struct pt_rule *const families[] = {
    pt_rules_cpu, pt_rules_memory, pt_rules_io, pt_rules_gpu, pt_rules_engine, pt_rules_observer,
};

const struct pt_rule *pt_rule_at(size_t index) {
    for (size_t f = 0; f < PT_COUNT(families); f++)
        for (const struct pt_rule *rule = families[f]; rule->id; rule++)
            if (index-- == 0)
                return rule;
    return NULL;
}

const struct pt_rule *pt_rule_find(const char *id) {
    const struct pt_rule *rule;
    for (size_t i = 0; (rule = pt_rule_at(i)); i++)
        if (strcmp(rule->id, id) == 0)
            return rule;
    return NULL;
}

/* NAN is neither above nor below. */
bool pt_condition_holds(const struct pt_condition *c, double value) {
    return c->direction == '>'   ? value > c->threshold
           : c->direction == '<' ? value < c->threshold
                                 : value >= c->threshold;
}

void pt_condition_print(const struct pt_condition *c, char *into, size_t capacity) {
    char limit[32];
    pt_figure_print(c->signal, c->threshold, limit, sizeof limit);
    snprintf(into, capacity, "%s %s %s", pt_figures[c->signal].name,
             c->direction == '>'   ? "above"
             : c->direction == '<' ? "below"
                                   : "at least",
             limit);
}

int pt_condition_count(const struct pt_condition *conditions, int most) {
    int count = 0;
    while (count < most && conditions[count].direction)
        count++;
    return count;
}

static int need_count(const struct pt_rule_form *form) {
    return pt_condition_count(form->needs, PT_RULE_CONDITIONS);
}

double pt_condition_strength(const struct pt_condition *c, double value) {
    return fmax(0, fmin(1, (value - c->threshold) / (c->certain - c->threshold)));
}

void pt_facts_init(struct pt_facts *f) {
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        f->values[id] = NAN;
}

bool pt_form_holds(const struct pt_rule_form *form, const struct pt_facts *f) {
    int count = need_count(form);
    for (int i = 0; i < count; i++)
        if (!pt_condition_holds(&form->needs[i], f->values[form->needs[i].signal]))
            return false;
    return count > 0;
}

/* In one window. */
static bool form_holds(const struct pt_rule_form *form, const struct pt_signals *s, size_t window) {
    int count = need_count(form);
    for (int i = 0; i < count; i++)
        if (!pt_condition_holds(&form->needs[i], s->values[form->needs[i].signal][window]))
            return false;
    return count > 0;
}

/* Where a form holds: seconds, windows, and the longest stretch of windows. */
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

/* Sets the values of the longest stretch; returns the mean strength over all windows where the form
 * holds. */
static double weigh_signals(const struct pt_rule_form *form, const struct pt_signals *s,
                            const struct holding *h, struct pt_verdict *v) {
    double strengths = 0;
    int counted = 0;
    v->signal_count = need_count(form);
    for (int c = 0; c < v->signal_count; c++) {
        const struct pt_condition *need = &form->needs[c];
        double sum = 0;
        for (size_t i = 0; i < s->count; i++)
            if (form_holds(form, s, i))
                sum += s->values[need->signal][i];
        v->signals[c] = (struct pt_verdict_signal){
            .signal = need->signal,
            .value = pt_signal_mean(s, need->signal, h->longest_from, h->longest_to),
            .from = since_start(s, s->windows->windows[h->longest_from].start_ns),
            .to = since_start(s, s->windows->windows[h->longest_to - 1].end_ns),
        };
        if (need->certain != 0) { /* not a precondition */
            strengths += pt_condition_strength(need, sum / (double)h->windows);
            counted++;
        }
    }
    return counted > 0 ? strengths / counted : 0;
}

/* Counter-evidence in the windows where the form holds; without a form, in all windows. Returns the
 * factor by which it lowers the confidence. */
static double look_against(const struct pt_rule_form *form, const struct pt_signals *s,
                           struct pt_verdict *v) {
    int count = pt_condition_count(v->rule->against, PT_RULE_CONDITIONS);
    double worst = 0;
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
        worst = fmax(worst, v->against[c]);
    }
    return 1 - (1 - PT_VERDICT_AGAINST) * worst;
}

void pt_verdict_look_against(struct pt_verdict *v, const struct pt_signals *s) {
    v->confidence *= look_against(NULL, s, v);
}

static bool evaluate_form(const struct pt_rule *rule, const struct pt_rule_form *form,
                          const struct pt_signals *s, struct pt_verdict *v) {
    struct holding h = find_holding(form, s);
    if (h.windows == 0)
        return false;
    *v = (struct pt_verdict){ .rule = rule, .share = h.seconds / s->seconds };
    double strength = weigh_signals(form, s, &h, v);
    v->confidence = PT_VERDICT_MIN + (PT_VERDICT_MAX - PT_VERDICT_MIN) * strength;
    if (h.windows < PT_VERDICT_WINDOWS)
        v->confidence *= PT_VERDICT_RARE;
    v->confidence *= look_against(form, s, v);
    if (form->ceiling > 0)
        v->confidence = fmin(v->confidence, form->ceiling);
    return true;
}

/* The highest value of a signal and its window. */
static double peak_of(const struct pt_signals *s, enum pt_figure_id id, size_t *window) {
    double peak = NAN;
    for (size_t i = 0; i < s->count; i++)
        if (s->values[id][i] > peak || isnan(peak)) {
            peak = s->values[id][i];
            *window = i;
        }
    return peak;
}

static void add_peak(const struct pt_signals *s, enum pt_figure_id id, double value, size_t window,
                     struct pt_verdict *v) {
    v->signals[v->signal_count++] = (struct pt_verdict_signal){
        .signal = id,
        .value = value,
        .from = since_start(s, s->windows->windows[window].start_ns),
        .to = since_start(s, s->windows->windows[window].end_ns),
    };
}

/* Signals are rates; this is the number of events. */
static double count_of(const struct pt_signals *s, enum pt_figure_id id) {
    double count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!isnan(s->values[id][i]))
            count += s->values[id][i] * pt_window_seconds(&s->windows->windows[i]);
    return round(count);
}

/* The single need is the event itself, which is counted; signs support it. */
static bool evaluate_event_form(const struct pt_rule_form *form, const struct pt_signals *s,
                                struct pt_verdict *v) {
    const struct pt_condition *need = &form->needs[0];
    int sign_count = pt_condition_count(form->signs, PT_RULE_SIGNS);
    size_t window = 0;
    *v = (struct pt_verdict){ .confidence = form->ceiling };
    if (!pt_condition_holds(need, peak_of(s, need->signal, &window)))
        return false;
    add_peak(s, need->signal, count_of(s, need->signal), window, v);
    v->share = pt_window_seconds(&s->windows->windows[window]) / s->seconds;
    for (int i = 0; i < sign_count && v->signal_count < EVENT_SIGNALS; i++) {
        double value = peak_of(s, form->signs[i].signal, &window);
        if (pt_condition_holds(&form->signs[i], value))
            add_peak(s, form->signs[i].signal, value, window, v);
    }
    return sign_count == 0 || v->signal_count > 1;
}

static double rank(const struct pt_verdict *v) {
    return v->confidence * (v->rule->is_event ? 1 : 0.4 + 0.6 * fmin(1, v->share));
}

static bool is_of_whole_run(const struct pt_rule *rule) {
    return rule->is_event || rule->evaluate;
}

static bool evaluate(const struct pt_rule *rule, const struct pt_signals *s,
                     struct pt_verdict *best) {
    bool holds = false;
    if (is_of_whole_run(rule)) {
        *best = (struct pt_verdict){ 0 };
        if (!rule->is_event)
            holds = rule->evaluate(rule, s, best);
        else
            for (int f = 0; !holds && f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++)
                holds = evaluate_event_form(&rule->forms[f], s, best);
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

/* One form with all signals known is enough. */
static bool is_checkable(const struct pt_rule *rule, const struct pt_signals *s) {
    if (is_of_whole_run(rule))
        return pt_signal_is_known(s, rule->looks_at);
    for (int f = 0; f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++) {
        bool has_all = true;
        for (int c = 0; c < need_count(&rule->forms[f]); c++)
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

/* A queue caused by a full KV cache is one finding: the cause ranks first. */
static void lower_explained(struct pt_explanation *x) {
    for (int i = 0; i < x->verdict_count; i++) {
        if (!is_confident(&x->verdicts[i]))
            continue;
        const char *const *explains = x->verdicts[i].rule->explains;
        for (int e = 0; e < (int)PT_COUNT(x->verdicts[i].rule->explains) && explains[e]; e++)
            for (int k = 0; k < x->verdict_count; k++)
                if (strcmp(x->verdicts[k].rule->id, explains[e]) == 0 &&
                    x->verdicts[k].confidence >= x->verdicts[i].confidence * PT_VERDICT_EXPLAINED)
                    x->verdicts[k].confidence = x->verdicts[i].confidence * PT_VERDICT_EXPLAINED;
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
                 "there are signs of %s, but they are weak or contradictory",
                 x->verdicts[0].rule->id);
    } else {
        x->status = PT_EXPLAIN_NOTHING;
    }
}

void pt_explain(struct pt_explanation *x, const struct pt_signals *s) {
    const struct pt_rule *rule;
    *x = (struct pt_explanation){ .seconds = s->seconds, .window_count = s->count };
    if (s->count < PT_EXPLAIN_WINDOWS || s->seconds < PT_EXPLAIN_SECONDS) {
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because,
                 "the run is too short: %.1f s in %zu windows (needs %.1f s in %d windows)",
                 s->seconds, s->count, PT_EXPLAIN_SECONDS, PT_EXPLAIN_WINDOWS);
        return;
    }
    if (!pt_signal_is_known(s, PT_FIGURE_CPU_BUSY)) {
        x->status = PT_EXPLAIN_INCONCLUSIVE;
        snprintf(x->because, sizeof x->because, "the run has no CPU times of the machine");
        return;
    }
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        struct pt_verdict v;
        if (!is_checkable(rule, s))
            x->not_checked[x->not_checked_count++] = rule->id;
        else if (evaluate(rule, s, &v) && v.confidence >= PT_VERDICT_REPORTED &&
                 (rule->is_event || v.share >= PT_VERDICT_SHARE))
            x->verdicts[x->verdict_count++] = v;
    }
    pt_explanation_decide(x);
}
