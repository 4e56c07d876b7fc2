/* sampler/governor.h -- keeps Pitot's overhead below a budget.
 *
 * Once a second it receives the CPU time that Pitot used and keeps a mean over
 * about ten seconds. While both are above 80 % of the budget it takes steps down,
 * at most one every few seconds: the first step of the list below that is still
 * possible and saves enough. After a minute below half the budget it takes the
 * last step back, at most three times. The sampling interval never changes: a
 * thinned collector is sampled at every 2nd, 4th, ... tick. Pure: no clock, no
 * I/O. */
#ifndef PT_SAMPLER_GOVERNOR_H
#define PT_SAMPLER_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

enum pt_governor_knob {
    PT_KNOB_PSS,
    PT_KNOB_COMMAND_LINES,
    PT_KNOB_PROCESSES,
    PT_KNOB_CONTAINERS,
    PT_KNOB_PRESSURE,
    PT_KNOB_HOST,
    PT_KNOB_COUNT
};

struct pt_governor_knob_info {
    const char *name;          /* in the text of an action */
    int level_count;           /* 1: a switch; more: sampled every 2^level ticks */
    const char *collectors[5]; /* collectors that it thins; NULL-terminated, empty for a switch */
};

extern const struct pt_governor_knob_info pt_governor_knobs[PT_KNOB_COUNT];

struct pt_governor {
    double budget; /* share of one CPU; 0 = off */
    double mean;   /* share of one CPU, over about 10 s */
    int levels[PT_KNOB_COUNT];
    int restored_count;
    double seconds, quiet_seconds, last_step_seconds;
};

struct pt_governor_action {
    enum pt_governor_knob knob;
    int level; /* the new level */
    bool is_restored;
};

/* `budget` is a share of one CPU; 0: no step is ever taken. */
void pt_governor_init(struct pt_governor *g, double budget);

/* `used`: CPU seconds of all of Pitot in the last `seconds`; knob_cost[k]: the
 * part of it that knob k influences. True if a step was taken. */
bool pt_governor_step(struct pt_governor *g, double seconds, double used,
                      const double knob_cost[PT_KNOB_COUNT], struct pt_governor_action *action);

#endif
