#include "sampler/governor.h"

#include <assert.h>
#include <math.h>

#define MEAN_TIME_CONSTANT_S 10
#define STEP_SECONDS         3  /* wait for the effect of a step before the next one */
#define QUIET_SECONDS        60 /* time below half the budget before a step back */
#define RESTORES_MAX         3
#define LIMIT_OF_BUDGET      0.8
#define WORTH_OF_BUDGET      0.05 /* a knob that would save less is not used */

void pt_governor_init(struct pt_governor *g, double budget, const struct pt_governor_knob *knobs,
                      int knob_count) {
    assert(knob_count <= PT_GOVERNOR_KNOBS);
    *g = (struct pt_governor){ .budget = budget,
                               .knobs = knobs,
                               .knob_count = knob_count,
                               .last_step_seconds = -STEP_SECONDS };
}

static bool step_down(struct pt_governor *g, double seconds, const double *knob_cost,
                      struct pt_governor_action *action) {
    int best = -1;
    for (int k = 0; k < g->knob_count; k++) {
        bool is_worth_it = knob_cost[k] / seconds >= g->budget * WORTH_OF_BUDGET;
        if (g->levels[k] >= g->knobs[k].level_count || !is_worth_it)
            continue;
        int order = best < 0 ? -1 : g->knobs[k].rank - g->knobs[best].rank;
        if (order < 0 || (order == 0 && knob_cost[k] > knob_cost[best]))
            best = k;
    }
    if (best < 0)
        return false;
    g->steps[g->step_count++] = (uint8_t)best;
    *action = (struct pt_governor_action){ best, ++g->levels[best], false };
    return true;
}

static bool step_back(struct pt_governor *g, struct pt_governor_action *action) {
    if (g->restored_count >= RESTORES_MAX || g->step_count == 0)
        return false;
    int last = g->steps[--g->step_count];
    g->restored_count++;
    *action = (struct pt_governor_action){ last, --g->levels[last], true };
    return true;
}

bool pt_governor_step(struct pt_governor *g, double seconds, double used, const double *knob_cost,
                      struct pt_governor_action *action) {
    if (seconds <= 0)
        return false;
    double share = used / seconds, limit = LIMIT_OF_BUDGET * g->budget;
    double weight = g->seconds == 0 ? 1 : 1 - exp(-seconds / MEAN_TIME_CONSTANT_S);
    g->mean += weight * (share - g->mean);
    g->seconds += seconds;
    g->quiet_seconds = g->mean < g->budget / 2 ? g->quiet_seconds + seconds : 0;
    if (g->budget <= 0 || g->seconds - g->last_step_seconds < STEP_SECONDS)
        return false;

    bool is_taken = false;
    if (g->mean > limit && share > limit) /* the mean alone lags behind a sufficient step */
        is_taken = step_down(g, seconds, knob_cost, action);
    else if (g->quiet_seconds >= QUIET_SECONDS)
        is_taken = step_back(g, action);
    if (is_taken) {
        g->last_step_seconds = g->seconds;
        g->quiet_seconds = 0;
    }
    return is_taken;
}
