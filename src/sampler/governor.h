/* sampler/governor.h -- keeps Pitot's overhead below a budget.
 *
 * Once a second it receives the CPU time that Pitot used and keeps a mean over
 * about ten seconds. While both are above 80 % of the budget it takes steps down,
 * at most one every few seconds: of the knobs of the lowest rank that are still
 * possible and save enough, the most expensive. After a minute below half the
 * budget it takes the last step back, at most three times. The sampling interval
 * never changes: a thinned collector is sampled at every 2nd, 4th, ... tick. The
 * caller says what the knobs are. Pure: no clock, no I/O. */
#ifndef PT_SAMPLER_GOVERNOR_H
#define PT_SAMPLER_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#define PT_GOVERNOR_KNOBS  48
#define PT_GOVERNOR_LEVELS 6

/* Something that can be slowed down. */
struct pt_governor_knob {
    const char *name; /* in the text of an action */
    int level_count;  /* 1: a switch; more: sampled every 2^level ticks; 0: never touched */
    int rank;         /* knobs of a lower rank come first */
};

struct pt_governor {
    double budget; /* share of one CPU; 0 = off */
    double mean;   /* share of one CPU, over about 10 s */
    const struct pt_governor_knob *knobs;
    int knob_count;
    int levels[PT_GOVERNOR_KNOBS];
    uint8_t steps[PT_GOVERNOR_KNOBS * PT_GOVERNOR_LEVELS]; /* the knobs of all steps down */
    int step_count, restored_count;
    double seconds, quiet_seconds, last_step_seconds;
};

struct pt_governor_action {
    int knob;
    int level; /* the new level */
    bool is_restored;
};

/* `budget` is a share of one CPU; 0: no step is ever taken. Borrows the knobs. */
void pt_governor_init(struct pt_governor *g, double budget, const struct pt_governor_knob *knobs,
                      int knob_count);

/* `used`: CPU seconds of all of Pitot in the last `seconds`; knob_cost[k]: the
 * part of it that knob k influences. True if a step was taken. */
bool pt_governor_step(struct pt_governor *g, double seconds, double used, const double *knob_cost,
                      struct pt_governor_action *action);

#endif
