/* analyze/trend.h -- linear trend of a signal over the windows of a run. */
#ifndef PT_ANALYZE_TREND_H
#define PT_ANALYZE_TREND_H

#include "analyze/signal.h"

struct pt_trend {
    double first, last;      /* of the regression line, at the start and the end of the range */
    double slope_per_second; /* of the regression line */
    double r_squared;        /* 1: all values on the line */
    double least_quarter;    /* growth of the slowest quarter over the mean of all quarters */
    double seconds;          /* length of the range */
    double from, to;         /* seconds since the start of the run */
    size_t window_count;     /* windows with a value */
};

/* Ignores the first part of the run, `skip` from 0 to 1: programs allocate while they start. False:
 * fewer than eight windows have a value. */
bool pt_trend_find(const struct pt_signals *s, enum pt_figure_id id, double skip,
                   struct pt_trend *trend);

#endif
