/* analyze/alert.h -- decides when a limit fires and when it clears.
 *
 *     value  |        ____
 *     limit  |-------/----\---------   on after `for_seconds` beyond the threshold
 *     back   |------/------\--------   off when back by `hysteresis`
 *
 * Pure: the caller supplies the clock and acts on changes. */
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

/* All values are finite; duration and hysteresis are not negative. */
bool pt_alert_limit_is_valid(const struct pt_alert_limit *limit);
/* {0} is the state before the first value. NAN is unknown and ends an alert. */
enum pt_alert_change pt_alert_step(const struct pt_alert_limit *limit, struct pt_alert_state *state,
                                   double value, double now_seconds);

#endif
