#include "analyze/trend.h"

#include <math.h>

#define WINDOWS_MIN 8
#define PARTS       4

struct line_sums {
    double n, t, v, tt, tv, vv;
};

static double middle_of(const struct pt_signals *s, size_t window) {
    const struct pt_window *w = &s->windows->windows[window];
    return (double)(w->start_ns / 2 + w->end_ns / 2 - s->windows->first_mono_ns) / 1e9;
}

static struct line_sums sum_up(const struct pt_signals *s, enum pt_signal_id id, size_t from) {
    struct line_sums sums = { 0 };
    for (size_t i = from; i < s->count; i++) {
        double v = s->values[id][i], t = middle_of(s, i);
        if (isnan(v))
            continue;
        sums.n++;
        sums.t += t;
        sums.v += v;
        sums.tt += t * t;
        sums.tv += t * v;
        sums.vv += v * v;
    }
    return sums;
}

static double mean_of(const struct pt_signals *s, enum pt_signal_id id, size_t from, size_t to) {
    double sum = 0, count = 0;
    for (size_t i = from; i < to; i++)
        if (!isnan(s->values[id][i])) {
            sum += s->values[id][i];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/* Growth from the middle of each part to that of the next, the least of them, relative to an even
 * spread. Memory that is taken once and kept grows in one part only. */
static double find_least_part(const struct pt_signals *s, enum pt_signal_id id, size_t from) {
    double means[PARTS], least = INFINITY;
    size_t width = (s->count - from) / PARTS;
    for (size_t p = 0; p < PARTS; p++)
        means[p] =
            mean_of(s, id, from + p * width, p + 1 < PARTS ? from + (p + 1) * width : s->count);
    double whole = (means[PARTS - 1] - means[0]) / (PARTS - 1);
    for (int p = 1; p < PARTS; p++)
        least = fmin(least, means[p] - means[p - 1]);
    return whole > 0 ? least / whole : 0;
}

bool pt_trend_find(const struct pt_signals *s, enum pt_signal_id id, double skip,
                   struct pt_trend *trend) {
    size_t from = (size_t)((double)s->count * skip);
    struct line_sums sums = sum_up(s, id, from);
    if (sums.n < WINDOWS_MIN)
        return false;
    double spread = sums.tt - sums.t * sums.t / sums.n;
    double together = sums.tv - sums.t * sums.v / sums.n;
    double scatter = sums.vv - sums.v * sums.v / sums.n;
    double start = middle_of(s, from), end = middle_of(s, s->count - 1);
    if (!(spread > 0))
        return false;
    double slope = together / spread, mean_t = sums.t / sums.n, mean_v = sums.v / sums.n;
    *trend = (struct pt_trend){
        .first = mean_v + slope * (start - mean_t),
        .last = mean_v + slope * (end - mean_t),
        .per_second = slope,
        .fit = scatter > 0 ? together * together / (spread * scatter) : 0,
        .least_part = find_least_part(s, id, from),
        .seconds = end - start,
        .from = start,
        .to = end,
        .window_count = (size_t)sums.n,
    };
    return true;
}
