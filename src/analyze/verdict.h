/* analyze/verdict.h -- the bottleneck of a run, and how certain it is.
 *
 * A rule is a row of a table, one file per family (rules_cpu.c, ...): conditions that must hold
 * together in a window, counter-evidence, and advice. The share of a verdict is the part of the run
 * in which all its conditions held. Its confidence grows with the distance of the signals from
 * their thresholds and falls with counter-evidence. A condition on a signal that was not recorded
 * never holds: missing data is not evidence. */
#ifndef PT_ANALYZE_VERDICT_H
#define PT_ANALYZE_VERDICT_H

#include "analyze/signal.h"

#define PT_RULE_CONDITIONS 7
#define PT_RULE_SIGNS      4
#define PT_RULE_FORMS      4
#define PT_VERDICTS_MAX    32

/* Constants for all rules; `pitot docs explain` prints them. */
#define PT_EXPLAIN_WINDOWS   4    /* a run with fewer windows is too short */
#define PT_EXPLAIN_SECONDS   1.5  /* a run shorter than this, too */
#define PT_VERDICT_SHARE     0.25 /* of the run: a verdict that holds for less is not reported */
#define PT_VERDICT_REPORTED  0.25 /* confidence below which a verdict is not reported */
#define PT_VERDICT_CONFIDENT 0.6  /* confidence above which a verdict is an answer */
#define PT_VERDICT_MIN       0.6  /* confidence with every signal at its threshold */
#define PT_VERDICT_MAX       0.99 /* confidence with every signal beyond doubt */
#define PT_VERDICT_WINDOWS   5    /* a verdict that holds in fewer windows is less certain: */
#define PT_VERDICT_RARE      0.6  /* its confidence is multiplied by this */
#define PT_VERDICT_AGAINST   0.4  /* and by this if counter-evidence always holds */
#define PT_VERDICT_EXPLAINED 0.9  /* highest confidence, relative to a verdict that explains it */

/* Signal above (or below) a threshold. The same row is evaluated and printed. */
struct pt_condition {
    enum pt_figure_id signal;
    char direction; /* '>', '<' or PT_AT_LEAST; 0 ends the list */
    double threshold;
    double certain; /* value beyond doubt; 0: a precondition, which adds no confidence */
};
enum { PT_AT_LEAST = 'a' };

/* All conditions must hold in the same window; at least two come from independent sources. */
struct pt_rule_form {
    struct pt_condition needs[PT_RULE_CONDITIONS];
    struct pt_condition
        signs[PT_RULE_SIGNS]; /* for an event: at least one must hold, if any are given */
    double ceiling;           /* maximum confidence of an uncertain form; 0: none */
};

/* Values for a whole run, by signal; NAN: unknown. */
struct pt_facts {
    double values[PT_FIGURE_COUNT];
};

struct pt_verdict_signal {
    enum pt_figure_id signal;
    double value;    /* mean between `from` and `to` */
    double from, to; /* longest stretch where it holds, in seconds since the start */
};

struct pt_rule;

struct pt_verdict {
    const struct pt_rule *rule;
    double share, confidence;
    struct pt_verdict_signal signals[PT_RULE_CONDITIONS];
    int signal_count;
    double against
        [PT_RULE_CONDITIONS]; /* share of its windows in which each `against` holds, or NAN */
    char entity[64];          /* the affected engine, rank or process, or "" */
    char where[512];          /* the responsible code, from a profile, or "" */
};

struct pt_rule {
    const char *id;    /* cpu-bound */
    const char *title; /* headline: noun and state */
    struct pt_rule_form forms[PT_RULE_FORMS];
    struct pt_condition never; /* rules it out, with `evaluate` */
    struct pt_condition against[PT_RULE_CONDITIONS];
    const char *advice;      /* what to change and what to expect */
    const char *note;        /* how to read the conditions; or NULL */
    const char *explains[5]; /* ids of more general verdicts that it explains */
    /* What matters is that it happened, not for how long: the forms are compared with the peaks of
     * the run; the first that holds gives the verdict, with its `ceiling` as confidence. */
    bool is_event;
    /* Compares the forms with values of the whole run instead of each window; fills everything but
     * `rule` and `against`. False: the rule does not hold. */
    bool (*evaluate)(const struct pt_rule *rule, const struct pt_signals *signals,
                     struct pt_verdict *verdict);
    /* For events and with `evaluate`: the signal that must be known. */
    enum pt_figure_id looks_at;
};

enum pt_explanation_status { PT_EXPLAIN_BOUND, PT_EXPLAIN_NOTHING, PT_EXPLAIN_INCONCLUSIVE };

struct pt_explanation {
    enum pt_explanation_status status;
    char because[256];                           /* why it is inconclusive, or "" */
    struct pt_verdict verdicts[PT_VERDICTS_MAX]; /* the strongest first */
    int verdict_count;
    const char *not_checked[PT_VERDICTS_MAX]; /* ids of rules without recorded signals */
    int not_checked_count;
    double seconds; /* of the evaluated run */
    size_t window_count;
};

/* Families, each ended by an entry without id; verdict.c lists them all. */
extern const struct pt_rule pt_rules_cpu[], pt_rules_memory[], pt_rules_io[], pt_rules_gpu[],
    pt_rules_engine[], pt_rules_observer[];

/* The rule at an index over all families; NULL after the last. */
const struct pt_rule *pt_rule_at(size_t index);
const struct pt_rule *pt_rule_find(const char *id); /* NULL: there is none */

void pt_explain(struct pt_explanation *x, const struct pt_signals *signals);
/* Adds the counter-evidence over the whole run, which lowers the confidence. */
void pt_verdict_look_against(struct pt_verdict *v, const struct pt_signals *signals);
/* Sorts the verdicts and sets the status. */
void pt_explanation_decide(struct pt_explanation *x);

bool pt_condition_holds(const struct pt_condition *c, double value);
/* 0 at the threshold, 1 beyond doubt. */
double pt_condition_strength(const struct pt_condition *c, double value);
/* Number of conditions before the end of the list. */
int pt_condition_count(const struct pt_condition *conditions, int most);
void pt_facts_init(struct pt_facts *f); /* all unknown */
bool pt_form_holds(const struct pt_rule_form *form, const struct pt_facts *f);
/* "cpu.busy below 80.0 %" */
void pt_condition_print(const struct pt_condition *c, char *into, size_t capacity);

#endif
