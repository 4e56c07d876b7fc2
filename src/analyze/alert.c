#include "analyze/alert.h"

#include <math.h>

bool pt_alert_limit_is_valid(const struct pt_alert_limit *limit) {
    return isfinite(limit->threshold) && isfinite(limit->for_seconds) && limit->for_seconds >= 0 &&
           isfinite(limit->hysteresis) && limit->hysteresis >= 0;
}

enum pt_alert_change pt_alert_step(const struct pt_alert_limit *limit, struct pt_alert_state *state,
                                   double value, double now_seconds) {
    /* NAN if the value is unknown */
    double excess = limit->is_above ? value - limit->threshold : limit->threshold - value;
    state->value = value;
    if (isnan(excess) || excess <= (state->is_on ? -limit->hysteresis : 0)) {
        bool was_on = state->is_on;
        state->is_beyond = state->is_on = false;
        return was_on ? PT_ALERT_WENT_OFF : PT_ALERT_SAME;
    }
    if (!state->is_beyond)
        state->beyond_since = now_seconds;
    state->is_beyond = true;
    if (state->is_on || now_seconds - state->beyond_since < limit->for_seconds)
        return PT_ALERT_SAME;
    state->is_on = true;
    state->on_since = now_seconds;
    return PT_ALERT_WENT_ON;
}
