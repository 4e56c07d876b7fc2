/* analyze/alert.h -- when a value is beyond a limit for long enough, and when it is back.
 *
 *     value  |        ____
 *     limit  |-------/----\---------   on after `for_seconds` beyond the threshold
 *     back   |------/------\--------   off when back by `hysteresis`
 *
 * Pure: the caller has the clock and says what there is to do. */
#ifndef PT_ANALYZE_ALERT_H
#define PT_ANALYZE_ALERT_H

#include <stdbool.h>

struct pt_alert_limit {
    bool is_above; /* false: below */
    double threshold;
    double for_seconds, hysteresis; /* 0: at once */
};

struct pt_alert_state {
    bool is_beyond, is_on;
    double beyond_since, on_since; /* seconds of the caller's clock */
    double value;                  /* the last one */
};

enum pt_alert_change { PT_ALERT_SAME, PT_ALERT_WENT_ON, PT_ALERT_WENT_OFF };

/* Finite limits that are not negative where they are durations or distances. */
bool pt_alert_limit_is_valid(const struct pt_alert_limit *limit);
/* {0} is the state before the first value. NAN is unknown: nothing is on for what is not known. */
enum pt_alert_change pt_alert_step(const struct pt_alert_limit *limit, struct pt_alert_state *state,
                                   double value, double now_seconds);

#endif
