#include "sampler/governor.h"

#include <math.h>

const struct pt_governor_knob_info pt_governor_knobs[PT_KNOB_COUNT] = {
    [PT_KNOB_PSS] = { .name = "pss", .level_count = 1 },
    [PT_KNOB_COMMAND_LINES] = { .name = "command lines", .level_count = 1 },
    [PT_KNOB_PROCESSES] = { "processes", 6, { "processes" } },
    [PT_KNOB_CONTAINERS] = { "containers", 6, { "containers" } },
    [PT_KNOB_PRESSURE] = { "pressure", 6, { "pressure" } },
    [PT_KNOB_HOST] = { "host", 3, { "cpu", "mem", "disk", "net" } },
};

#define MEAN_TIME_CONSTANT_S 10
#define STEP_SECONDS         3  /* wait for the effect of a step before the next one */
#define QUIET_SECONDS        60 /* time below half the budget before a step back */
#define RESTORES_MAX         3
#define LIMIT_OF_BUDGET      0.8
#define WORTH_OF_BUDGET      0.05 /* a knob that would save less is not used */

void pt_governor_init(struct pt_governor *g, double budget) {
    *g = (struct pt_governor){ .budget = budget, .last_step_seconds = -STEP_SECONDS };
}

static bool step_down(struct pt_governor *g, double seconds, const double *knob_cost,
                      struct pt_governor_action *action) {
    for (int k = 0; k < PT_KNOB_COUNT; k++) {
        bool is_worth_it = knob_cost[k] / seconds >= g->budget * WORTH_OF_BUDGET;
        if (g->levels[k] >= pt_governor_knobs[k].level_count || !is_worth_it)
            continue;
        *action = (struct pt_governor_action){ (enum pt_governor_knob)k, ++g->levels[k], false };
        return true;
    }
    return false;
}

static bool step_back(struct pt_governor *g, struct pt_governor_action *action) {
    if (g->restored_count >= RESTORES_MAX)
        return false;
    for (int k = PT_KNOB_COUNT; k-- > 0;) {
        if (g->levels[k] == 0)
            continue;
        g->restored_count++;
        *action = (struct pt_governor_action){ (enum pt_governor_knob)k, --g->levels[k], true };
        return true;
    }
    return false;
}

bool pt_governor_step(struct pt_governor *g, double seconds, double used,
                      const double knob_cost[PT_KNOB_COUNT], struct pt_governor_action *action) {
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
