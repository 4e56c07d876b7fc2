/* analyze/verdict.h -- what held a run back, and how sure that is.
 *
 * A rule is a row of a table, one file for each family (rules_cpu.c, ...): conditions that must
 * hold together in a window, conditions that speak against it, and what to do. The share of a
 * verdict is the part of the run in which all its conditions held; its confidence grows with how
 * far beyond the thresholds the numbers were, and falls with what speaks against it. A condition on
 * a signal that was not recorded never holds: what is not known is no evidence. */
#ifndef PT_ANALYZE_VERDICT_H
#define PT_ANALYZE_VERDICT_H

#include "analyze/signal.h"

#define PT_RULE_CONDITIONS 7
#define PT_RULE_SIGNS      4
#define PT_RULE_FORMS      4
#define PT_VERDICTS_MAX    32

/* Numbers that hold for all rules; `pitot docs explain` prints them. */
#define PT_EXPLAIN_WINDOWS   4    /* a run with fewer windows is too short */
#define PT_EXPLAIN_SECONDS   1.5  /* so is a shorter one */
#define PT_VERDICT_SHARE     0.25 /* of the run: a verdict that holds for less is not reported */
#define PT_VERDICT_REPORTED  0.25 /* confidence below which a verdict is not reported */
#define PT_VERDICT_CONFIDENT 0.6  /* confidence from which a verdict is an answer */
#define PT_VERDICT_LEAST     0.6  /* confidence with every signal at its threshold */
#define PT_VERDICT_MOST      0.99 /* confidence with every signal beyond doubt */
#define PT_VERDICT_WINDOWS   5    /* a verdict that holds in fewer windows is less certain: */
#define PT_VERDICT_RARE      0.6  /* its confidence is multiplied by this */
#define PT_VERDICT_AGAINST   0.4  /* and by this if evidence against it holds all the time */
#define PT_VERDICT_EXPLAINED 0.9  /* highest confidence, relative to a verdict that explains it */

/* Signal above (or below) a threshold. The same row is evaluated and printed. */
struct pt_condition {
    enum pt_signal_id signal;
    char direction; /* '>', '<' or PT_AT_LEAST; 0 ends the list */
    double threshold;
    double certain; /* leaves no doubt; 0: a precondition, which adds no confidence */
};
enum { PT_AT_LEAST = 'a' };

/* One way to see it: all conditions in the same window; at least two of independent sources. */
struct pt_rule_form {
    struct pt_condition needs[PT_RULE_CONDITIONS];
    struct pt_condition signs[PT_RULE_SIGNS]; /* of an event: at least one of these, if any */
    double ceiling; /* of its confidence, where it cannot tell for sure; 0: none */
};

/* Numbers of a whole run, by signal; NAN: unknown. */
struct pt_facts {
    double values[PT_SIGNAL_COUNT];
};

struct pt_verdict_signal {
    enum pt_signal_id signal;
    double value;    /* mean between `from` and `to` */
    double from, to; /* seconds since the start of the run: the longest stretch where it holds */
};

struct pt_rule;

struct pt_verdict {
    const struct pt_rule *rule;
    double share, confidence;
    struct pt_verdict_signal signals[PT_RULE_CONDITIONS];
    int signal_count;
    double
        against[PT_RULE_CONDITIONS]; /* share of its windows in which each `against` holds; NAN */
    char entity[64];                 /* which one, where there are several; or "" */
    char where[512];                 /* the code that does it, if a profile says so; or "" */
};

struct pt_rule {
    const char *id;    /* cpu-bound */
    const char *title; /* one sentence that says what it means */
    struct pt_rule_form forms[PT_RULE_FORMS];
    struct pt_condition never; /* rules it out, with `evaluate` */
    struct pt_condition against[PT_RULE_CONDITIONS];
    const char *advice;      /* the knob and what to expect */
    const char *note;        /* how to read the conditions; or NULL */
    const char *explains[5]; /* ids of more general verdicts that it explains */
    /* That it happened at all counts, not for how long: the forms are compared with the peaks of
     * the run, and the first that holds is taken, with its `ceiling` as confidence. */
    bool is_event;
    /* Compares the forms with numbers of the whole run instead of each window; fills everything but
     * `rule` and `against`. False: it does not hold. */
    bool (*evaluate)(const struct pt_rule *rule, const struct pt_signals *signals,
                     struct pt_verdict *verdict);
    /* Of an event and with `evaluate`: the signal that must be known. */
    enum pt_signal_id looks_at;
};

enum pt_explanation_status { PT_EXPLAIN_BOUND, PT_EXPLAIN_NOTHING, PT_EXPLAIN_INCONCLUSIVE };

struct pt_explanation {
    enum pt_explanation_status status;
    char because[256];                           /* why it is inconclusive; or "" */
    struct pt_verdict verdicts[PT_VERDICTS_MAX]; /* the strongest first */
    int verdict_count;
    const char *not_checked[PT_VERDICTS_MAX]; /* ids of rules whose signals were not recorded */
    int not_checked_count;
    double seconds; /* of the run that was looked at */
    size_t window_count;
};

/* Families, each ending with an entry without id; one explicit array of all in verdict.c. */
extern const struct pt_rule pt_rules_cpu[], pt_rules_memory[], pt_rules_disk[], pt_rules_network[],
    pt_rules_gpu[], pt_rules_engine[], pt_rules_observer[];

/* The rule at an index over all families; NULL after the last. */
const struct pt_rule *pt_rule_at(size_t index);
const struct pt_rule *pt_rule_find(const char *id); /* NULL: there is none */

void pt_explain(struct pt_explanation *x, const struct pt_signals *signals);
/* What speaks against a verdict of the whole run, which lowers its confidence. */
void pt_verdict_look_against(struct pt_verdict *v, const struct pt_signals *signals);
/* Puts the verdicts in order and says what they come to. */
void pt_explanation_decide(struct pt_explanation *x);

bool pt_condition_holds(const struct pt_condition *c, double value);
/* 0 at the threshold, 1 where there is no doubt. */
double pt_condition_strength(const struct pt_condition *c, double value);
/* Conditions before the one that ends the list. */
int pt_condition_count(const struct pt_condition *conditions, int most);
void pt_facts_init(struct pt_facts *f); /* all unknown */
bool pt_form_holds(const struct pt_rule_form *form, const struct pt_facts *f);
/* "all CPUs together below 80 %": the condition in words. */
void pt_condition_print(const struct pt_condition *c, char *into, size_t capacity);

#endif
