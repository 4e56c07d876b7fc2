#include "libpitot/budget.h"

#include <math.h>

#define MEAN_TIME_CONSTANT_S 10
#define HIGH_WINDOWS         3
#define QUIET_SECONDS        60
#define RESTORES_MAX         3
#define WORTH                0.05 /* of the allowed cost: a cheaper part is not switched off */
#define IDLE_SHARE           0.05 /* of one CPU: the minimum assumed for a program */

const char *const pt_part_names[PT_PART_COUNT] = { "spans", "histograms", "memory", "gpu" };

void pt_budget_init(struct pt_budget *b, double limit, bool may_act) {
    *b = (struct pt_budget){ .limit = limit, .may_act = may_act, .mean = (double)NAN };
}

double pt_budget_cost(const struct pt_budget_window *window) {
    double cost = window->other_cost;
    for (int i = 0; i < PT_PART_COUNT; i++)
        cost += window->costs[i];
    return cost;
}

double pt_budget_base(const struct pt_budget_window *window) {
    double idle = IDLE_SHARE * window->seconds;
    return window->cpu_seconds > idle ? window->cpu_seconds : idle;
}

static bool switch_off(struct pt_budget *b, const struct pt_budget_window *window,
                       struct pt_budget_action *action) {
    double allowed = b->limit * pt_budget_base(window);
    int most_expensive = -1;
    for (int i = 0; i < PT_PART_COUNT; i++)
        if (!b->is_off[i] && window->costs[i] >= WORTH * allowed &&
            (most_expensive < 0 || window->costs[i] > window->costs[most_expensive]))
            most_expensive = i;
    if (most_expensive < 0)
        return false;
    b->is_off[most_expensive] = true;
    b->order[b->off_count++] = (enum pt_part)most_expensive;
    *action = (struct pt_budget_action){ (enum pt_part)most_expensive, false };
    return true;
}

static bool switch_on(struct pt_budget *b, struct pt_budget_action *action) {
    if (b->off_count == 0 || b->restored_count >= RESTORES_MAX)
        return false;
    enum pt_part part = b->order[--b->off_count];
    b->is_off[part] = false;
    b->restored_count++;
    *action = (struct pt_budget_action){ part, true };
    return true;
}

bool pt_budget_step(struct pt_budget *b, const struct pt_budget_window *window,
                    struct pt_budget_action *action) {
    if (window->seconds <= 0)
        return false;
    double fraction = pt_budget_cost(window) / pt_budget_base(window);
    double weight = isnan(b->mean) ? 1 : 1 - exp(-window->seconds / MEAN_TIME_CONSTANT_S);
    b->mean = (isnan(b->mean) ? 0 : b->mean) * (1 - weight) + weight * fraction;
    /* The mean alone lags behind a step that was enough. */
    b->high_count = b->mean > b->limit && fraction > b->limit ? b->high_count + 1 : 0;
    b->quiet_seconds = b->mean < b->limit / 2 ? b->quiet_seconds + window->seconds : 0;
    if (!b->may_act)
        return false;
    bool is_taken = false;
    if (b->high_count >= HIGH_WINDOWS)
        is_taken = switch_off(b, window, action);
    else if (b->quiet_seconds >= QUIET_SECONDS)
        is_taken = switch_on(b, action);
    if (is_taken) {
        b->high_count = 0;
        b->quiet_seconds = 0;
    }
    return is_taken;
}
