#include "analyze/trend.h"

#include <math.h>

#define WINDOWS_MIN 8
#define QUARTERS    4

static double midpoint_of(const struct pt_signals *s, size_t window) {
    const struct pt_window *w = &s->windows->windows[window];
    return (double)(w->start_ns / 2 + w->end_ns / 2 - s->windows->first_mono_ns) / 1e9;
}

static double mean_of(const struct pt_signals *s, enum pt_figure_id id, size_t from, size_t to) {
    double sum = 0, count = 0;
    for (size_t i = from; i < to; i++)
        if (!isnan(s->values[id][i])) {
            sum += s->values[id][i];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/* The smallest growth of the mean from one quarter to the next, relative to even growth. Memory
 * allocated once grows in one quarter only. */
static double find_least_quarter(const struct pt_signals *s, enum pt_figure_id id, size_t from) {
    double means[QUARTERS], least = INFINITY;
    size_t width = (s->count - from) / QUARTERS;
    for (size_t p = 0; p < QUARTERS; p++)
        means[p] =
            mean_of(s, id, from + p * width, p + 1 < QUARTERS ? from + (p + 1) * width : s->count);
    double whole = (means[QUARTERS - 1] - means[0]) / (QUARTERS - 1);
    for (int p = 1; p < QUARTERS; p++)
        least = fmin(least, means[p] - means[p - 1]);
    return whole > 0 ? least / whole : 0;
}

bool pt_trend_find(const struct pt_signals *s, enum pt_figure_id id, double skip,
                   struct pt_trend *trend) {
    size_t from = (size_t)((double)s->count * skip);
    struct {
        double n, t, v, tt, tv, vv;
    } sums = { 0 };
    for (size_t i = from; i < s->count; i++) {
        double v = s->values[id][i], t = midpoint_of(s, i);
        if (isnan(v))
            continue;
        sums.n++;
        sums.t += t;
        sums.v += v;
        sums.tt += t * t;
        sums.tv += t * v;
        sums.vv += v * v;
    }
    if (sums.n < WINDOWS_MIN)
        return false;
    /* each times n */
    double variance_t = sums.tt - sums.t * sums.t / sums.n;
    double covariance = sums.tv - sums.t * sums.v / sums.n;
    double variance_v = sums.vv - sums.v * sums.v / sums.n;
    double start = midpoint_of(s, from), end = midpoint_of(s, s->count - 1);
    if (!(variance_t > 0))
        return false;
    double slope = covariance / variance_t, mean_t = sums.t / sums.n, mean_v = sums.v / sums.n;
    *trend = (struct pt_trend){
        .first = mean_v + slope * (start - mean_t),
        .last = mean_v + slope * (end - mean_t),
        .slope_per_second = slope,
        .r_squared = variance_v > 0 ? covariance * covariance / (variance_t * variance_v) : 0,
        .least_quarter = find_least_quarter(s, id, from),
        .seconds = end - start,
        .from = start,
        .to = end,
        .window_count = (size_t)sums.n,
    };
    return true;
}
