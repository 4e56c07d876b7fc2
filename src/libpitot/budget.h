/* libpitot/budget.h -- decides when measuring costs too much, and what to switch off.
 *
 * Gets the cost of the parts once per window, and keeps a mean over about ten seconds. When mean
 * and window are above the limit three times in a row, it switches off the most expensive part, if
 * that helps; below half the limit for a minute it reverts the last step, at most three times.
 * Pure: no clock, no I/O. */
#ifndef PT_LIBPITOT_BUDGET_H
#define PT_LIBPITOT_BUDGET_H

#include <stdbool.h>

enum pt_part { PT_PART_SPANS, PT_PART_HISTOGRAMS, PT_PART_MEMORY, PT_PART_GPU, PT_PART_COUNT };

extern const char *const pt_part_names[PT_PART_COUNT];

struct pt_budget {
    double limit; /* cost divided by CPU time of the program */
    bool may_act; /* false: nothing is switched off */
    double mean;  /* of the fraction; NAN: unknown */
    bool is_off[PT_PART_COUNT];
    enum pt_part order[PT_PART_COUNT]; /* the order in which they were switched off */
    int off_count, restored_count;
    int high_count; /* consecutive windows above the limit */
    double quiet_seconds;
};

struct pt_budget_window {
    double seconds;              /* its length */
    double cpu_seconds;          /* of the program in it */
    double costs[PT_PART_COUNT]; /* CPU seconds in it; 0 for a part that is off */
    double other_cost;           /* not attributed to a part */
};

struct pt_budget_action {
    enum pt_part part;
    bool is_on; /* from now on */
};

void pt_budget_init(struct pt_budget *b, double limit, bool may_act);
double pt_budget_cost(const struct pt_budget_window *window);
/* The divisor of the cost. */
double pt_budget_base(const struct pt_budget_window *window);
/* True if an action is needed. */
bool pt_budget_step(struct pt_budget *b, const struct pt_budget_window *window,
                    struct pt_budget_action *action);

#endif
