/* derive/track.h -- how a counter becomes a growth: the one rule of every rate that Pitot shows.
 *
 * A track follows one counter. Each reading has a time of its own:
 *   - the same time again: the counter was not read again, nothing has happened;
 *   - less than PT_TRACK_SHORTEST_NS later: too short for counters in ticks of 10 ms, so that the
 *     next reading covers this time too and nothing is lost;
 *   - a smaller value: the counter was reset. Its growth is unknown, and it starts again;
 *   - otherwise it grew evenly over the time between the two readings.
 * A value that is missing for a while leaves the track as it is. {0} is an empty track. */
#ifndef PT_DERIVE_TRACK_H
#define PT_DERIVE_TRACK_H

#include <stdbool.h>
#include <stdint.h>

#define PT_TRACK_SHORTEST_NS INT64_C(5000000)

struct pt_track {
    double value;
    int64_t time_ns;
    bool has_value;
};

enum pt_track_step {
    PT_TRACK_WAITS,  /* nothing new: what was known of the rate still holds */
    PT_TRACK_STARTS, /* the first value, or a reset: no rate */
    PT_TRACK_GROWS,
};

struct pt_growth {
    double amount; /* since `from_ns` */
    int64_t from_ns, to_ns;
};

static inline enum pt_track_step pt_track_next(struct pt_track *t, double value, int64_t time_ns,
                                               struct pt_growth *growth) {
    if (t->has_value && time_ns - t->time_ns < PT_TRACK_SHORTEST_NS && value >= t->value)
        return PT_TRACK_WAITS;
    bool has_grown = t->has_value && value >= t->value;
    *growth = (struct pt_growth){ value - t->value, t->time_ns, time_ns };
    *t = (struct pt_track){ value, time_ns, true };
    return has_grown ? PT_TRACK_GROWS : PT_TRACK_STARTS;
}

/* The same for a level, for example power that becomes energy: the area below the straight line
 * between two readings. The same time again: nothing has happened. */
static inline enum pt_track_step pt_track_integrate(struct pt_track *t, double level,
                                                    int64_t time_ns, struct pt_growth *area) {
    if (t->has_value && time_ns <= t->time_ns)
        return PT_TRACK_WAITS;
    double seconds = (double)(time_ns - t->time_ns) / 1e9;
    *area = (struct pt_growth){ (t->value + level) / 2 * seconds, t->time_ns, time_ns };
    enum pt_track_step step = t->has_value ? PT_TRACK_GROWS : PT_TRACK_STARTS;
    *t = (struct pt_track){ level, time_ns, true };
    return step;
}

static inline double pt_growth_seconds(const struct pt_growth *g) {
    return (double)(g->to_ns - g->from_ns) / 1e9;
}

static inline double pt_growth_rate(const struct pt_growth *g) {
    return g->amount / pt_growth_seconds(g);
}

#endif
