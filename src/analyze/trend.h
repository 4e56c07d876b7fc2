/* analyze/trend.h -- a signal that only ever grows: a straight line through its windows. */
#ifndef PT_ANALYZE_TREND_H
#define PT_ANALYZE_TREND_H

#include "analyze/signal.h"

struct pt_trend {
    double first, last; /* of the line, at the start and the end of what was looked at */
    double per_second;  /* slope */
    double fit;         /* R^2: 1 is a perfect line */
    double least_part;  /* growth of the slowest quarter, of a quarter of all: 0 = it stood still */
    double seconds;     /* length of what was looked at */
    double from, to;    /* seconds since the start of the run */
    size_t window_count; /* with a value */
};

/* Without the first `skip` part (0 to 1) of the run: programs that start take memory. False: fewer
 * than eight windows have a value. */
bool pt_trend_find(const struct pt_signals *s, enum pt_signal_id id, double skip,
                   struct pt_trend *trend);

#endif
